package snapshot

import (
	"fmt"

	"github.com/evertty/evertty/vt"
)

// scrolling is how an erased cell comes before a pending wrap: only a character leaves a
// wrap pending, but scrolling takes it away from there and blanks the cells at the other
// end of the margins. Rows come in below (SU), or above when rows is negative (SD);
// columns on the left (SR), or on the right when columns is negative (SL).
type scrolling struct {
	rows, columns int
}

// scrolled finds out how an erased cell came before the pending wrap of the alternate
// screen; zero when none is there, or no way leads there.
func scrolled(f *vt.Frame) (by scrolling) {
	s := f.Alt
	if s == nil || !s.PendingWrap || f.Cols < 2 || s.Y < s.Top || s.Y > s.Bottom || f.Extended != nil ||
		f.Invoked != 0 || f.Open != nil {
		return by
	}
	if _, whole := erasedWith(s.Lines[s.Y], f.Cols); whole || cellAt(s.Lines[s.Y], f.Cols-1).text != "" {
		return by
	}
	if n := rowsCameIn(f); n != 0 {
		return scrolling{rows: n}
	}
	return scrolling{columns: columnsCameIn(s, f.Cols)}
}

// rowsCameIn is scrolling.rows that may have come in last; 0 when none.
func rowsCameIn(f *vt.Frame) int {
	s := f.Alt
	for n := 1; n <= s.Bottom-s.Y && cameIn(s.Lines[s.Bottom-n+1], s.Lines[s.Bottom], f.Cols); n++ {
		if scrollsFrom(f, n) {
			return n
		}
	}
	for n := 1; n <= s.Y-s.Top && cameIn(s.Lines[s.Top+n-1], vt.Line{}, f.Cols); n++ {
		if scrollsFrom(f, -n) {
			return -n
		}
	}
	return 0
}

// cameIn reports whether l is a row that came in, with the background of another one.
func cameIn(l, other vt.Line, cols int) bool {
	bg, ok := erasedWith(l, cols)
	same, whole := erasedWith(other, cols)
	return ok && whole && bg == same && !l.Wrapped()
}

// scrollsFrom reports whether the alternate screen of f can be painted as it was before n
// rows came in, with a wrap pending.
func scrollsFrom(f *vt.Frame, n int) bool {
	s := f.Alt
	if from := s.Y - n; from >= s.Top && from <= s.Bottom && cellAt(s.Lines[from], f.Cols-1).text == "" {
		return false
	}
	rows := scrolling{rows: n}.before(s, f.Cols)
	return len(erasedEnd(rows[f.Rows-1], f.Cols)) < f.Cols || erasedRows(rows, f.Rows, f.Cols) > 0
}

// columnsCameIn is scrolling.columns that may have come in last; 0 when none. Scrolling
// columns takes away the wrap flags of all rows between the margins.
func columnsCameIn(s *vt.Screen, cols int) int {
	n, bg := erasedColumns(s.Lines[s.Y], cols)
	left := cellAt(s.Lines[s.Top], 0)
	onLeft, onRight := !left.keepsStyle(), cellAt(s.Lines[s.Y], cols-n-1).text != ""
	for _, l := range s.Lines[s.Top : s.Bottom+1] {
		if l.Wrapped() {
			return 0
		}
		c := cellAt(l, 0)
		onLeft = onLeft && c.text == "" && !c.keepsStyle() && c.style.BG == left.style.BG
		erased, same := erasedColumns(l, cols)
		onRight = onRight && erased >= n && bg == same
	}
	switch {
	case n > 0 && n < cols && onRight:
		return -n
	case onLeft:
		return 1
	}
	return 0
}

// erasedColumns is the number of cells at the end of a row that are erased with one
// background.
func erasedColumns(l vt.Line, cols int) (n int, bg vt.Color) {
	at := 0
	for s := range l.Spans() {
		if s.Kind != vt.Blank || keepsStyle(s.Style) || s.Style.BG != bg {
			n, bg = 0, s.Style.BG
		}
		if s.Kind == vt.Blank && !keepsStyle(s.Style) {
			n += min(s.Cells, cols-at)
		}
		at = min(at+s.Cells, cols)
	}
	if at < cols && bg != 0 {
		n, bg = 0, 0
	}
	return n + cols - at, bg
}

// before are the rows of s as they were before that scrolling.
func (by scrolling) before(s *vt.Screen, cols int) []vt.Line {
	rows := make([]vt.Line, len(s.Lines))
	for y, l := range s.Lines {
		switch from := y - by.rows; {
		case y < s.Top || y > s.Bottom:
			rows[y] = l
		case by.columns != 0:
			rows[y] = movedLeft(l, by.columns, cols)
		case from >= s.Top && from <= s.Bottom:
			rows[y] = s.Lines[from]
		}
	}
	return rows
}

// movedLeft is l without its first n columns, or with -n more and without the last ones.
// What is left out is erased.
func movedLeft(l vt.Line, n, cols int) vt.Line {
	var p vt.Packer
	p.Blank(-n, vt.Style{})
	room := min(cols, cols+n)
	for s := range l.Spans() {
		if n > 0 {
			_, s = cutSpan(s, n)
			n = 0
		}
		if s.Cells > room {
			s, _ = cutSpan(s, room)
		}
		if s.Cells > 0 {
			repack(&p, s)
		}
		room -= s.Cells
	}
	return p.Line(false)
}

// closeScrolled prints the last cell of row y of the screen as it is before the scrolling,
// and scrolls.
func (p *painter) closeScrolled(s *vt.Screen, by scrolling, y int) {
	c := p.edge(by.before(s, p.cols), s.Y)
	p.moveTo(c.x, y)
	p.setPen(c.style)
	p.addCell(c)
	erased := func(bg vt.Color) { p.setPen(vt.Style{BG: bg}) }
	switch {
	case by.rows > 0:
		bg, _ := erasedWith(s.Lines[s.Bottom], p.cols)
		erased(bg)
		p.csi(by.rows, 'S')
	case by.rows < 0: // SD leaves the default background
		erased(0)
		p.csi(-by.rows, 'T')
	case by.columns > 0:
		erased(cellAt(s.Lines[s.Y], 0).style.BG)
		p.add("\x1b[ A")
	default:
		erased(cellAt(s.Lines[s.Y], p.cols-1).style.BG)
		p.out = fmt.Appendf(p.out, "\x1b[%d @", -by.columns)
	}
}
