package vt

import (
	"fmt"
	"unicode/utf8"
)

// checksum answers DECRQCRA (VT510): the negative sum of the character
// codes in a rectangle, blanks as spaces (xterm's checksum with attributes left
// out, which is what esctest reads the screen with).
func (e *editor) checksum() []byte {
	in, s := &e.stream, e.screen
	origin := 0
	if e.modes.Origin {
		origin = s.Top
	}
	edge := func(i, last int) int { // a bottom or right edge that is not given is the last
		if v := in.Param(i); v > 0 {
			return min(v, last)
		}
		return last
	}
	sum := 0
	left, right := in.One(3)-1, edge(5, s.Cols)
	for y := in.One(2) - 1 + origin; y < edge(4, len(s.rows)-origin)+origin; y++ {
		sum += e.sumCells(s.rows[y], left, right)
	}
	return fmt.Appendf(nil, "\x1bP%d!~%04X\x1b\\", in.Param(0), -sum&0xffff)
}

// sumAt is a state of a row, and the sum of its columns from left to right-1 then.
type sumAt struct {
	version                uint64
	used, left, right, sum int
}

// sumCells adds up the first characters of the cells from left to right-1.
func (b *bufferSet) sumCells(r *row, left, right int) int {
	b.screen.meter.Add(costRow)
	if left >= right {
		return 0
	}
	m := r.more()
	if at := (sumAt{r.version, r.used, left, right, m.sum.sum}); m.sum != at {
		b.screen.meter.Add(right - left)
		at.sum = r.sumCells(left, right)
		m.sum = at
	}
	return m.sum.sum
}

func (r *row) sumCells(left, right int) (sum int) {
	if r.cells == nil {
		return r.sumText(left, right)
	}
	cells := r.cells
	for x := left; x < right; x++ {
		switch c := cells[x]; {
		case c&cellCluster != 0:
			first, _ := utf8.DecodeRuneInString(r.rare.clusters[c&cellChar])
			sum += int(first)
		case c&cellChar != 0:
			sum += int(c & cellChar)
		default:
			sum += ' '
		}
	}
	return sum
}

// sumText is sumCells of a row in text form.
func (r *row) sumText(left, right int) (sum int) {
	x, at := 0, 0
	add := func(c, cells int) {
		if x >= left && x < right {
			sum += c
		}
		if x+1 >= left && x+1 < right && cells == 2 { // the second half counts as a blank
			sum += ' '
		}
		x += cells
	}
	for _, n := range r.runs {
		text, end := r.text[at:n.end], x+int(n.cells)
		at = n.end
		switch {
		case end <= left:
			x = end
		case n.kind == Blank:
			sum += ' ' * max(min(end, right)-max(x, left), 0)
			x = end
		case n.kind == ASCII:
			for _, c := range text[max(left-x, 0):max(min(right-x, len(text)), max(left-x, 0))] {
				sum += int(c)
			}
			x = end
		case n.kind == ClusterOne || n.kind == ClusterWide:
			first, _ := utf8.DecodeRune(text)
			add(int(first), int(n.cells))
		default:
			cells := int(n.cells) / max(utf8.RuneCount(text), 1)
			for _, c := range string(text) {
				add(int(c), cells)
			}
		}
	}
	return sum + ' '*max(right-max(x, left), 0)
}
