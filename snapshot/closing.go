package snapshot

import (
	"slices"

	"github.com/evertty/evertty/vt"
)

// closing is the cell that finish prints as its last act, because printing it
// has a state behind it: what REP repeats, or the pending wrap.
func closing(f *vt.Frame) (c cell, ok bool) {
	if c, ok = repeatable(f); ok {
		return c, true
	}
	s := f.Active()
	if !s.PendingWrap || f.Cols < 2 {
		return cell{}, false
	}
	return cellAt(s.Lines[s.Y], s.X), true
}

// endsInRow reports whether finish paints the whole row of the cursor instead of
// printing the closing cell a second time: when that is the last thing on the
// screen and no state that finish sets changes the printed text. Then whoever
// reads the text of a snapshot, and not its picture, meets every word whole,
// once and in order.
func endsInRow(f *vt.Frame) bool {
	s := f.Active()
	row := s.Lines[s.Y]
	c, ok := closing(f)
	return ok && isBlank(s.Lines[s.Y+1:]) && f.Extended == nil && f.Invoked == 0 && f.Pen == shown(f.Pen) &&
		!row.Wrapped() && c.text != "" && c.x+c.width == row.Cells() && row.Cells() <= f.Cols &&
		f.Modes.Autowrap && !f.Modes.Insert && !f.Modes.Origin && untranslated(row.Text(), printingSets(f))
}

// rowsToPaint are the rows of the active screen as they are before finish: without the
// one that it paints, or without those that it has come in.
func rowsToPaint(f *vt.Frame) []vt.Line {
	s := f.Active()
	if by := scrolled(f); by != (scrolling{}) {
		return by.before(s, f.Cols)
	}
	if !endsInRow(f) {
		return s.Lines
	}
	rows := slices.Clone(s.Lines)
	rows[s.Y] = vt.Line{}
	return rows
}

// close prints the closing cell, alone or with the row that it ends, into row y.
func (p *painter) close(f *vt.Frame, c cell, y int) {
	if endsInRow(f) {
		p.moveTo(0, y)
		p.x, p.skip, p.tail = 0, 0, 0
		for s := range f.Active().Lines[f.Active().Y].Spans() {
			p.span(&s)
		}
		return
	}
	if by := scrolled(f); by != (scrolling{}) {
		p.closeScrolled(f.Alt, by, y)
		return
	}
	p.moveTo(c.x, y)
	p.setPen(c.style)
	if c.text != "" {
		p.add(c.text)
		return
	}
	p.add(" ")
	if bg, ok := erasedWith(f.Active().Lines[f.Active().Y], f.Cols); ok {
		p.setPen(vt.Style{BG: bg})
		p.add("\x1b[1K") // the wrap stays pending, and the flag of the row as it is
	}
}

// erasedWith reports whether all cols columns of a row were erased with one
// background, and which.
func erasedWith(l vt.Line, cols int) (bg vt.Color, ok bool) {
	n := 0
	for s := range l.Spans() {
		if s.Kind != vt.Blank || n > 0 && s.Style.BG != bg || keepsStyle(s.Style) {
			return 0, false
		}
		bg = s.Style.BG
		n += s.Cells
	}
	return bg, n == 0 || n >= cols || bg == 0
}
