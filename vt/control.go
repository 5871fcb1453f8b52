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
		s.X = 0
	case '\b':
		t.backspace()
	case '\t':
		s.Tab()
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
		s.X = 0
		t.index()
	case 0x88: // HTS
		t.screen.SetTab()
	}
}

// lineFeed implements LF, VT and FF (ECMA-48 8.3.74).
func (t *Terminal) lineFeed() {
	s, y := t.screen, t.screen.Y
	if t.modes.Linefeed {
		s.X = 0
	}
	if s.Index() {
		t.scroll(t.blankLook())
	} else if s.Y > y {
		s.row().wrapped = false
	}
	if s.X >= s.Cols {
		s.X--
	}
}

// backspace implements BS (ECMA-48 8.3.5).
func (t *Terminal) backspace() {
	t.reach()
	s := t.screen
	from := s.row()
	if !s.Backspace(t.modes.ReverseWrap, from.wrapped) {
		return
	}
	from.wrapped = false
	if c := s.cells(s.row())[s.X]; s.X > 0 && !c.zeroWidth() && !c.hasContent() {
		s.X-- // a wide character wrapped one column early
	}
}

// index implements IND (VT510).
func (t *Terminal) index() {
	t.restrict()
	if t.screen.Index() {
		t.scroll(t.blankLook())
	}
}

// reverseIndex implements RI (ECMA-48 8.3.104).
func (t *Terminal) reverseIndex() {
	if s := t.screen; s.ReverseIndex(t.modes.Origin) {
		look := t.blankLook()
		t.keepingNotes(func() { s.scrollDown(s.Top, s.Bottom, 1, look) })
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
	case '6':
		t.backIndex()
	case '7':
		t.saveCursor()
	case '8':
		t.restoreCursor()
	case '9':
		t.forwardIndex()
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
	case '#'*Intermediate + '8':
		t.alignment()
	default:
		if !t.charsets.Escape(f) {
			t.reply(t.status().Escape(f))
		}
	}
}

// reset implements RIS (ECMA-48 8.3.105) as xterm.js does, which keeps title and
// colours.
func (t *Terminal) reset() {
	t.screen = t.main
	t.hist.clear()
	t.clearScreen(t.main)
	t.main.Cursor, t.main.kitty = NewCursor(t.cfg.Cols, t.cfg.Rows), nil
	if t.alt != nil {
		t.clearScreen(t.alt)
		t.alt.Cursor, t.alt.kitty = NewCursor(t.cfg.Cols, t.cfg.Rows), nil
	}
	t.hidden = len(t.main.rows)
	t.modes.Reset()
	t.saved = nil
	t.resetPen()
}

// softReset implements DECSTR (VT510). The cursor stays where it is.
func (t *Terminal) softReset() {
	t.modes.SoftReset()
	t.screen.SoftReset(t.base())
	t.resetPen()
}

// resetPen makes what is printed next look as in the beginning, and the cursor.
func (t *Terminal) resetPen() {
	t.pen = Pen{}
	t.followLink(Link{})
	t.setPen()
	t.charsets.Reset()
	t.cursorStyle = 0
}

// alignment implements DECALN (VT510): the screen full of E. In origin mode
// xterm.js begins at the top margin.
func (t *Terminal) alignment() {
	t.screen.MoveTo(0, 0, t.modes.Origin)
	s := t.screen
	style := t.pen.Bare()
	look := t.styles.number(&style)
	line := make([]byte, s.Cols)
	for x := range line {
		line[x] = 'E'
	}
	for _, r := range s.rows[s.Y:] {
		noted := r.noted
		s.blank(r, 0)
		s.put(r, 0, line, look)
		r.noted = noted
	}
	t.alignOldest(line, look)
	t.screen.MoveTo(0, 0, t.modes.Origin)
}

// alignOldest is alignment of as many lines as are above the cursor, behind the last
// row. In xterm.js lines lie in a ring, and when it is full the oldest come there.
func (t *Terminal) alignOldest(line []byte, look uint32) {
	s := t.screen
	base, limit := t.base(), t.hist.limit
	if s == t.alt {
		limit = 0
	}
	if base < limit || s.Y == 0 {
		return
	}
	for _, r := range s.rows[:max(s.Y-base, 0)] {
		s.blank(r, 0)
		s.put(r, 0, line, look)
	}
	if n := min(base, s.Y); n > 0 {
		var full row
		full.append(ASCII, line, len(line), look)
		t.hist.replaceOldest(n, t.packer.row(&full, &t.styles))
		t.forgetDropped()
	}
}
