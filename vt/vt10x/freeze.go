package vt10x

import (
	"bytes"
	"fmt"

	"github.com/evertty/evertty/vt"
)

// Held implements vt.Engine.
func (e *engine) Held() int { return e.decoder.Held() }

// Modes implements vt.Engine.
func (e *engine) Modes() vt.Modes { return e.modes }

// Resize implements vt.Engine. It is never exact: there is no reflow.
func (e *engine) Resize(cols, rows int) (exact bool) {
	e.cfg.Cols, e.cfg.Rows = cols, rows
	e.cfg = e.cfg.Clamped()
	cols, rows = e.cfg.Cols, e.cfg.Rows
	if cols == e.main.cols && rows == e.main.rows {
		return true
	}
	if cols < e.main.cols {
		defer e.hist.fit(cols, &e.packer)
	}
	e.main.resize(cols, rows, func(y int) { e.hist.push(e.main.line(y, e.looks, &e.packer)) })
	if e.alt != nil {
		e.alt.resize(cols, rows, func(int) {})
	}
	return false
}

// Sizes for Memory in bytes: a cell of the library, which keeps two of each for
// its own alternate screen, and one look with its place in the map.
const (
	cellSize = 2 * 16
	lookSize = 300
)

// Memory implements vt.Engine.
func (e *engine) Memory() int {
	cells := e.main.cols * e.main.rows
	if e.alt != nil {
		cells *= 2
	}
	return cells*cellSize + e.hist.bytes + len(e.looks.kinds)*lookSize + cap(e.seq)
}

// Freeze implements vt.Engine.
func (e *engine) Freeze() *vt.Frame {
	f := &vt.Frame{
		Cols: e.main.cols, Rows: e.main.rows, Unicode: e.cfg.Unicode,
		History: e.hist.all(), Main: e.freezeScreen(e.main, e.hist.len()), Modes: e.modes,
		Pen: e.pen.style, Charsets: e.charsets, LastChar: e.last, CursorStyle: e.cursorStyle,
		Title: e.names.title, Icon: e.names.icon, Cwd: e.names.cwd,
		Foreground: e.colors[slotForeground], Background: e.colors[slotBackground], CursorColor: e.colors[slotCursor],
	}
	f.Charsets.G[f.Charsets.GL] = e.charset
	if e.cur == e.alt {
		alt := e.freezeScreen(e.alt, 0)
		f.Alt = &alt
	}
	for i, c := range e.colors[:slotForeground] {
		if !c.IsDefault() {
			if f.Palette == nil {
				f.Palette = map[uint8]vt.Color{}
			}
			f.Palette[uint8(i)] = c
		}
	}
	if e.parser.state != ground {
		f.Pending = bytes.Clone(e.seq)
	}
	return f
}

// freezeScreen copies a screen with base lines of history above it.
func (e *engine) freezeScreen(s *screen, base int) vt.Screen {
	out := vt.Screen{
		Lines: make([]vt.Line, s.rows), X: min(s.x, s.cols-1), Y: s.y, PendingWrap: s.x == s.cols,
		Top: s.top, Bottom: s.bottom, Tabs: s.tabStops(),
	}
	for y := range out.Lines {
		out.Lines[y] = s.line(y, e.looks, &e.packer)
	}
	if m := s.saved; m.set {
		out.Saved = vt.SavedCursor{
			Set: true, X: min(m.x, s.cols-1), Y: min(max(m.row-base, 0), s.rows-1), PendingWrap: m.x == s.cols,
			Pen: m.pen, Charsets: m.all, Origin: m.origin,
		}
	}
	return out
}

// appendSGR appends the parameters of the SGR that makes s from nothing.
func appendSGR(b []byte, s vt.Style) []byte {
	b = append(b, '0')
	for _, n := range [...]int{1, 2, 3, 5, 7, 8, 9, 53} {
		if s.Attr&attrs[n] != 0 {
			b = fmt.Appendf(b, ";%d", n)
		}
	}
	switch s.Underline {
	case vt.UnderlineNone:
	case vt.UnderlineSingle:
		b = append(b, ";4"...)
	default:
		b = fmt.Appendf(b, ";4:%d", s.Underline)
	}
	for i, c := range [...]vt.Color{s.FG, s.BG, s.UnderlineColor} {
		if n, ok := c.Palette(); ok {
			b = fmt.Appendf(b, ";%d:5:%d", 38+10*i, n)
		} else if r, g, bl, ok := c.RGB(); ok {
			b = fmt.Appendf(b, ";%d:2::%d:%d:%d", 38+10*i, r, g, bl)
		}
	}
	return b
}
