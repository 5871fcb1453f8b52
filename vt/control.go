package vt

// control executes a C0 or C1 control.
func (t *Terminal) control(r rune) {
	s := t.screen
	switch r {
	case '\n', '\v', '\f':
		t.lineFeed()
	case '\r':
		s.X = 0
	case '\b':
		t.backspace()
	case '\t':
		s.Tab()
	case 0x05: // ENQ is never answered
		t.stream.CutControl(r)
	case 0x07:
		if f := t.cfg.Effects.Bell; f != nil {
			f()
		}
	case 0x0e: // SO
		t.charsets.Invoke(1)
	case 0x0f: // SI
		t.charsets.Invoke(0)
	case 0x84: // IND
		t.index()
	case 0x85: // NEL
		s.X = 0
		t.index()
	case 0x88: // HTS
		s.SetTab()
	default:
		if r >= 0x80 {
			t.stream.voidControl(r)
		}
	}
}

// lineFeed implements LF, VT and FF (ECMA-48 8.3.74).
func (t *Terminal) lineFeed() {
	s, y := t.screen, t.screen.Y
	if t.modes.Linefeed {
		s.X = 0
	}
	if s.Index() {
		t.scrollUp(t.blankStyle())
	} else if s.Y > y {
		t.screen.rows[s.Y].wrapped = false
	}
	if s.X >= s.Cols {
		s.X--
	}
}

// backspace implements BS (ECMA-48 8.3.5).
func (t *Terminal) backspace() {
	t.screen.Reach(t.modes.Origin)
	s, y := t.screen, t.screen.Y
	if !s.Backspace(t.modes.ReverseWrap, t.screen.rows[y].wrapped) {
		return
	}
	t.screen.rows[y].wrapped = false
	if s.X > 0 && t.erased(s.X, s.Y) {
		s.X-- // a wide character wrapped one column early
	}
}

// index implements IND (VT510).
func (t *Terminal) index() {
	t.screen.Restrict(t.modes.Origin)
	if t.screen.Index() {
		t.scrollUp(t.blankStyle())
	}
}

// reverseIndex implements RI (ECMA-48 8.3.104).
func (t *Terminal) reverseIndex() {
	if t.screen.ReverseIndex(t.modes.Origin) {
		t.scrollBack()
	}
}

// leftShifts are the shifts that do on every terminal what LS1R, LS2R and LS3R do in
// xterm.js: SO, LS2 and LS3 (ECMA-48 8.3.76, 8.3.78, 8.3.80).
var leftShifts = map[function]string{'~': "\x0e", '}': "\x1bn", '|': "\x1bo"}

// escape executes an escape sequence.
func (t *Terminal) escape(f function) {
	switch f {
	case '\\': // ST
		if t.stream.EndsCut() {
			t.stream.Cut()
		}
	case '7':
		t.saveCursor()
	case '8':
		t.restoreCursor()
	case 'D':
		t.index()
	case 'E':
		t.screen.X = 0
		t.index()
	case 'H':
		t.screen.SetTab()
	case 'M':
		t.reverseIndex()
	case 'c':
		t.reset()
	case '=', '>':
		t.modes.AppKeypad = f == '='
	case '#'*intermediate + '8':
		t.alignment()
	case '~', '}', '|': // LS1R, LS2R, LS3R
		t.charsets.lockingShift(byte(f))
		t.stream.Replace([]byte(leftShifts[f])...)
	case '%'*intermediate + '@', '%'*intermediate + 'G': // DOCS (ECMA-35 15.4)
		t.charsets.Invoke(0)
		t.charsets.Designate(0, usASCII)
		t.stream.Replace([]byte("\x0f\x1b(B")...)
	case '6':
		t.backIndex()
	case '9':
		t.forwardIndex()
	default:
		if !t.charsets.Escape(f) {
			t.reply(t.status().Escape(f))
		}
	}
}

// reset implements RIS (ECMA-48 8.3.105) as xterm.js does, which keeps title and
// colours.
func (t *Terminal) reset() {
	t.showReset()
	t.clearScreens()
	t.hist.clear()
	t.modes.reset()
	t.resetPen()
}

// softReset implements DECSTR (VT510). The cursor stays where it is.
func (t *Terminal) softReset() {
	t.modes.softReset()
	t.screen.SoftReset(t.base())
	t.resetPen()
}

// resetPen makes pen, character sets and cursor style as in the beginning.
func (t *Terminal) resetPen() {
	t.pen = pen{}
	t.linkChanged(Link{})
	t.penChanged()
	t.charsets.Reset()
	t.cursorStyle = 0
}

// alignment implements DECALN (VT510): the screen full of E. In origin mode
// xterm.js begins at the top margin.
func (t *Terminal) alignment() {
	t.screen.MoveTo(0, 0, t.modes.Origin)
	t.fillWithE(t.pen.Bare())
	t.screen.MoveTo(0, 0, t.modes.Origin)
}
