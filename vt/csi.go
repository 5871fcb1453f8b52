package vt

// csi executes a control sequence, the frequent ones first. One that means nothing else may be a query.
func (t *Terminal) csi(f function) {
	in := &t.stream
	switch f {
	case 'm':
		t.pen.SGR(in)
		t.penChanged()
	case 'K', '?'*private + 'K':
		t.eraseLine(in.Param(0), f != 'K')
	case 'J', '?'*private + 'J':
		t.eraseDisplay(in.Param(0), f != 'J')
	case 'h', 'l', '?'*private + 'h', '?'*private + 'l':
		t.setModes(f)
	case 's':
		t.saveCursor()
	case 'u':
		t.restoreCursor()
	default:
		if !t.screen.CSI(in, f, t.modes.Origin) && !t.csiEdit(f) {
			t.reply(t.status().CSI(in, f))
		}
	}
}

// csiEdit executes f when it moves cells or sets something, and reports whether it does.
func (t *Terminal) csiEdit(f function) bool {
	in, s := &t.stream, t.screen
	switch f {
	case '@':
		t.insertChars(in.One(0))
	case 'L':
		t.insertLines(in.Times(s.Rows))
	case 'M':
		t.deleteLines(in.Times(s.Rows))
	case 'P':
		t.deleteChars(in.One(0))
	case 'S': // SU (ECMA-48 8.3.147)
		s.scrollUp(s.Top, s.Bottom, in.Times(s.Rows), t.blankStyle())
	case 'T': // SD (ECMA-48 8.3.113)
		s.scrollDown(s.Top, s.Bottom, in.Times(s.Rows), 0)
	case 'X':
		t.eraseChars(in.One(0))
	case 'b':
		t.repeat()
	default:
		m := t.columnShift(f)
		if m.n == 0 {
			return t.csiState(f)
		}
		t.shiftColumns(m)
	}
	return true
}

// csiState executes f when it sets something else, and reports whether it does.
func (t *Terminal) csiState(f function) bool {
	in := &t.stream
	switch f {
	case '!'*intermediate + 'p':
		t.softReset()
	case '"'*intermediate + 'q':
		t.pen.Protect(in.Param(0))
		t.penChanged()
	case ' '*intermediate + 'q':
		t.cursorStyle = t.cursorStyle.selectStyle(in.Param(0))
	case '>'*private + 'u':
		t.pushKitty(in.Param(0))
	case '<'*private + 'u':
		t.popKitty(in.One(0))
	case '='*private + 'u':
		t.changeKitty(in.Param(0), in.One(1))
	case '?'*private + 's':
		t.saveModes()
	case '?'*private + 'r':
		t.restoreModes()
	case '$'*intermediate + 'x': // DECFRA
		in.Cut() // viewers may take what does nothing here for something
		t.fillRectangle()
	case '$'*intermediate + 'z': // DECERA
		in.Cut()
		t.eraseRectangle()
	case '$'*intermediate + '{': // DECSERA
		in.Cut()
		t.eraseUnprotected()
	case '*'*intermediate + 'y':
		t.reply(t.checksum())
	default:
		return false
	}
	return true
}
