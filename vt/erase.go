package vt

// eraseDisplay implements ED and DECSED (ECMA-48 8.3.39, VT510); 3 is xterm's
// saved lines. keep leaves protected cells alone.
func (c *core) eraseDisplay(what int, keep bool) {
	c.reach()
	s := c.cur
	switch what {
	case 0:
		c.eraseLine(0, keep)
		c.grid.eraseRows(min(s.Y+1, s.Rows), s.Rows, keep)
	case 1:
		if s.X+1 >= s.Cols && s.Y == s.Rows-1 {
			c.eraseAll(keep)
			return
		}
		c.eraseLine(1, keep)
		c.grid.setWrapped(s.Y, false)
		if s.X+1 >= s.Cols {
			c.unwrap(s.Y + 1)
		}
		c.grid.eraseRows(0, s.Y, keep)
	case 2:
		c.grid.eraseRows(0, s.Rows, keep)
	case 3:
		if c.cfg.Guest {
			c.stream.Cut()
		}
		if s == c.mainCursor {
			c.grid.clearHistory()
		}
	}
}

// eraseAll is ED 1 in the last column of the last row. There xterm.js 6
// reads a row below, throws, and stops for good; viewers get ED 2 instead, which
// does the same.
func (c *core) eraseAll(keep bool) {
	c.grid.eraseRows(0, c.cur.Rows, keep)
	if keep {
		c.stream.Replace([]byte("\x1b[?2J")...)
	} else {
		c.stream.Replace([]byte("\x1b[2J")...)
	}
}

// unwrap ends the wrapping of line i, counted from the oldest of history: the
// line below the cursor only while there is no history (xterm.js).
func (c *core) unwrap(i int) {
	if base := c.base(); i < base {
		c.hist.unwrap(i)
	} else if i -= base; i < c.cur.Rows {
		c.grid.setWrapped(i, false)
	}
}

// eraseLine implements EL and DECSEL (ECMA-48 8.3.41, VT510).
func (c *core) eraseLine(what int, keep bool) {
	c.reach()
	if what > 2 {
		return
	}
	s := c.cur
	x0, x1 := s.EraseColumns(what)
	c.grid.eraseCells(s.Y, x0, x1, keep)
	if what != 1 && x0 == 0 {
		c.grid.setWrapped(s.Y, false)
	}
}

// eraseChars implements ECH (ECMA-48 8.3.38).
func (c *core) eraseChars(n int) {
	c.restrict()
	s := c.cur
	c.grid.eraseCells(s.Y, s.X, min(s.X+n, s.Cols), false)
}

// insertChars implements ICH (ECMA-48 8.3.64).
func (c *core) insertChars(n int) {
	c.restrict()
	s := c.cur
	c.grid.beforeInsert(s.X, s.Y, s.Y)
	c.grid.insertCells(s.Y, s.X, n)
}

// deleteChars implements DCH (ECMA-48 8.3.26).
func (c *core) deleteChars(n int) {
	c.restrict()
	c.grid.deleteCells(c.cur.Y, c.cur.X, n)
}

// insertLines implements IL (ECMA-48 8.3.67).
func (c *core) insertLines(n int) {
	c.restrict()
	if s := c.cur; s.InRegion() {
		c.grid.moveDown(s.Y, s.Bottom, n, false)
		s.X = 0
	}
}

// deleteLines implements DL (ECMA-48 8.3.32).
func (c *core) deleteLines(n int) {
	c.restrict()
	if s := c.cur; s.InRegion() {
		c.grid.moveUp(s.Y, s.Bottom, n)
		s.X = 0
	}
}
