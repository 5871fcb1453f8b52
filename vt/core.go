package vt

// core is what the engines of this package share: all state that does not lie in
// cells, and the meaning of what only needs that state. What a sequence does to
// cells is the work of grid.
type core struct {
	cfg     Config
	unicode Unicode // the width table in use; "" when there is none
	stream  stream
	budget  budget
	hist    history
	grid    cellEditor // the engine itself

	mainCursor *cursor
	cur        *cursor // of the screen shown

	modes       Modes
	pen         pen
	styleKnown  bool // the engine has the number of the pen's style
	blankKnown  bool // and of the style of erased cells
	charsets    charsetState
	cursorStyle CursorStyle
	labels      labels
}

// cellEditor is what an engine does to the cells of the screen shown. Columns and
// rows count from 0. Cells that become free are blanks in the pen's background.
type cellEditor interface {
	// scroll moves the scroll region up by a line. The line that leaves the main
	// screen at its top becomes history.
	scroll()
	// scrollBack moves the scroll region down by a line.
	scrollBack()
	// moveUp and moveDown move rows top to bottom by n. plain: the rows that
	// become free have the default colour.
	moveUp(top, bottom, n int)
	moveDown(top, bottom, n int, plain bool)
	// eraseCells erases columns x0 to x1-1 of row y, eraseRows rows y0 to y1-1.
	// keep leaves protected cells alone. x1 can be one more than there are columns.
	eraseCells(y, x0, x1 int, keep bool)
	eraseRows(y0, y1 int, keep bool)
	// insertCells puts n blanks in at column x, deleteCells takes n cells out.
	insertCells(y, x, n int)
	deleteCells(y, x, n int)
	// wrapped reports whether row y continues the row above.
	wrapped(y int) bool
	setWrapped(y int, wrapped bool)
	// erased reports whether nothing was printed in a cell.
	erased(x, y int) bool

	// beforeInsert is called before cells are put in at column x of rows y0 to y1.
	beforeInsert(x, y0, y1 int)
	// clearHistory forgets all lines of the history.
	clearHistory()
	// repeat implements REP (ECMA-48 8.3.103).
	repeat()
	// fillWithE implements DECALN (VT510) from the cursor's row on.
	fillWithE(style Style)
	// setAlt shows the alternate screen, or the main one.
	setAlt(on bool)
	// clearScreens makes all screens blank and shows the main one, for RIS.
	clearScreens()
	// linkChanged says that the pen has another link, loseLink that DECRC gave it another
	// pen, which may hide its link.
	linkChanged(l Link)
	loseLink()
	// extraCSI executes a control sequence that only this engine knows, and tells
	// whether it is one; extraEscape an escape sequence.
	extraCSI(f function) bool
	extraEscape(f function) bool
}

// init makes c the state of a new engine, whose cells are in grid. The engine shows a
// screen then.
func (c *core) init(cfg Config, grid cellEditor, main *cursor) {
	c.cfg, c.unicode, c.grid, c.mainCursor = cfg, cfg.Unicode, grid, main
	c.modes, c.budget = DefaultModes(), newBudget(cfg.Memory)
	c.hist.limit = cfg.Scrollback
	c.charsets.Reset()
}

// Held implements Engine.
func (c *core) Held() int { return c.stream.Held() }

// Work implements Engine.
func (c *core) Work() int { return c.stream.meter.done }

// TextDropped implements Engine.
func (c *core) TextDropped() bool {
	dropped := c.stream.lost
	c.stream.lost = false
	return dropped
}

// AtRest implements Engine.
func (c *core) AtRest() bool { return !c.stream.Open() }

// Modes implements Engine.
func (c *core) Modes() Modes { return c.modes }

// base is the number of lines above the screen shown; a saved row counts them.
func (c *core) base() int {
	if c.cur == c.mainCursor {
		return c.hist.count
	}
	return 0
}

// restrict is cursor.Restrict of the screen shown.
func (c *core) restrict() { c.cur.Restrict(c.modes.Origin) }

// reach is cursor.Reach of the screen shown.
func (c *core) reach() { c.cur.Reach(c.modes.Origin) }

// forgetDropped adapts the saved row, which counts from the oldest line of history, to
// lines that went.
func (c *core) forgetDropped() {
	if n := c.hist.dropped; n > 0 {
		c.mainCursor.Dropped(n)
		c.hist.dropped = 0
	}
}

// status is what programs can ask for.
func (c *core) status() *status {
	s := c.cur
	return &status{
		Cols: s.Cols, Rows: s.Rows, X: min(s.X, s.Cols-1), Y: s.Y, Top: s.Top, Bottom: s.Bottom,
		Modes: c.modes, Pen: c.pen.Style(), CursorStyle: c.cursorStyle, Unicode: c.unicode,
		Theme: &c.labels.colors.theme,
	}
}

// reply gives an answer to the program, if there is one, and takes the sequence at hand out
// of the viewers' text: a query, or one that is unknown here. What nobody here
// understands nobody could take back in a user's terminal.
func (c *core) reply(answer []byte) {
	if len(answer) > 0 {
		c.cfg.Effects.reply(answer)
	}
	c.stream.Cut()
}

// penChanged says that the pen may have another style now.
func (c *core) penChanged() { c.styleKnown, c.blankKnown = false, false }

// osc executes an operating system command with this text.
func (c *core) osc(text []byte) {
	if link, ok := c.labels.OSC(&c.stream, text, c.cfg.Effects); ok {
		c.pen.SetLink(link)
		c.grid.linkChanged(link)
		c.penChanged()
	}
}

// dcs answers a device control string that is a query. Others do nothing: sixel
// images are consumed. Viewers get none.
func (c *core) dcs(text []byte) {
	if answer := c.status().DCS(text); len(answer) > 0 {
		c.cfg.Effects.reply(answer)
	}
}

// SetTheme implements Engine.
func (c *core) SetTheme(t Theme) {
	if c.labels.colors.theme == t {
		return
	}
	c.labels.colors.theme = t
	if c.modes.ColorReports {
		c.cfg.Effects.reply(t.scheme())
	}
}
