package vt

import (
	"slices"
	"unicode/utf8"
)

// Restore implements Engine.
func (t *Terminal) Restore(f *Frame) bool {
	if !t.restorable(f) {
		return false
	}
	t.hist.pushAll(f.History)
	t.hist.dropped = 0
	t.restoreScreen(t.main, &f.Main, t.hist.count)
	t.modes = f.Modes
	if f.Alt != nil {
		t.alt = newScreen(f.Cols, f.Rows, &t.stream.meter)
		t.restoreScreen(t.alt, f.Alt, 0)
		t.screen = t.alt
	} else if f.Hidden != nil {
		t.alt = newScreen(f.Cols, f.Rows, &t.stream.meter)
		t.alt.load(&Screen{Saved: f.Hidden.Saved, Bottom: f.Rows - 1}, 0)
		t.alt.kitty = append([]uint8(nil), f.Hidden.Kitty...)
	}
	t.pen.load(f)
	t.loadLink(f)
	t.penChanged()
	t.charsets.load(f)
	t.labels.load(f)
	t.Resume(f)
	t.cursorStyle = f.CursorStyle
	t.stream.Write(f.Pending, (*terminalHandler)(&t.executor))
	t.stream.before = t.lastJoin(f)
	t.limitMemory()
	return true
}

// Restorable implements Engine.
func (b *bufferSet) Restorable() bool {
	return b.alt == nil || !slices.ContainsFunc(b.alt.rows, func(r *row) bool { return len(r.hidden()) > 0 })
}

// restorable reports whether Restore can take f.
func (b *bufferSet) restorable(f *Frame) bool {
	if f.Cols != b.cfg.Cols || f.Rows != b.cfg.Rows {
		return false
	}
	if u := f.Unicode; u != b.cfg.Unicode && (u != "" || b.cfg.Unicode != Unicode11) {
		return false
	}
	if !f.History.fit(f.Cols) {
		return false
	}
	tooWide := func(l Line) bool { return l.Cells() > f.Cols }
	for _, s := range []*Screen{&f.Main, f.Alt} {
		if s != nil && (len(s.Lines) != f.Rows || slices.ContainsFunc(s.Lines, tooWide)) {
			return false
		}
	}
	return true
}

// restoreScreen makes s, which is new, the screen of a frame with base lines of
// history above it.
func (b *bufferSet) restoreScreen(s *screen, from *Screen, base int) {
	s.load(from, base)
	s.kitty = append([]uint8(nil), from.Kitty...)
	for y, l := range from.Lines {
		s.rows[y].setLine(l, &b.styles)
	}
}

// lastJoin is what the character that REP repeats in f leaves for the next one.
func (p *printer) lastJoin(f *Frame) (j join) {
	if f.LastDropped {
		return lostWide
	}
	if f.LastChar == 0 {
		return 0
	}
	s := p.screen
	for width := 1; width <= 2; width++ {
		text := p.cellText(s.row(), s.X-width)
		if c, _ := utf8.DecodeRune(text); c != f.LastChar {
			continue
		}
		j = 0
		for _, c := range string(text) {
			j = p.widths.next(c, j)
		}
		if j.width() == width {
			return j
		}
		j = join(width) << joinWidth
	}
	return max(j, narrow)
}
