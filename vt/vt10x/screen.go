package vt10x

import "github.com/evertty/evertty/vt"

// screen is one of the two buffers: cells, and what xterm.js keeps beside them.
type screen struct {
	*grid
	vt.Cursor
}

func newScreen(cols, rows int) *screen {
	return &screen{grid: newGrid(cols, rows), Cursor: vt.NewCursor(cols, rows)}
}

// resize changes the size. Rows are taken from below the cursor first; the ones
// lost at the top go to lost.
func (s *screen) resize(cols, rows int, lost func(y int)) {
	slide := max(s.Y-rows+1, 0)
	for y := range slide {
		lost(y)
	}
	s.grid.resize(cols, rows, slide)
	s.Y -= slide
	s.Resize(cols, rows)
}
