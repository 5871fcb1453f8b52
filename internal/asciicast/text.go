package asciicast

import "unicode/utf8"

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

// appendEscaped appends the inside of a JSON string: only what must be escaped
// is, and each byte that is not UTF-8 is one U+FFFD.
func appendEscaped(b, p []byte) []byte {
	start := 0
	for i := 0; i < len(p); {
		c := p[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(p[i:])
			if r == utf8.RuneError && n == 1 {
				b = utf8.AppendRune(append(b, p[start:i]...), utf8.RuneError)
				start = i + 1
			}
			i += n
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			b = appendEscape(append(b, p[start:i]...), c)
			start = i + 1
		}
		i++
	}
	return append(b, p[start:]...)
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

const hexDigits = "0123456789abcdef"
