package snapshot

import (
	"slices"

	"github.com/evertty/evertty/vt"
)

// tabs sets the tab stops. Those in the two columns behind the last one, where HTS
// puts them while a wrap is pending, count when the screen becomes wider.
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
	at := behind < len(tabs) && tabs[behind] == p.cols && !usual
	after := slices.Contains(tabs[behind:], p.cols+1)
	if !at && !after || p.cols < 2 {
		return
	}
	c := p.toEdge(rows, 0)
	if at {
		p.add("\x1bH")
	}
	if after && !p.clusters {
		p.beyond()
		p.add("\x1bH")
	}
	p.leaveEdge(c, 0)
}

// toEdge makes a wrap pending in row y: it prints the last cell once more. An erased one
// becomes a space until leaveEdge; where that could not undo it the wrap is taken from
// the alternate screen, so the main one has to be shown.
func (p *painter) toEdge(rows []vt.Line, y int) cell {
	c := p.edge(rows, y)
	if c.keepsStyle() {
		p.setPen(vt.Style{})
		p.carry(p.cols-1, y, true)
		return c
	}
	p.moveTo(c.x, y)
	p.setPen(c.style)
	p.addCell(c)
	return c
}

// edge is the last cell of row y.
func (p *painter) edge(rows []vt.Line, y int) cell {
	if y < len(rows) {
		return cellAt(rows[y], p.cols-1)
	}
	return cell{x: p.cols - 1, width: 1}
}

// addCell prints c, an erased one as a space.
func (a *ansiWriter) addCell(c cell) {
	if c.text == "" {
		a.add(" ")
	} else {
		a.text(c.text)
	}
}

// leaveEdge erases c again when it was erased before toEdge.
func (p *painter) leaveEdge(c cell, y int) {
	if c.text != "" || c.keepsStyle() {
		return
	}
	p.moveTo(c.x, y)
	p.setPen(vt.Style{BG: c.style.BG})
	p.add("\x1b[X")
}

// beyond moves the cursor to the column that Screen.Beyond means, from where a wrap is
// pending: a mark has to follow nothing, so a sequence without effect comes before it.
// Autowrap is on.
func (a *ansiWriter) beyond() { a.add("\x1b[?7h\u0300") }

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
	c := p.edge(rows, d.Y)
	switch {
	case linesOnly(&d) && edge && c.keepsStyle():
		p.lineOnly()
		p.carry(d.X, d.Y, true)
	case linesOnly(&d):
		p.lineOnly()
		p.moveTo(d.X, d.Y)
		if edge {
			p.add(" ")
		}
	case edge:
		p.toEdge(rows, d.Y)
	default:
		p.moveTo(d.X, d.Y)
	}
	if edge && d.Beyond {
		p.beyond()
	}
	p.save(&d)
	if d.Origin {
		p.add("\x1b[?6l")
	}
	if !edge || c.keepsStyle() {
		return
	}
	if linesOnly(&d) {
		p.toEdge(rows, d.Y)
	}
	p.leaveEdge(c, d.Y)
}

// save saves the cursor where it is, with pen and character set of d. The pen that
// lineOnly made is undone.
func (p *linePainter) save(d *vt.SavedCursor) {
	if linesOnly(d) {
		p.recolour(vt.Style{}, vt.Style{FG: d.Pen.FG, BG: d.Pen.BG, Attr: d.Pen.Attr})
	} else {
		p.setPen(savedPen(d))
	}
	p.charsets(d.Charsets, 0)
	p.add("\x1b7")
	p.charsets(d.Charsets, 'B')
	if linesOnly(d) {
		p.add("\x1b[m\x1b[0\"q")
		p.pen = vt.Style{}
	}
}

// anyLink stands for one in a saved pen, which keeps only whether it had a link.
var anyLink = vt.Link{URI: "about:blank"}

// savedPen is a pen that is saved as d, which is not linesOnly.
func savedPen(d *vt.SavedCursor) vt.Style {
	if d.FlagsDiffer == 0 {
		return d.Pen
	}
	s := vt.Style{FG: d.Pen.FG, BG: d.Pen.BG, Attr: d.Pen.Attr}
	switch lined, shown := d.Flags(); {
	case lined:
		s.Underline = vt.UnderlineSingle
	case shown:
		s.Link = anyLink
	}
	return s
}

// linesOnly reports whether d has a pen that is underlined and shows no style of
// underline, which SGR never leads to.
func linesOnly(d *vt.SavedCursor) bool {
	lined, shown := d.Flags()
	return lined && !shown
}

// lineOnly makes the pen one as linesOnly means: DECRC brings an underline whose style
// was reset, and OSC 8 finds nothing to show. It overwrites the saved cursor.
func (p *linePainter) lineOnly() {
	p.setPen(vt.Style{Underline: vt.UnderlineSingle})
	p.add("\x1b7")
	p.setPen(vt.Style{})
	p.add("\x1b8")
	p.link(vt.Link{})
}

// scrolledOff notes a saved cursor whose line is in the history, of which n lines
// are painted: it is saved while that line is on the screen, and moves up with it.
func (p *linePainter) scrolledOff(d *vt.SavedCursor, n int) {
	if d.Y < 0 && (*d != vt.SavedCursor{Set: true, Y: -n}) {
		p.above, p.saveIn = d, max(0, n+d.Y)
	}
}

// saveInLine saves the cursor in the line that is about to be painted, and goes
// back to its first column.
func (p *linePainter) saveInLine() {
	d := p.above
	if linesOnly(d) {
		p.lineOnly()
	} else {
		p.setPen(vt.Style{})
	}
	if d.PendingWrap && p.cols >= 2 {
		p.csi(p.cols, 'G')
		p.add(" ")
		if d.Beyond {
			p.beyond()
		}
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

// plainSet is set, 0 for US ASCII.
func plainSet(set byte) byte {
	if set == 'B' {
		return 0
	}
	return set
}

// recolour turns the saved pen into s with parameters that leave underline and
// link alone: no reset.
func (a *ansiWriter) recolour(saved, s vt.Style) {
	old := s
	old.FG, old.BG, old.Attr = saved.FG, saved.BG, saved.Attr
	if looksOther(&old, &s) {
		a.add("\x1b[")
		at := len(a.out)
		a.out, _ = appendDifference(a.out, &old, &s)
		a.endParameters(at)
	}
	a.protect(old.Attr, s.Attr, false)
	a.pen = s
}
