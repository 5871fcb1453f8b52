package snapshot

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// Markup describes a line: text, and between < and > one of
//
//	fg=1 bg=#102030 bold …   the style from here on, see parseStyle
//	/                        back to the default style
//	_5                       five erased cells in the current style
//	^x                       x is one cell (a base and its marks)
//	^^x                      x is one character of two cells
//
// "<<" is a less-than sign. East Asian and emoji characters take two cells.
func parseLine(t testing.TB, markup string, wrapped bool) vt.Line {
	t.Helper()
	var p vt.Packer
	var style vt.Style
	for markup != "" {
		text, rest, tagged := strings.Cut(markup, "<")
		for _, r := range text {
			p.Char(r, testWidth(r), style)
		}
		if !tagged {
			break
		}
		if strings.HasPrefix(rest, "<") {
			p.Char('<', 1, style)
			markup = rest[1:]
			continue
		}
		tag, after, ok := strings.Cut(rest, ">")
		if !ok {
			t.Fatalf("markup %q: < without >", markup)
		}
		markup = after
		switch {
		case tag == "/":
			style = vt.Style{}
		case strings.HasPrefix(tag, "_"):
			n, err := strconv.Atoi(tag[1:])
			if err != nil {
				t.Fatalf("markup <%s>: %v", tag, err)
			}
			p.Blank(n, style)
		case strings.HasPrefix(tag, "^^"):
			p.Cluster(tag[2:], 2, style)
		case strings.HasPrefix(tag, "^"):
			p.Cluster(tag[1:], 1, style)
		default:
			style = parseStyle(t, strings.Fields(tag))
		}
	}
	return p.Line(wrapped)
}

// testWidth is the width of the characters that tests use.
func testWidth(r rune) int {
	if r >= 0x1100 && r < 0x1160 || r >= 0x2e80 && r < 0xa4d0 || r >= 0xac00 && r < 0xd7a4 || r >= 0xff01 &&
		r < 0xff61 || r >= 0x1f300 && r < 0x20000 {
		return 2
	}
	return 1
}

var testAttrs = map[string]vt.Attr{
	"bold": vt.Bold, "dim": vt.Dim, "italic": vt.Italic, "blink": vt.Blink, "inverse": vt.Inverse,
	"invisible": vt.Invisible, "strike": vt.Strikethrough, "overline": vt.Overline, "protected": vt.Protected,
}

// parseStyle reads words like bold, fg=1, bg=#102030, ul=curly, uc=3,
// link=https://example.org, id=a.
func parseStyle(t testing.TB, words []string) (s vt.Style) {
	t.Helper()
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "fg":
			s.FG = parseColor(t, value)
		case "bg":
			s.BG = parseColor(t, value)
		case "uc":
			s.UnderlineColor = parseColor(t, value)
		case "link":
			s.Link.URI = value
		case "id":
			s.Link.ID = value
		case "ul":
			for i, n := range underlineNames {
				if n == value {
					s.Underline = vt.Underline(i)
				}
			}
		default:
			if testAttrs[key] == 0 {
				t.Fatalf("style %q is unknown", w)
			}
			s.Attr |= testAttrs[key]
		}
	}
	return s
}

// parseColor reads a palette index or #rrggbb.
func parseColor(t testing.TB, s string) vt.Color {
	t.Helper()
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		v, err := strconv.ParseUint(hex, 16, 24)
		if err != nil {
			t.Fatal(err)
		}
		return vt.RGBColor(uint8(v>>16), uint8(v>>8), uint8(v))
	}
	v, err := strconv.ParseUint(s, 10, 8)
	if err != nil {
		t.Fatal(err)
	}
	return vt.PaletteColor(uint8(v))
}

// show writes s as it stands in scripts: "\e[1m" for ESC [ 1 m. Marks, which
// would hide in the character before, are written as numbers.
func show(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch q := strconv.QuoteRuneToGraphic(r); {
		case r == 0x1b:
			b.WriteString(`\e`)
		case r == '"':
			b.WriteString(`\"`)
		case r == '\'':
			b.WriteByte('\'')
		case r == 0x200d || unicode.Is(unicode.Mn, r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(q[1 : len(q)-1])
		}
	}
	b.WriteByte('"')
	return b.String()
}

// unshow reads what show wrote.
func unshow(q string) (string, error) {
	// \e stands only where an even number of backslashes is before it.
	var b strings.Builder
	for i := 0; i < len(q); i++ {
		if q[i] == '\\' && i+1 < len(q) {
			if q[i+1] == 'e' {
				b.WriteString(`\x1b`)
			} else {
				b.WriteString(q[i : i+2])
			}
			i++
			continue
		}
		b.WriteByte(q[i])
	}
	s, err := strconv.Unquote(b.String())
	if err == nil && !utf8.ValidString(s) {
		err = fmt.Errorf("%s is not UTF-8", q)
	}
	return s, err
}
