package vt10x

import "github.com/evertty/evertty/vt"

// Resize implements vt.Engine. It is never exact: there is no reflow.
func (e *engine) Resize(cols, rows int) (exact bool) {
	e.cfg.Cols, e.cfg.Rows = cols, rows
	e.cfg = e.cfg.Clamped()
	cols, rows = e.cfg.Cols, e.cfg.Rows
	if cols == e.main.Cols && rows == e.main.Rows {
		return true
	}
	if cols < e.main.Cols {
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
	cells := e.main.Cols * e.main.Rows
	if e.alt != nil {
		cells *= 2
	}
	return cells*cellSize + e.hist.bytes + len(e.looks.kinds)*lookSize + len(e.in.Pending())
}

// Restore implements vt.Engine. The library cannot be put into a state.
func (e *engine) Restore(*vt.Frame) bool { return false }

// Freeze implements vt.Engine.
func (e *engine) Freeze() *vt.Frame {
	f := &vt.Frame{
		Cols: e.main.Cols, Rows: e.main.Rows, Unicode: e.cfg.Unicode,
		History: vt.LinesOf(e.hist.all()...), Main: e.freezeScreen(e.main, e.hist.len()),
		Modes: e.modes, CursorStyle: e.cursorStyle, LastChar: e.in.Last, Pending: e.in.Pending(),
	}
	e.pen.Freeze(f)
	e.labels.Freeze(f)
	e.charsets.Freeze(f)
	if e.cur == e.alt {
		alt := e.freezeScreen(e.alt, 0)
		f.Alt = &alt
	} else if e.alt != nil {
		if saved := e.alt.Saved(0); saved.Set {
			f.Hidden = &vt.Screen{Saved: saved}
		}
	}
	return f
}

// freezeScreen copies a screen with base lines of history above it.
func (e *engine) freezeScreen(s *screen, base int) vt.Screen {
	out := s.Freeze(base)
	out.Lines = make([]vt.Line, s.Rows)
	for y := range out.Lines {
		out.Lines[y] = s.line(y, e.looks, &e.packer)
	}
	return out
}
