package snapshot

import "github.com/evertty/evertty/vt"

// scrolled finds out how an erased cell comes before the pending wrap of the alternate
// screen: only a character leaves a wrap pending, but SU and SD (ECMA-48 8.3.147,
// 8.3.113) then bring another row there. They blank rows at the other end of the
// margins, so these have to be blank in f. n rows come in below, or -n above; 0 when
// there is no such way.
func scrolled(f *vt.Frame) (n int) {
	s := f.Alt
	if s == nil || !s.PendingWrap || f.Cols < 2 || s.Y < s.Top || s.Y > s.Bottom || f.Aside != nil || f.Invoked != 0 || f.Open != nil {
		return 0
	}
	if _, whole := erasedWith(s.Lines[s.Y], f.Cols); whole || cellAt(s.Lines[s.Y], f.Cols-1).text != "" {
		return 0
	}
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

// cameIn tells whether l is a row that came in, with the background of another one.
func cameIn(l, other vt.Line, cols int) bool {
	bg, ok := erasedWith(l, cols)
	same, whole := erasedWith(other, cols)
	return ok && whole && bg == same && !l.Wrapped()
}

// scrollsFrom tells whether the alternate screen of f can be painted as it was before n
// rows came in, with a wrap pending.
func scrollsFrom(f *vt.Frame, n int) bool {
	s := f.Alt
	if from := s.Y - n; from >= s.Top && from <= s.Bottom && cellAt(s.Lines[from], f.Cols-1).text == "" {
		return false
	}
	rows := unscrolled(s, n)
	return len(erasedEnd(rows[f.Rows-1], f.Cols)) < f.Cols || erasedRows(rows, f.Rows, f.Cols) > 0
}

// unscrolled are the rows of s as they were before n rows came in.
func unscrolled(s *vt.Screen, n int) []vt.Line {
	rows := make([]vt.Line, len(s.Lines))
	for y, l := range s.Lines {
		switch from := y - n; {
		case y < s.Top || y > s.Bottom:
			rows[y] = l
		case from >= s.Top && from <= s.Bottom:
			rows[y] = s.Lines[from]
		}
	}
	return rows
}

// closeScrolled prints the last cell of row y of the screen as it is, rows, and has n rows
// come in.
func (p *painter) closeScrolled(s *vt.Screen, n, y int) {
	c := p.edge(unscrolled(s, n), s.Y)
	p.moveTo(c.x, y)
	p.setPen(c.style)
	p.addCell(c)
	if n < 0 {
		p.csi(-n, 'T')
		return
	}
	bg, _ := erasedWith(s.Lines[s.Bottom], p.cols)
	p.setPen(vt.Style{BG: bg})
	p.csi(n, 'S')
}
