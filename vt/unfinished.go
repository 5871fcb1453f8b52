package vt

import (
	"bytes"
	"unicode/utf8"
)

// Unfinished returns the end of text that is an unfinished sequence, nil when there is none or text
// is not UTF-8. Controls inside the sequence that were executed when they came are left out. When
// ESC has begun to end a string both are kept: only the next byte tells whether it is ST. The
// result may share the memory of text.
func Unfinished(text []byte) []byte {
	var p parser
	start, controls := 0, false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return nil
		}
		mayBeST := r == 0x1b && p.inString() && i == len(text)-1
		if r != 0x7f && (p.state != ground || r < 0x20 || r >= 0x80 && r < 0xa0) { // DEL is part of nothing
			switch act := p.next(r); {
			case mayBeST:
			case r == 0x1b || act == begin:
				start, controls = i, false
			case r < 0x20 && r != 0x1b:
				controls = true
			}
		}
		i += size
	}
	if p.state == ground {
		return nil
	}
	tail := text[start:]
	if controls && p.state != stringDCS {
		tail = bytes.Map(func(r rune) rune {
			if r < 0x20 && r != 0x1b {
				return -1
			}
			return r
		}, tail)
	}
	return tail
}
