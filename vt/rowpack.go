package vt

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// rowPacker packs rows as Packer packs spans, without going through them: it
// knows the numbers of the styles. It keeps its scratch memory between rows.
type rowPacker struct {
	buf  []byte
	text []byte // of the span at hand, cell form only
	last uint32 // number of the style written before
	bare bool   // styles are left out
	// linkless: links are left out.
	linkless bool
}

// row packs r. The result is valid until the next call.
func (p *rowPacker) row(r *row, styles *styles) []byte {
	p.buf, p.last = p.buf[:0], 0
	if r.cells != nil {
		p.cells(r, styles)
		return p.buf
	}
	n := len(r.runs)
	for n > 0 && r.runs[n-1].kind == Blank && r.runs[n-1].style == 0 {
		n--
	}
	at := 0
	for _, run := range r.runs[:n] {
		if run.kind == Blank {
			p.span(Blank, int(run.cells), nil, run.style, styles)
		} else {
			p.head(run.kind, run.end-at, run.style, styles)
			p.copy(r.text, at, run.end)
		}
		at = run.end
	}
	return p.buf
}

// span writes one span; size counts bytes of text, or the cells of a blank one.
func (p *rowPacker) span(k Kind, size int, text []byte, style uint32, styles *styles) {
	p.head(k, size, style, styles)
	p.buf = append(p.buf, text...)
}

// shortCopy is how many bytes copy takes at once.
const shortCopy = 16

// copy writes text[from:to]. Most spans are short, and copies of one size cost no branch that is
// mispredicted: what was copied too much is overwritten.
func (p *rowPacker) copy(text []byte, from, to int) {
	if to-from > shortCopy || from+shortCopy > cap(text) {
		p.buf = append(p.buf, text[from:to]...)
		return
	}
	n := len(p.buf)
	p.buf = slices.Grow(p.buf, shortCopy)[:n+shortCopy]
	*(*[shortCopy]byte)(p.buf[n:]) = *(*[shortCopy]byte)(text[from : from+shortCopy])
	p.buf = p.buf[:n+to-from]
}

// head writes what a span has before its text.
func (p *rowPacker) head(k Kind, size int, style uint32, styles *styles) {
	if p.bare {
		style = 0
	}
	head := byte(k) | byte(min(size, bigSize))<<headSize
	if style != p.last {
		head |= headStyle
	}
	p.buf = append(p.buf, head)
	if size >= bigSize {
		p.buf = binary.AppendUvarint(p.buf, uint64(size-bigSize))
	}
	if style != p.last {
		p.style(styles.list[p.last], styles.list[style], styles)
		p.last = style
	}
}

// style writes what differs between two styles.
func (p *rowPacker) style(old, l styleKey, styles *styles) {
	at := len(p.buf)
	p.buf = packKey(p.buf, old, l)
	if old.link != l.link && !p.linkless {
		p.buf = packLink(p.buf, at, styles.linkOf(l))
	}
}

// cells packs a row in cell form.
func (p *rowPacker) cells(r *row, styles *styles) {
	end := r.used
	for end > 0 && plainBlank(r.cells, end-1) {
		end--
	}
	cells := r.cells[:end]
	for x := 0; x < len(cells); {
		kind := kindAt(cells, x)
		if kind == Blank {
			x += p.blanks(cells[x:], styles)
		} else {
			x += p.chars(r, cells[x:], kind, styles)
		}
	}
}

// plainBlank reports whether cell x is packed as a default blank: erased, or half of
// a wide character.
func plainBlank(cells []cell, x int) bool {
	c := cells[x]
	if c == 0 {
		return true
	}
	return c.style() == 0 && kindAt(cells, x) == Blank && !(c.tail() && x > 0 && cells[x-1].wide())
}

// kindAt is the kind of the span that cell x belongs to. The half of a wide
// character that lost the other half is blank.
func kindAt(cells []cell, x int) Kind {
	c := cells[x]
	wide := c.wide()
	switch {
	case !c.hasContent() || wide && (x+1 == len(cells) || !cells[x+1].tail()):
		return Blank
	case c&cellCluster != 0 && wide:
		return ClusterWide
	case c&cellCluster != 0:
		return ClusterOne
	case wide:
		return Wide
	case c&cellMark != 0:
		return ZeroWidth
	case c&cellChar < utf8.RuneSelf:
		return ASCII
	}
	return Narrow
}

// blanks writes the blanks of one style at the start of cells and returns how
// many there are.
func (p *rowPacker) blanks(cells []cell, styles *styles) int {
	n, style := 1, cells[0].style()
	for n < len(cells) && cells[n].style() == style && kindAt(cells, n) == Blank {
		n++
	}
	p.span(Blank, n, nil, style, styles)
	return n
}

// chars writes the characters of one kind and style at the start of cells and
// returns how many cells they take.
func (p *rowPacker) chars(r *row, cells []cell, k Kind, styles *styles) int {
	p.text = p.text[:0]
	style, x, step := cells[0].style(), 0, 1
	if k == Wide || k == ClusterWide {
		step = 2
	}
	for x < len(cells) && cells[x].style() == style {
		if next := kindAt(cells, x); next == ASCII && k <= Narrow {
			p.text = append(p.text, byte(cells[x]))
		} else if x == 0 || mergeable(k, next) {
			p.text = r.appendChars(p.text, cells[x])
			k = max(k, next)
		} else {
			break
		}
		x += step
		if k == ClusterOne || k == ClusterWide {
			break
		}
	}
	p.span(k, len(p.text), p.text, style, styles)
	return x
}

// setLine makes a blank row in text form out of a packed line.
func (r *row) setLine(l Line, t *styles) {
	for s := range l.Spans() {
		r.append(s.Kind, []byte(s.Text), s.Cells, t.number(&s.Style))
	}
	r.wrapped = l.wrapped
}
