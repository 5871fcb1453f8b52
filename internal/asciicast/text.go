package asciicast

import (
	"unicode/utf8"

	"github.com/evertty/evertty/internal/jsonstring"
)

// decoder turns bytes that come in pieces into JSON strings (RFC 8259, 7). A character that is not
// complete at the end of a piece waits for the next.
type decoder struct{ held []byte } // at most utf8.UTFMax-1 bytes

// quote appends the string of the held bytes and p to b. A byte that is not part of a UTF-8
// character becomes one U+FFFD; with last, so does each byte of an incomplete character at the end.
func (d *decoder) quote(b, p []byte, last bool) []byte {
	if len(d.held) > 0 {
		p = append(d.held, p...)
	}
	whole := len(p)
	if !last {
		whole = complete(p)
	}
	b, _ = jsonstring.Append(append(b, '"'), p[:whole])
	d.held = append([]byte(nil), p[whole:]...)
	return append(b, '"')
}

// complete is how many bytes of p come before an incomplete character at its end.
func complete(p []byte) int {
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				break
			}
			return i
		}
	}
	return len(p)
}

// appendQuoted appends s as a JSON string.
func appendQuoted(b []byte, s string) []byte { return new(decoder).quote(b, []byte(s), true) }
