package vt10x

import (
	"unsafe"

	"github.com/evertty/evertty/vt"
)

// history is a ring of the lines that left the main screen at its top.
type history struct {
	lines []vt.Line
	first int // index of the oldest line, once the ring is full
	limit int
	most  int // bytes that the lines may take
	bytes int // what the lines take
}

// lineSize is the memory of a line besides its packed bytes.
const lineSize = int(unsafe.Sizeof(vt.Line{}))

func (h *history) len() int { return len(h.lines) }

func (h *history) push(l vt.Line) {
	switch {
	case h.limit == 0:
		return
	case len(h.lines) < h.limit:
		h.lines = append(h.lines, l)
		h.bytes += l.Size() + lineSize
	default:
		h.bytes += l.Size() - h.lines[h.first].Size()
		h.lines[h.first] = l
		h.first = (h.first + 1) % h.limit
	}
}

// shrink drops the oldest lines until the others take no more than they may, and
// returns how many went. Most go at once, because the others move.
func (h *history) shrink() (dropped int) {
	if h.bytes <= h.most {
		return 0
	}
	lines := h.all()
	for len(lines) > 0 && h.bytes > h.most-h.most/shrinkBy {
		h.bytes -= lines[0].Size() + lineSize
		lines = lines[1:]
		dropped++
	}
	h.lines, h.first = append([]vt.Line(nil), lines...), 0
	return dropped
}

// shrinkBy is the part of the bytes that shrink leaves free.
const shrinkBy = 8

func (h *history) clear() { h.lines, h.first, h.bytes = nil, 0, 0 }

// all returns the lines, oldest first, in memory of their own.
func (h *history) all() []vt.Line {
	if len(h.lines) == 0 {
		return nil
	}
	out := make([]vt.Line, 0, len(h.lines))
	out = append(out, h.lines[h.first:]...)
	return append(out, h.lines[:h.first]...)
}

// unwrap makes line i, counted from the oldest, one that continues nothing.
func (h *history) unwrap(i int) {
	l := &h.lines[(h.first+i)%len(h.lines)]
	if plain, err := vt.ParseLine(l.Packed(), false, vt.MaxSize); err == nil {
		*l = plain
	}
}

// fit breaks lines that are longer than cols, so that a Frame never holds one.
func (h *history) fit(cols int, p *vt.Packer) {
	old := h.all()
	h.clear()
	for _, l := range old {
		if l.Cells() <= cols {
			h.push(l)
			continue
		}
		h.fold(l, cols, p)
	}
}

// fold pushes l as several lines of at most cols cells. Every character of it is
// one cell wide.
func (h *history) fold(l vt.Line, cols int, p *vt.Packer) {
	x, wrapped := 0, l.Wrapped()
	next := func() {
		if x == cols {
			h.push(p.Line(wrapped))
			x, wrapped = 0, true
		}
		x++
	}
	for s := range l.Spans() {
		if s.Kind == vt.Blank {
			for range s.Cells {
				next()
				p.Blank(1, s.Style)
			}
		}
		for _, r := range s.Text {
			next()
			p.Char(r, 1, s.Style)
		}
	}
	h.push(p.Line(wrapped))
}
