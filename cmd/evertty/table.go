package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/evertty/evertty/vt"
)

const (
	// gap is between two columns, in cells.
	gap = 2
	// leastLast is what the last column keeps while others are cut, in cells.
	leastLast = 8
	// leastColumn is what other columns keep, in cells: a state or a size is nothing without its end. A window that has
	// less room loses the columns at the right.
	leastColumn = 6
	// mostMeasured is how many characters of a text are measured: twice as many cells are in the widest screen.
	mostMeasured = vt.MaxSize/2 - 1
)

// textTable is rows of cells, which are aligned when all are there. On a terminal it fits the window: the widest
// columns but the first are cut, with … at the end. Elsewhere nothing is cut. Characters are as wide as the emulator
// has them.
type textTable struct {
	w      io.Writer
	room   int // columns of the window; 0 is any
	rows   [][]string
	widths []int // of the columns, without the last cell of each row
	last   int   // the widest last cell
	ruler
}

// newTable is an empty table for w. Flush it at the end.
func newTable(w io.Writer) *textTable {
	t := &textTable{w: w}
	if f, ok := w.(*os.File); ok {
		t.room, _, _ = sizeOf(f)
	}
	return t
}

// headCells are the cells of a head, in which tabs separate them.
func headCells(head string) (cells []any) {
	for cell := range strings.SplitSeq(head, "\t") {
		cells = append(cells, cell)
	}
	return cells
}

// printRow adds a row.
func printRow(t *textTable, cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = printable(fmt.Sprint(cell))
		width := t.width(row[i])
		if i == len(cells)-1 {
			t.last = max(t.last, width)
			break
		}
		if i == len(t.widths) {
			t.widths = append(t.widths, 0)
		}
		t.widths[i] = max(t.widths[i], width)
	}
	t.rows = append(t.rows, row)
}

// Flush writes the rows.
func (t *textTable) Flush() error {
	_, err := io.WriteString(t.w, strings.Join(append(t.lines(), ""), "\n"))
	return err
}

// lines are the rows in text.
func (t *textTable) lines() []string {
	widths := t.fitted()
	lines := make([]string, len(t.rows))
	for n, row := range t.rows {
		var b strings.Builder
		at := 0
		for i, cell := range row[:len(row)-1] {
			cell = t.cut(cell, widths[i])
			b.WriteString(cell + strings.Repeat(" ", widths[i]+gap-t.width(cell)))
			at += widths[i] + gap
		}
		last := row[len(row)-1]
		if t.room > 0 {
			last = t.cut(last, max(t.room-at, 1))
		}
		lines[n] = strings.TrimRight(b.String()+last, " ")
		if t.room > 0 {
			lines[n] = t.cut(lines[n], t.room)
		}
	}
	return lines
}

// fitted are the widths that the columns get.
func (t *textTable) fitted() []int {
	most := 0
	for _, w := range t.widths {
		most = max(most, w)
	}
	widths := make([]int, len(t.widths))
	for ; ; most-- {
		sum := min(t.last, leastLast)
		for i, w := range t.widths {
			if widths[i] = w; i > 0 {
				widths[i] = min(w, most)
			}
			sum += widths[i] + gap
		}
		if t.room == 0 || sum <= t.room || most <= leastColumn {
			return widths
		}
	}
}

// ruler measures texts without control characters. The zero value is ready to use.
type ruler struct{ engine vt.Engine }

// width is how many cells a text takes; of one that is wider than any window at least that many.
func (r *ruler) width(text string) int {
	if ascii(text) {
		return len(text)
	}
	if r.engine == nil {
		r.engine = engines[defaultEngine](vt.Config{Cols: vt.MaxSize, Rows: 1, Guest: true})
	}
	runes := []rune(text)
	beyond := max(len(runes)-mostMeasured, 0)
	r.engine.Write([]byte("\x1b[2K\r" + string(runes[:len(runes)-beyond])))
	return r.engine.Freeze().Active().X + beyond
}

// cut is the text, or as much of it as there is room for with … at the end.
func (r *ruler) cut(text string, cells int) string {
	if r.width(text) <= cells {
		return text
	}
	runes := []rune(text)
	fits, no := 0, min(len(runes), cells) // characters without width are few
	for fits < no {
		if n := (fits + no + 1) / 2; r.width(string(runes[:n])) <= cells-1 {
			fits = n
		} else {
			no = n - 1
		}
	}
	return string(runes[:fits]) + "…"
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
