package vt10x

import "github.com/evertty/evertty/vt"

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
	return cells*cellSize + e.hist.bytes + len(e.looks.kinds)*lookSize + len(e.in.Pending())
}

// Freeze implements vt.Engine.
func (e *engine) Freeze() *vt.Frame {
	f := &vt.Frame{
		Cols: e.main.cols, Rows: e.main.rows, Unicode: e.cfg.Unicode,
		History: vt.LinesOf(e.hist.all()...), Main: e.freezeScreen(e.main, e.hist.len()),
		Modes: e.modes, CursorStyle: e.cursorStyle, LastChar: e.in.Last, Pending: e.in.Pending(),
	}
	e.pen.Freeze(f)
	e.labels.Freeze(f)
	f.Charsets = inForce(e.charsets.Charsets, e.charsets.InForce())
	if e.cur == e.alt {
		alt := e.freezeScreen(e.alt, 0)
		f.Alt = &alt
	} else if e.alt != nil && e.alt.saved.set {
		f.Hidden = &vt.Screen{Saved: e.alt.saved.freeze(e.alt, 0)}
	}
	return f
}

// inForce is c with the set that characters are really printed in, which after
// DECRC need not be a designated one.
func inForce(c vt.Charsets, set byte) vt.Charsets {
	c.G[c.GL] = set
	return c
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
	if s.saved.set {
		out.Saved = s.saved.freeze(s, base)
	}
	return out
}

// freeze copies the saved cursor of s, which has base lines of history above it.
func (m *saved) freeze(s *screen, base int) vt.SavedCursor {
	return vt.SavedCursor{
		Set: true, X: min(m.x, s.cols-1), Y: min(max(m.row-base, 0), s.rows-1), PendingWrap: m.x == s.cols,
		Pen: m.pen.Style(), Charsets: inForce(m.charsets, m.charset), Origin: m.origin,
	}
}
