package vt

// savedCursor is what DECSC keeps. xterm.js counts its row from the oldest line
// of history, so it moves up while the screen scrolls. That is why the functions
// here are given base, the number of lines of history above the screen.
type savedCursor struct {
	set      bool
	x, row   int
	pen      pen
	charset  byte // the one in force
	charsets Charsets
	origin   bool
}

// Save implements DECSC (VT510).
func (c *cursor) Save(base int, p *pen, sets *charsetState, origin bool) {
	c.saved = savedCursor{
		set: true, x: c.X, row: base + c.Y, pen: *p,
		charset: sets.InForce(), charsets: sets.Charsets, origin: origin,
	}
}

// Restore implements DECRC as xterm.js 6 does: position, pen and the charset in
// force, nothing else. origin is the mode now.
func (c *cursor) Restore(base int, p *pen, sets *charsetState, origin bool) {
	c.X, c.Y = c.saved.x, max(c.saved.row-base, 0)
	p.Restore(&c.saved.pen)
	sets.Restore(c.saved.charset)
	c.Restrict(origin)
}

// Dropped says that n lines went from the top of the history, which the saved row
// counts.
func (c *cursor) Dropped(n int) { c.saved.row = max(c.saved.row-n, 0) }

// softReset is what DECSTR (VT510) does to the cursor: no margins, and home is
// saved. The position stays.
func (c *cursor) SoftReset(base int) {
	c.Top, c.Bottom = 0, c.Rows-1
	c.saved = savedCursor{set: true, row: base, charset: usASCII}
}

// Freeze is the part of a Frame's Screen that a cursor has: everything but
// lines and keyboard.
func (c *cursor) Freeze(base int) Screen {
	return Screen{
		X: min(c.X, c.Cols-1), Y: c.Y, PendingWrap: c.X >= c.Cols, Beyond: c.X > c.Cols,
		Top: c.Top, Bottom: c.Bottom, Tabs: c.tabStops(), Saved: c.Saved(base),
	}
}

// Saved is the saved cursor in a Frame's form, the zero value when there is none.
func (c *cursor) Saved(base int) SavedCursor {
	m := &c.saved
	if !m.set {
		return SavedCursor{}
	}
	d := SavedCursor{
		Set: true, X: min(m.x, c.Cols-1), Y: m.row - base, PendingWrap: m.x >= c.Cols, Beyond: m.x > c.Cols,
		Pen: m.pen.Style(), Charsets: m.charsets.printing(m.charset), Origin: m.origin,
	}
	lined, shown := d.Flags()
	if lined != m.pen.underlined {
		d.FlagsDiffer |= FlagUnderlined
	}
	if shown != m.pen.extended {
		d.FlagsDiffer |= FlagExtended
	}
	return d
}

// load takes what a Screen has besides lines and keyboard, with base lines of
// history above it.
func (c *cursor) load(s *Screen, base int) {
	c.X, c.Y, c.Top, c.Bottom = s.X, s.Y, s.Top, s.Bottom
	c.X = column(s.X, c.Cols, s.PendingWrap, s.Beyond)
	c.loadTabs(s.Tabs)
	d := &s.Saved
	if !d.Set {
		return
	}
	c.saved = savedCursor{
		set: true, x: column(d.X, c.Cols, d.PendingWrap, d.Beyond), row: max(base+d.Y, 0), pen: penOf(d.Pen),
		charset: d.Charsets.G[d.Charsets.GL], charsets: d.Charsets, origin: d.Origin,
	}
	c.saved.pen.underlined, c.saved.pen.extended = d.Flags()
}

// column is the column of a Frame's cursor as a cursor has it.
func column(x, cols int, pending, beyond bool) int {
	switch {
	case pending && beyond:
		return cols + 1
	case pending:
		return cols
	}
	return x
}
