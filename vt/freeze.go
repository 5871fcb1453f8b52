package vt

import "maps"

// Freeze implements Engine. It copies what is on the screens; the lines of
// history are shared.
func (t *Terminal) Freeze() *Frame {
	f := &Frame{
		Cols: t.main.Cols, Rows: len(t.main.rows), Unicode: t.cfg.Unicode,
		History: t.hist.freeze(), Main: t.freezeScreen(t.main, t.hist.count), Modes: t.modes,
		LastChar: t.lastChar(), CursorStyle: t.cursorStyle, Pending: t.stream.Pending(), SavedModes: maps.Clone(t.saved),
	}
	t.charsets.Freeze(f)
	t.pen.Freeze(f)
	t.labels.Freeze(f)
	if t.screen == t.alt {
		alt := t.freezeScreen(t.alt, 0)
		f.Alt = &alt
	} else if t.alt != nil && (t.alt.saved.set || len(t.alt.kitty) > 0) {
		f.Hidden = &Screen{Saved: t.alt.Saved(0), Kitty: append([]uint8(nil), t.alt.kitty...)}
	}
	return f
}

// lastChar is the character that REP would repeat; xterm.js takes it from the
// screen.
func (t *Terminal) lastChar() rune {
	if t.stream.before == 0 {
		return 0
	}
	s := t.screen
	for _, c := range string(t.cellText(s.row(), s.X-t.stream.before.width())) {
		return c
	}
	return 0
}

// freezeScreen copies a screen with base lines of history above it.
func (t *Terminal) freezeScreen(s *screen, base int) Screen {
	out := s.Freeze(base)
	out.Lines, out.Kitty = make([]Line, len(s.rows)), append([]uint8(nil), s.kitty...)
	for y, r := range s.rows {
		out.Lines[y] = Line{packed: string(t.packer.row(r, &t.styles)), wrapped: r.wrapped}
	}
	return out
}
