package stream

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// InvalidUTF8 is the index of the first byte of p that is not part of a character in UTF-8, or -1.
func InvalidUTF8(p []byte) int {
	if utf8.Valid(p) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}

// LoneSurrogate is the index of the first \u escape in the JSON text p that is one half
// of a UTF-16 pair without the other (RFC 8259 section 8.2), or -1.
func LoneSurrogate(p []byte) int {
	for i := 0; i < len(p); i++ {
		if p[i] != '\\' {
			continue
		}
		first, ok := escapedUnit(p[i:])
		if !ok {
			i++
			continue
		}
		if utf16.IsSurrogate(first) {
			second, paired := escapedUnit(p[i+6:])
			if !paired || utf16.DecodeRune(first, second) == '\uFFFD' {
				return i
			}
			i += 6
		}
		i += 5
	}
	return -1
}

// escapedUnit reads one \uXXXX at the head of p.
func escapedUnit(p []byte) (rune, bool) {
	if len(p) < 6 || p[0] != '\\' || p[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(p[2:6]), 16, 16)
	return rune(unit), err == nil
}
