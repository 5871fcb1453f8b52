package vt

// csi executes a control sequence that every engine knows, the frequent ones
// first. One that means nothing else may be a query.
func (c *core) csi(f function) {
	in := &c.stream
	switch f {
	case 'm':
		c.pen.SGR(in)
		c.penChanged()
	case 'K', '?'*private + 'K':
		c.eraseLine(in.Param(0), f != 'K')
	case 'J', '?'*private + 'J':
		c.eraseDisplay(in.Param(0), f != 'J')
	case 'h', 'l', '?'*private + 'h', '?'*private + 'l':
		c.setModes(f)
	case 's':
		c.saveCursor()
	case 'u':
		c.restoreCursor()
	default:
		if !c.cur.CSI(in, f, c.modes.Origin) && !c.csiEdit(f) {
			c.reply(c.status().CSI(in, f))
		}
	}
}

// csiEdit executes f when it moves cells or sets something, and reports whether it does.
func (c *core) csiEdit(f function) bool {
	in, s := &c.stream, c.cur
	switch f {
	case '@':
		c.insertChars(in.One(0))
	case 'L':
		c.insertLines(in.Times(s.Rows))
	case 'M':
		c.deleteLines(in.Times(s.Rows))
	case 'P':
		c.deleteChars(in.One(0))
	case 'S': // SU (ECMA-48 8.3.147)
		c.grid.moveUp(s.Top, s.Bottom, in.Times(s.Rows))
	case 'T': // SD (ECMA-48 8.3.113)
		c.grid.moveDown(s.Top, s.Bottom, in.Times(s.Rows), true)
	case 'X':
		c.eraseChars(in.One(0))
	case 'b':
		c.grid.repeat()
	default:
		m := c.columnShift(f)
		if m.n == 0 {
			return c.csiState(f)
		}
		c.shiftColumns(m)
	}
	return true
}

// csiState executes f when it sets something else, and reports whether it does.
func (c *core) csiState(f function) bool {
	in := &c.stream
	switch f {
	case '!'*intermediate + 'p':
		c.softReset()
	case '"'*intermediate + 'q':
		c.pen.Protect(in.Param(0))
		c.penChanged()
	case ' '*intermediate + 'q':
		c.cursorStyle = c.cursorStyle.selectStyle(in.Param(0))
	default:
		return c.grid.extraCSI(f)
	}
	return true
}
