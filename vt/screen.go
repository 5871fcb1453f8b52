package vt

// tabEvery is the distance of the initial tab stops (xterm.js tabStopWidth).
const tabEvery = 8

// screen is one of the two buffers: rows of cells and what xterm.js keeps beside
// them. Rows are pointers, so scrolling rotates them.
type screen struct {
	cols  int
	rows  []*row
	spare [][]cell // blank cells of rows that went back to text form

	x, y        int // the cursor; x == cols is the pending wrap
	top, bottom int // scroll region, both inside
	// tabs are the stops by column. There are more of them than columns when the
	// screen was wider once: xterm.js remembers those.
	tabs  []bool
	saved savedCursor
	kitty []uint8 // keyboard stack, oldest first
}

// savedCursor is what DECSC keeps. xterm.js counts its row from the oldest line
// of history, so it moves up while the screen scrolls.
type savedCursor struct {
	set      bool
	x, row   int
	pen      Pen
	charset  byte
	charsets Charsets
	origin   bool
}

func newScreen(cols, rows int) *screen {
	s := &screen{cols: cols}
	s.setRows(rows)
	s.reset()
	return s
}

// setRows makes the screen that many rows high, blank ones at the end.
func (s *screen) setRows(n int) {
	for len(s.rows) < n {
		s.rows = append(s.rows, &row{})
	}
	clear(s.rows[n:])
	s.rows = s.rows[:n]
}

// reset makes everything but the cells, the cursor and the keyboard as it is in
// the beginning.
func (s *screen) reset() {
	s.top, s.bottom = 0, len(s.rows)-1
	s.tabs = make([]bool, s.cols+1)
	for x := 0; x < s.cols; x += tabEvery {
		s.tabs[x] = true
	}
}

// row is the cursor's row.
func (s *screen) row() *row { return s.rows[s.y] }

// inRegion tells whether the cursor is between the margins.
func (s *screen) inRegion() bool { return s.y >= s.top && s.y <= s.bottom }

// cells returns the row's cells, after making them when it is in text form.
func (s *screen) cells(r *row) []cell {
	if r.cells == nil {
		cells := s.blankCells()
		r.fillCells(cells)
		r.cells, r.text, r.runs = cells, r.text[:0], r.runs[:0]
	}
	return r.cells
}

func (s *screen) blankCells() []cell {
	if n := len(s.spare) - 1; n >= 0 {
		cells := s.spare[n]
		s.spare = s.spare[:n]
		return cells
	}
	return make([]cell, s.cols)
}

// blank erases the whole row in the given style and ends its wrapping.
func (s *screen) blank(r *row, style uint32) {
	used := r.used
	if cells := r.clear(); cells != nil {
		clear(cells[:used])
		s.spare = append(s.spare, cells)
	}
	if style != 0 {
		r.append(Blank, nil, s.cols, style)
	}
}

// scrollUp moves rows top to bottom up by n; blanks of the style follow.
func (s *screen) scrollUp(top, bottom, n int, style uint32) {
	n = min(n, bottom-top+1)
	region := s.rows[top : bottom+1]
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
	rotate(region, len(region)-n)
	for _, r := range region[:n] {
		s.blank(r, style)
	}
}

// rotate moves the first n rows to the end.
func rotate(rows []*row, n int) {
	reverse(rows[:n])
	reverse(rows[n:])
	reverse(rows)
}

func reverse(rows []*row) {
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
}

// clamp brings the cursor to a cell, the last when a wrap is pending. limit is
// the largest column.
func (s *screen) clamp(limit int, origin bool) {
	top, bottom := 0, len(s.rows)-1
	if origin {
		top, bottom = s.top, s.bottom
	}
	s.x = min(max(s.x, 0), limit)
	s.y = min(max(s.y, top), bottom)
}

// nextTab is the column of the next tab stop, the last column when there is none.
func (s *screen) nextTab(x int) int {
	for x++; x < s.cols && !s.tabs[x]; {
		x++
	}
	return min(x, s.cols-1)
}

// prevTab is the column of the previous tab stop, 0 when there is none.
func (s *screen) prevTab(x int) int {
	for x--; x > 0 && !s.tabs[x]; {
		x--
	}
	return min(max(x, 0), s.cols-1)
}

// retab adds the tab stops that xterm.js makes whenever it is resized: every
// eight columns from the last stop on. old is the number of columns before.
func (s *screen) retab() {
	if n := s.cols + 1 - len(s.tabs); n > 0 {
		s.tabs = append(s.tabs, make([]bool, n)...)
	}
	if s.tabs[s.cols] {
		return
	}
	x := s.cols
	for x--; x > 0 && !s.tabs[x]; {
		x--
	}
	for x = max(x, 0); x < s.cols; x += tabEvery {
		s.tabs[x] = true
	}
}

// tabStops is the Frame's form: nil when every 8 columns.
func (s *screen) tabStops() []int {
	stops, usual := []int{}, true
	for x, set := range s.tabs[:s.cols] {
		if set {
			stops = append(stops, x)
		}
		usual = usual && set == (x%tabEvery == 0)
	}
	if usual {
		return nil
	}
	return stops
}

func (s *screen) memory() int {
	n := cap(s.rows)*8 + len(s.spare)*s.cols*cellSize + len(s.tabs)
	for _, r := range s.rows {
		n += r.memory()
	}
	return n
}
