package snapshot

import "github.com/evertty/evertty/vt"

// tabs sets the tab stops. One right behind the last column, where HTS puts it
// while a wrap is pending, counts when the screen becomes wider.
func (p *painter) tabs(tabs []int, rows []vt.Line) {
	if !everyEight(tabs, p.cols) {
		p.add("\x1b[3g")
		for _, t := range onScreen(tabs, p.cols) {
			p.csi(t+1, 'G')
			p.add("\x1bH")
		}
	}
	behind := len(onScreen(tabs, p.cols))
	usual := p.cols%8 == 0 && everyEight(tabs, p.cols) // it comes there by itself
	if behind < len(tabs) && tabs[behind] == p.cols && p.cols >= 2 && !usual {
		c := p.toEdge(rows, 0)
		p.add("\x1bH")
		p.leaveEdge(c, 0)
	}
}

// toEdge makes a wrap pending in row y: it prints the last cell once more, which is
// the only way there. An erased one becomes a space until leaveEdge.
func (p *painter) toEdge(rows []vt.Line, y int) cell {
	c := cell{x: p.cols - 1, width: 1}
	if y < len(rows) {
		c = cellAt(rows[y], p.cols-1)
	}
	p.moveTo(c.x, y)
	p.setPen(c.style)
	if c.text == "" {
		p.add(" ")
	} else {
		p.add(c.text)
	}
	return c
}

// leaveEdge erases c again when it was erased before toEdge; one whose style shows
// was painted as a space.
func (p *painter) leaveEdge(c cell, y int) {
	if c.text != "" || showsOnBlank(c.style) {
		return
	}
	p.moveTo(c.x, y)
	p.setPen(vt.Style{BG: c.style.BG})
	p.add("\x1b[X")
}

// saveCursor makes the terminal save what d holds (DECSC, VT510) and undoes
// what it had to set for that. xterm.js 6 restores position, pen and the
// invoked character set; later versions all of it but the pending wrap, which
// shows when the screen becomes wider. A row below the screen becomes the last one:
// nothing but ED 3, which would erase the receiver's own history, moves a saved
// cursor there.
func (p *painter) saveCursor(d vt.SavedCursor, rows []vt.Line) {
	if d == (vt.SavedCursor{Set: d.Set}) && (!d.Set || p.history == 0) {
		return // as in a fresh terminal
	}
	d.Y = min(d.Y, p.rows-1)
	if d.Origin {
		p.add("\x1b[?6h")
	}
	edge := d.PendingWrap && p.cols >= 2
	var c cell
	if edge {
		c = p.toEdge(rows, d.Y)
	} else {
		p.moveTo(d.X, d.Y)
	}
	p.save(&d)
	if d.Origin {
		p.add("\x1b[?6l")
	}
	if edge {
		p.leaveEdge(c, d.Y)
	}
}

// save saves the cursor where it is, with pen and character set of d.
func (p *painter) save(d *vt.SavedCursor) {
	p.setPen(d.Pen)
	p.charsets(d.Charsets)
	p.add("\x1b7")
	p.resetCharsets(d.Charsets)
}

// scrolledOff notes a saved cursor whose line is in the history, of which n lines
// are painted: it is saved while that line is on the screen, and moves up with it.
func (p *painter) scrolledOff(d *vt.SavedCursor, n int) {
	if d.Y < 0 && (*d != vt.SavedCursor{Set: true, Y: -n}) {
		p.above, p.saveIn = d, max(0, n+d.Y)
	}
}

// saveInLine saves the cursor in the line that is about to be painted, and goes
// back to its first column.
func (p *painter) saveInLine() {
	d := p.above
	if d.PendingWrap && p.cols >= 2 {
		p.csi(p.cols, 'G')
		p.setPen(vt.Style{})
		p.add(" ")
	} else if d.X > 0 {
		p.csi(d.X+1, 'G')
	}
	p.save(d)
	p.setPen(vt.Style{})
	if d.PendingWrap && p.cols >= 2 {
		p.add("\x1b[1K") // unlike EL 2 it leaves the wrap flag alone
	}
	p.add("\r")
}

// recall brings about what only DECRC (VT510) does: a pen that knows an underline
// or a link without showing it, and a character set in force that is designated
// nowhere. It tells whether it could: the saved cursor of the screen has to have
// the same set, and the same kind of pen. The position is wrong then.
func (p *painter) recall(f *vt.Frame) bool {
	if f.Aside == nil && f.Invoked == 0 {
		return false
	}
	d := f.Active().Saved
	if f.Invoked != 0 && plainSet(f.Invoked) != plainSet(d.Charsets.G[d.Charsets.GL]) {
		return false
	}
	if a := f.Aside; a == nil {
		p.setPen(vt.Style{})
	} else {
		lined := d.Pen.Underline != 0
		if a.Lined != lined || a.Shown != (lined || d.Pen.Link != vt.Link{}) {
			return false
		}
		p.setPen(vt.Style{Underline: a.Underline, UnderlineColor: a.UnderlineColor, Link: a.Link})
	}
	p.charsets(f.Charsets)
	p.add("\x1b8")
	if f.Invoked == 0 {
		p.add(shifts[f.Charsets.GL])
	}
	if f.Aside == nil {
		p.add("\x1b[m\x1b[0\"q")
		p.pen = vt.Style{}
		p.setPen(f.Pen)
	} else {
		p.recolour(d.Pen, f.Pen)
	}
	return true
}

// closeRecalled prints c into row y after recall, which a wrap is pending behind,
// without a change of underline and link. canCloseRecalled tells whether that can be.
func (p *painter) closeRecalled(f *vt.Frame, c cell, y int) {
	p.moveTo(c.x, y)
	style := f.Pen
	style.FG, style.BG, style.Attr = c.style.FG, c.style.BG, c.style.Attr
	p.recolour(f.Pen, style)
	p.add(c.text)
	p.recolour(style, f.Pen)
}

func canCloseRecalled(f *vt.Frame, c cell) (cell, bool) {
	pen, sets := shown(f.Pen), printingSets(f)
	text, ok := vt.Untranslate(sets.G[sets.GL], c.text)
	ok = ok && text != "" && c.style.Underline == pen.Underline && c.style.Link == pen.Link && c.style.UnderlineColor == pen.UnderlineColor
	c.text = text
	return c, ok
}

// plainSet is set, 0 for US ASCII.
func plainSet(set byte) byte {
	if set == 'B' {
		return 0
	}
	return set
}

// recolour turns the saved pen into s with parameters that leave underline and
// link alone: no reset.
func (p *painter) recolour(saved, s vt.Style) {
	old := s
	old.FG, old.BG, old.Attr = saved.FG, saved.BG, saved.Attr
	if looksOther(&old, &s) {
		p.add("\x1b[")
		at := len(p.out)
		p.out, _ = appendDifference(p.out, &old, &s)
		p.endParameters(at)
	}
	switch was, is := old.Attr&vt.Protected, s.Attr&vt.Protected; {
	case is != 0 && was == 0:
		p.add("\x1b[1\"q")
	case is == 0 && was != 0:
		p.add("\x1b[0\"q")
	}
	p.pen = s
}
