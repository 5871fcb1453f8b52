package vt10x

import "github.com/evertty/evertty/vt"

// tabEvery is the distance of the initial tab stops.
const tabEvery = 8

// screen is one of the two buffers: cells, and what xterm.js keeps beside them.
type screen struct {
	*grid
	x, y        int // the cursor; x == cols is the pending wrap
	top, bottom int // scroll region
	tabs        []bool
	saved       saved
}

// saved is what DECSC keeps. xterm.js counts its row from the oldest line of
// history, so it moves up while the screen scrolls.
type saved struct {
	set      bool
	x, row   int
	pen      vt.Pen
	charset  byte // the one in force
	charsets vt.Charsets
	origin   bool
}

func newScreen(cols, rows int) *screen {
	s := &screen{grid: newGrid(cols, rows)}
	s.reset()
	return s
}

// reset makes everything but the cells and the cursor as it is in the beginning.
func (s *screen) reset() {
	s.top, s.bottom = 0, s.rows-1
	s.tabs = make([]bool, s.cols)
	for x := 0; x < s.cols; x += tabEvery {
		s.tabs[x] = true
	}
}

// clamp brings the cursor to a cell, the last when a wrap is pending. limit is
// the largest column.
func (s *screen) clamp(limit int, origin bool) {
	top, bottom := 0, s.rows-1
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
	return max(x, 0)
}

// resize changes the size. Rows are taken from below the cursor first; the ones
// lost at the top go to lost.
func (s *screen) resize(cols, rows int, lost func(y int)) {
	slide := max(s.y-rows+1, 0)
	for y := range slide {
		lost(y)
	}
	old := s.cols
	s.grid.resize(cols, rows, slide)
	s.y -= slide
	s.saved.x = min(s.saved.x, cols-1)
	s.top, s.bottom = 0, rows-1
	s.clamp(cols-1, false)
	s.retab(old)
}

// retab gives new columns tab stops that go on from the last one.
func (s *screen) retab(old int) {
	tabs := make([]bool, s.cols)
	copy(tabs, s.tabs)
	if s.cols > old {
		for x := s.prevTab(old) + tabEvery; x < s.cols; x += tabEvery {
			tabs[x] = true
		}
	}
	s.tabs = tabs
}

// tabStops is the Frame's form: nil when every 8 columns.
func (s *screen) tabStops() []int {
	stops, usual := []int{}, true
	for x, set := range s.tabs {
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
