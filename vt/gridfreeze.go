package vt

import "math"

// Resize implements Engine. It is never exact: there is no reflow.
func (e *gridEngine) Resize(cols, rows int) (exact bool) {
	old := e.cfg
	e.cfg.Cols, e.cfg.Rows = cols, rows
	e.cfg = e.cfg.Clamped()
	cols, rows = e.cfg.Cols, e.cfg.Rows
	if cols == old.Cols && rows == old.Rows {
		return true
	}
	e.main.resize(cols, rows, func(y int) { e.keep(e.main.line(y, e.styles, &e.packer)) })
	if e.alt != nil {
		e.alt.resize(cols, rows, func(int) {})
	}
	e.limitMemory()
	if cols < old.Cols {
		e.fitHistory(cols)
	}
	return false
}

// fitHistory breaks lines that are longer than cols, so that a Frame never holds one.
func (e *gridEngine) fitHistory(cols int) {
	old := e.hist.freeze()
	e.hist.clear()
	for l := range old.All() {
		if l.Cells() <= cols {
			e.keep(l)
		} else {
			e.keepInParts(l, cols)
		}
	}
}

// keepInParts keeps l as several lines of at most cols cells. Every character of it
// is one cell wide.
func (e *gridEngine) keepInParts(l Line, cols int) {
	p := &e.packer
	x, wrapped := 0, l.Wrapped()
	next := func() {
		if x == cols {
			e.keep(p.Line(wrapped))
			x, wrapped = 0, true
		}
		x++
	}
	for s := range l.Spans() {
		if s.Kind == Blank {
			for range s.Cells {
				next()
				p.Blank(1, s.Style)
			}
		}
		for _, r := range s.Text {
			next()
			p.Char(r, 1, s.Style)
		}
	}
	e.keep(p.Line(wrapped))
}

// gridCellSize is what a cell of a Grid takes, in bytes: hinshun/vt10x, the only
// one in use, keeps two of each for its own alternate screen.
const gridCellSize = 2 * 16

// Memory implements Engine.
func (e *gridEngine) Memory() int { return e.otherMemory() + e.hist.memory() }

// otherMemory is what the state takes without the history, in bytes.
func (e *gridEngine) otherMemory() int {
	cells := e.main.Cols * e.main.Rows * len(e.screens())
	return cells*gridCellSize + e.styles.memory() + e.stream.Memory() + e.labels.Memory()
}

// limitMemory gives the history what the rest of the state leaves it. When the rest alone
// is too large, links lose their targets.
func (e *gridEngine) limitMemory() {
	rest := e.otherMemory()
	if rest > e.budget.Target() {
		e.styles.sweep(e.screens()...)
		if rest = e.otherMemory(); rest > e.budget.Target() {
			e.styles.unlink()
			rest = e.otherMemory()
		}
		e.penChanged()
	}
	e.hist.most = e.budget.History(rest)
	e.hist.shrink(0)
	e.forgetDropped()
}

// Freeze implements Engine.
func (e *gridEngine) Freeze() *Frame {
	f := e.freeze()
	f.Main, f.LastChar = e.freezeScreen(e.main, e.hist.count), e.stream.Last
	e.pen.Freeze(f)
	if e.screen == e.alt {
		alt := e.freezeScreen(e.alt, 0)
		f.Alt = &alt
	} else if e.alt != nil {
		if saved := e.alt.Saved(0); saved.Set {
			f.Hidden = &Screen{Saved: saved}
		}
	}
	return f
}

// freezeScreen copies a screen with base lines of history above it.
func (e *gridEngine) freezeScreen(s *gridScreen, base int) Screen {
	out := s.Freeze(base)
	pack := func(y int) Line { return s.line(y, e.styles, &e.packer) }
	if out.Lines = packRows(s.Rows, e.cfg.Memory, pack); out.Lines == nil {
		e.styles.linkless = true
		out.Lines = packRows(s.Rows, math.MaxInt, pack)
		e.styles.linkless = false
	}
	return out
}
