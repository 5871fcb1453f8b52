package vt

// setModes implements SM, RM, DECSET and DECRST for all parameters.
func (t *Terminal) setModes(f Function) {
	on := byte(f) == 'h'
	for i := range t.stream.Count() {
		if mode := t.stream.Param(i); f >= Private {
			t.setPrivateMode(mode, on)
		} else {
			t.modes.SetANSI(mode, on)
		}
	}
}

// setPrivateMode implements DECSET and DECRST (xterm ctlseqs).
func (t *Terminal) setPrivateMode(mode int, on bool) {
	if t.modes.SetPrivate(mode, on) {
		return
	}
	switch mode {
	case 2:
		if on { // DECANM designates ASCII
			t.charsets.DesignateAll(usASCII)
		}
	case 6:
		t.modes.Origin = on
		t.screen.MoveTo(0, 0, t.modes.Origin)
	case 47, 1047:
		t.setAlt(on)
	case 1048:
		t.saveOrRestore(on)
	case 1049:
		if on {
			t.saveCursor()
		}
		if t.setAlt(on); !on {
			t.restoreCursor()
		}
	}
}

// saveCursor implements DECSC (VT510).
func (t *Terminal) saveCursor() {
	t.screen.Save(t.base(), &t.pen, &t.charsets, t.modes.Origin)
}

// restoreCursor implements DECRC (VT510).
func (t *Terminal) restoreCursor() {
	t.screen.Restore(t.base(), &t.pen, &t.charsets, t.modes.Origin)
	t.setPen()
}

func (t *Terminal) saveOrRestore(save bool) {
	if save {
		t.saveCursor()
	} else {
		t.restoreCursor()
	}
}

// setAlt shows the alternate screen, filled with the pen's background, or the
// main one. The cursor goes along.
func (t *Terminal) setAlt(on bool) {
	if on == (t.screen != t.main) {
		return
	}
	from := t.screen
	if on {
		t.renewAlt()
		if t.alt == nil {
			t.alt = newScreen(t.main.Cols, len(t.main.rows))
		}
		t.screen = t.alt
		for _, r := range t.alt.rows {
			t.alt.blank(r, t.blankLook())
		}
	} else {
		t.screen = t.main
		t.clearScreen(from)
		from.Reset()
		t.hidden = from.Rows
	}
	t.screen.X, t.screen.Y = from.X, from.Y
	t.modes.AltScreen = on
	t.useKitty()
}

// renewAlt lets viewers show the alternate screen and leave it before the sequence at
// hand when they were higher since they did it last. Else theirs has as many lines
// as they had rows, and keeps what scrolls off: a screen that is not shown does not
// shrink in xterm.js 6.
func (t *Terminal) renewAlt() {
	if rows := len(t.main.rows); t.hidden > rows {
		t.hidden = rows
		t.stream.Precede("\x1b[?1047h\x1b[?1047l")
	}
}

// clearScreen makes every row blank.
func (t *Terminal) clearScreen(s *screen) {
	for _, r := range s.rows {
		s.blank(r, 0)
	}
}

// Select is the style after DECSCUSR with parameter n, at least 0 (VT510). A style
// that does not exist only says whether the cursor blinks: odd ones do (xterm.js).
func (s CursorStyle) Select(n int) CursorStyle {
	if n <= maxCursorStyle {
		return CursorStyle(n)
	}
	steady := (max(s, 1) + 1) &^ 1
	return steady - CursorStyle(n&1)
}

// maxCursorStyle is the last style that exists.
const maxCursorStyle = 6
