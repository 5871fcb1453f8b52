package asciicast

import (
	"unicode/utf8"

	"github.com/evertty/evertty/internal/jsonstring"
)

// castText turns bytes that come in pieces into JSON strings (RFC 8259, 7). A
// character that is not complete at the end of a piece waits for the next.
type castText struct{ held []byte } // at most utf8.UTFMax-1 between calls

// quote appends the string of what was held and p to b. A byte that is not part
// of a UTF-8 character becomes one U+FFFD; with last, so do those of a character
// that is not complete at the end.
func (t *castText) quote(b, p []byte, last bool) []byte {
	b = append(b, '"')
	for len(t.held) > 0 {
		if utf8.FullRune(t.held) || last && len(p) == 0 {
			_, n := utf8.DecodeRune(t.held)
			b = appendEscaped(b, t.held[:n])
			t.held = t.held[:copy(t.held, t.held[n:])]
			continue
		}
		if len(p) == 0 {
			break
		}
		t.held, p = append(t.held, p[0]), p[1:]
	}
	whole := len(p)
	if !last {
		whole = complete(p)
	}
	t.held = append(t.held, p[whole:]...)
	return append(appendEscaped(b, p[:whole]), '"')
}

// complete is how many bytes of p come before a character that is not complete
// at its end.
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
func appendQuoted(b []byte, s string) []byte {
	return append(appendEscaped(append(b, '"'), []byte(s)), '"')
}

// appendEscaped appends p as the inside of a JSON string.
func appendEscaped(b, p []byte) []byte {
	b, _ = jsonstring.Append(b, p)
	return b
}
