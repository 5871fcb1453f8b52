package vt

import (
	"bytes"
	"slices"
	"strings"
)

// trackedLines are the lines of the main screen and of the rows of history above it.
type trackedLines struct {
	lines   []TextLine
	last    []int // index of each line's last row
	cursor  int   // index of the line that the cursor is in
	rows    []Line
	at      [][]uint64 // the positions of their cells
	history int        // how many of rows are history
	y       int        // the row that the cursor is in
}

// mainLines returns the lines of the main screen and of the last n rows of history. at has
// the positions of their cells, by row.
func (b *bufferSet) mainLines(n int, at func(i int) []uint64) trackedLines {
	history := b.hist.freeze().Last(n)
	p := trackedLines{history: history.Len(), y: history.Len() + b.main.Y}
	p.rows = append(history.Slice(), b.freezeScreen(b.main, 0).Lines...)
	p.at = make([][]uint64, len(p.rows))
	for i := range p.rows {
		p.at[i] = at(i)
		if i > 0 && p.rows[i].wrapped {
			p.last[len(p.last)-1] = i
		} else {
			p.last = append(p.last, i)
		}
		if i == p.y {
			p.cursor = len(p.last) - 1
		}
	}
	p.lines = joinRows(p.rows, p.at, b.main.Cols)
	return p
}

// Resize changes the size (see Engine). Changed lines are reported before. Text keeps its
// positions, except where the resize cuts or joins lines in another way than by wrapping.
func (w *Tracker) Resize(cols, rows int) {
	if !w.on {
		w.t.Resize(cols, rows)
		return
	}
	w.Report()
	kept := len(w.pastRows)
	past := w.pastRows[kept-min(kept, w.t.hist.count):]
	before := w.t.mainLines(len(past), func(i int) []uint64 {
		if i < len(past) {
			return past[i].positions(w.t.main.Cols)
		}
		if m := w.t.main.rows[i-len(past)].tracked(); m != nil {
			return m.offsets
		}
		return nil
	})
	w.t.Resize(cols, rows)
	w.restorePositions(before)
}

// restorePositions gives the rows of the main screen and its history the positions that
// their text had before it was wrapped anew.
func (w *Tracker) restorePositions(before trackedLines) {
	cols := w.t.main.Cols
	n := min(w.t.hist.count, 2*MaxSize)
	cells := make([]uint64, (n+len(w.t.main.rows))*cols) // positions, row by row
	// First each cell has its own number as a position, from 1, which tells the cell of a text.
	for i := range cells {
		cells[i] = uint64(i) + 1
	}
	row := func(i int) []uint64 { return cells[i*cols : (i+1)*cols] }
	after := w.t.mainLines(n, row)
	clear(cells)
	for i, l := range after.lines {
		k := i - after.cursor + before.cursor
		if k < 0 || k >= len(before.lines) {
			continue
		}
		old := before.lines[k]
		if !bytes.Equal(bytes.TrimRight(l.Text, " "), bytes.TrimRight(old.Text, " ")) {
			continue // another line
		}
		for j := range min(len(l.Offsets), len(old.Offsets)) {
			cells[l.Offsets[j]-1] = old.Offsets[j]
		}
		end := after.last[i]
		for x := after.rows[end].Cells(); x < cols; x++ {
			row(end)[x] = old.ErasedAt
		}
	}
	after.copyCursorLine(before, row)
	w.setPositions(after, row)
}

// copyCursorLine gives the rows of the cursor's line, which is not wrapped anew, the positions
// that they had.
func (p *trackedLines) copyCursorLine(before trackedLines, row func(i int) []uint64) {
	first := 0
	if p.cursor > 0 {
		first = p.last[p.cursor-1] + 1
	}
	for i := first; i <= p.last[p.cursor]; i++ {
		k := i - p.y + before.y
		if k >= 0 && k < len(before.rows) && strings.HasPrefix(before.rows[k].Text(), p.rows[i].Text()) {
			copy(row(i), before.at[k])
		}
	}
}

// setPositions replaces the positions of the rows of the main screen and the history. A
// row that stayed as it was keeps its own.
func (w *Tracker) setPositions(p trackedLines, row func(i int) []uint64) {
	w.changedRows, w.pastRows = 0, make([]trackedRow, p.history)
	for i := range w.pastRows {
		if used := p.rows[i].Cells(); w.hooks.keepsOffsets() {
			w.pastRows[i].offsets = slices.Clone(row(i))
		} else if used > 0 {
			w.pastRows[i].newest = row(i)[min(used, w.t.main.Cols)-1]
		}
	}
	for y, r := range w.t.main.rows {
		if r.tracked() == nil {
			at := slices.Clone(row(p.history + y))
			r.more().tracked = &trackedRow{offsets: at, erased: r.used < len(at) && at[r.used] > 0}
		}
	}
	w.prefix, w.hasPrefix, w.prefixChanged = TextLine{}, false, false
	if w.t.main.rows[0].wrapped {
		w.prefixFromHistory()
	}
}
