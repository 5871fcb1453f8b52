// Package jsonstring writes text as JSON strings, much faster than encoding/json:
// output of programs comes in hundreds of megabytes.
package jsonstring

import "unicode/utf8"

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

// Append appends s as the inside of a JSON string and reports whether s is UTF-8.
// A byte that is not becomes one U+FFFD. It is much faster than encoding/json, and
// needs no copy of s: output comes in hundreds of megabytes.
func Append(b, s []byte) ([]byte, bool) {
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

// letters are the second bytes of escapes with two.
var letters = [256]byte{'\n': 'n', '\r': 'r', '\t': 't', '"': '"', '\\': '\\'}

// appendEscaped appends the first character of s and returns its size in s.
func appendEscaped(b, s []byte) ([]byte, int) {
	switch c := s[0]; {
	case letters[c] != 0:
		return append(b, '\\', letters[c]), 1
	case c < utf8.RuneSelf:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15]), 1
	}
	r, size := utf8.DecodeRune(s)
	if r == '\u2028' || r == '\u2029' {
		return append(append(b, `\u202`...), hexDigits[r&15]), size
	}
	return utf8.AppendRune(b, r), size
}
