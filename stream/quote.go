package stream

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string (RFC 8259, 7). s is valid UTF-8, as
// emulators return it; only what must be escaped is, and U+2028 and U+2029 too,
// which some parsers of event streams take for line ends.
func appendString(b, s []byte) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c != 0xe2 {
			i++
			continue
		}
		n := 1
		if c == 0xe2 {
			r, size := utf8.DecodeRune(s[i:])
			if n = size; r != 0x2028 && r != 0x2029 {
				i += n
				continue
			}
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hexDigits[r&15])
		} else {
			b = appendEscape(append(b, s[start:i]...), c)
		}
		i += n
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
