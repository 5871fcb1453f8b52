package vt

// setAlt shows the alternate screen, filled with the pen's background, or the
// main one. The cursor goes along.
func (t *Terminal) setAlt(on bool) {
	if on == (t.screen != t.main) {
		return
	}
	from := t.screen
	t.loseLink()
	if on {
		t.renewAlt()
		if t.alt == nil {
			t.alt = newScreen(t.main.Cols, len(t.main.rows), &t.stream.meter)
		}
		t.screen = t.alt
		t.stream.meter.Add(len(t.alt.rows) * costRow)
		for _, r := range t.alt.rows {
			t.alt.blank(r, t.blankStyle())
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
	s.meter.Add(len(s.rows) * costRow)
	for _, r := range s.rows {
		s.blank(r, 0)
	}
}
