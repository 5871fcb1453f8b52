package vt

import "hash/maphash"

// styles numbers the styles of the cells on a terminal's screens. Number 0 is
// the default style. Numbers have 32 bits and those that no cell has are
// forgotten, so they never run out, whatever a program prints.
type styles struct {
	list  []Style  // by number
	slots []uint32 // hash table with linear probing: number, 0 for none
	limit int      // of list before the next sweep
}

const (
	minSlots = 16 // a power of two
	// sweepAt is how many styles there may be before unused ones are forgotten:
	// more than a program uses on purpose, some 100 KB.
	sweepAt = 2048
)

var linkSeed = maphash.MakeSeed()

func newStyles() styles {
	return styles{list: make([]Style, 1, 4), limit: sweepAt}
}

// number returns the number of s, a new one if need be.
func (t *styles) number(s *Style) uint32 {
	if s.plain() {
		return 0
	}
	if 2*len(t.list) >= len(t.slots) {
		t.grow()
	}
	mask := uint32(len(t.slots) - 1)
	for i := hashStyle(s) & mask; ; i = (i + 1) & mask {
		n := t.slots[i]
		if n == 0 {
			n = uint32(len(t.list))
			t.slots[i] = n
			t.list = append(t.list, *s)
			return n
		}
		if t.list[n].equal(s) {
			return n
		}
	}
}

// plain tells whether s is the zero value, faster than ==.
func (s *Style) plain() bool {
	return s.FG|s.BG|s.UnderlineColor == 0 && s.Attr == 0 && s.Underline == 0 && s.Link == Link{}
}

// equal is == with the parts first that usually differ.
func (s *Style) equal(o *Style) bool {
	return s.FG == o.FG && s.BG == o.BG && s.Attr == o.Attr && s.Underline == o.Underline &&
		s.UnderlineColor == o.UnderlineColor && s.Link == o.Link
}

func (t *styles) grow() {
	t.slots = make([]uint32, max(minSlots, 2*len(t.slots)))
	mask := uint32(len(t.slots) - 1)
	for n := 1; n < len(t.list); n++ {
		i := hashStyle(&t.list[n]) & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(n)
	}
}

func hashStyle(s *Style) uint32 {
	const mix = 0x9e3779b97f4a7c15
	h := (uint64(s.FG)<<32 | uint64(s.BG)) * mix
	h ^= h >> 29
	h = (h ^ uint64(s.UnderlineColor)<<24 ^ uint64(s.Attr)<<8 ^ uint64(s.Underline)) * mix
	if s.Link.URI != "" {
		h ^= maphash.String(linkSeed, s.Link.URI) + 31*maphash.String(linkSeed, s.Link.ID)
	}
	return uint32(h >> 32)
}

// crowded tells that it is time for a sweep.
func (t *styles) crowded() bool { return len(t.list) >= t.limit }

// sweep forgets every style that is on none of the rows and numbers the others
// anew. When most are in use the next sweep waits until there are twice as many,
// so that sweeping costs no more than making styles does.
func (t *styles) sweep(screens ...*screen) {
	fresh := styles{list: make([]Style, 1, cap(t.list)), slots: make([]uint32, len(t.slots))}
	renumbered := make([]uint32, len(t.list))
	renumber := func(n uint32) uint32 {
		if n != 0 && renumbered[n] == 0 {
			renumbered[n] = fresh.number(&t.list[n])
		}
		return renumbered[n]
	}
	for _, s := range screens {
		for _, r := range s.rows {
			for i := range r.runs {
				r.runs[i].style = renumber(r.runs[i].style)
			}
			for _, cells := range [...][]cell{r.cells, r.hidden} {
				for i, c := range cells {
					cells[i] = c&(1<<cellStyle-1) | blankCell(renumber(c.style()))
				}
			}
		}
	}
	fresh.limit = max(sweepAt, 2*len(fresh.list))
	*t = fresh
}

// styleSize and slotSize are what a style and a slot take, in bytes.
const styleSize, slotSize = 48, 4

func (t *styles) memory() int { return cap(t.list)*styleSize + len(t.slots)*slotSize }
