package vt

import (
	"fmt"
	"unicode/utf8"
)

// checksum answers DECRQCRA (VT510): the negative sum of the character
// codes in a rectangle, blanks as spaces (xterm's checksum with attributes left
// out, which is what esctest reads the screen with).
func (t *Terminal) checksum() []byte {
	in, s := &t.stream, t.screen
	origin := 0
	if t.modes.Origin {
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
		sum += t.sumCells(s.rows[y], left, right)
	}
	return fmt.Appendf(nil, "\x1bP%d!~%04X\x1b\\", in.Param(0), -sum&0xffff)
}

// sumCells adds up the first characters of the cells from left to right-1.
func (t *Terminal) sumCells(r *row, left, right int) (sum int) {
	cells := t.screen.cells(r)
	t.screen.meter.Add(max(right-left, 0))
	for x := left; x < right; x++ {
		switch c := cells[x]; {
		case c&cellCluster != 0:
			first, _ := utf8.DecodeRuneInString(r.clusters[c&cellChar])
			sum += int(first)
		case c&cellChar != 0:
			sum += int(c & cellChar)
		default:
			sum += ' '
		}
	}
	return sum
}
