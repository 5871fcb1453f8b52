package vt

// CSI implements Handler.
func (h *handler) CSI(f Function) { (*Terminal)(h).csi(f) }

// csi executes a control sequence without intermediate bytes, the frequent ones
// first.
func (t *Terminal) csi(f Function) {
	in := &t.stream
	switch f {
	case 'm':
		t.pen.SGR(in)
		t.setPen()
	case 'K', '?'*Private + 'K':
		t.eraseLine(in.Param(0), f != 'K')
	case 'J', '?'*Private + 'J':
		t.eraseDisplay(in.Param(0), f != 'J')
	case 'h', 'l', '?'*Private + 'h', '?'*Private + 'l':
		t.setModes(f)
	case 's':
		t.saveCursor()
	case 'u':
		t.restoreCursor()
	default:
		if !t.screen.CSI(in, f, t.modes.Origin) {
			t.csiEdit(f)
		}
	}
}

// csiEdit executes what moves cells.
func (t *Terminal) csiEdit(f Function) {
	in, s := &t.stream, t.screen
	switch f {
	case '@':
		t.insertChars(in.One(0))
	case 'L':
		t.insertLines(in.Times(len(s.rows)))
	case 'M':
		t.deleteLines(in.Times(len(s.rows)))
	case 'P':
		t.deleteChars(in.One(0))
	case 'S':
		t.scrollUp(in.Times(len(s.rows)))
	case 'T':
		t.scrollDown(in.Times(len(s.rows)))
	case 'X':
		t.eraseChars(in.One(0))
	case 'b':
		t.repeat()
	case ' '*Intermediate + '@': // SL
		t.shiftColumns(0, -in.One(0))
	case ' '*Intermediate + 'A': // SR
		t.shiftColumns(0, in.One(0))
	case '\''*Intermediate + '}': // DECIC; xterm.js takes column 0 while a wrap is pending
		t.shiftColumns(s.X%s.Cols, in.One(0))
	case '\''*Intermediate + '~': // DECDC
		t.shiftColumns(s.X%s.Cols, -in.One(0))
	default:
		t.csiState(f)
	}
}

// csiState executes what sets something else, and leaves the rest to query.
func (t *Terminal) csiState(f Function) {
	in := &t.stream
	switch f {
	case '!'*Intermediate + 'p':
		t.softReset()
	case '"'*Intermediate + 'q':
		t.pen.Protect(in.Param(0))
		t.setPen()
	case ' '*Intermediate + 'q':
		t.cursorStyle = t.cursorStyle.Select(in.Param(0))
	case '>'*Private + 'u':
		t.pushKitty(in.Param(0))
	case '?'*Private + 's':
		t.saveModes()
	case '?'*Private + 'r':
		t.restoreModes()
	case '$'*Intermediate + 'x': // DECFRA
		t.fillRectangle()
	case '$'*Intermediate + 'z': // DECERA
		t.eraseRectangle()
	case '$'*Intermediate + '{': // DECSERA
		t.eraseUnprotected()
	case '<'*Private + 'u':
		t.popKitty(in.One(0))
	case '='*Private + 'u':
		t.changeKitty(in.Param(0), in.One(1))
	default:
		t.query(f)
	}
}
