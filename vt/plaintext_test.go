package vt_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

func TestPlainText(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"lines", "a\r\nb\nc", "a\nb\nc\n"},
		{"colours", "\x1b[1;31mred\x1b[m\x1b]8;;http://x\x1b\\link\x1b]8;;\a\n", "redlink\n"},
		{"title and strings", "\x1b]0;title\ax\x1bPq#0\x1b\\y\x1b_G\x1b\\z\n", "xyz\n"},
		{"string cut by CAN", "\x1b]0;ti\x18x\n", "x\n"},
		{"progress", "10%\r20%\rdone\n", "done\n"},
		{"overwrite keeps the rest", "hello\rJ\n", "Jello\n"},
		{"erase", "hello\r\x1b[Kbye\n", "bye\n"},
		{"backspace of a shell", "lx\b \bs\n", "ls\n"},
		{"delete and insert", "abcd\x1b[3D\x1b[P\x1b[2@\n", "a  cd\n"},
		{"columns", "a\x1b[5Gb\x1b[2Cc\x1b[Dd\n", "a   b  d\n"},
		{"tab", "a\tb\n", "a       b\n"},
		{"alternate screen", "$ vim\r\n\x1b[?1049h\x1b[Hfile\r\n~\x1b[?1049l$ \n", "$ vim\n$ \n"},
		{"charsets and modes", "\x1b(B\x1b)0\x1b[?25lx\x1b=\x1b[!p\n", "x\n"},
		{"somewhere else", "top\x1b[5;1Hbelow\n", "top\nbelow\n"},
		{"clear", "old\x1b[H\x1b[2Jnew\n", "old\nnew\n"},
		{"huge counts", "\x1b[999999999Cx\n", "\nx\n"},
		{"control inside a sequence", "a\x1b[3\n1mb\n", "a\nb\n"},
		{"unicode", "日本é👍\n", "日本é👍\n"},
		{"controls of C1", "a\u0085b\u009b1mc\u009d0;t\u009cd\n", "a\nbcd\n"},
		{"BEL ends OSC alone", "\x1bPq\ax\x1b\\\x1b_y\az\x1b\\a\n", "a\n"},
		{"intermediates and prefixes", "abc\x1b[1 Dd\x1b[!Ke\x1b[>1Df\n", "abcdef\n"},
		{"control inside an escape sequence", "a\x1b\n7b\x1b[\x7f1mc\n", "a\nbc\n"},
		{"byte order mark", "\ufeffa\n", "a\n"},
		{"empty", "", ""},
	} {
		for _, cut := range []int{len(tc.in), 1} { // whole, and byte by byte
			var b bytes.Buffer
			l := vt.NewPlainText(&b, false)
			for p := tc.in; p != ""; {
				n := min(cut, len(p))
				if _, err := l.Write([]byte(p[:n])); err != nil {
					t.Fatal(err)
				}
				p = p[n:]
			}
			if err := l.End(); err != nil || b.String() != tc.want {
				t.Errorf("%s: %q, want %q, %v", tc.name, b.String(), tc.want, err)
			}
		}
	}
}

func TestUnfinishedLine(t *testing.T) {
	var b bytes.Buffer
	l := vt.NewPlainText(&b, false)
	step := func(in, want string) {
		t.Helper()
		if _, err := l.Write([]byte(in)); err != nil {
			t.Fatal(err)
		}
		if err := l.Flush(); err != nil || b.String() != want {
			t.Errorf("after %q: %q, want %q, %v", in, b.String(), want, err)
		}
	}
	if err := l.Start([]string{"old", "$ "}); err != nil {
		t.Fatal(err)
	}
	step("", "old\n$ ")
	step("ls", "old\n$ ls")
	step("\r\nx\r\n", "old\n$ ls\nx\n")
	step("10%", "old\n$ ls\nx\n10%")
	step("\r20%", "old\n$ ls\nx\n10%\n20%") // what was shown cannot be taken back
	step("\n", "old\n$ ls\nx\n10%\n20%\n")
}

// FuzzPlainText: any output ends in bounded lines without controls.
func FuzzPlainText(f *testing.F) {
	f.Add("a\x1b[31mb\r\n\x1b]0;t\a\x1b[?1049h")
	f.Add("\x1b[99999999C\x1b[@\x1b[1K\x1b[P")
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		l := vt.NewPlainText(&b, false)
		if _, err := l.Write([]byte(s)); err != nil || l.Flush() != nil || l.End() != nil {
			t.Fatal("a buffer refused output")
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if utf8.RuneCountInString(line) > 2*64<<10 {
				t.Fatalf("a line of %d characters", utf8.RuneCountInString(line))
			}
			if i := strings.IndexFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }); i >= 0 {
				t.Fatalf("%q has a control", line)
			}
		}
	})
}
