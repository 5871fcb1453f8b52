package vt10x

import (
	lib "github.com/hinshun/vt10x"

	"github.com/evertty/evertty/vt"
)

// look is the number of everything about a cell but its character. The library
// keeps it as the cell's foreground colour: 0 to 255 as a colour of the palette,
// larger ones as red, green and blue.
type look uint32

// The looks that always exist. erased is the library's own default colour, so
// that its resets and line feeds make erased cells without being told.
const (
	plain  look = 0 // a character in the default style
	erased      = look(lib.DefaultFG)
)

// maxLooks is how many looks there may be before those that no cell has are
// forgotten; some 300 bytes each.
const maxLooks = 4096

// kind is what a look stands for.
type kind struct {
	style vt.Style
	blank bool // erased, not a character
}

// looks numbers kinds.
type looks struct {
	kinds []kind
	ids   map[kind]look
	free  []look
	limit int // of len(kinds) - len(free) before the next sweep

	linkless bool // links are left out of what is packed
}

func newLooks() *looks {
	return &looks{kinds: []kind{{}}, ids: map[kind]look{{}: plain, {blank: true}: erased}, limit: maxLooks}
}

// kind returns what l stands for.
func (ls *looks) kind(l look) kind {
	if l >= look(len(ls.kinds)) {
		return kind{blank: true}
	}
	k := ls.kinds[l]
	if ls.linkless {
		k.style.Link = vt.Link{}
	}
	return k
}

// id returns the look of k.
func (ls *looks) id(k kind) look {
	if l, ok := ls.ids[k]; ok {
		return l
	}
	l := look(len(ls.kinds))
	if n := len(ls.free); n > 0 {
		l, ls.free = ls.free[n-1], ls.free[:n-1]
		ls.kinds[l] = k
	} else {
		ls.kinds = append(ls.kinds, k)
	}
	ls.ids[k] = l
	return l
}

// crowded tells that it is time for a sweep.
func (ls *looks) crowded() bool { return len(ls.kinds)-len(ls.free) >= ls.limit }

// sweep forgets every look that is on none of the grids. When most are in use
// the next sweep waits until there are twice as many, so that sweeping costs no
// more than making looks does.
func (ls *looks) sweep(grids ...*grid) {
	live := make([]bool, len(ls.kinds))
	live[plain] = true
	for _, l := range ls.free {
		live[l] = true
	}
	for _, g := range grids {
		g.mark(live)
	}
	for i, ok := range live {
		if !ok {
			delete(ls.ids, ls.kinds[i])
			ls.kinds[i] = kind{}
			ls.free = append(ls.free, look(i))
		}
	}
	ls.limit = max(maxLooks, 2*(len(ls.kinds)-len(ls.free)))
}

// penLooks are the looks of the pen's style and of what is erased with it, once
// known.
type penLooks struct {
	text, blank look
	known       bool
}

// penChanged says that the pen may have another style now.
func (e *engine) penChanged() { e.penLooks.known = false }

// look is the look of the next character.
func (e *engine) look() look {
	e.know()
	return e.penLooks.text
}

// blank is the look of what is erased now: only the background of the pen.
func (e *engine) blank() look {
	e.know()
	return e.penLooks.blank
}

func (e *engine) know() {
	if e.penLooks.known {
		return
	}
	if e.looks.crowded() {
		e.looks.sweep(e.grids()...)
	}
	s := e.pen.Style()
	e.penLooks = penLooks{plain, erased, true}
	if s != (vt.Style{}) {
		e.penLooks.text = e.looks.id(kind{style: s})
	}
	if s.BG != 0 {
		e.penLooks.blank = e.looks.id(kind{vt.Style{BG: s.BG}, true})
	}
}

// grids are the cells that there are.
func (e *engine) grids() []*grid {
	if e.alt == nil {
		return []*grid{e.main.grid}
	}
	return []*grid{e.main.grid, e.alt.grid}
}

// memory is what the looks take, in bytes. A link counts in each that has it.
func (ls *looks) memory() int {
	n := len(ls.kinds) * lookSize
	for i := range ls.kinds {
		l := &ls.kinds[i].style.Link
		n += len(l.ID) + len(l.URI)
	}
	return n
}

// unlink takes the links from all looks.
func (ls *looks) unlink() {
	for i := range ls.kinds {
		if k := &ls.kinds[i]; k.style.Link != (vt.Link{}) {
			delete(ls.ids, *k)
			k.style.Link = vt.Link{}
		}
	}
}
