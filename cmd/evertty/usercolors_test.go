//go:build linux

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/term"

	"github.com/evertty/evertty/vt"
)

// TestAttachTellsColors: the user's terminal is asked, the server is told, and nothing of the
// answers is typed.
func TestAttachTellsColors(t *testing.T) {
	s, u := newFakeServer(t), knownOuter(t)
	code, _ := u.evertty("attach", "t1")
	v := s.viewer()
	v.snapshot(40, 8, "x")
	want := `c{"type":"colors","foreground":"#ffffff","background":"#000000","cursor":"#ffffff","palette":["#`
	if got := v.message(t, want); strings.Count(got, "#") != 19 {
		t.Errorf("told %s", got)
	}
	white := vt.Theme{Foreground: vt.RGBColor(1, 2, 3), Background: vt.RGBColor(255, 255, 255)}
	u.mu.Lock()
	u.screen.Write([]byte("\x1b[?2031h")) // a program of another viewer of it cannot turn it off
	u.screen.(*vt.Terminal).SetTheme(white)
	u.mu.Unlock()
	v.message(t, `c{"type":"colors","foreground":"#010203","background":"#ffffff"`)
	u.press("y")
	if got := v.message(t, "i"); got != "iy" {
		t.Errorf("typed %q", got)
	}
	v.exit(0)
	within(t, code, "the end")
	u.left()
}

// TestAnswersStayAtTheEnd: the shell gets no answer, also when attach is continued and the
// program ends at once.
func TestAnswersStayAtTheEnd(t *testing.T) {
	s := newFakeServer(t)
	for round := range 99 {
		u := knownOuter(t)
		code, _ := u.evertty("attach", "t1")
		v := s.viewer()
		v.snapshot(40, 8, "x")
		v.message(t, `c{"type":"colors"`)
		for range round % 3 { // each asks again, perhaps before the answers are there
			if err := syscall.Kill(os.Getpid(), syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
		}
		v.exit(0)
		within(t, code, "the end")
		if _, err := term.MakeRaw(int(u.slave.Fd())); err != nil {
			t.Fatal(err)
		}
		put(u.slave, "\x1b[c") // the terminal's answer to the shell comes last
		got, buf := "", make([]byte, 4096)
		for !strings.HasSuffix(got, "c") {
			n, err := u.slave.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			got += string(buf[:n])
		}
		if strings.Count(got, "\x1b") > 1 {
			t.Fatalf("round %d: the shell gets %q", round, got)
		}
	}
}

// TestReadOnlyAsksNothing: nobody would be told.
func TestReadOnlyAsksNothing(t *testing.T) {
	s, u := newFakeServer(t), knownOuter(t)
	code, _ := u.evertty("attach", "t1", "--read-only")
	v := s.viewer()
	v.snapshot(40, 8, "x")
	u.sees("x")
	v.exit(0)
	within(t, code, "the end")
	if strings.Contains(u.written(), ";?") {
		t.Errorf("the terminal was asked: %q", u.written())
	}
}

// TestAnswersAreNotTyped: however they are cut, answers are taken out and keys stay.
func TestAnswersAreNotTyped(t *testing.T) {
	const answers = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b]10;rgb:00/11/22\a\x1b]4;7;rgb:f/0/8\x1b\\" +
		"\x1b[?997;2n\x1b[?62;4c"
	for in, want := range map[string]string{
		"a" + answers + "b":                  "ab",
		"\x1b[A\x1b" + answers + "\x1b[1;5C": "\x1b[A\x1b\x1b[1;5C",
		"\x1bOP\x1b]x\x1b[?1;2y\x1b[<0;1;1M": "\x1bOP\x1b]x\x1b[?1;2y\x1b[<0;1;1M",
		"\x1b]52;c;YQ==\a":                   "\x1b]52;c;YQ==\a",
		"\x1b]" + strings.Repeat("1", 100):   "\x1b]" + strings.Repeat("1", 100),
		"\x1b[200~\x1b]0;x\x1b[201~":         "\x1b[200~\x1b]0;x\x1b[201~",
	} {
		for n := 1; n <= len(in); n++ {
			u := &userColors{changed: func() {}, outdated: make(chan struct{}, 1)}
			u.question()
			var typed []byte
			for p := in; p != ""; p = p[min(n, len(p)):] {
				typed = append(typed, u.pass([]byte(p[:min(n, len(p))]))...)
			}
			typed = append(typed, u.held...)
			if string(typed) != want {
				t.Errorf("%q in pieces of %d: typed %q, want %q", in, n, typed, want)
			}
			if c, ok := u.known(); strings.Contains(in, answers) && (!ok || c.Foreground != "#001122" ||
				c.Background != "#ffffff" || c.Cursor != "#001122" || c.Palette != nil || u.waiting()) {
				t.Errorf("%q in pieces of %d: known %+v", in, n, c)
			}
		}
	}
	quiet := &userColors{}
	if got := string(quiet.pass([]byte("\x1b"))); got != "\x1b" {
		t.Errorf("nothing was asked, and the key is %q", got)
	}
	if quiet.patience() >= 0 {
		t.Error("nothing is awaited")
	}
}

// TestAttachNotifies: a notification of the program is one of the user's terminal, and
// nothing else.
func TestAttachNotifies(t *testing.T) {
	s, u := newFakeServer(t), knownOuter(t)
	code, _ := u.evertty("attach", "t1")
	v := s.viewer()
	v.snapshot(40, 8, "x\x1b[3")
	v.control("meta", map[string]any{"notify": map[string]any{"body": "4;1;50\x1b[m"}})
	v.data("1my")
	u.sees("xy")
	eventually(t, func() string { return u.written() }, func() bool {
		return strings.Contains(u.written(), "\x1b[31my\x1b]9; 4;1;50?[m\x1b\\")
	})
	v.exit(0)
	within(t, code, "the end")
	u.left()
}
