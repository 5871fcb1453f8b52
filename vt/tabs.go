package vt

// tabEvery is the distance of the initial tab stops (xterm.js tabStopWidth).
const tabEvery = 8

func (c *cursor) resetTabs() {
	c.tabs = make([]bool, c.Cols+1)
	for x := 0; x < c.Cols; x += tabEvery {
		c.tabs[x] = true
	}
}

// Tab implements HT (ECMA-48 8.3.60): the next tab stop, the last column when
// there is none. A pending wrap stays.
func (c *cursor) Tab() {
	if c.X >= c.Cols {
		return
	}
	for c.X++; c.X < c.Cols && !c.tabs[c.X]; {
		c.X++
	}
	c.X = min(c.X, c.Cols-1)
}

// backTab is one step of CBT (ECMA-48 8.3.7). A pending wrap stays.
func (c *cursor) backTab() {
	if c.X < c.Cols {
		c.X = c.prevTab(c.X)
	}
}

// prevTab is the column of the tab stop before x, 0 when there is none.
func (c *cursor) prevTab(x int) int {
	for x--; x > 0 && !c.tabs[x]; {
		x--
	}
	return max(x, 0)
}

// SetTab implements HTS (ECMA-48 8.3.62).
func (c *cursor) SetTab() { c.setTab(c.X) }

// setTab makes a tab stop, which may be right of the screen.
func (c *cursor) setTab(x int) {
	c.growTabs(x)
	c.tabs[x] = true
}

// growTabs makes room for a stop in column x.
func (c *cursor) growTabs(x int) {
	if n := x + 1 - len(c.tabs); n > 0 {
		c.tabs = append(c.tabs, make([]bool, n)...)
	}
}

// clearTabs implements TBC (ECMA-48 8.3.154).
func (c *cursor) clearTabs(what int) {
	switch what {
	case 0:
		if c.X < len(c.tabs) {
			c.tabs[c.X] = false
		}
	case 3:
		clear(c.tabs)
	}
}

// retab adds the tab stops that xterm.js makes whenever it is resized: every
// eight columns from the last stop on.
func (c *cursor) retab() {
	c.growTabs(c.Cols)
	if c.tabs[c.Cols] {
		return
	}
	for x := c.prevTab(c.Cols); x < c.Cols; x += tabEvery {
		c.tabs[x] = true
	}
}

// tabStops is the Frame's form: nil when every 8 columns on the screen and none
// right of it.
func (c *cursor) tabStops() []int {
	stops, usual := []int{}, true
	for x, set := range c.tabs {
		if set {
			stops = append(stops, x)
		}
		usual = usual && set == (x%tabEvery == 0 && x < c.Cols)
	}
	if usual {
		return nil
	}
	return stops
}

// loadTabs takes the stops of a Frame.
func (c *cursor) loadTabs(stops []int) {
	if stops == nil {
		c.resetTabs()
		return
	}
	clear(c.tabs)
	for _, x := range stops {
		c.setTab(x)
	}
}
