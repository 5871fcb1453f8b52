package vt

// Damage tells which rows of a Terminal's screen have to be drawn again. It
// remembers what its owner has drawn; the zero value has drawn nothing. Each of
// several viewers has a Damage of its own. They cost a Terminal nothing while it
// is written to.
//
// Only cells count: the cursor, ReverseVideo and the colours of the palette change
// without a row.
type Damage struct {
	cols  int
	drawn []drawnRow
	rows  []int
}

// drawnRow is a row as it was drawn.
type drawnRow struct {
	row     *row
	version uint64
	used    int
}

// Rows returns the rows of the screen shown, from 0 and ascending, that may look
// different than at the last call for t. They are all rows at the first call, after
// a change of the width and after a switch between the two screens, and all rows
// that moved after scrolling. The result is valid until the next call.
func (d *Damage) Rows(t *Terminal) []int {
	s := t.screen
	if d.cols != s.Cols {
		d.cols, d.drawn = s.Cols, d.drawn[:0]
	}
	d.rows = d.rows[:0]
	for y, r := range s.rows {
		now := drawnRow{r, r.version, r.used}
		if y == len(d.drawn) {
			d.drawn = append(d.drawn, drawnRow{})
		}
		if d.drawn[y] != now {
			d.drawn[y] = now
			d.rows = append(d.rows, y)
		}
	}
	clear(d.drawn[len(s.rows):])
	d.drawn = d.drawn[:len(s.rows)]
	return d.rows
}
