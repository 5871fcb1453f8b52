package vt

import "unicode/utf8"

// Decoder turns a stream of bytes into valid UTF-8, chunk by chunk: the text
// that engine and viewers share, so that both see the same characters whatever
// a program prints. A byte that cannot be part of a character becomes one
// U+FFFD, the rule of Go's range loop. The bytes of an incomplete character at
// the end of a chunk wait for the next one, so how the stream was split does
// not show in the joined results.
//
// The zero value is ready. A Decoder is not safe for concurrent use.
type Decoder struct {
	held      [MaxHeld]byte
	n         int    // bytes in held
	raw, text []byte // scratch: held bytes before the chunk, and repaired text
}

// Decode returns the text of the held bytes and p together, as far as its
// characters are complete. The result aliases p when nothing had to change, else
// memory of the Decoder; it is valid until the next call. p is not retained.
func (d *Decoder) Decode(p []byte) []byte {
	if d.n > 0 {
		d.raw = append(append(d.raw[:0], d.held[:d.n]...), p...)
		p = d.raw
	}
	whole := len(p) - incomplete(p)
	d.n = copy(d.held[:], p[whole:])
	p = p[:whole]
	if utf8.Valid(p) {
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

// Held is the number of bytes that wait for the rest of their character, 0 to
// MaxHeld.
func (d *Decoder) Held() int { return d.n }

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
