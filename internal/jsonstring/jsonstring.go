// Package jsonstring writes text as JSON strings, much faster than encoding/json:
// output of programs comes in hundreds of megabytes.
package jsonstring

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// Append appends s as the inside of a JSON string (RFC 8259, 7) and reports whether s is UTF-8.
// A byte that is not becomes one U+FFFD. It is much faster than encoding/json, and
// needs no copy of s: output comes in hundreds of megabytes.
func Append(b, s []byte) ([]byte, bool) {
	if utf8.Valid(s) {
		return AppendValid(b, s), true
	}
	for len(s) > 0 {
		size := 1
		if r, n := utf8.DecodeRune(s); r != utf8.RuneError || n > 1 {
			b, size = AppendValid(b, s[:n]), n
		} else {
			b = utf8.AppendRune(b, utf8.RuneError)
		}
		s = s[size:]
	}
	return b, false
}

// word is how many bytes are looked at together.
const word = 8

// longest is how long what stands for one character is at most.
const longest = len(`\u001b`)

// AppendValid is Append of what is known to be UTF-8.
func AppendValid(b, s []byte) []byte {
	for len(s) >= word {
		if cap(b)-len(b) < word+longest {
			b = slices.Grow(b, max(word+longest, len(s)+len(s)/4))
		}
		n := len(b)
		x := binary.LittleEndian.Uint64(s)
		binary.LittleEndian.PutUint64(b[n:n+word], x)
		plain := bits.TrailingZeros64(special(x)) / 8
		b, s = b[:n+plain], s[plain:]
		if plain < word {
			b, s = appendFirst(b, s)
		}
	}
	for len(s) > 0 {
		b, s = appendFirst(b, s)
	}
	return b
}

// special has the highest bit set of the first of eight bytes that may not stand for itself, and perhaps those of bytes
// behind it. 0xe2 0x80 begins U+2028 and U+2029, which some readers of event streams take for line ends.
func special(x uint64) uint64 {
	const ones, high, last = 0x0101010101010101, 0x8080808080808080, 1 << 63
	quote, backslash, e2, next := x^'"'*ones, x^'\\'*ones, x^0xe2*ones, x^0x80*ones
	separator := (e2 - ones) &^ e2 & ((next-ones)&^next>>8 | last)
	return ((x-' '*ones)&^x | (quote-ones)&^quote | (backslash-ones)&^backslash | separator) & high
}

// letters are the second bytes of escapes with two.
var letters = [256]byte{'\n': 'n', '\r': 'r', '\t': 't', '"': '"', '\\': '\\'}

// appendFirst appends the first byte of s, or the character that it begins, and returns the rest.
func appendFirst(b, s []byte) (grown, rest []byte) {
	switch c := s[0]; {
	case letters[c] != 0:
		return append(b, '\\', letters[c]), s[1:]
	case c < ' ':
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15]), s[1:]
	case c == 0xe2 && len(s) > 2 && s[1] == 0x80 && s[2]&^1 == 0xa8: // U+2028 and U+2029
		return append(append(b, `\u202`...), hexDigits[s[2]&15]), s[3:]
	default:
		return append(b, c), s[1:]
	}
}
