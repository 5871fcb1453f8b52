package vt

import (
	"bytes"
	"iter"
	"strings"
	"unicode/utf8"
)

// Line is one row of cells, immutable and packed: some two bytes more than its
// text when it is plain. The zero value is a blank line. Lines are values that
// share their bytes; copying one costs a string header.
//
// The packed form is a sequence of spans, self-contained so that it can be
// stored as it is (snapshot format 1 does):
//
//	head     1 byte: kind (3 bits) | style follows (1 bit) | size (4 bits)
//	size     uvarint, size-15, only when the size in the head is 15
//	style    see packKey, only when the bit is set; else as the span before
//	text     size bytes of UTF-8 (not for blank spans, where size counts cells)
//
// Blank cells of the default style at the end of a line are left out.
type Line struct {
	packed  string
	wrapped bool
}

// Kind says how the text of a Span lies in cells.
type Kind uint8

// The kinds of a span.
const (
	Blank       Kind = iota // erased cells, no text
	ASCII                   // one byte is one character is one cell
	Narrow                  // each character takes one cell; not all are ASCII
	Wide                    // each character takes two cells
	ClusterOne              // the whole text (a base and its marks) is one cell
	ClusterWide             // the whole text is one character of two cells
	ZeroWidth               // each character has no width but a cell of its own: a mark that followed nothing
	kinds
)

// wide reports whether the characters take two cells.
func (k Kind) wide() bool { return k == Wide || k == ClusterWide }

// Width is how many columns a character has: 0 for a mark that has a cell of its own.
func (k Kind) Width() int {
	switch k {
	case Wide, ClusterWide:
		return 2
	case ZeroWidth:
		return 0
	}
	return 1
}

// Span is a run of neighbouring cells of one style.
type Span struct {
	Kind  Kind
	Cells int    // columns it covers, >= 1
	Text  string // "" exactly when Kind is Blank
	Style Style
}

const (
	headStyle = 1 << 3
	headSize  = 4 // shift of the size nibble
	bigSize   = 15
)

// Wrapped reports whether this line continues the one above it (autowrap).
func (l Line) Wrapped() bool { return l.wrapped }

// Packed returns the packed form for storage; ParseLine reads it.
func (l Line) Packed() string { return l.packed }

// Size is the number of bytes the line takes besides its header.
func (l Line) Size() int { return len(l.packed) }

// Spans yields the line from left to right. Neighbours may have equal styles.
func (l Line) Spans() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		var s Span
		for p := l.packed; p != ""; {
			var ok bool
			if p, ok = unpackSpan(p, &s); !ok || !yield(s) {
				return
			}
		}
	}
}

// Cells is the number of columns up to the last one that is not a default blank.
func (l Line) Cells() int {
	n := 0
	for s := range l.Spans() {
		n += s.Cells
	}
	return n
}

// AppendText appends the line's characters, blanks as spaces, and cuts the
// blanks at the end.
func (l Line) AppendText(b []byte) []byte {
	start := len(b)
	for s := range l.Spans() {
		if s.Kind == Blank {
			b = append(b, strings.Repeat(" ", s.Cells)...)
		} else {
			b = append(b, s.Text...)
		}
	}
	return b[:start+len(bytes.TrimRight(b[start:], " "))]
}

// Text is AppendText as a string.
func (l Line) Text() string { return string(l.AppendText(nil)) }

// cellsOf is the number of columns that text of kind k takes.
func cellsOf(k Kind, text string) int {
	switch k {
	case ASCII:
		return len(text)
	case Narrow, ZeroWidth:
		return utf8.RuneCountInString(text)
	case Wide:
		return 2 * utf8.RuneCountInString(text)
	case ClusterWide:
		return 2
	}
	return 1
}

// unpackSpan reads one span and returns the rest; s.Style carries the style of
// the span before. ok is false when p is not well formed.
func unpackSpan(p string, s *Span) (rest string, ok bool) {
	head := p[0]
	p = p[1:]
	s.Kind = Kind(head & 7)
	size := int(head >> headSize)
	if size == bigSize {
		v, n := uvarint(p)
		if n <= 0 || v > maxPacked {
			return "", false
		}
		size, p = bigSize+int(v), p[n:]
	}
	if head&headStyle != 0 {
		if p, ok = unpackStyle(p, &s.Style); !ok {
			return "", false
		}
	}
	if s.Kind >= kinds || size == 0 {
		return "", false
	}
	if s.Kind == Blank {
		s.Text, s.Cells = "", size
		return p, true
	}
	if size > len(p) {
		return "", false
	}
	s.Text = p[:size]
	s.Cells = cellsOf(s.Kind, s.Text)
	return p[size:], true
}
