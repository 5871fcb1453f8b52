package vt

import "slices"

// screen is one of the two buffers: rows of cells and what xterm.js keeps beside
// them. Rows are pointers, so scrolling rotates them.
type screen struct {
	cursor
	rows  []*row   // cursor.Rows of them
	spare [][]cell // blank cells of rows that went back to text form
	kitty []uint8  // keyboard stack, oldest first
	meter *meter   // of the terminal
}

func newScreen(cols, rows int, m *meter) *screen {
	s := &screen{cursor: newCursor(cols, rows), meter: m}
	s.setRows(rows)
	return s
}

// setRows makes the screen that many rows high, blank ones at the end. Each row is an allocation of its own: one that
// is kept must not keep in memory those that go.
func (s *screen) setRows(n int) {
	s.rows = slices.Grow(s.rows, max(n-len(s.rows), 0))
	for len(s.rows) < n {
		s.rows = append(s.rows, &row{})
	}
	clear(s.rows[n:])
	s.rows = s.rows[:n]
}

// row is the cursor's row.
func (s *screen) row() *row { return s.rows[s.Y] }

// cells returns the row's cells, after making them when it is in text form.
func (s *screen) cells(r *row) []cell {
	if r.cells == nil {
		s.makeCells(r)
	}
	return r.cells
}

// makeCells makes the cells of a row in text form.
func (s *screen) makeCells(r *row) {
	cells := s.blankCells()
	s.meter.Add(r.used)
	r.fillCells(cells)
	r.cells, r.text, r.runs = cells, r.text[:0], r.runs[:0]
}

func (s *screen) blankCells() []cell {
	if n := len(s.spare) - 1; n >= 0 {
		cells := s.spare[n]
		s.spare = s.spare[:n]
		return cells
	}
	s.meter.Add(s.Cols)
	return make([]cell, s.Cols)
}

// textForm makes a row that gets overwritten or erased up to column x1 a blank one in text
// form, if nothing of it is left then. It does nothing when a narrower screen hides a part.
func (s *screen) textForm(r *row, x1 int) {
	if r.hidden() != nil || x1 < r.used || r.cells == nil && r.used == 0 {
		return
	}
	wrapped, noted := r.wrapped, r.noted
	s.blank(r, 0)
	r.wrapped, r.noted = wrapped, noted
}

// blank erases the whole row in the given style and ends its wrapping.
func (s *screen) blank(r *row, style uint32) {
	used := r.used
	r.version++
	if cells := r.clear(); cells != nil {
		s.meter.Add(used)
		clear(cells[:used])
		s.spare = append(s.spare, cells)
	}
	if style != 0 {
		r.append(Blank, nil, s.Cols, style)
	}
}

// scrollUp moves rows top to bottom up by n; blanks of the style follow.
func (s *screen) scrollUp(top, bottom, n int, style uint32) {
	n = min(n, bottom-top+1)
	region := s.rows[top : bottom+1]
	s.meter.Add(len(region) + n*costRow)
	if n == 1 {
		first := region[0]
		copy(region, region[1:])
		region[len(region)-1] = first
	} else {
		rotate(region, n)
	}
	for _, r := range region[len(region)-n:] {
		s.blank(r, style)
	}
}

// scrollDown moves rows top to bottom down by n; blanks of the style come before.
func (s *screen) scrollDown(top, bottom, n int, style uint32) {
	n = min(n, bottom-top+1)
	region := s.rows[top : bottom+1]
	s.meter.Add(len(region) + n*costRow)
	rotate(region, len(region)-n)
	for _, r := range region[:n] {
		s.blank(r, style)
	}
}

// rotate moves the first n rows to the end.
func rotate(rows []*row, n int) {
	slices.Reverse(rows[:n])
	slices.Reverse(rows[n:])
	slices.Reverse(rows)
}

func (s *screen) memory() int {
	n := cap(s.rows)*8 + len(s.spare)*s.Cols*cellSize + len(s.tabs)
	for _, r := range s.rows {
		n += r.memory()
	}
	return n
}
