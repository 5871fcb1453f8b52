package vt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
	"unsafe"
)

// ErrBadLine is returned by ParseLine for bytes that no Packer made.
var ErrBadLine = errors.New("not a packed line")

// maxPacked bounds the size of one packed line: every cell of the widest row
// with its own style, link and marks stays below it.
const maxPacked = 16 << 20 // bytes

// Packer builds Lines. It keeps its scratch memory between lines; the zero
// value is ready. A Packer is not safe for concurrent use.
type Packer struct {
	out    rowPacker
	styles styles
	text   []byte // of the open span
	kind   Kind
	cells  int // of an open blank span
	style  Style
	keep   int // len(out.buf) without trailing default blanks
}

// Blank adds n erased cells.
func (p *Packer) Blank(n int, s Style) {
	if n <= 0 {
		return
	}
	p.open(Blank, s)
	p.cells += n
}

// Char adds a character of width 0 to 2 without marks; one of width 0 has a cell
// of its own.
func (p *Packer) Char(r rune, width int, s Style) {
	p.open(kindOf(r, width), s)
	p.text = utf8.AppendRune(p.text, r)
}

// ASCII adds a run of characters below 0x80, each one cell wide.
func (p *Packer) ASCII(text []byte, s Style) {
	if len(text) > 0 {
		p.open(ASCII, s)
		p.text = append(p.text, text...)
	}
}

// Cluster adds a base character with its marks: one cell, or two when wide.
func (p *Packer) Cluster(text string, width int, s Style) {
	k := ClusterOne
	if width == 2 {
		k = ClusterWide
	}
	p.close()
	p.open(k, s)
	p.text = append(p.text, text...)
	p.close()
}

// Line ends the line and starts the next. wrapped: the line continues the one
// above it.
func (p *Packer) Line(wrapped bool) Line {
	p.close()
	l := Line{packed: string(p.out.buf[:p.keep]), wrapped: wrapped}
	p.out.buf, p.out.last, p.keep = p.out.buf[:0], 0, 0
	if p.styles.full() {
		p.styles = styles{}
	}
	return l
}

func (p *Packer) open(k Kind, s Style) {
	if s != p.style || !mergeable(p.kind, k) {
		p.close()
	}
	if len(p.text) == 0 && p.cells == 0 {
		p.kind = k
	}
	p.kind, p.style = max(p.kind, k), s
}

// close writes the open span. Default blanks go to the buffer too, but keep
// stays before them until something visible follows.
func (p *Packer) close() {
	size := len(p.text)
	if p.kind == Blank {
		size = p.cells
	}
	if size == 0 {
		return
	}
	if p.styles.list == nil {
		p.styles = newStyles()
	}
	style := p.styles.number(&p.style)
	p.out.span(p.kind, size, p.text, style, &p.styles)
	if p.kind != Blank || style != 0 {
		p.keep = len(p.out.buf)
	}
	p.text, p.cells = p.text[:0], 0
}

// ParseLine checks bytes that came from outside and makes a line of them. It
// accepts at most cols columns and only valid UTF-8 without control characters,
// so that a line can never smuggle an escape sequence. Errors wrap ErrBadLine.
func ParseLine(packed string, wrapped bool, cols int) (Line, error) {
	if _, err := checkLine(packed, cols); err != nil {
		return Line{}, err
	}
	return Line{packed: packed, wrapped: wrapped}, nil
}

// checkLine returns how many cells a packed line has. It fails as ParseLine does.
func checkLine(packed string, cols int) (n int, err error) {
	var s Span
	for p := packed; p != ""; {
		var ok bool
		if p, ok = unpackSpan(p, &s); !ok {
			return 0, fmt.Errorf("%w: span at byte %d", ErrBadLine, len(packed)-len(p))
		}
		if n += s.Cells; n > cols {
			return 0, fmt.Errorf("%w: %d cells in %d columns", ErrBadLine, n, cols)
		}
		link := &s.Style.Link
		if !printable(s.Text, s.Kind == ASCII) || !printable(link.URI, false) || !printable(link.ID, false) {
			return 0, fmt.Errorf("%w: text that cannot be on a screen", ErrBadLine)
		}
	}
	return n, nil
}

// ParseLines is ParseLine for the first n of records that came from outside, as a block of history holds them: a
// uvarint of at most five bytes, the size of the packed line times two plus one when it continues the line above, and
// the packed line. The lines share the memory of records. Errors wrap ErrBadLine and name the line.
func ParseLines(records string, n, cols int) (Lines, error) {
	if n <= 0 {
		return Lines{}, nil
	}
	rest, widest := records, 0
	for i := range n {
		size, k := uvarint(rest)
		if k <= 0 || k > binary.MaxVarintLen32 || size>>1 > uint64(len(rest)-k) {
			return Lines{}, fmt.Errorf("%w: line %d of %d is cut short", ErrBadLine, i, n)
		}
		end := k + int(size>>1)
		cells, err := checkLine(rest[k:end], cols)
		if err != nil {
			return Lines{}, fmt.Errorf("line %d: %w", i, err)
		}
		rest, widest = rest[end:], max(widest, cells)
	}
	return Lines{parts: []part{{records: records[:len(records)-len(rest)], lines: n}}, n: n, widest: widest}, nil
}

// printable reports whether s is UTF-8 without controls, or ASCII without them.
func printable(s string, ascii bool) bool {
	s = s[asciiRun(unsafe.Slice(unsafe.StringData(s), len(s))):]
	return s == "" || !ascii && utf8.ValidString(s) && !hasControls(s)
}

func hasControls(s string) bool {
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return true
		}
	}
	return false
}
