package terminal

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// masked stands for text that is an echo: no terminal shows it, so no pattern for
// text has it.
const masked = 0

// echo finds the echo of what was typed in the output that follows: the same
// characters one behind the other, once, or again before the line ends, as line
// editors redraw it. All methods may be called on nil, which finds nothing.
type echo struct {
	typing  *typing
	version uint64
	pieces  map[uint64]*echoed // by serial
	spans   []span             // ascending
}

// span are positions in the output: of characters behind from, up to to.
type span struct{ from, to uint64 }

// echoed is how much of a piece was seen.
type echoed struct {
	typed
	done    bool   // all of it was seen: it is forgotten with the line
	matched int    // bytes of text seen in the run at hand
	from    uint64 // where that began
	to      uint64
	waiting bool // a blank came that does not belong to it
}

// maxSpans is how many echoes are remembered.
const maxSpans = 256

func newEcho(y *typing, from uint64) *echo {
	e := &echo{typing: y, pieces: map[uint64]*echoed{}}
	e.learn(from)
	return e
}

// learn takes over what was typed meanwhile; seq is the position of the output.
func (e *echo) learn(seq uint64) {
	if e == nil || e.version > 0 && !e.typing.changed(e.version) {
		return
	}
	list, version := e.typing.since(seq)
	e.version = version
	for _, p := range list {
		old := e.pieces[p.serial]
		switch {
		case old == nil && p.seq >= seq:
			e.pieces[p.serial] = &echoed{typed: p}
		case old != nil:
			if len(p.text) > len(old.text) {
				old.done = false
			}
			old.typed = p
		}
	}
}

// print looks at characters that are printed; from is the position before them.
func (e *echo) print(text []byte, from uint64) {
	if e == nil || len(e.pieces) == 0 {
		return
	}
	for len(text) > 0 {
		_, n := utf8.DecodeRune(text)
		for _, p := range e.pieces {
			if p.seq <= from {
				p.see(text[:n], from)
			}
			if p.done {
				e.add(span{p.from, p.to})
			}
		}
		text, from = text[n:], from+uint64(n)
	}
}

// see takes the next character that is printed.
func (p *echoed) see(c []byte, from uint64) {
	p.done = false
	for {
		if len(p.text)-p.matched >= len(c) && p.text[p.matched:p.matched+len(c)] == string(c) && p.matched < len(p.text) {
			if p.matched == 0 {
				p.from = from
			}
			p.matched += len(c)
			p.to, p.waiting = from+uint64(len(c)), false
			p.done = p.matched == len(p.text)
			return
		}
		if p.matched > 0 && len(c) == 1 && c[0] == ' ' && !p.waiting {
			p.waiting = true // line editors print a blank and CR at the right margin
			return
		}
		if p.matched == 0 {
			return
		}
		p.matched, p.waiting = 0, false
	}
}

// control looks at CR and LF.
func (e *echo) control(c rune) {
	if e == nil {
		return
	}
	for serial, p := range e.pieces {
		seen := p.to > 0 && p.matched == len(p.text)
		switch {
		case c == '\n' && (seen || e.has(p)):
			delete(e.pieces, serial)
		case c == '\r' && p.waiting, seen:
			p.waiting = false
		default:
			p.matched, p.waiting = 0, false
		}
	}
}

// has tells whether the piece was seen once.
func (e *echo) has(p *echoed) bool {
	return slices.ContainsFunc(e.spans, func(s span) bool { return s.from == p.from && s.to == p.to && p.to > 0 })
}

func (e *echo) add(s span) {
	if n := len(e.spans); n > 0 && e.spans[n-1].from == s.from {
		e.spans[n-1] = s
		return
	}
	if len(e.spans) == maxSpans {
		e.spans = append(e.spans[:0], e.spans[1:]...)
	}
	e.spans = append(e.spans, s)
}

// mask returns the text of a line with NUL for each byte that is an echo, or may
// become one. The result is the line's own when nothing is.
func (e *echo) mask(l vt.TextLine) []byte {
	if e == nil || len(e.spans) == 0 && len(e.pieces) == 0 {
		return l.Text
	}
	spans := slices.Clone(e.spans)
	for _, p := range e.pieces {
		if p.matched > 0 {
			spans = append(spans, span{p.from, p.to})
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
		text[i] = masked
	}
	return text
}
