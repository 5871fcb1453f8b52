package vt

// csi executes a control sequence, the frequent ones first. One that means nothing else may be a
// query.
func (x *executor) csi(f function) {
	in := &x.stream
	switch f {
	case 'm':
		x.pen.SGR(in)
		x.penChanged()
	case 'K', '?'*private + 'K':
		x.eraseLine(in.Param(0), f != 'K')
	case 'J', '?'*private + 'J':
		x.eraseDisplay(in.Param(0), f != 'J')
	case 'h', 'l', '?'*private + 'h', '?'*private + 'l':
		x.setModes(f)
	case 's':
		x.saveCursor()
	case 'u':
		x.restoreCursor()
	default:
		if !x.screen.CSI(in, f, x.modes.Origin) && !x.csiEdit(f) {
			x.reply(x.status().CSI(in, f))
		}
	}
}

// csiEdit executes f when it moves cells or sets something, and reports whether it does.
func (x *executor) csiEdit(f function) bool {
	in, s := &x.stream, x.screen
	switch f {
	case '@':
		x.insertChars(in.One(0))
	case 'L':
		x.insertLines(in.Times(s.Rows))
	case 'M':
		x.deleteLines(in.Times(s.Rows))
	case 'P':
		x.deleteChars(in.One(0))
	case 'S': // SU (ECMA-48 8.3.147)
		s.scrollUp(s.Top, s.Bottom, in.Times(s.Rows), x.blankStyle())
	case 'T': // SD (ECMA-48 8.3.113)
		s.scrollDown(s.Top, s.Bottom, in.Times(s.Rows), 0)
	case 'X':
		x.eraseChars(in.One(0))
	case 'b':
		x.repeat()
	default:
		m := x.columnShift(f)
		if m.n == 0 {
			return x.csiState(f)
		}
		x.shiftColumns(m)
	}
	return true
}

// csiState executes f when it sets something else, and reports whether it does.
func (x *executor) csiState(f function) bool {
	in := &x.stream
	switch f {
	case '!'*intermediate + 'p':
		x.softReset()
	case '"'*intermediate + 'q':
		x.pen.Protect(in.Param(0))
		x.penChanged()
	case ' '*intermediate + 'q':
		x.cursorStyle = x.cursorStyle.selectStyle(in.Param(0))
	case '>'*private + 'u':
		x.pushKitty(in.Param(0))
	case '<'*private + 'u':
		x.popKitty(in.One(0))
	case '='*private + 'u':
		x.changeKitty(in.Param(0), in.One(1))
	case '?'*private + 's':
		x.saveModes()
	case '?'*private + 'r':
		x.restoreModes()
	case '$'*intermediate + 'x': // DECFRA
		in.Cut() // viewers may take what does nothing here for something
		x.fillRectangle()
	case '$'*intermediate + 'z': // DECERA
		in.Cut()
		x.eraseRectangle()
	case '$'*intermediate + '{': // DECSERA
		in.Cut()
		x.eraseUnprotected()
	case '*'*intermediate + 'y':
		x.reply(x.checksum())
	default:
		return false
	}
	return true
}
