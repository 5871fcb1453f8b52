package vt

import (
	"maps"
	"math"
)

// Freeze implements Engine. It copies the screens; the lines of
// history are shared.
func (t *Terminal) Freeze() *Frame {
	f := &Frame{
		Cols: t.cfg.Cols, Rows: t.cfg.Rows, Unicode: t.cfg.Unicode, History: t.hist.freeze(),
		Modes: t.modes, CursorStyle: t.cursorStyle, Pending: t.stream.Pending(),
	}
	t.charsets.Freeze(f)
	t.labels.Freeze(f)
	f.Main = t.freezeScreen(t.main, t.hist.count)
	f.LastChar, f.LastDropped = t.lastChar(), t.stream.before.lost()
	f.SavedModes = maps.Clone(t.saved)
	t.pen.Freeze(f)
	f.Open = t.openLink()
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
func (p *printer) lastChar() rune {
	if p.stream.before == 0 || p.stream.before.lost() {
		return 0
	}
	s := p.screen
	for _, c := range string(p.cellText(s.row(), s.X-p.stream.before.width())) {
		return c
	}
	return 0
}

// freezeScreen copies a screen with base lines of history above it.
func (b *bufferSet) freezeScreen(s *screen, base int) Screen {
	out := s.Freeze(base)
	out.Kitty = append([]uint8(nil), s.kitty...)
	pack := func(y int) Line {
		return Line{packed: string(b.packer.row(s.rows[y], &b.styles)), wrapped: s.rows[y].wrapped}
	}
	if out.Lines = packRows(len(s.rows), b.budget.limit, pack); out.Lines == nil {
		b.packer.linkless = true
		out.Lines = packRows(len(s.rows), math.MaxInt, pack)
		b.packer.linkless = false
	}
	return out
}

// packRows packs the rows of a screen; nil when they take more than limit bytes. A
// packed row has each link in full wherever the link changes, so few links can take
// much.
func packRows(rows, limit int, pack func(y int) Line) []Line {
	lines, size := make([]Line, rows), 0
	for y := range lines {
		lines[y] = pack(y)
		if size += lines[y].Size(); size > limit {
			return nil
		}
	}
	return lines
}
