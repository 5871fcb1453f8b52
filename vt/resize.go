package vt

import "slices"

// Resize implements Engine. Lines of the main screen and its history reflow as in
// xterm.js 6, so a viewer that resizes itself in the same place stays equal. It does not
// follow widths below its minimum, a reflow that overflows its buffer, a wide character
// that the new edge cuts in two, and a resize of the alternate screen, where it keeps
// cells and rows that are cut off and moves them along unseen.
func (t *Terminal) Resize(cols, rows int) (exact bool) {
	old := t.cfg
	t.cfg.Cols, t.cfg.Rows = cols, rows
	t.cfg = t.cfg.Clamped()
	cols, rows = t.cfg.Cols, t.cfg.Rows
	if cols == old.Cols && rows == old.Rows {
		return true
	}
	t.loseLink()
	x, r := t.screen.X, t.screen.row()
	whole := !t.hist.short // else viewers have more history that comes back onto their screens
	exact = t.resizeMain(cols, rows) && whole && cols >= minReflow && old.Cols >= minReflow
	if t.alt != nil {
		t.resizeAlt(cols, rows)
	}
	if t.screen == t.main {
		t.hidden = max(t.hidden, rows)
	}
	if t.screen.X != x || t.screen.row() != r {
		t.stream.forgetHere() // it is not before the cursor any more
	}
	t.limitMemory()
	return exact && t.screen == t.main
}

// minReflow is the smallest number of columns of an xterm.js.
const minReflow = 2

// resizeMain changes the main screen: first the rows, taken from below the
// cursor or from the history, then the columns by reflowing.
// exact reports whether xterm.js does the same. It does not when its buffer gets
// full on the way: then it overwrites rows, or drops one that has text.
func (b *bufferSet) resizeMain(cols, rows int) (exact bool) {
	s := b.main
	buf := buffer{
		lines: b.gather(), base: b.hist.count, y: s.Y, saved: s.saved.row,
		oldCols: s.Cols, cols: cols, rows: rows, max: max(len(s.rows), rows) + b.cfg.Scrollback, styles: &b.styles,
		most: b.budget.limit,
	}
	buf.setRows(len(s.rows), rows+b.cfg.Scrollback)
	if cols != s.Cols && cols >= minReflow {
		buf.reflow()
	}
	b.scatter(&buf)
	if s.saved.row = buf.saved; buf.saved > 0 {
		s.saved.set = true // xterm.js moves what was never saved too
	}
	s.Resize(cols, rows)
	return !buf.inexact
}

// gather returns history and rows as one list. The rows are moved, not copied.
func (b *bufferSet) gather() []bufferLine {
	lines := make([]bufferLine, 0, b.hist.count+len(b.main.rows))
	for l := range b.hist.freeze().All() {
		lines = append(lines, bufferLine{line: l})
	}
	for _, r := range b.main.rows {
		lines = append(lines, bufferLine{row: r})
	}
	return lines
}

// scatter makes history and rows of the list again.
func (b *bufferSet) scatter(buf *buffer) {
	s := b.main
	s.spare = nil
	// Lines that reflowed away leave the screen short; xterm.js has one or more
	// blank rows then.
	for len(buf.lines) < buf.rows {
		buf.inexact = true
		buf.lines = append(buf.lines, bufferLine{row: &row{}})
	}
	base := len(buf.lines) - buf.rows
	short := b.hist.short
	b.hist.clear()
	b.hist.short = short || buf.short
	for i := max(0, base-b.hist.limit); i < base; i++ {
		l := buf.fitted(i)
		if l.row != nil {
			b.keep(l.row)
		} else {
			b.hist.push([]byte(l.line.packed), l.line.wrapped)
		}
	}
	s.rows = s.rows[:0]
	for i := base; i < len(buf.lines); i++ {
		l := buf.fitted(i)
		r := l.open(&b.styles)
		r.fit(buf.cols)
		s.rows = append(s.rows, r)
	}
	s.Y = min(buf.y, buf.rows-1)
}

// resizeAlt changes the alternate screen, which does not reflow. Cells that are cut off
// at the right comes back when the screen grows before the row was erased, as in
// xterm.js.
func (b *bufferSet) resizeAlt(cols, rows int) {
	s := b.alt
	if b.screen == s {
		b.setAltRows(rows)
	} else {
		s.setRows(rows)
	}
	s.spare = nil
	for _, r := range s.rows {
		r.hide(s.Cols, cols)
	}
	saved := s.saved.x
	s.Resize(cols, rows)
	if b.screen != s {
		s.saved.x = saved // xterm.js leaves a hidden screen's alone
	}
}

// setAltRows takes rows from below the cursor first, then from the top.
func (b *bufferSet) setAltRows(rows int) {
	s := b.alt
	if lost := len(s.rows) - rows; lost > 0 {
		top := max(0, min(lost, s.Y+1-rows))
		s.rows = slices.Delete(s.rows, 0, top)
		s.saved.row = max(s.saved.row-top, 0)
		s.Y = min(s.Y, rows-1)
	}
	s.setRows(rows)
}

// hide changes the width of a row of the alternate screen.
func (r *row) hide(old, cols int) {
	if old == cols || r.cells == nil && r.used <= cols {
		return
	}
	r.unspare()
	r.makeCells(old)
	all := slices.Concat(r.cells[:old], r.hidden())
	r.cells = make([]cell, cols)
	n := copy(r.cells, all)
	if cols < old {
		r.more().hidden = all[n:]
	} else if r.rare != nil {
		r.rare.hidden = nil
		r.tidyClusters()
	}
	for r.used = cols; r.used > 0 && r.cells[r.used-1] == 0; {
		r.used--
	}
}

// makeCells brings the row into cell form with the given width.
func (r *row) makeCells(cols int) {
	if r.cells == nil {
		cells := make([]cell, cols)
		r.fillCells(cells)
		r.cells, r.text, r.runs = cells, r.text[:0], r.runs[:0]
	}
}

// fit gives a row in cell form as many cells as there are columns now, which is
// enough for those it uses.
func (r *row) fit(cols int) {
	if r.cells == nil {
		return
	}
	cells := make([]cell, cols)
	copy(cells, r.cells)
	r.cells = cells
	r.unspare()
	r.tidyClusters()
}
