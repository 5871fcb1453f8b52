package vt

// gridStyle is what a StyleID stands for.
type gridStyle struct {
	style Style
	blank bool // erased, not a character
}

// gridStyles numbers the styles of the cells of grids. A number stays as long as
// a cell has it.
type gridStyles struct {
	list    []gridStyle
	numbers map[gridStyle]StyleID
	free    []StyleID
	limit   int // of len(list) - len(free) before the next sweep

	linkless bool // links are left out of what is packed
}

func newGridStyles() *gridStyles {
	numbers := map[gridStyle]StyleID{{}: plainStyle, {blank: true}: ErasedStyle}
	return &gridStyles{list: []gridStyle{{}}, numbers: numbers, limit: sweepAt}
}

// entry returns what id stands for.
func (t *gridStyles) entry(id StyleID) gridStyle {
	if id >= StyleID(len(t.list)) {
		return gridStyle{blank: true}
	}
	s := t.list[id]
	if t.linkless {
		s.style.Link = Link{}
	}
	return s
}

// number returns the number of s.
func (t *gridStyles) number(s gridStyle) StyleID {
	if id, ok := t.numbers[s]; ok {
		return id
	}
	id := StyleID(len(t.list))
	if n := len(t.free); n > 0 {
		id, t.free = t.free[n-1], t.free[:n-1]
		t.list[id] = s
	} else {
		t.list = append(t.list, s)
	}
	t.numbers[s] = id
	return id
}

// full tells that it is time for a sweep.
func (t *gridStyles) full() bool { return len(t.list)-len(t.free) >= t.limit }

// sweep forgets every style that is on none of the screens. When most are in use
// the next sweep waits until there are twice as many, so that sweeping costs no
// more than numbering does.
func (t *gridStyles) sweep(screens ...*gridScreen) {
	used := make([]bool, len(t.list))
	used[plainStyle] = true
	for _, id := range t.free {
		used[id] = true
	}
	for _, s := range screens {
		for y := range s.rows {
			for x := range s.rows[y].used {
				if _, id := s.grid.Cell(x, y); int(id) < len(used) {
					used[id] = true
				}
			}
		}
	}
	for i, ok := range used {
		if !ok {
			delete(t.numbers, t.list[i])
			t.list[i] = gridStyle{}
			t.free = append(t.free, StyleID(i))
		}
	}
	t.limit = max(sweepAt, 2*(len(t.list)-len(t.free)))
}

// gridStyleSize is what a style takes with its place in the map, in bytes.
const gridStyleSize = 300

// memory is what the styles take, in bytes. A link counts in each that has it.
func (t *gridStyles) memory() int {
	n := len(t.list) * gridStyleSize
	for i := range t.list {
		l := &t.list[i].style.Link
		n += len(l.ID) + len(l.URI)
	}
	return n
}

// unlink takes the links from all styles.
func (t *gridStyles) unlink() {
	for i := range t.list {
		if s := &t.list[i]; s.style.Link != (Link{}) {
			delete(t.numbers, *s)
			s.style.Link = Link{}
		}
	}
}
