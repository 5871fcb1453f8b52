package vt

import "maps"

// Freeze implements Engine. It copies what is on the screens; the lines of
// history are shared.
func (t *Terminal) Freeze() *Frame {
	f := &Frame{
		Cols: t.main.Cols, Rows: len(t.main.rows), Unicode: t.cfg.Unicode,
		History: t.hist.freeze(), Main: t.freezeScreen(t.main, t.hist.count), Modes: t.modes,
		LastChar: t.lastChar(), LastDropped: t.stream.before.lost(), CursorStyle: t.cursorStyle, Pending: t.stream.Pending(), SavedModes: maps.Clone(t.saved),
	}
	t.charsets.Freeze(f)
	t.freezeLink(f)
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
	if t.stream.before == 0 || t.stream.before.lost() {
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
	out.Kitty = append([]uint8(nil), s.kitty...)
	if out.Lines = t.packRows(s); out.Lines == nil {
		t.packer.linkless = true
		out.Lines = t.packRows(s)
		t.packer.linkless = false
	}
	return out
}

// packRows packs the rows of a screen; nil when they take more than the bound of the
// memory. A packed row has each link in full wherever the link changes, so few links
// can take much.
func (t *Terminal) packRows(s *screen) []Line {
	lines, size := make([]Line, len(s.rows)), 0
	for y, r := range s.rows {
		packed := t.packer.row(r, &t.styles)
		if size += len(packed); size > t.budget.limit && !t.packer.linkless {
			return nil
		}
		lines[y] = Line{packed: string(packed), wrapped: r.wrapped}
	}
	return lines
}
