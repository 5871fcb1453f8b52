package vt

// styles numbers the styles of the cells on a terminal's screens. Number 0 is
// the default style. Numbers have 32 bits and unused ones are
// forgotten, so they never run out, whatever a program prints.
type styles struct {
	list  []styleKey // by number
	slots []uint32   // hash table with linear probing: number, 0 for none
	limit int        // of list before the next sweep

	// What the sweep before left, for the next: a program without end of colours
	// shall not keep the garbage collector busy.
	spare *styles

	links   []Link          // by number; 0 is none
	numbers map[Link]uint32 // of links
}

const (
	minSlots = 16 // a power of two
	// sweepAt is how many styles there may be before unused ones are forgotten:
	// more than nearly any program uses on purpose. As many fit into the first cache of a processor.
	sweepAt = 1024
	// sweepCells is how many cells a sweep may visit for each style it waited for.
	sweepCells = 4
	// keptStyles is up to how many styles a sweep leaves its memory to the next.
	keptStyles = 16 * sweepAt
)

func newStyles() styles { return styles{list: make([]styleKey, 1, 4), limit: sweepAt} }

// number returns the number of s, a new one if need be.
func (t *styles) number(s *Style) uint32 {
	return t.intern(s.key(t.linkNumber(s.Link)))
}

// intern returns the number of l, a new one if need be.
func (t *styles) intern(l styleKey) uint32 {
	if l == (styleKey{}) {
		return 0
	}
	if 2*len(t.list) >= len(t.slots) {
		t.grow()
	}
	mask := uint32(len(t.slots) - 1)
	for i := l.hash() & mask; ; i = (i + 1) & mask {
		n := t.slots[i]
		if n == 0 {
			n = uint32(len(t.list))
			t.slots[i] = n
			t.list = append(t.list, l)
			return n
		}
		if t.list[n] == l {
			return n
		}
	}
}

// protected reports whether selective erase leaves c alone (DECSCA, VT510).
func (t *styles) protected(c cell) bool { return t.list[c.style()].attr()&Protected != 0 }

// linkNumber returns the number of a link.
func (t *styles) linkNumber(l Link) uint32 {
	if l == (Link{}) {
		return 0
	}
	if n, ok := t.numbers[l]; ok {
		return n
	}
	if t.numbers == nil {
		t.numbers, t.links = map[Link]uint32{}, make([]Link, 1, 4)
	}
	n := uint32(len(t.links))
	t.numbers[l] = n
	t.links = append(t.links, l)
	return n
}

// linkOf is the link of a style, the zero value for none.
func (t *styles) linkOf(l styleKey) Link {
	if l.link == 0 {
		return Link{}
	}
	return t.links[l.link]
}

func (t *styles) grow() {
	t.slots = make([]uint32, max(minSlots, 2*len(t.slots)))
	mask := uint32(len(t.slots) - 1)
	for n := 1; n < len(t.list); n++ {
		i := t.list[n].hash() & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(n)
	}
}

// full tells that it is time for a sweep.
func (t *styles) full() bool { return len(t.list) >= t.limit }

// sweep forgets every style that is on none of the rows and numbers the others
// anew. The next sweep waits until there are twice as many as are in use, and
// longer on a large screen, so that sweeping costs no more than making styles does.
// loss says what else they lose.
func (t *styles) sweep(loss int, screens ...*screen) {
	fresh := t.successor()
	renumbered := make([]uint32, len(t.list))
	renumber := func(n uint32) uint32 {
		if n != 0 && renumbered[n] == 0 {
			l := t.list[n]
			l.link = fresh.linkNumber(t.linkOf(l))
			switch {
			case loss >= loseStyles:
				l = newStyleKey(0, 0, l.attr()&Protected)
			case loss >= loseLinks:
				l.link = 0
			}
			renumbered[n] = fresh.intern(l)
		}
		return renumbered[n]
	}
	cells := 0
	for _, s := range screens {
		cells += s.Cols * len(s.rows)
		for _, r := range s.rows {
			r.renumber(renumber)
		}
	}
	fresh.limit = max(sweepAt, 2*len(fresh.list), cells/sweepCells)
	*t = fresh
}

// successor is an empty table that begins with the memory that the sweep before left,
// unless that is more than most programs need.
func (t *styles) successor() styles {
	if cap(t.list) > keptStyles {
		return newStyles()
	}
	old := t.spare
	if old == nil {
		old = new(styles)
	}
	fresh := styles{list: append(old.list[:0], styleKey{}), slots: old.slots, spare: old}
	*old = styles{list: t.list, slots: t.slots}
	if len(fresh.slots) == len(t.slots) {
		clear(fresh.slots)
	} else {
		fresh.slots = make([]uint32, len(t.slots))
	}
	return fresh
}

// renumber gives every cell the new number of its style.
func (r *row) renumber(number func(uint32) uint32) {
	r.unspare()
	for i := range r.runs {
		r.runs[i].style = number(r.runs[i].style)
	}
	for _, cells := range [...][]cell{r.cells, r.hidden()} {
		for i, c := range cells {
			cells[i] = c&(1<<cellStyle-1) | blankCell(number(c.style()))
		}
	}
}

// styleSize, slotSize and linkSize are what a style, a slot and a link with its
// number take, in bytes.
const styleSize, slotSize, linkSize = 24, 4, 100

func (t *styles) memory() int {
	n := cap(t.list)*styleSize + len(t.slots)*slotSize
	if t.spare != nil {
		n += t.spare.memory()
	}
	for _, l := range t.links {
		n += l.memory()
	}
	return n
}

// memory is what a link takes in a table, 0 for none.
func (l Link) memory() int {
	if l == (Link{}) {
		return 0
	}
	return linkSize + len(l.ID) + len(l.URI)
}
