package vt10x

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

func TestQueries(t *testing.T) {
	tests := []struct{ setup, query, reply string }{
		{"", "\x1b[c", "\x1b[?1;2c"},
		{"", "\x1b[0c", "\x1b[?1;2c"},
		{"", "\x1bZ", "\x1b[?1;2c"},
		{"", "\u009bc", "\x1b[?1;2c"},
		{"", "\x1b[>c", "\x1b[>0;276;0c"},
		{"", "\x1b[=c", "\x1bP!|00000000\x1b\\"},
		{"", "\x1b[>q", "\x1bP>|evertty\x1b\\"},
		{"", "\x1b[?u", "\x1b[?0u"},
		{"", "\x1b[5n", "\x1b[0n"},
		{"", "\x1b[?996n", "\x1b[?997;1n"},
		{"", "\x1b[6n", "\x1b[1;1R"},
		{"\x1b[3;5H", "\x1b[6n", "\x1b[3;5R"},
		{"\x1b[3;5H", "\x1b[?6n", "\x1b[?3;5R"},
		{"\x1b[2;4r\x1b[?6h\x1b[2;3H", "\x1b[6n", "\x1b[2;3R"},
		{strings.Repeat("x", 20), "\x1b[6n", "\x1b[1;20R"},
		{"", "\x1b[?7$p", "\x1b[?7;1$y"},
		{"\x1b[?2004h", "\x1b[?2004$p", "\x1b[?2004;1$y"},
		{"", "\x1b[?2026$p", "\x1b[?2026;2$y"},
		{"\x1b[?1002;1006h", "\x1b[?1002$p\x1b[?1006$p\x1b[?1000$p", "\x1b[?1002;1$y\x1b[?1006;1$y\x1b[?1000;2$y"},
		{"\x1b[?1049h", "\x1b[?1049$p", "\x1b[?1049;1$y"},
		{"\x1b[?25l", "\x1b[?25$p\x1b[?6$p\x1b[?1048$p", "\x1b[?25;2$y\x1b[?6;2$y\x1b[?1048;1$y"},
		{"", "\x1b[?1005$p\x1b[?8$p\x1b[?4711$p", "\x1b[?1005;4$y\x1b[?8;3$y\x1b[?4711;0$y"},
		{"\x1b[4h", "\x1b[4$p\x1b[20$p\x1b[2$p\x1b[12$p\x1b[9$p",
			"\x1b[4;1$y\x1b[20;2$y\x1b[2;4$y\x1b[12;3$y\x1b[9;0$y"},
		{"", "\x1b[14t\x1b[16t\x1b[18t\x1b[19t", "\x1b[4;120;200t\x1b[6;20;10t\x1b[8;6;20t\x1b[9;6;20t"},
		{"\x1b]0;secret\a", "\x1b[20t\x1b[21t", "\x1b]L\x1b\\\x1b]l\x1b\\"},
		{"\x1b]4;200;#fff\a\x1b]104;200\a", "\x1b]4;200;?;244;?\a",
			"\x1b]4;200;rgb:ffff/0000/d7d7\x1b\\\x1b]4;244;rgb:8080/8080/8080\x1b\\"},
		{"\x1b[1;4:3;31;48;2;1;2;3m", "\x1bP$qm\x1b\\", "\x1bP1$r0;1;4:3;38:5:1;48:2::1:2:3m\x1b\\"},
		{"\x1b[2;5r", "\x1bP$qr\x1b\\", "\x1bP1$r2;5r\x1b\\"},
		{"\x1b[5 q\x1b[1\"q", "\x1bP$q q\x1b\\\x1bP$q\"q\x1b\\", "\x1bP1$r5 q\x1b\\\x1bP1$r1\"q\x1b\\"},
		{"", "\x1bP$qx\x1b\\\u0090$q\"p\u009c", "\x1bP0$r\x1b\\\x1bP1$r61;1\"p\x1b\\"},
		{"", "\x1bP+q436F;787878\x1b\\", "\x1bP1+r436F=323536\x1b\\"},
		{"", "\x1bP+q787878\x1b\\", ""},
		{"\x1b[3 q", "\x1bP$q q\x1b\\", "\x1bP1$r3 q\x1b\\"},
		{"\x1b[3 q\x1b[8 q", "\x1bP$q q\x1b\\", "\x1bP1$r4 q\x1b\\"},
		{"\x1b[4 q\x1b[7 q", "\x1bP$q q\x1b\\", "\x1bP1$r3 q\x1b\\"},
		{"\x1b[7 q", "\x1bP$q q\x1b\\", "\x1bP1$r1 q\x1b\\"},
		{"", "\x05", ""},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%q", tt.query), func(t *testing.T) {
			in := tt.setup + tt.query + "b"
			for n := 1; n <= len(in); n++ {
				var s sink
				e := newEngine(20, 6, &s)
				text := feed(e, in, n)
				if got := s.replies.String(); got != tt.reply {
					t.Fatalf("in pieces of %d: reply %q, want %q", n, got, tt.reply)
				}
				if n == len(in) && text != tt.setup+"b" {
					t.Errorf("text %q is not %q", text, tt.setup+"b")
				}
				follow(t, e, text)
			}
		})
	}
}

// follow checks that an engine which gets text as a viewer does ends in the same
// state, is asked nothing and would pass everything on.
func follow(t testing.TB, e *engine, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Fatalf("not UTF-8: %q", text)
	}
	var s sink
	size := e.Freeze()
	viewer := New(vt.Config{Cols: size.Cols, Rows: size.Rows, Scrollback: testScrollback, Effects: s.effects()})
	again := string(viewer.Write([]byte(text)))
	if s.replies.Len() > 0 {
		t.Fatalf("a viewer answers %q to %q", s.replies.String(), text)
	}
	got, want := viewer.Freeze(), e.Freeze()
	got.LastChar, want.LastChar = 0, 0 // a viewer may remember what a query made us forget; then REP is cut
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("a viewer of %q sees\n%+v, not\n%+v", text, got, want)
	}
	if again != text && !strings.Contains(text, "b") { // only REP is cut from a viewer's text
		t.Fatalf("text %q is cut again to %q", text, again)
	}
}

func TestCuts(t *testing.T) {
	tests := []struct {
		name   string
		chunks []string
		want   string
	}{
		{"whole", []string{"a\x1b[6nb"}, "ab"},
		{"one of two", []string{"\x1b[6", "n\x1b[5nb"}, "\x1b[6\x18b"},
		{"only the questions of OSC 10", []string{"\x1b]10;?;#00", "0;?\a"}, "\x1b]10;?;#00\x18\x1b]11;#000\a"},
		{"ENQ in a sequence", []string{"\x1b[\r3\x051m\x1b[\x056n"}, "\x1b[\r31m\x1b[\x18"},
		{"counts", []string{"\x1b[2147483647L\x1b[99;5M\x1b[7S\x1b[7T\x1b[21I\x1b[21Z\x1b[6L"},
			"\x1b[6L\x1b[6M\x1b[6S\x1b[6T\x1b[20I\x1b[20Z\x1b[6L"},
		{"counts whose head is out", []string{"\x1b[9999", "9L"}, "\x1b[9999\x18\x1b[6L"},
		{"REP", []string{"a\x1b[999999b"}, "a\x1b[120b"},
		{"REP whose head is out", []string{"a\x1b[9999", "99b"}, "a\x1b[9999<b\x1b[120b"},
		{"REP without a character", []string{"\x1b[3b"}, ""},
		{"REP after a query", []string{"a\x1b[6n\x1b[3b"}, "a"},
		{"ED 1 in the last cell", []string{"\x1b[9;99H\x1b[1J\x1b[?1J\x1b[H\x1b[1J"},
			"\x1b[9;99H\x1b[2J\x1b[?2J\x1b[H\x1b[1J"},
		{"harmless counts stay", []string{"\x1b[99999A\x1b[99999@\x1b[99999P\x1b[99999X\x1b[99999;99999H"},
			"\x1b[99999A\x1b[99999@\x1b[99999P\x1b[99999X\x1b[99999;99999H"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEngine(20, 6, nil)
			var text strings.Builder
			for _, c := range tt.chunks {
				text.Write(e.Write([]byte(c)))
			}
			if text.String() != tt.want {
				t.Errorf("got %.200q, want %.200q", text.String(), tt.want)
			}
			check(t, e)
			follow(t, e, text.String())
		})
	}
}
