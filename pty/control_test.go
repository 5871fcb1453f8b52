package pty_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/tests/polling"
)

func TestResize(t *testing.T) {
	s := run(t, "sh", "-c", "trap 'echo winch; stty size' WINCH; stty size; echo ready; while :; do sleep 0.02; done")
	s.expect("24 80\r\nready")
	if err := s.Resize(132, 43); err != nil {
		t.Fatal(err)
	}
	s.expect("winch\r\n43 132\r\n")
	if err := s.Resize(1000, 1); err != nil {
		t.Fatal(err)
	}
	s.expect("winch\r\n1 1000\r\n")
	for _, size := range [][2]int{{0, 24}, {80, 0}, {-1, 24}, {1001, 24}, {80, 1001}, {1 << 40, 1}} {
		if err := s.Resize(size[0], size[1]); !errors.Is(err, pty.ErrBadSize) {
			t.Errorf("%v: %v", size, err)
		}
	}
}

// A signal reaches what runs in the foreground, not the shell behind it.
func TestSignalForeground(t *testing.T) {
	s := run(t, "bash", "--norc", "-i")
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		word := token()
		s.send("sleep " + word + "\n")
		expectProcesses(t, sleeping(word), 1)
		if fg, err := s.Foreground(); err != nil || fg != withToken(word)[0] {
			t.Fatalf("foreground %d, %v", fg, err)
		}
		if err := s.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if !polling.Until(patience, func() bool { fg, err := s.Foreground(); return err == nil && fg == s.PID() }) {
			t.Fatalf("%v does not end sleep", sig)
		}
	}
	s.send("echo alive-$((40+2))\n")
	s.expect("alive-42")
	if err := s.Signal(33); !errors.Is(err, pty.ErrBadSignal) {
		t.Errorf("signal 33: %v", err)
	}
}

func TestParseSignal(t *testing.T) {
	for _, name := range []string{"INT", "SIGINT", "int", "sigint", "Int"} {
		if sig, err := pty.ParseSignal(name); err != nil || sig != syscall.SIGINT {
			t.Errorf("%q: %v, %v", name, sig, err)
		}
	}
	for _, name := range []string{"", "SIG", "NOPE", "2", "SIGSIGINT", "SEGV"} {
		_, err := pty.ParseSignal(name)
		if !errors.Is(err, pty.ErrBadSignal) || !strings.Contains(err.Error(), "HUP INT QUIT") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if got := proc.SignalName(syscall.SIGWINCH); got != "WINCH" {
		t.Errorf("got %s", got)
	}
}

func TestCwd(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(dir, "a (deleted)") // as a real name
	gone := filepath.Join(dir, "gone")
	for _, d := range []string{sub, gone} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := runSpec(t, pty.Spec{Argv: []string{"bash", "--norc", "-i"}, Dir: dir, Env: map[string]string{"HISTFILE": ""},
		Cols: 80, Rows: 24})
	expect := func(want string, wantErr error) {
		t.Helper()
		var got string
		var err error
		if !polling.Until(patience, func() bool { got, err = s.Cwd(); return got == want && errors.Is(err, wantErr) }) {
			t.Errorf("got %q, %v; want %q, %v", got, err, want, wantErr)
		}
	}
	expect(dir, nil)
	s.send("cd '" + sub + "'\n")
	expect(sub, nil)
	s.send("cd '" + gone + "' && rmdir '" + gone + "'\n")
	expect(gone, pty.ErrNoDir)
}
