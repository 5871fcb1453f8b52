package vt

// cursor is where a screen prints next and what bounds its movements: size,
// scroll region and tab stops, and what DECSC saved (VT510; ECMA-48 8.3). The
// rules are xterm.js 6's. It knows no cells: where rows have to move, a method says
// so and its caller moves them.
//
// An engine may set X and Y inside their limits. origin is always DECOM, which
// belongs to the terminal and not to one screen.
type cursor struct {
	// X and Y count from 0. X == Cols is the pending wrap; a character without width
	// that followed nothing makes that Cols+1, from where another one wraps too.
	X, Y        int
	Cols, Rows  int // set by newCursor and Resize
	Top, Bottom int // scroll region, rows from 0, both inside
	// tabs are the stops by column, at least Cols+1. There are more when the
	// screen was wider once: xterm.js remembers those.
	tabs  []bool
	saved savedCursor
}

// newCursor is the cursor of a screen as after RIS (ECMA-48 8.3.105).
func newCursor(cols, rows int) cursor {
	c := cursor{Cols: cols, Rows: rows}
	c.Reset()
	return c
}

// Reset makes scroll region and tab stops as in the beginning. Position and
// saved cursor stay.
func (c *cursor) Reset() {
	c.Top, c.Bottom = 0, c.Rows-1
	c.resetTabs()
}

// Resize gives the screen a new size, both at least 1. The scroll region becomes
// the whole screen, and position and saved column fit in.
func (c *cursor) Resize(cols, rows int) {
	c.Cols, c.Rows = cols, rows
	c.Top, c.Bottom = 0, rows-1
	c.Restrict(false)
	c.saved.x = min(c.saved.x, cols-1)
	c.retab()
}

// Restrict ends a pending wrap and keeps the cursor inside, in origin mode
// inside of the scroll region.
func (c *cursor) Restrict(origin bool) { c.clamp(c.Cols-1, origin) }

// Reach is Restrict but leaves a pending wrap pending.
func (c *cursor) Reach(origin bool) { c.clamp(c.Cols, origin) }

// clamp brings the cursor inside. limit is the largest column.
func (c *cursor) clamp(limit int, origin bool) {
	top, bottom := 0, c.Rows-1
	if origin {
		top, bottom = c.Top, c.Bottom
	}
	c.X = min(max(c.X, 0), limit)
	c.Y = min(max(c.Y, top), bottom)
}

// InRegion reports whether the cursor is between the margins.
func (c *cursor) InRegion() bool { return c.Y >= c.Top && c.Y <= c.Bottom }

// MoveTo places the cursor; rows count from the top margin in origin mode.
func (c *cursor) MoveTo(x, y int, origin bool) {
	if origin {
		y += c.Top
	}
	c.X, c.Y = x, y
	c.Restrict(origin)
}

// moveBy moves the cursor relative to where it is. In origin mode that counts
// from the top margin too, as in xterm.js.
func (c *cursor) moveBy(dx, dy int, origin bool) {
	c.Restrict(origin)
	c.MoveTo(c.X+dx, c.Y+dy, origin)
}

// up implements CUU (ECMA-48 8.3.22): it stops at the top margin when it starts below.
func (c *cursor) up(n int, origin bool) {
	if c.Y >= c.Top {
		n = min(n, c.Y-c.Top)
	}
	c.moveBy(0, -n, origin)
}

// down implements CUD (ECMA-48 8.3.19), which stops at the bottom margin.
func (c *cursor) down(n int, origin bool) {
	if c.Y <= c.Bottom {
		n = min(n, c.Bottom-c.Y)
	}
	c.moveBy(0, n, origin)
}

// margins implements DECSTBM (VT510); an impossible region changes nothing.
func (c *cursor) margins(top, bottom int, origin bool) {
	top = max(top, 1)
	if bottom == 0 || bottom > c.Rows {
		bottom = c.Rows
	}
	if bottom > top {
		c.Top, c.Bottom = top-1, bottom-1
		c.MoveTo(0, 0, origin)
	}
}

// Index moves the cursor a line down. At the bottom margin it stays, and the
// region has to scroll up by a line: then scroll is true (IND, VT510).
func (c *cursor) Index() (scroll bool) {
	if c.Y == c.Bottom {
		return true
	}
	c.Y = min(c.Y+1, c.Rows-1)
	return false
}

// ReverseIndex implements RI (ECMA-48 8.3.104). At the top margin the region has
// to scroll down by a line: then scroll is true.
func (c *cursor) ReverseIndex(origin bool) (scroll bool) {
	c.Restrict(origin)
	if c.Y == c.Top {
		return true
	}
	c.Y--
	c.Restrict(origin)
	return false
}

// Backspace implements BS (ECMA-48 8.3.5) after Reach. With reverse wraparound
// (?45) it goes back over the end of a line when wrapped, which says that the
// cursor's row continues the one above. Then over is true, and the row it came
// from continues nothing any more.
func (c *cursor) Backspace(reverse, wrapped bool) (over bool) {
	if !reverse {
		c.X = min(c.X, c.Cols-1)
	}
	switch {
	case c.X > 0:
		c.X--
	case reverse && wrapped && c.Y > c.Top && c.Y <= c.Bottom:
		c.X, c.Y = c.Cols-1, c.Y-1
		return true
	}
	return false
}

// EraseColumns are the columns x0 to x1-1 of its row that EL erases, and ED too
// (ECMA-48 8.3.41, 8.3.39). what has the values 0 to 2; x1 can be Cols+1.
func (c *cursor) EraseColumns(what int) (x0, x1 int) {
	switch what {
	case 0:
		return c.X, c.Cols
	case 1:
		return 0, c.X + 1
	}
	return 0, c.Cols
}
