package vt

// Freeze implements Engine. It copies what is on the screens; the lines of
// history are shared.
func (t *Terminal) Freeze() *Frame {
	f := &Frame{
		Cols: t.main.cols, Rows: len(t.main.rows), Unicode: t.cfg.Unicode,
		History: t.hist.freeze(), Main: t.freezeScreen(t.main, t.hist.count), Modes: t.modes,
		Charsets: t.charsets.Charsets, LastChar: t.lastChar(), CursorStyle: t.cursorStyle,
		Pending: t.stream.Pending(),
	}
	t.pen.Freeze(f)
	t.labels.Freeze(f)
	f.Charsets.G[f.Charsets.GL] = t.charsets.InForce()
	if t.screen == t.alt {
		alt := t.freezeScreen(t.alt, 0)
		f.Alt = &alt
	} else if t.alt != nil && (t.alt.saved.set || len(t.alt.kitty) > 0) {
		f.Hidden = &Screen{Kitty: append([]uint8(nil), t.alt.kitty...)}
		if t.alt.saved.set {
			f.Hidden.Saved = t.alt.saved.freeze(t.alt, 0)
		}
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
	for _, c := range string(t.cellText(s.row(), s.x-t.stream.before.width())) {
		return c
	}
	return 0
}

// freezeScreen copies a screen with base lines of history above it.
func (t *Terminal) freezeScreen(s *screen, base int) Screen {
	rows := len(s.rows)
	out := Screen{
		Lines: make([]Line, rows), X: min(s.x, s.cols-1), Y: s.y, PendingWrap: s.x == s.cols,
		Top: s.top, Bottom: s.bottom, Tabs: s.tabStops(), Kitty: append([]uint8(nil), s.kitty...),
	}
	for y, r := range s.rows {
		out.Lines[y] = Line{packed: string(t.packer.row(r, &t.styles)), wrapped: r.wrapped}
	}
	if s.saved.set {
		out.Saved = s.saved.freeze(s, base)
	}
	return out
}

// freeze is the saved cursor of s, which has base lines of history above it.
func (m *savedCursor) freeze(s *screen, base int) SavedCursor {
	out := SavedCursor{
		Set: true, X: min(m.x, s.cols-1), Y: min(max(m.row-base, 0), len(s.rows)-1), PendingWrap: m.x == s.cols,
		Pen: m.pen.Style(), Charsets: m.charsets, Origin: m.origin,
	}
	out.Charsets.G[out.Charsets.GL] = m.charset
	return out
}
