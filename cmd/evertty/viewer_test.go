//go:build linux

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/vt"
)

func TestAttach(t *testing.T) {
	s, u := newFakeServer(t), newUserTTY(t)
	before := u.modes()
	if _, err := u.slave.WriteString("mine"); err != nil {
		t.Fatal(err)
	}
	code, stderr := u.evertty("attach", "build")
	v := s.viewer()
	if v.query != "cols=40&format=binary&history=first&rows=8&scrollback=-1" {
		t.Errorf("connected with %s", v.query)
	}
	var history strings.Builder
	for _, c := range "abcdefghij" {
		history.WriteString("line " + string(c) + "\r\n")
	}
	v.snapshot(40, 8, history.String()+"\x1b[?2004h\x1b[?1002h\x1b[>1u$ ")
	u.sees("$")
	if text := u.text(-1); !strings.HasPrefix(text, "mine\n") || !strings.Contains(text, "line a\nline b\n") {
		t.Errorf("the scrollback is\n%s", text)
	}
	u.press("ls\r\x1b[A")
	if got := within(t, v.got, "what was typed"); got != "ils\r\x1b[A" {
		t.Errorf("typed %q", got)
	}
	v.data("ls\r\nfile \x1b[31mred")
	u.sees("file red")
	v.exit(3)
	if got := within(t, code, "the end"); got != 3 || stderr.String() != "[exited: 3]\n" {
		t.Errorf("ended with %d, %q", got, stderr)
	}
	u.left()
	if after := u.modes(); after != before {
		t.Errorf("the terminal's modes were\n%+v and are\n%+v", before, after)
	}
	f := u.frame()
	if f.Modes.BracketedPaste || f.Modes.Mouse != 0 || f.Modes.CursorHidden || f.Pen.FG != 0 || f.Alt != nil {
		t.Errorf("left behind: %+v, pen %+v", f.Modes, f.Pen)
	}
	if f.Main.X != 0 || f.Main.Y != 7 || !strings.HasSuffix(u.text(0), "file red") {
		t.Errorf("the cursor is at %d,%d of\n%s", f.Main.X, f.Main.Y, u.text(0))
	}
	for _, bad := range []string{"\x1b[3J", "\x1bc"} {
		if strings.Contains(u.written(), bad) {
			t.Errorf("the user's scrollback was erased with %q", bad)
		}
	}
}

func TestDetach(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for keys that are held back")
	}
	for _, tc := range []struct{ name, keys, flag string }{
		{"default", "\x1c\x1c", ""}, {"kitty", "\x1b[92;5u\x1b[92;5u", ""}, {"own", "\x02d", "--detach-keys=C-b d"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, u := newFakeServer(t), newUserTTY(t)
			before := u.modes()
			args := []string{"attach", "t1"}
			if tc.flag != "" {
				args = append(args, tc.flag)
			}
			code, stderr := u.evertty(args...)
			v := s.viewer()
			v.snapshot(40, 8, "shell\r\n\x1b[?1049h\x1b[?25leditor")
			u.sees("editor")
			u.press("x" + tc.keys)
			if got := within(t, code, "the end"); got != 0 || stderr.String() != "[detached from build]\n" {
				t.Errorf("ended with %d, %q", got, stderr)
			}
			u.left()
			typed := ""
			for m := range v.got {
				if m[0] == 'i' {
					typed += m[1:]
				}
			}
			if typed != "x" || u.modes() != before {
				t.Errorf("typed %q", typed)
			}
			if f := u.frame(); f.Alt != nil || f.Modes.CursorHidden || !strings.Contains(u.text(-1), "shell") {
				t.Errorf("the alternate screen or a hidden cursor was left behind:\n%s", u.text(0))
			}
		})
	}
}

func TestHeldDetachKeyGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for keys that are held back")
	}
	s, u := newFakeServer(t), newUserTTY(t)
	code, _ := u.evertty("attach", "t1")
	v := s.viewer()
	v.snapshot(40, 8, "x")
	u.sees("x")
	u.press("\x1c")
	if got := within(t, v.got, "the key that detached nobody"); got != "i\x1c" {
		t.Errorf("typed %q", got)
	}
	v.exit(0)
	if got := within(t, code, "the end"); got != 0 {
		t.Errorf("ended with %d", got)
	}
}

// TestReconnect: a connection that breaks is made again at once and goes on where
// it was; nobody is told, and nothing is drawn again.
func TestReconnect(t *testing.T) {
	s, u := newFakeServer(t), newUserTTY(t)
	code, _ := u.evertty("attach", "build")
	v := s.viewer()
	v.snapshot(40, 8, "one\r\n")
	v.data("two\r\n\x1b[3")
	u.sees("two")
	before := u.written()
	_ = v.NetConn().Close()
	v = s.viewer()
	if v.query != "cols=40&format=binary&history=first&rows=8&scrollback=0&since=2" {
		t.Errorf("connected again with %s", v.query)
	}
	v.control("resume", map[string]any{"cols": 40, "rows": 8, "seq": 2})
	v.data("1mthree")
	u.sees("three")
	if after, _ := strings.CutPrefix(u.written(), before); after != "1mthree" {
		t.Errorf("written was %q", after)
	}
	s.set(func() { s.gone = true })
	_ = v.NetConn().Close()
	if got := within(t, code, "the end"); got != exitNoTerminal {
		t.Errorf("ended with %d", got)
	}
}

// TestReconnectWithSnapshot: the server cannot go on, or a notice is on the screen.
func TestReconnectWithSnapshot(t *testing.T) {
	s, u := newFakeServer(t), newUserTTY(t)
	code, _ := u.evertty("attach", "build")
	v := s.viewer()
	v.snapshot(40, 8, "one\r\n")
	u.sees("one")
	_ = v.NetConn().Close()
	v = s.viewer()
	if v.query != "cols=40&format=binary&history=first&rows=8&scrollback=0&since=1" {
		t.Errorf("connected again with %s", v.query)
	}
	_ = v.NetConn().Close()
	v = s.viewer()
	u.sees("connection to build lost")
	if v.query != "cols=40&format=binary&history=first&rows=8&scrollback=0&since=1" {
		t.Errorf("connected with a notice on the screen with %s", v.query)
	}
	v.snapshot(40, 8, "one\r\ntwo\r\n")
	u.sees("two")
	if strings.Contains(u.text(0), "lost") {
		t.Errorf("the notice is still there:\n%s", u.text(0))
	}
	_ = v.NetConn().Close()
	v = s.viewer()
	v.snapshot(40, 8, "one\r\ntwo\r\nthree")
	u.sees("three")
	if n := strings.Count(u.text(-1), "one"); n != 1 {
		t.Errorf("the first line is there %d times:\n%s", n, u.text(-1))
	}
	v.exit(0)
	within(t, code, "the end")
}

// TestResumeRemovesTheNotice: what is under it is known here.
func TestResumeRemovesTheNotice(t *testing.T) {
	s, u := newFakeServer(t), newUserTTY(t)
	code, _ := u.evertty("attach", "build")
	v := s.viewer()
	v.snapshot(40, 8, "one\r\n\r\n\r\n\r\n\r\n\r\n\r\nlast line")
	u.sees("last line")
	_ = v.NetConn().Close()
	v = s.viewer()
	_ = v.NetConn().Close()
	v = s.viewer()
	u.sees("connection to build lost")
	v.control("resume", map[string]any{"cols": 40, "rows": 8, "seq": 1})
	u.sees("last line")
	v.data(" goes on")
	u.sees("last line goes on")
	if strings.Contains(u.text(0), "lost") {
		t.Errorf("the notice is still there:\n%s", u.text(0))
	}
	v.exit(0)
	within(t, code, "the end")
}

// TestReconnectKeepsTrying closes connections before they bring anything, and has
// no server at all for a while.
func TestReconnectKeepsTrying(t *testing.T) {
	s, u := newFakeServer(t), newUserTTY(t)
	code, stderr := u.evertty("attach", "build")
	v := s.viewer()
	v.snapshot(40, 8, "one")
	u.sees("one")
	for range 3 {
		_ = v.NetConn().Close()
		v = s.viewer()
	}
	v.snapshot(40, 8, "two\x1b[?1049h\x1b[?1;1003;1004;1006;2004h\x1b=\x1b(0\x1b[31mqq")
	u.sees("──")
	t.Setenv(envServer, "http://127.0.0.1:1")
	_ = v.NetConn().Close()
	u.sees("lost, try")
	if m := u.frame().Modes; m.Mouse != 0 || m.FocusEvents || m.BracketedPaste || m.AppCursor || m.AppKeypad {
		t.Errorf("while the connection is lost the terminal has the modes %+v", m)
	}
	if !strings.Contains(u.text(0), "──") {
		t.Errorf("while the connection is lost the screen is\n%s", u.text(0))
	}
	u.press("\x1c\x1c")
	if got := within(t, code, "the end"); got != 0 || !strings.Contains(stderr.String(), "detached") {
		t.Errorf("ended with %d, %s", got, stderr)
	}
}

func TestAttachToNothing(t *testing.T) {
	s, u := newFakeServer(t), newUserTTY(t)
	s.set(func() { s.gone = true })
	code, stderr := u.evertty("attach", "build")
	if got := within(t, code, "the end"); got != exitNoTerminal ||
		stderr.String() != "evertty: there is no such terminal\n" {
		t.Errorf("%d %s", got, stderr)
	}
	t.Setenv(envServer, "http://127.0.0.1:1")
	code, stderr = u.evertty("attach", "build")
	if got := within(t, code, "the end"); got != exitNoServer ||
		!strings.Contains(stderr.String(), "no server at http://127.0.0.1:1") {
		t.Errorf("%d %s", got, stderr)
	}
	if u.written() != "" {
		t.Errorf("something was written: %q", u.written())
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	a := &app{stdin: null, stdout: null, stderr: stderr}
	if got := a.run([]string{"attach", "build"}); got != exitUsage ||
		!strings.Contains(stderr.String(), "not a terminal") {
		t.Errorf("%d %s", got, stderr)
	}
}

func TestResizeFollows(t *testing.T) {
	s, u := newFakeServer(t), newUserTTY(t)
	code, _ := u.evertty("attach", "t1")
	v := s.viewer()
	v.snapshot(40, 8, "x")
	u.sees("x")
	u.resize(50, 10)
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	if got := within(t, v.got, "the new size"); got != `c{"type":"resize","cols":50,"rows":10}` {
		t.Errorf("%s", got)
	}
	v.control("resize", map[string]any{"cols": 50, "rows": 10, "seq": 2})
	v.snapshot(50, 10, "y")
	u.sees("y")
	if strings.Contains(u.text(0), "x") {
		t.Errorf("the screen is\n%s", u.text(0))
	}
	s.set(func() {
		if len(s.sizes) > 0 {
			t.Errorf("the terminal itself was resized to %s", s.sizes)
		}
	})
	v.exit(0)
	within(t, code, "the end")
}

// TestSecondSnapshotWithoutHistory: history would fill the scrollback twice, and a server
// that knows history=first sends none.
func TestSecondSnapshotWithoutHistory(t *testing.T) {
	s, u := newFakeServer(t), newUserTTY(t)
	code, _ := u.evertty("attach", "t1", "--scrollback", "100")
	v := s.viewer()
	v.snapshot(40, 8, "one")
	u.sees("one")
	v.snapshot(40, 8, "two")
	u.sees("two")
	if v.query != "cols=40&format=binary&history=first&rows=8&scrollback=100" || strings.Contains(u.text(-1), "one") {
		t.Errorf("connected with %s and shows\n%s", v.query, u.text(-1))
	}
	v.exit(0)
	within(t, code, "the end")
}

func TestReadOnly(t *testing.T) {
	s, u := newFakeServer(t), newUserTTY(t)
	code, _ := u.evertty("attach", "t1", "--read-only")
	v := s.viewer()
	v.snapshot(40, 8, "x")
	u.sees("x")
	u.press("rm -rf\r\x1c\x1c")
	within(t, code, "the end")
	for m := range v.got {
		t.Errorf("a viewer that only looks sent %q", m)
	}
	if v.query != "format=binary&history=first&scrollback=-1" {
		t.Errorf("connected with %s", v.query)
	}
	s.set(func() {
		if len(s.sizes) > 0 {
			t.Errorf("and resized to %s", s.sizes)
		}
	})
}

func TestSignalRestoresTheTerminal(t *testing.T) {
	s, u := newFakeServer(t), newUserTTY(t)
	before := u.modes()
	code, _ := u.evertty("attach", "t1")
	v := s.viewer()
	v.snapshot(40, 8, "x\x1b[?1003h")
	u.sees("x")
	if u.modes() == before {
		t.Error("the terminal is not in raw mode")
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	got := within(t, code, "the end")
	u.left()
	if got != 128+15 || u.modes() != before || u.frame().Modes.Mouse != 0 {
		t.Errorf("ended with %d, mouse %v", got, u.frame().Modes.Mouse)
	}
}

func TestPanicRestoresTheTerminal(t *testing.T) {
	noLeak(t)
	u := newUserTTY(t)
	before := u.modes()
	calls := 0
	v := &viewer{target: target{id: "t1", name: "t1", connect: func() (*client.Client, error) {
		if calls++; u.modes() == before {
			t.Error("the terminal is not in raw mode")
		}
		panic("broken")
	}}}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was hidden")
			}
		}()
		_, _ = v.run(t.Context(), u.slave, u.slave)
	}()
	if calls != 1 || u.modes() != before {
		t.Error("the terminal was not restored")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	v.end = cancel
	v.guard(func() { panic("broken") })
	if err := context.Cause(ctx); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a helper's panic ends the viewer with %v", err)
	}
}

func TestHangUp(t *testing.T) {
	s, u := newFakeServer(t), newUserTTY(t)
	code, _ := u.evertty("attach", "t1")
	v := s.viewer()
	v.snapshot(40, 8, "x")
	u.sees("x")
	_ = u.master.Close()
	if got := within(t, code, "the end"); got != exitFailure {
		t.Errorf("ended with %d", got)
	}
}

func TestReadStops(t *testing.T) {
	noLeak(t)
	u := newUserTTY(t)
	y, err := openTTY(u.slave, u.slave)
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	buf := make([]byte, 8)
	if n, err := y.read(buf, 0); n != 0 || err != nil {
		t.Errorf("nothing was typed: %d, %v", n, err)
	}
	u.press("a")
	if n, err := y.read(buf, -1); n != 1 || err != nil || buf[0] != 'a' {
		t.Errorf("%q, %v", buf[:n], err)
	}
	ended := make(chan error, 1)
	go func() { _, err := y.read(buf, -1); ended <- err }()
	y.stop()
	if err := within(t, ended, "the end of read"); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

func TestTraces(t *testing.T) {
	const tabs = "\x1b[3g\x1b[1G\x1bH\x1b[9G\x1bH\x1b[17G\x1bH\x1b[?5W"
	for in, want := range map[string]string{
		"plain \x1b[31m":                              "",
		"\x1b]4;1;#ff0000\a":                          "\x1b]104\x1b\\",
		"\u009d11;#000\u009c":                         "\x1b]110\x1b\\\x1b]111\x1b\\",
		"\x1b]10;#fff\a\x1b]12;#ffffff\a\x1b]4;1;x\a": "\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\",
		"\x1b]4;1;#fff\a\x1b]104\a":                   "", // the program took it back itself
		"\x1b]7;file:///usr\a":                        "\x1b]7;\x1b\\",
		"\x1b[3g":                                     tabs,
		"\x1b[?1049h\x1b[5G\x1bH":                     tabs,
	} {
		e := vt.NewEngine(vt.Config{Cols: 20, Rows: 5})
		e.Write([]byte(in))
		var left traces
		left.see(e.Freeze())
		if got := left.reset(20); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
