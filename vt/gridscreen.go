package vt

import "unicode/utf8"

// Grid is a rectangle of cells that an engine of NewGridEngine prints into, for
// example another emulator's screen. It is not safe for concurrent use.
//
// Coordinates count from 0 and lie inside, counts are positive and text ends in its
// row. A new grid is blank: all its cells have ErasedStyle.
type Grid interface {
	// Put shows text, n characters of one cell each, from column x of row y on.
	// text is not retained.
	Put(x, y int, text []byte, n int, style StyleID)
	// Erase makes n cells from column x of row y on blanks, EraseAll all cells.
	Erase(x, y, n int, style StyleID)
	EraseAll(style StyleID)
	// Insert puts n blanks in before column x of row y; what moves beyond the right
	// edge is lost. Delete takes n cells out; blanks follow at the end.
	Insert(x, y, n int, style StyleID)
	Delete(x, y, n int, style StyleID)
	// ScrollUp and ScrollDown move rows top to bottom by n; blanks follow.
	ScrollUp(top, bottom, n int, style StyleID)
	ScrollDown(top, bottom, n int, style StyleID)
	// Resize changes the size. The uppermost drop rows go first, then the lowest.
	// Rows are cut at the right, and new cells are blanks of ErasedStyle.
	Resize(cols, rows, drop int)
	// Cell returns the character of a cell, any for a blank, and its style.
	Cell(x, y int) (c rune, style StyleID)
}

// StyleID is the number that a Grid keeps with each cell: it stands for the style
// of the cell and says whether something was printed in it.
type StyleID uint32

// ErasedStyle is the number of an erased cell in the default style. All others are less.
const ErasedStyle StyleID = 1 << 24

// plainStyle is the number of a character in the default style.
const plainStyle StyleID = 0

// gridRow is what a Grid does not keep of a row.
type gridRow struct {
	used    int  // every cell from here on is erased in the default style
	wrapped bool // continues the row above
}

// gridScreen is one of the two screens of a gridEngine.
type gridScreen struct {
	cursor
	grid  Grid
	rows  []gridRow
	meter *meter // of the engine
}

// put prints text, n characters that end in this row.
func (s *gridScreen) put(x, y int, text []byte, n int, style StyleID) {
	s.meter.Add(n)
	s.grid.Put(x, y, text, n, style)
	s.rows[y].used = max(s.rows[y].used, x+n)
}

// erase makes cells x0 to x1-1 of a row blanks of the style.
func (s *gridScreen) erase(y, x0, x1 int, style StyleID) {
	r := &s.rows[y]
	if x0 >= x1 || style == ErasedStyle && x0 >= r.used {
		return
	}
	s.meter.Add(x1 - x0)
	s.grid.Erase(x0, y, x1-x0, style)
	switch {
	case style != ErasedStyle:
		r.used = max(r.used, x1)
	case x1 >= r.used:
		r.used = x0
	}
}

// eraseRows makes rows y0 to y1-1 blank and ends their wrapping.
func (s *gridScreen) eraseRows(y0, y1 int, style StyleID) {
	if y0 == 0 && y1 == s.Rows && (style != ErasedStyle || s.printed()) {
		s.meter.Add(s.Cols * s.Rows)
		s.grid.EraseAll(style)
	} else {
		for y := y0; y < y1; y++ {
			s.erase(y, 0, s.Cols, style)
		}
	}
	s.blank(y0, y1, style)
}

// printed reports whether a cell may be something else than erased.
func (s *gridScreen) printed() bool {
	for _, r := range s.rows {
		if r.used > 0 {
			return true
		}
	}
	return false
}

// blank notes that rows y0 to y1-1 hold nothing but blanks of the style.
func (s *gridScreen) blank(y0, y1 int, style StyleID) {
	r := gridRow{}
	if style != ErasedStyle {
		r.used = s.Cols
	}
	for y := y0; y < y1; y++ {
		s.rows[y] = r
	}
}

// scrollUp moves rows top to bottom up by n; blanks of the style follow.
func (s *gridScreen) scrollUp(top, bottom, n int, style StyleID) {
	n = min(n, bottom-top+1)
	s.meter.Add(bottom - top + n*s.Cols)
	s.grid.ScrollUp(top, bottom, n, style)
	copy(s.rows[top:], s.rows[top+n:bottom+1])
	s.blank(bottom+1-n, bottom+1, style)
}

// scrollDown moves rows top to bottom down by n; blanks of the style come before.
func (s *gridScreen) scrollDown(top, bottom, n int, style StyleID) {
	n = min(n, bottom-top+1)
	s.meter.Add(bottom - top + n*s.Cols)
	s.grid.ScrollDown(top, bottom, n, style)
	copy(s.rows[top+n:bottom+1], s.rows[top:])
	s.blank(top, top+n, style)
}

// insert puts n blanks of the style before cell x and moves the rest right.
func (s *gridScreen) insert(x, y, n int, style StyleID) {
	r := &s.rows[y]
	if style == ErasedStyle && x >= r.used {
		return
	}
	n = min(n, s.Cols-x)
	s.meter.Add(s.Cols - x)
	s.grid.Insert(x, y, n, style)
	r.used = min(max(r.used, x)+n, s.Cols)
}

// remove takes out n cells from x on; blanks of the style follow at the end.
func (s *gridScreen) remove(x, y, n int, style StyleID) {
	r := &s.rows[y]
	if style == ErasedStyle && x >= r.used {
		return
	}
	s.meter.Add(s.Cols - x)
	s.grid.Delete(x, y, min(n, s.Cols-x), style)
	if style != ErasedStyle {
		r.used = s.Cols
	}
}

// resize changes the size. Rows are taken from below the cursor first; the ones
// lost at the top go to lost.
func (s *gridScreen) resize(cols, rows int, lost func(y int)) {
	drop := max(s.Y-rows+1, 0)
	for y := range drop {
		lost(y)
	}
	s.grid.Resize(cols, rows, drop)
	s.rows = append(s.rows[:0], s.rows[drop:]...)
	s.rows = append(s.rows, make([]gridRow, max(rows-len(s.rows), 0))...)[:rows]
	for y := range s.rows {
		s.rows[y].used = min(s.rows[y].used, cols)
	}
	s.Y -= drop
	s.Resize(cols, rows)
}

// line packs a row.
func (s *gridScreen) line(y int, styles *gridStyles, p *Packer) Line {
	var run [256]byte
	text := run[:0]
	last, k := ErasedStyle, gridStyle{blank: true}
	for x := range s.rows[y].used {
		c, style := s.grid.Cell(x, y)
		if style != last {
			p.ASCII(text, k.style)
			text, last, k = text[:0], style, styles.entry(style)
		}
		switch {
		case k.blank:
			p.Blank(1, k.style)
		case c < utf8.RuneSelf:
			text = append(text, byte(c))
		default:
			p.ASCII(text, k.style)
			text = text[:0]
			p.Char(c, 1, k.style)
		}
	}
	p.ASCII(text, k.style)
	return p.Line(s.rows[y].wrapped)
}
