// Package echo tells the echo of input from other output of a terminal. Typed remembers
// what was typed, and a Filter finds it in the output that follows.
package echo

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// Masked replaces text that is an echo: no terminal shows NUL, so no pattern matches it.
const Masked = 0

// maxSpans is how many echoes a Filter remembers.
const maxSpans = 256

// Filter finds the echo of input in the output that follows: the same characters
// contiguously, once, or again before the line ends, because line editors redraw it.
// All methods may be called on nil, which finds nothing. It is not safe for concurrent use.
type Filter struct {
	typed   *Typed
	version uint64            // of typed, as last read
	pieces  map[uint64]*match // by serial
	spans   []span            // ascending
}

// span is an echo by positions of the output: after from, up to to.
type span struct{ from, to uint64 }

// match is the progress of finding one piece.
type match struct {
	piece
	done    bool   // all of it was printed; the end of the line removes it
	matched int    // bytes of text matched in the current run
	from    uint64 // position where the run began
	to      uint64
	blank   bool // a blank came that does not belong to the text
}

// NewFilter returns a Filter for output after a position.
func NewFilter(typed *Typed, from uint64) *Filter {
	f := &Filter{typed: typed, pieces: map[uint64]*match{}}
	f.Update(from)
	return f
}

// Update reads what was typed since the last call; seq is the position of the output.
func (f *Filter) Update(seq uint64) {
	if f == nil || f.version > 0 && !f.typed.changed(f.version) {
		return
	}
	list, version := f.typed.since(seq)
	f.version = version
	for _, p := range list {
		old := f.pieces[p.serial]
		switch {
		case old == nil && p.seq >= seq:
			f.pieces[p.serial] = &match{piece: p}
		case old != nil:
			if len(p.text) > len(old.text) {
				old.done = false
			}
			old.piece = p
		}
	}
}

// Print takes printed characters; from is the position before them.
func (f *Filter) Print(text []byte, from uint64) {
	if f == nil || len(f.pieces) == 0 {
		return
	}
	for len(text) > 0 {
		_, n := utf8.DecodeRune(text)
		for _, m := range f.pieces {
			if m.seq <= from {
				m.print(text[:n], from)
			}
			if m.done {
				f.add(span{m.from, m.to})
			}
		}
		text, from = text[n:], from+uint64(n)
	}
}

// print takes the next printed character.
func (m *match) print(c []byte, from uint64) {
	m.done = false
	for {
		if m.matched < len(m.text) && bytes.HasPrefix(m.text[m.matched:], c) {
			if m.matched == 0 {
				m.from = from
			}
			m.matched += len(c)
			m.to, m.blank = from+uint64(len(c)), false
			m.done = m.matched == len(m.text)
			return
		}
		if m.matched > 0 && len(c) == 1 && c[0] == ' ' && !m.blank {
			m.blank = true // line editors print a blank and CR at the right margin
			return
		}
		if m.matched == 0 {
			return
		}
		m.matched, m.blank = 0, false
	}
}

// Control takes a control character: CR and LF end what a line editor redraws.
func (f *Filter) Control(c rune) {
	if f == nil {
		return
	}
	for serial, m := range f.pieces {
		complete := m.to > 0 && m.matched == len(m.text)
		switch {
		case c == '\n' && (complete || f.has(m)):
			delete(f.pieces, serial)
		case c == '\r' && m.blank, complete:
			m.blank = false
		default:
			m.matched, m.blank = 0, false
		}
	}
}

// has reports whether the last match of a piece is a span already.
func (f *Filter) has(m *match) bool {
	return slices.ContainsFunc(f.spans, func(s span) bool { return s.from == m.from && s.to == m.to && m.to > 0 })
}

func (f *Filter) add(s span) {
	if n := len(f.spans); n > 0 && f.spans[n-1].from == s.from {
		f.spans[n-1] = s
		return
	}
	if len(f.spans) == maxSpans {
		f.spans = append(f.spans[:0], f.spans[1:]...)
	}
	f.spans = append(f.spans, s)
}

// Mask returns the text of a line with Masked for each byte that is an echo or may
// become one. Without any it returns the line's own text.
func (f *Filter) Mask(l vt.TextLine) []byte {
	if f == nil || len(f.spans) == 0 && len(f.pieces) == 0 {
		return l.Text
	}
	spans := slices.Clone(f.spans)
	for _, m := range f.pieces {
		if m.matched > 0 {
			spans = append(spans, span{m.from, m.to})
		}
	}
	text, own := l.Text, false
	for i, at := range l.Offsets {
		if at == 0 || !slices.ContainsFunc(spans, func(s span) bool { return at > s.from && at <= s.to }) {
			continue
		}
		if !own {
			text, own = bytes.Clone(text), true
		}
		text[i] = Masked
	}
	return text
}
