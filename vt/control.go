package vt

// Control implements Handler.
func (h *handler) Control(c rune) { (*Terminal)(h).control(c) }

// control executes a C0 or C1 control.
func (t *Terminal) control(c rune) {
	s := t.screen
	switch c {
	case '\n', '\v', '\f':
		t.lineFeed()
	case '\r':
		s.x = 0
	case '\b':
		t.backspace()
	case '\t':
		if s.x < s.cols {
			s.x = s.nextTab(s.x)
		}
	case 0x05: // ENQ is never answered
		t.stream.CutControl(c)
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
		s.x = 0
		t.index()
	case 0x88: // HTS
		t.setTab()
	}
}

// Escape implements Handler.
func (h *handler) Escape(f Function) { (*Terminal)(h).escape(f) }

// escape executes an escape sequence.
func (t *Terminal) escape(f Function) {
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
		t.screen.x = 0
		t.index()
	case 'H':
		t.setTab()
	case 'M':
		t.reverseIndex()
	case 'c':
		t.reset()
	case '=', '>':
		t.modes.AppKeypad = f == '='
	case '#'*Intermediate + '8':
		t.alignment()
	default:
		if !t.charsets.Escape(f) {
			t.reply(t.status().Escape(f))
		}
	}
}

// reset implements RIS (ECMA-48 8.3.105) as xterm.js does, which forgets
// neither LNM nor that the cursor is hidden, and keeps title and colours.
func (t *Terminal) reset() {
	t.screen = t.main
	t.hist.clear()
	t.clearScreen(t.main)
	t.main.x, t.main.y, t.main.saved, t.main.kitty = 0, 0, savedCursor{}, nil
	t.main.reset()
	if t.alt != nil {
		t.clearScreen(t.alt)
		t.alt.reset()
		t.alt.saved, t.alt.kitty = savedCursor{}, nil
	}
	t.modes = Modes{Autowrap: true, Linefeed: t.modes.Linefeed, CursorHidden: t.modes.CursorHidden}
	t.pen = Pen{}
	t.setPen()
	t.charsets.Reset()
	t.cursorStyle = 0
}

// softReset implements DECSTR (VT510). The cursor stays where it is.
func (t *Terminal) softReset() {
	m := &t.modes
	m.CursorHidden, m.AppCursor, m.AppKeypad, m.BracketedPaste, m.Origin = false, false, false, false, false
	m.ReverseWrap, m.FocusEvents, m.SyncOutput, m.Insert, m.Autowrap = false, false, false, false, true
	s := t.screen
	s.top, s.bottom = 0, len(s.rows)-1
	t.pen = Pen{}
	t.setPen()
	t.charsets.Reset()
	s.saved = savedCursor{set: true, row: t.base(), charset: usASCII}
	t.cursorStyle = 0
}

// alignment implements DECALN (VT510): the screen full of E. In origin mode
// xterm.js begins at the top margin.
func (t *Terminal) alignment() {
	t.moveTo(0, 0)
	s := t.screen
	style := t.pen.Bare()
	look := t.styles.number(&style)
	line := make([]byte, s.cols)
	for x := range line {
		line[x] = 'E'
	}
	for _, r := range s.rows[s.y:] {
		s.blank(r, 0)
		s.put(r, 0, line, look)
	}
	t.moveTo(0, 0)
}
