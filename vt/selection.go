package vt

import (
	"cmp"
	"iter"
	"unicode/utf8"
)

// Position is a cell of what a Frame shows. Rows of the screen count from 0, and rows
// of the history from -1, the newest, down to -History.Len(), the oldest. The alternate
// screen has no history.
type Position struct{ X, Y int }

// compare orders positions as text is read.
func (p Position) compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Y, q.Y), cmp.Compare(p.X, q.X))
}

// Selection is the cells from one position to another, both inside, in any order.
type Selection struct {
	From, To Position
	// Block selects a rectangle of which From and To are corners, instead of text.
	Block bool
}

// Row returns row y, see Position; a blank line where there is none.
func (f *Frame) Row(y int) Line {
	switch lines := f.Active().Lines; {
	case y >= 0 && y < len(lines):
		return lines[y]
	case y < 0 && y >= f.oldest():
		return f.History.At(f.History.Len() + y)
	}
	return Line{}
}

// oldest is the row of the oldest line of history, 0 without one.
func (f *Frame) oldest() int {
	if f.Alt != nil {
		return 0
	}
	return -f.History.Len()
}

// rowsFrom yields the rows from y on, which is not above the oldest.
func (f *Frame) rowsFrom(y int) iter.Seq2[int, Line] {
	return func(yield func(int, Line) bool) {
		if y < 0 {
			for l := range f.History.Last(-y).All() {
				if !yield(y, l) {
					return
				}
				y++
			}
		}
		for lines := f.Active().Lines; y < len(lines) && yield(y, lines[y]); {
			y++
		}
	}
}

// SelectedText returns the text of a selection. Rows end with a line feed, but not
// the last one, and a row that the right margin broke goes on in the next without one.
// Blanks are spaces; those at the end of a row are left out unless they were printed.
// A wide character is selected by either column. Rows of
// a rectangle are never joined. Positions outside of the frame select nothing.
func (f *Frame) SelectedText(s Selection) string {
	from, to := s.From, s.To
	if from.compare(to) > 0 {
		from, to = to, from
	}
	// columns are the selected ones of row y, from x0 to x1-1.
	columns := func(y int) (x0, x1 int) {
		if s.Block {
			return min(from.X, to.X), max(from.X, to.X) + 1
		}
		if x1 = f.Cols; y == to.Y {
			x1 = to.X + 1
		}
		if y == from.Y {
			x0 = from.X
		}
		return x0, x1
	}
	var b []byte
	var above Line
	begin, end := max(from.Y, f.oldest()), min(to.Y, f.Rows-1)
	if begin > end {
		return ""
	}
	for y, row := range f.rowsFrom(begin) {
		x0, x1 := columns(y - 1)
		switch {
		case y == begin:
		case row.wrapped && !s.Block:
			b = above.appendWrapped(b, x0, min(x1, f.Cols), f.Cols, beginsWide(row))
		default:
			b = above.appendColumns(b, x0, x1)
			if y <= end {
				b = append(b, '\n')
			}
		}
		if y > end {
			return string(b)
		}
		above = row
	}
	x0, x1 := columns(end)
	return string(above.appendColumns(b, x0, x1))
}

// appendColumns appends the text of columns x0 to x1-1, without blanks at the end
// that were not printed.
func (l Line) appendColumns(b []byte, x0, x1 int) []byte {
	b, printed, _ := l.appendCells(b, x0, x1)
	return b[:printed]
}

// appendWrapped appends the text of columns x0 to x1-1 of a row that the next one
// continues. wide: that begins with a wide character, which may have left the last
// column free.
func (l Line) appendWrapped(b []byte, x0, x1, cols int, wide bool) []byte {
	b, printed, x := l.appendCells(b, x0, x1)
	for ; x < x1; x++ {
		if x >= x0 {
			b = append(b, ' ')
		}
	}
	if wide && x1 == cols && len(b) > printed {
		b = b[:len(b)-1]
	}
	return b
}

// appendCells appends the text of columns x0 to x1-1, blanks as spaces. printed is the
// length of the result without the blanks behind the line's last character, and x the
// column that the line ends in.
func (l Line) appendCells(b []byte, x0, x1 int) (text []byte, printed, x int) {
	printed = len(b)
	for s := range l.Spans() {
		from, to := max(x0-x, 0), min(x1-x, s.Cells)
		x += s.Cells
		switch {
		case s.Kind == Blank:
			for range to - from {
				b = append(b, ' ')
			}
			continue
		case from < to:
			b = append(b, s.part(from, to)...)
		}
		printed = len(b) // also when the character is beyond x1
	}
	return b, printed, min(x, x1)
}

// part is the text of the cells from to to-1 of a span that is not blank. A character
// belongs to it with any of its cells.
func (s *Span) part(from, to int) string {
	switch s.Kind {
	case ASCII:
		return s.Text[from:to]
	case ClusterOne, ClusterWide:
		return s.Text
	}
	width := max(s.Kind.Width(), 1)
	begin, end, x := len(s.Text), 0, 0
	for i, c := range s.Text {
		if x+width > from && x < to {
			begin, end = min(begin, i), i+utf8.RuneLen(c)
		}
		x += width
	}
	return s.Text[begin:end]
}
