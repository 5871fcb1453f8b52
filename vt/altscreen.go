package vt

// setAlt shows the alternate screen, filled with the pen's background, or the
// main one. The cursor goes along.
func (x *executor) setAlt(on bool) {
	if on == (x.screen != x.main) {
		return
	}
	from := x.screen
	x.loseLink()
	if on {
		x.renewAlt()
		if x.alt == nil {
			x.alt = newScreen(x.main.Cols, len(x.main.rows), &x.stream.meter)
		}
		x.screen = x.alt
		x.stream.meter.Add(len(x.alt.rows) * costRow)
		for _, r := range x.alt.rows {
			x.alt.blank(r, x.blankStyle())
		}
	} else {
		x.screen = x.main
		x.clearScreen(from)
		from.Reset()
		from.spare = nil // few programs come back
		x.hidden = from.Rows
	}
	x.screen.X, x.screen.Y = from.X, from.Y
	x.modes.AltScreen = on
	x.useKitty()
}

// renewAlt lets viewers show the alternate screen and leave it before the sequence at
// hand when they were higher since they did it last. Else theirs has as many lines
// as they had rows, and keeps what scrolls off: a screen that is not shown does not
// shrink in xterm.js 6.
func (e *editor) renewAlt() {
	if rows := len(e.main.rows); e.hidden > rows {
		e.hidden = rows
		e.stream.Precede("\x1b[?1047h\x1b[?1047l")
	}
}

// clearScreen makes every row blank.
func (b *bufferSet) clearScreen(s *screen) {
	s.meter.Add(len(s.rows) * costRow)
	for _, r := range s.rows {
		s.blank(r, 0)
	}
}
