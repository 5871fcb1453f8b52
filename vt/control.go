package vt

// control executes a C0 or C1 control.
func (x *executor) control(r rune) {
	s := x.screen
	switch r {
	case '\n', '\v', '\f':
		x.lineFeed()
	case '\r':
		s.X = 0
	case '\b':
		x.backspace()
	case '\t':
		s.Tab()
	case 0x05: // ENQ is never answered
		x.stream.CutControl(r)
	case 0x07:
		if f := x.cfg.Effects.Bell; f != nil {
			f()
		}
	case 0x0e: // SO
		x.charsets.Invoke(1)
	case 0x0f: // SI
		x.charsets.Invoke(0)
	case 0x84: // IND
		x.index()
	case 0x85: // NEL
		s.X = 0
		x.index()
	case 0x88: // HTS
		s.SetTab()
	default:
		if r >= 0x80 {
			x.stream.voidControl(r)
		}
	}
}

// lineFeed implements LF, VT and FF (ECMA-48 8.3.74).
func (e *editor) lineFeed() {
	s, y := e.screen, e.screen.Y
	if e.modes.Linefeed {
		s.X = 0
	}
	if s.Index() {
		e.scrollUp(e.blankStyle())
	} else if s.Y > y {
		e.screen.rows[s.Y].wrapped = false
	}
	if s.X >= s.Cols {
		s.X--
	}
}

// backspace implements BS (ECMA-48 8.3.5).
func (e *editor) backspace() {
	e.screen.Reach(e.modes.Origin)
	s, y := e.screen, e.screen.Y
	if !s.Backspace(e.modes.ReverseWrap, e.screen.rows[y].wrapped) {
		return
	}
	e.screen.rows[y].wrapped = false
	if s.X > 0 && e.erased(s.X, s.Y) {
		s.X-- // a wide character wrapped one column early
	}
}

// index implements IND (VT510).
func (e *editor) index() {
	e.screen.Restrict(e.modes.Origin)
	if e.screen.Index() {
		e.scrollUp(e.blankStyle())
	}
}

// reverseIndex implements RI (ECMA-48 8.3.104).
func (e *editor) reverseIndex() {
	if e.screen.ReverseIndex(e.modes.Origin) {
		e.scrollBack()
	}
}

// leftShifts are the shifts that do on every terminal what LS1R, LS2R and LS3R do in
// xterm.js: SO, LS2 and LS3 (ECMA-48 8.3.76, 8.3.78, 8.3.80).
var leftShifts = map[function]string{'~': "\x0e", '}': "\x1bn", '|': "\x1bo"}

// escape executes an escape sequence.
func (x *executor) escape(f function) {
	switch f {
	case '\\': // ST
		if x.stream.EndsCut() {
			x.stream.Cut()
		}
	case '7':
		x.saveCursor()
	case '8':
		x.restoreCursor()
	case 'D':
		x.index()
	case 'E':
		x.screen.X = 0
		x.index()
	case 'H':
		x.screen.SetTab()
	case 'M':
		x.reverseIndex()
	case 'c':
		x.reset()
	case '=', '>':
		x.modes.AppKeypad = f == '='
	case '#'*intermediate + '8':
		x.alignment()
	case '~', '}', '|': // LS1R, LS2R, LS3R
		x.charsets.lockingShift(byte(f))
		x.stream.Replace([]byte(leftShifts[f])...)
	case '%'*intermediate + '@', '%'*intermediate + 'G': // DOCS (ECMA-35 15.4)
		x.charsets.Invoke(0)
		x.charsets.Designate(0, usASCII)
		x.stream.Replace([]byte("\x0f\x1b(B")...)
	case '6':
		x.backIndex()
	case '9':
		x.forwardIndex()
	default:
		if !x.charsets.Escape(f) {
			x.reply(x.status().Escape(f))
		}
	}
}

// reset implements RIS (ECMA-48 8.3.105) as xterm.js does, which keeps title and
// colours.
func (x *executor) reset() {
	x.showReset()
	x.clearScreens()
	x.hist.clear()
	x.modes.reset()
	x.resetPen()
}

// softReset implements DECSTR (VT510). The cursor stays where it is.
func (x *executor) softReset() {
	x.modes.softReset()
	x.screen.SoftReset(x.base())
	x.resetPen()
}

// resetPen makes pen, character sets and cursor style as in the beginning.
func (x *executor) resetPen() {
	x.pen = pen{}
	x.linkChanged(Link{})
	x.penChanged()
	x.charsets.Reset()
	x.cursorStyle = 0
}

// alignment implements DECALN (VT510): the screen full of E. In origin mode
// xterm.js begins at the top margin.
func (e *editor) alignment() {
	e.screen.MoveTo(0, 0, e.modes.Origin)
	e.fillWithE(e.pen.Bare())
	e.screen.MoveTo(0, 0, e.modes.Origin)
}
