package vt

import (
	"fmt"
	"strings"
	"testing"
)

// TestPrintedAtOnce: text that is printed at once leaves what it leaves one character at a time: on
// narrow screens, in rows with and without cells, behind a gap, in colours and in insert mode.
func TestPrintedAtOnce(t *testing.T) {
	texts := []string{
		"a漢b", "漢漢漢漢", "éa漢", "aé漢字│─x▓▒░ü", "Übergröße façade │└──┘", "привет мир", "出터力력日十", "x👍👍y", "ー゛カナ",
		"e\u0301e\u0323漢\u0301x", "│\u0301│", "a\u200db", "☁\ufe0f✓❌", "\u3000\u302a漢", "ด้กำ", "\u1100\u1161\u11a8한",
		"🇪🇺🇪", "\u0600a漢", "䷀䷁一丁", "ꀀ가힣豈",
	}
	before := []string{"", "\x1b[3C", "zz\x1b[2C", "zzzz\r", "漢\x1b[D", "\x1b[44m", "\x1b[44m\x1b[2C", "\x1b[4hzz\r"}
	for _, u := range []Unicode{Unicode11, Unicode15Graphemes} {
		for cols := 1; cols <= 9; cols++ {
			for _, text := range texts {
				for _, begin := range before {
					c := Config{Cols: cols, Rows: 3, Scrollback: 50, Unicode: u}
					at, one := New(c), New(c)
					at.Write([]byte(begin + text + text))
					one.Write([]byte(begin))
					for _, r := range text + text {
						one.printChar(r)
					}
					if got, want := state(at), state(one); got != want {
						t.Fatalf("%s, %d columns: %q behind %q:\n%swant\n%s", u, cols, text, begin, got, want)
					}
					if err := at.check(); err != nil {
						t.Fatalf("%s, %d columns: %q behind %q: %v", u, cols, text, begin, err)
					}
				}
			}
		}
	}
}

// state is what a terminal shows and keeps, and where the cursor is.
func state(e *Terminal) string {
	var b strings.Builder
	f := e.Freeze()
	for _, l := range append(f.History.Slice(), f.Main.Lines...) {
		fmt.Fprintf(&b, "%q %v\n", l.Packed(), l.Wrapped())
	}
	fmt.Fprintln(&b, e.screen.X, e.screen.Y, e.stream.before)
	return b.String()
}
