package vt

// control executes a C0 or C1 control.
func (c *core) control(r rune) {
	s := c.cur
	switch r {
	case '\n', '\v', '\f':
		c.lineFeed()
	case '\r':
		s.X = 0
	case '\b':
		c.backspace()
	case '\t':
		s.Tab()
	case 0x05: // ENQ is never answered
		c.stream.CutControl(r)
	case 0x07:
		if f := c.cfg.Effects.Bell; f != nil {
			f()
		}
	case 0x0e: // SO
		c.charsets.Invoke(1)
	case 0x0f: // SI
		c.charsets.Invoke(0)
	case 0x84: // IND
		c.index()
	case 0x85: // NEL
		s.X = 0
		c.index()
	case 0x88: // HTS
		s.SetTab()
	default:
		if r >= 0x80 {
			c.stream.voidControl(r)
		}
	}
}

// lineFeed implements LF, VT and FF (ECMA-48 8.3.74).
func (c *core) lineFeed() {
	s, y := c.cur, c.cur.Y
	if c.modes.Linefeed {
		s.X = 0
	}
	if s.Index() {
		c.grid.scroll()
	} else if s.Y > y {
		c.grid.setWrapped(s.Y, false)
	}
	if s.X >= s.Cols {
		s.X--
	}
}

// backspace implements BS (ECMA-48 8.3.5).
func (c *core) backspace() {
	c.reach()
	s, y := c.cur, c.cur.Y
	if !s.Backspace(c.modes.ReverseWrap, c.grid.wrapped(y)) {
		return
	}
	c.grid.setWrapped(y, false)
	if s.X > 0 && c.grid.erased(s.X, s.Y) {
		s.X-- // a wide character wrapped one column early
	}
}

// index implements IND (VT510).
func (c *core) index() {
	c.restrict()
	if c.cur.Index() {
		c.grid.scroll()
	}
}

// reverseIndex implements RI (ECMA-48 8.3.104).
func (c *core) reverseIndex() {
	if c.cur.ReverseIndex(c.modes.Origin) {
		c.grid.scrollBack()
	}
}

// leftShifts are the shifts that do on every terminal what LS1R, LS2R and LS3R do in
// xterm.js: SO, LS2 and LS3 (ECMA-48 8.3.76, 8.3.78, 8.3.80).
var leftShifts = map[function]string{'~': "\x0e", '}': "\x1bn", '|': "\x1bo"}

// escape executes an escape sequence.
func (c *core) escape(f function) {
	switch f {
	case '\\': // ST
		if c.stream.EndsCut() {
			c.stream.Cut()
		}
	case '7':
		c.saveCursor()
	case '8':
		c.restoreCursor()
	case 'D':
		c.index()
	case 'E':
		c.cur.X = 0
		c.index()
	case 'H':
		c.cur.SetTab()
	case 'M':
		c.reverseIndex()
	case 'c':
		c.reset()
	case '=', '>':
		c.modes.AppKeypad = f == '='
	case '#'*intermediate + '8':
		c.alignment()
	case '~', '}', '|': // LS1R, LS2R, LS3R
		c.charsets.lockingShift(byte(f))
		c.stream.Replace([]byte(leftShifts[f])...)
	case '%'*intermediate + '@', '%'*intermediate + 'G': // DOCS (ECMA-35 15.4)
		c.charsets.Invoke(0)
		c.charsets.Designate(0, usASCII)
		c.stream.Replace([]byte("\x0f\x1b(B")...)
	default:
		if !c.charsets.Escape(f) && !c.grid.extraEscape(f) {
			c.reply(c.status().Escape(f))
		}
	}
}

// reset implements RIS (ECMA-48 8.3.105) as xterm.js does, which keeps title and
// colours.
func (c *core) reset() {
	c.showReset()
	c.grid.clearScreens()
	c.grid.clearHistory()
	c.modes.reset()
	c.resetPen()
}

// softReset implements DECSTR (VT510). The cursor stays where it is.
func (c *core) softReset() {
	c.modes.softReset()
	c.cur.SoftReset(c.base())
	c.resetPen()
}

// resetPen makes pen, character sets and cursor style as in the beginning.
func (c *core) resetPen() {
	c.pen = pen{}
	c.grid.linkChanged(Link{})
	c.penChanged()
	c.charsets.Reset()
	c.cursorStyle = 0
}

// alignment implements DECALN (VT510): the screen full of E. In origin mode
// xterm.js begins at the top margin.
func (c *core) alignment() {
	c.cur.MoveTo(0, 0, c.modes.Origin)
	c.grid.fillWithE(c.pen.Bare())
	c.cur.MoveTo(0, 0, c.modes.Origin)
}
