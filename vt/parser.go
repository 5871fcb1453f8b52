package vt

import "math"

// This file is the state machine of a VT500 parser, https://vt100.net/emu/dec_ansi_parser, with
// these differences, most of them xterm.js 6's:
//   - It reads characters, so C1 controls are U+0080 to U+009F. They work in every state.
//   - The header of a DCS is part of its text: there is no hook, put and unhook, and the text comes as a whole.
//   - BEL ends an OSC too. ESC ends a string, and the ESC \ that follows is an escape sequence of its own.
//   - Parameters have subparameters behind colons. A colon does not make a control sequence malformed.
//   - A character beyond ASCII ends a sequence, the header of a DCS, SOS, PM and APC without effect. It is text
//     of OSC and DCS, and nothing in a malformed sequence.
//   - Controls are executed inside of sequences, are text of a DCS, and nothing in other strings.
//   - DEL and U+FEFF are nothing.

// parserState is a state of the diagram. The four states of a DCS header are one.
type parserState uint8

const (
	ground parserState = iota
	escape
	escapeInter
	csiEntry
	csiParam
	csiInter
	csiIgnore
	stringOSC
	headerDCS
	stringDCS
	stringOther // SOS, PM, APC: their text is ignored
	ignoreDCS   // a DCS whose header is malformed
)

// action is what a character means to the engine.
type action uint8

const (
	ignore    action = iota // nothing, and no part of a sequence
	collect                 // part of an unfinished sequence
	begin                   // first character of a sequence
	execute                 // a C0 or C1 control; the sequence around it goes on unless the state is ground
	escDone                 // the last character of an escape sequence
	csiDone                 // the last character of a control sequence
	stringEnd               // the terminator of an OSC or DCS
	abort                   // the sequence ends without effect
)

// maxParam is the largest value of a parameter, as in xterm.js.
const maxParam = math.MaxInt32

// omitted is the value of a subparameter without digits.
const omitted = -1

// parser tokenises text. It assigns no meaning: after escDone, csiDone and
// stringEnd its fields tell what was read. Parameters beyond maxParams are
// dropped, as are subparameters beyond as many in a sequence.
type parser struct {
	state                parserState
	prefix               byte // one of < = > ? of a control sequence, or 0
	inter                byte // the intermediate character, or 0
	tooManyIntermediates bool // more than one: no sequence that exists
	params               [maxParams]int32
	count                int // of params; >= 1
	subs                 [maxParams]int32
	subEnd               [maxParams]uint8 // end of each parameter's part of subs
	nsub                 int
	inSub                bool
	full                 bool        // parameters, or subparameters of this one, are dropped
	hasParams            bool        // of a DCS header
	kind                 parserState // of the string that stringEnd ended
}

// next takes one character outside of ground, or a control in ground.
func (p *parser) next(c rune) action {
	switch {
	case c == 0x1b:
		ends := p.ends()
		p.enter(escape)
		if ends {
			return stringEnd
		}
		return begin
	case c >= 0x80 && c < 0xa0:
		return p.c1(c)
	case c == 0x18 || c == 0x1a: // CAN, SUB (ECMA-48 8.3.6, 8.3.148)
		p.state = ground
		return execute
	case p.inString():
		return p.inText(c)
	case c < 0x20:
		return execute
	case c == 0x7f || p.state == ground:
		return ignore
	case c > 0x7f && p.state != csiIgnore:
		p.state = ground
		return abort
	}
	switch p.state {
	case escape, escapeInter:
		return p.escape(c)
	}
	return p.csi(c)
}

func (p *parser) inString() bool { return p.state >= stringOSC }

// ends reports whether a terminator here ends a string that means something, and
// notes which.
func (p *parser) ends() bool {
	p.kind = p.state
	return p.state == stringOSC || p.state == stringDCS
}

// enter begins a sequence; every parameter starts as one 0.
func (p *parser) enter(s parserState) {
	p.state = s
	p.prefix, p.inter, p.tooManyIntermediates = 0, 0, false
	p.params[0], p.count = 0, 1
	p.subEnd[0], p.nsub = 0, 0
	p.inSub, p.full, p.hasParams = false, false, false
}

// c1 handles the 8-bit controls U+0080 to U+009F.
func (p *parser) c1(c rune) action {
	ends := p.ends()
	p.state = ground
	switch next := introduced[c-0x40]; {
	case next != ground:
		p.enter(next)
		return begin
	case c != 0x9c: // ST
		return execute
	case ends:
		return stringEnd
	}
	return abort
}

// introduced are the states behind ESC and a character, or the C1 control that is 0x40 above it
// (ECMA-35 15.2): CSI, OSC, DCS, SOS, PM and APC.
var introduced = [0x80]parserState{
	'[': csiEntry, ']': stringOSC, 'P': headerDCS, 'X': stringOther, '^': stringOther, '_': stringOther,
}

// inText takes a character of a string. Only OSC ends with BEL too (xterm
// ctlseqs), only DCS contains controls, and xterm.js 6 gives up a DCS header,
// SOS, PM or APC at the first character beyond ASCII.
func (p *parser) inText(c rune) action {
	switch {
	case c == 0x07 && p.ends() && p.kind == stringOSC:
		p.state = ground
		return stringEnd
	case c < 0x20 && p.state != stringDCS:
		return ignore
	case (p.state == headerDCS || p.state == stringOther) && c > 0x7f:
		p.state = ground
		return abort
	case p.state == headerDCS:
		p.header(c)
	}
	return collect
}

// header takes a character of the header of a DCS: parameters, intermediates,
// and the final that begins the text.
func (p *parser) header(c rune) {
	switch {
	case c >= 0x40:
		p.state = stringDCS
	case c < 0x30:
		p.intermediate(c)
	case p.inter != 0 || c >= 0x3c && p.hasParams:
		p.state = ignoreDCS
	default:
		p.hasParams = true
	}
}

func (p *parser) escape(c rune) action {
	switch {
	case c < 0x30:
		p.intermediate(c)
		p.state = escapeInter
		return collect
	case p.state == escapeInter:
		p.state = ground
		return escDone
	}
	if p.state = introduced[c]; p.state == ground {
		return escDone
	}
	return collect
}

func (p *parser) intermediate(c rune) {
	p.tooManyIntermediates = p.tooManyIntermediates || p.inter != 0
	p.inter = byte(c)
}

func (p *parser) csi(c rune) action {
	switch {
	case c >= 0x40 && c < 0x7f:
		ignored := p.state == csiIgnore
		p.state = ground
		if ignored {
			return abort
		}
		return csiDone
	case p.state == csiIgnore:
	case c < 0x30:
		p.intermediate(c)
		p.state = csiInter
	case p.state == csiInter:
		p.state = csiIgnore
	case c < 0x3c:
		p.state = csiParam
		p.param(c)
	case p.state == csiEntry:
		p.prefix = byte(c)
		p.state = csiParam
	default:
		p.state = csiIgnore
	}
	return collect
}

// param takes a digit, a ':' or a ';'.
func (p *parser) param(c rune) {
	switch {
	case c == ';':
		p.inSub, p.full = false, p.count == len(p.params)
		if !p.full {
			p.params[p.count], p.subEnd[p.count] = 0, uint8(p.nsub)
			p.count++
		}
	case c == ':':
		p.inSub, p.full = true, p.full || p.nsub == len(p.subs)
		if !p.full {
			p.subs[p.nsub] = omitted
			p.nsub++
			p.subEnd[p.count-1] = uint8(p.nsub)
		}
	case p.full:
	case p.inSub:
		v := &p.subs[p.nsub-1]
		*v = withDigit(max(*v, 0), c)
	default:
		v := &p.params[p.count-1]
		*v = withDigit(*v, c)
	}
}

// withDigit is v with one more digit.
func withDigit(v int32, digit rune) int32 {
	return int32(min(int64(v)*10+int64(digit-'0'), maxParam))
}

// sub is what parameter i has behind its colons.
func (p *parser) sub(i int) []int32 {
	if i >= p.count {
		return nil
	}
	begin := 0
	if i > 0 {
		begin = int(p.subEnd[i-1])
	}
	return p.subs[begin:p.subEnd[i]]
}

// function names an escape or control sequence with final c.
func (p *parser) function(c rune) function {
	if p.tooManyIntermediates {
		return 0
	}
	return function(p.prefix)*private | function(p.inter)*intermediate | function(c)
}
