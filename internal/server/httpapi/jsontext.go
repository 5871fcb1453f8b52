package httpapi

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/evertty/evertty/stream"
)

const hexDigits = "0123456789abcdef"

// plainASCII and plainUTF8 are the bytes that stand for themselves inside a JSON
// string (RFC 8259, 7): of ASCII, and of text that is known to be UTF-8. 0xe2 begins
// U+2028 and U+2029, which some readers of event streams take for line ends.
var plainASCII, plainUTF8 = func() (ascii, text [256]bool) {
	for c := 0x20; c < 0x100; c++ {
		ascii[c] = c < utf8.RuneSelf && c != '"' && c != '\\'
		text[c] = ascii[c] || c >= utf8.RuneSelf && c != 0xe2
	}
	return ascii, text
}()

// AppendText appends s as the inside of a JSON string and tells whether s is UTF-8.
// A byte that is not becomes one U+FFFD. It is much faster than encoding/json, and
// needs no copy of s: output comes in hundreds of megabytes.
func AppendText(b, s []byte) ([]byte, bool) {
	valid, plain := utf8.Valid(s), &plainASCII
	if valid {
		plain = &plainUTF8
	}
	start := 0
	for i := 0; i < len(s); {
		if plain[s[i]] {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		var n int
		b, n = appendEscaped(b, s[i:])
		i += n
		start = i
	}
	return append(b, s[start:]...), valid
}

// appendEscaped appends the first character of s and returns its size in s.
func appendEscaped(b, s []byte) ([]byte, int) {
	switch c := s[0]; {
	case c == '\n':
		return append(b, '\\', 'n'), 1
	case c == '"' || c == '\\':
		return append(b, '\\', c), 1
	case c == '\r':
		return append(b, '\\', 'r'), 1
	case c == '\t':
		return append(b, '\\', 't'), 1
	case c < utf8.RuneSelf:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15]), 1
	}
	r, size := utf8.DecodeRune(s)
	if r == '\u2028' || r == '\u2029' {
		return append(append(b, `\u202`...), hexDigits[r&15]), size
	}
	return utf8.AppendRune(b, r), size
}

// AppendBase64 appends p as RFC 4648 has it, with padding.
func AppendBase64(b, p []byte) []byte { return base64.StdEncoding.AppendEncode(b, p) }

// WholeRunes is how much of p comes before a character at its end whose rest is
// missing: at most three bytes less than all.
func WholeRunes(p []byte) int {
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				return i
			}
			break
		}
	}
	return len(p)
}

// BinaryPiece bounds what is called not text together with the bytes that really are
// not, in bytes: the rest of a page may be text.
const BinaryPiece = 4 << 10

// NextPiece splits p into a first piece that is either text or, as a whole, not, and
// the rest.
func NextPiece(p []byte) (piece []byte, text bool, rest []byte) {
	bad := stream.InvalidUTF8(p)
	switch {
	case bad < 0:
		return p, true, nil
	case bad > 0:
		return p[:bad], true, p[bad:]
	}
	n := len(p)
	if n > BinaryPiece {
		n = max(1, WholeRunes(p[:BinaryPiece]))
	}
	return p[:n], false, p[n:]
}
