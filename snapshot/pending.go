package snapshot

import (
	"bytes"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// parserState is where a parser stands inside a sequence, as far as it decides
// which bytes end it. The transitions are those of the DEC ANSI parser
// (vt100.net/emu/dec_ansi_parser) with xterm.js's treatment of characters
// beyond ASCII.
type parserState uint8

const (
	ground parserState = iota
	escape
	escapeIntermediate
	csi // the header of a control sequence: four states in this order
	csiParam
	csiIntermediate
	csiIgnore
	osc
	sosPmApc
	dcs // the header of a device control string, in the same order
	dcsParam
	dcsIntermediate
	dcsIgnore
	dcsPassthrough
)

// inString reports whether text is collected that ESC ends.
func (s parserState) inString() bool { return s >= osc }

// openTail returns the part of p that is an unfinished sequence, nil when there
// is none. What stands before it was complete, so it is part of the state
// already; controls inside it were executed when they came and are left out.
// When ESC has begun to end a string both are kept: only the next byte tells
// whether it is ST. p is not changed; the result may share its memory.
func openTail(p []byte) []byte {
	if len(p) > vt.MaxPending {
		p = p[:vt.MaxPending]
		for len(p) > 0 && !utf8.RuneStart(p[len(p)-1]) {
			p = p[:len(p)-1]
		}
		p = p[:max(0, len(p)-1)]
	}
	return unfinished(p)
}

// unfinished is openTail for text of any length.
func unfinished(p []byte) []byte {
	state, start, controls := ground, 0, false
	for i := 0; i < len(p); {
		r, size := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && size == 1 {
			return nil
		}
		next := state.next(r)
		mayBeST := r == 0x1b && state.inString() && i == len(p)-1
		if began(r) && !mayBeST {
			start, controls = i, false
		} else if r < 0x20 && r != 0x1b {
			controls = true
		}
		state, i = next, i+size
	}
	if state == ground {
		return nil
	}
	tail := p[start:]
	if controls && state != dcsPassthrough {
		tail = withoutControls(tail)
	}
	return tail
}

// settled drops from an open tail a string that its last byte, ESC, has ended
// for xterm.js, which acts at the ESC. A frame from a file gets no such effect.
func settled(tail []byte) []byte {
	if i := bytes.LastIndexByte(tail, 0x1b); i >= 0 {
		return tail[i:]
	}
	return tail
}

func withoutControls(p []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < 0x20 && r != 0x1b {
			return -1
		}
		return r
	}, p)
}

// began reports whether r begins a sequence whatever came before.
func began(r rune) bool {
	switch r {
	case 0x1b, 0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f:
		return true
	}
	return false
}

// next is the state after r.
func (s parserState) next(r rune) parserState {
	switch {
	case r == 0x1b:
		return escape
	case r == 0x18 || r == 0x1a:
		return ground
	case r >= 0x80 && r < 0xa0:
		return afterC1(r)
	case r < 0x20:
		if s == osc && r == 0x07 {
			return ground
		}
		return s
	case r >= 0xa0:
		if s == osc || s == csiIgnore || s == dcsIgnore || s == dcsPassthrough {
			return s
		}
		return ground
	}
	return s.nextASCII(byte(r))
}

func afterC1(r rune) parserState {
	switch r {
	case 0x90:
		return dcs
	case 0x9b:
		return csi
	case 0x9d:
		return osc
	case 0x98, 0x9e, 0x9f:
		return sosPmApc
	}
	return ground
}

// nextASCII is next for 0x20..0x7f.
func (s parserState) nextASCII(c byte) parserState {
	switch {
	case s == escape:
		return afterEscape(c)
	case s == escapeIntermediate:
		if c >= 0x30 && c < 0x7f {
			return ground
		}
	case s >= csi && s <= csiIgnore:
		if c >= 0x40 && c < 0x7f {
			return ground
		}
		return csi + (s - csi).nextHeader(c)
	case s >= dcs && s < dcsIgnore:
		if c >= 0x40 && c < 0x7f {
			return dcsPassthrough
		}
		return dcs + (s - dcs).nextHeader(c)
	}
	return s
}

// nextHeader is nextASCII inside a header, where s counts from its first state
// and c does not end it.
func (s parserState) nextHeader(c byte) parserState {
	const begin, param, intermediate, ignore = 0, 1, 2, 3
	switch {
	case c == 0x7f || s == ignore:
		return s
	case c < 0x30:
		return intermediate
	case s == begin || s == param && c < '<':
		return param
	}
	return ignore
}

func afterEscape(c byte) parserState {
	switch {
	case c == '[':
		return csi
	case c == ']':
		return osc
	case c == 'P':
		return dcs
	case c == 'X' || c == '^' || c == '_':
		return sosPmApc
	case c < 0x30:
		return escapeIntermediate
	case c == 0x7f:
		return escape
	}
	return ground
}
