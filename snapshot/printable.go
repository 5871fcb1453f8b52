package snapshot

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// unprintable reports whether r is a control character: C0, DEL or C1. A C1
// character is a control function to xterm.js even when it comes as UTF-8.
func unprintable(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// printable reports whether s can be sent as text: UTF-8 without controls.
func printable(s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 { // eight bytes at a time; a flag too many is no harm
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		if ((w-0x2020202020202020)|(w+0x0101010101010101)|w)&0x8080808080808080 != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c-0x20 >= 0x5f {
			return c >= utf8.RuneSelf && printableRunes(s[i:])
		}
	}
	return true
}

func printableRunes(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unprintable)
}

// cellText is the text of a span as it may be sent. An engine never keeps a
// control character in a cell; should one do so after all, it becomes U+FFFD
// and not a command to the viewer.
func cellText(s vt.Span) string {
	if printable(s.Text) {
		return s.Text
	}
	fix := "\ufffd"
	if s.Kind == vt.Wide {
		fix = "\ufffd\ufffd"
	}
	var b strings.Builder
	for i, r := range s.Text {
		if unprintable(r) || r == utf8.RuneError && !strings.HasPrefix(s.Text[i:], "\ufffd") {
			b.WriteString(fix)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// beginsWithMark reports whether the first character of s takes no cell of its
// own when it follows another: a terminal would join it to the cell before.
func beginsWithMark(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if r < 0x300 {
		return r == 0xad
	}
	return r >= 0x1160 && r <= 0x11ff || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf)
}

// joinsCluster reports whether r can be a part of the grapheme cluster before it
// (UAX #29): marks, regional indicators, emoji modifiers and Hangul jamo.
func joinsCluster(r rune) bool {
	switch {
	case r >= 0x1f1e6 && r <= 0x1f1ff, r >= 0x1f3fb && r <= 0x1f3ff:
		return true
	case r >= 0x1100 && r <= 0x11ff, r >= 0xa960 && r <= 0xa97f, r >= 0xd7b0 && r <= 0xd7ff:
		return true
	}
	return r >= 0x300 && unicode.Is(unicode.M, r) || beginsWithMark(string(r))
}

// zwj joins emoji (UAX #29 GB11).
const zwj = '\u200d'

// indicPrepend are the letters that, like the Prepended_Concatenation_Marks, are
// joined by whatever follows (UAX #29 GB9b, Grapheme_Cluster_Break=Prepend of
// Unicode 15).
var indicPrepend = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0xd4e, Hi: 0xd4e, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x111c2, Hi: 0x111c3, Stride: 1}, {Lo: 0x1193f, Hi: 0x11941, Stride: 2},
		{Lo: 0x11a3a, Hi: 0x11a3a, Stride: 1},
		{Lo: 0x11a84, Hi: 0x11a89, Stride: 1}, {Lo: 0x11d46, Hi: 0x11d46, Stride: 1},
		{Lo: 0x11f02, Hi: 0x11f02, Stride: 1}},
}

// sendable reports whether a link can be written as OSC 8: no control characters,
// no longer than vt.MaxString, and an ID that does not end the parameters.
func sendable(l vt.Link) bool {
	return len(l.URI)+len(l.ID) <= vt.MaxString && printable(l.URI) && printable(l.ID) &&
		!strings.ContainsAny(l.ID, ":;")
}
