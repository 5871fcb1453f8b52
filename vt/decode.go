package vt

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// decoder turns a stream of bytes into valid UTF-8, chunk by chunk: the text
// that engine and viewers share, so that both see the same characters whatever
// a program prints. A byte that cannot be part of a character becomes one
// U+FFFD, the rule of Go's range loop. The bytes of an incomplete character at
// the end of a chunk wait for the next one, so how the stream was split does
// not show in the joined results.
//
// The zero value is ready. A decoder is not safe for concurrent use.
type decoder struct {
	held      [MaxHeld]byte
	n         int    // bytes in held
	raw, text []byte // scratch: held bytes before the chunk, and repaired text
}

// Decode returns the text of the held bytes and p together, as far as its
// characters are complete. The result aliases p when nothing had to change, else
// memory of the decoder; it is valid until the next call. p is not retained.
func (d *decoder) Decode(p []byte) []byte {
	if d.n > 0 {
		d.raw = append(append(d.raw[:0], d.held[:d.n]...), p...)
		p = d.raw
	}
	whole := len(p) - incomplete(p)
	d.n = copy(d.held[:], p[whole:])
	p = p[:whole]
	if sound(p) {
		return p
	}
	d.text = d.text[:0]
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		d.text = utf8.AppendRune(d.text, r)
		p = p[size:]
	}
	return d.text
}

// PutBack takes back all but the first n bytes of the text that Decode made of p and
// the held bytes before it, which all are in these n. It returns how many bytes of p
// are in them; the others are as if Decode had not had them.
func (d *decoder) PutBack(p []byte, held, n int) (taken int) {
	if held > 0 {
		p = d.raw
	}
	for at := 0; at < n; {
		r, size := utf8.DecodeRune(p[taken:])
		taken += size
		at += utf8.RuneLen(r)
	}
	d.n = 0
	return taken - held
}

// Flush returns one U+FFFD for each byte that waits for the rest of its
// character, which will not come. The result is valid until the next call.
func (d *decoder) Flush() []byte {
	d.text = append(d.text[:0], strings.Repeat("\ufffd", d.n)...)
	d.n = 0
	return d.text
}

// Held is the number of bytes that wait for the rest of their character, 0 to
// MaxHeld.
func (d *decoder) Held() int { return d.n }

// incomplete is the length of the beginning of a character at the end of p.
func incomplete(p []byte) int {
	for i := len(p) - 1; i >= 0 && i >= len(p)-MaxHeld; i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				return 0
			}
			return len(p) - i
		}
	}
	return 0
}

// States of the automaton that reads UTF-8, as the number of bits that its transitions are shifted
// by.
const (
	utf8Start = 6 * iota
	utf8Error // sticky
	utf8One   // one more continuation byte
	utf8Two   // two more
	utf8Three // three more
	utf8AfterE0
	utf8AfterED
	utf8AfterF0
	utf8AfterF4
)

// utf8Rules are the steps that sound text takes (Unicode 3.9, table 3-7): from a state, by a byte of
// a range, to the next state.
var utf8Rules = [...]struct {
	state    int
	from, to byte
	next     int
}{
	{utf8Start, 0x00, 0x7f, utf8Start},
	{utf8Start, 0xc2, 0xdf, utf8One},
	{utf8Start, 0xe0, 0xe0, utf8AfterE0},
	{utf8Start, 0xe1, 0xec, utf8Two},
	{utf8Start, 0xed, 0xed, utf8AfterED},
	{utf8Start, 0xee, 0xef, utf8Two},
	{utf8Start, 0xf0, 0xf0, utf8AfterF0},
	{utf8Start, 0xf1, 0xf3, utf8Three},
	{utf8Start, 0xf4, 0xf4, utf8AfterF4},
	{utf8One, 0x80, 0xbf, utf8Start},
	{utf8Two, 0x80, 0xbf, utf8One},
	{utf8Three, 0x80, 0xbf, utf8Two},
	{utf8AfterE0, 0xa0, 0xbf, utf8One},
	{utf8AfterED, 0x80, 0x9f, utf8One},
	{utf8AfterF0, 0x90, 0xbf, utf8Two},
	{utf8AfterF4, 0x80, 0x8f, utf8Two},
}

// utf8Steps has for every byte the next states, six bits for each state. So a
// step is one load and one shift, without a branch that mixed text mispredicts.
var utf8Steps = func() (steps [256]uint64) {
	for b := range steps {
		for state := utf8Start; state <= utf8AfterF4; state += 6 {
			steps[b] |= utf8Error << state
		}
	}
	for _, rule := range utf8Rules {
		for b := int(rule.from); b <= int(rule.to); b++ {
			steps[b] ^= uint64(utf8Error^rule.next) << rule.state
		}
	}
	return steps
}()

// sound reports whether p is UTF-8 and nothing else.
func sound(p []byte) bool {
	const high, block = 0x8080808080808080, 32
	for {
		for len(p) >= 8 && binary.LittleEndian.Uint64(p)&high == 0 {
			p = p[8:]
		}
		state := uint64(utf8Start)
		n := min(block, len(p))
		for _, b := range p[:n] {
			state = utf8Steps[b] >> (state & 63)
		}
		for n < len(p) && state&63 != utf8Start { // to the end of the character
			state = utf8Steps[p[n]] >> (state & 63)
			if n++; state&63 == utf8Error {
				return false
			}
		}
		if state&63 != utf8Start {
			return false
		}
		if p = p[n:]; len(p) == 0 {
			return true
		}
	}
}

// decodeSound is utf8.DecodeRune for text that is known to be sound.
func decodeSound(p []byte) (r rune, size int) {
	switch c := p[0]; {
	case c < utf8.RuneSelf:
		return rune(c), 1
	case c < 0xe0:
		return rune(c&0x1f)<<6 | rune(p[1]&0x3f), 2
	case c < 0xf0:
		return rune(c&0xf)<<12 | rune(p[1]&0x3f)<<6 | rune(p[2]&0x3f), 3
	default:
		return rune(c&7)<<18 | rune(p[1]&0x3f)<<12 | rune(p[2]&0x3f)<<6 | rune(p[3]&0x3f), 4
	}
}
