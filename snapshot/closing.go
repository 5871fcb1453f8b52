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

// rowsToPaint are the rows of the active screen without the closing cell where
// it ends its row: it is printed once, at the end, so that whoever reads the
// text of a snapshot and not its picture meets no character twice. A cell
// that a wrapped row needs, or that is all a wrapped row has, stays.
func rowsToPaint(f *vt.Frame) []vt.Line {
	s := f.Active()
	c, ok := closing(f)
	row := s.Lines[s.Y]
	wraps := s.Y+1 < len(s.Lines) && s.Lines[s.Y+1].Wrapped()
	if !ok || c.text == "" || wraps || c.x == 0 && row.Wrapped() || c.x+c.width != row.Cells() {
		return s.Lines
	}
	rows := slices.Clone(s.Lines)
	rows[s.Y] = upTo(row, c.x)
	return rows
}

// upTo is the part of l left of column x, which begins a cell.
func upTo(l vt.Line, x int) vt.Line {
	var p vt.Packer
	at := 0
	for s := range l.Spans() {
		if at+s.Cells > x {
			s, _ = cutSpan(s, x-at)
		}
		if s.Cells > 0 {
			repack(&p, s, s.Style)
		}
		if at += s.Cells; at >= x {
			break
		}
	}
	return p.Line(l.Wrapped())
}
