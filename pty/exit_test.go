package pty_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/tests/polling"
)

func TestExit(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         pty.Exit
	}{
		{"0", "true", pty.Exit{Code: 0}},
		{"3", "exit 3", pty.Exit{Code: 3}},
		{"255", "exit 255", pty.Exit{Code: 255}},
		{"TERM", "kill -TERM $$", pty.Exit{Code: 143, Signal: "TERM"}},
		{"KILL", "kill -KILL $$", pty.Exit{Code: 137, Signal: "KILL"}},
		{"real-time", "kill -40 $$", pty.Exit{Code: 168, Signal: "40"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := run(t, "bash", "-c", c.script)
			if got := s.exit(); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if _, err := os.Stat("/proc/" + strconv.Itoa(s.PID())); err == nil {
				t.Error("the process is still there")
			}
		})
	}
}

// Whoever learns the exit has every byte.
func TestLastBytesBeforeExit(t *testing.T) {
	const size, runs = 300_000, 50
	for range runs {
		s := run(t, "head", "-c", strconv.Itoa(size), "/dev/zero")
		s.exit()
		if got := len(s.text()); got != size {
			t.Fatalf("%d of %d bytes", got, size)
		}
	}
}

// The exit is told only after the output was read, however late that is.
func TestExitWaitsForReader(t *testing.T) {
	p, err := pty.Start(pty.Spec{Argv: []string{"echo", "late"}, Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if !polling.Until(patience, func() bool { _, err := p.Cwd(); return errors.Is(err, pty.ErrExited) }) {
		t.Fatal("echo does not end")
	}
	if _, err := p.Wait(limited(t, 50*time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("exit told before the output was read: %v", err)
	}
	out, err := io.ReadAll(p)
	if err != nil || string(out) != "late\r\n" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := p.Wait(limited(t, patience)); err != nil {
		t.Error(err)
	}
}

// A background process that keeps the terminal delays the end, but not for ever, and its words are still read.
func TestExitDespiteHolder(t *testing.T) {
	t.Parallel()
	t.Run("silent", func(t *testing.T) {
		t.Parallel()
		s := run(t, "sh", "-c", "trap '' HUP; sleep 1000 & (sleep 0.2; echo late) & exit 3")
		if got := s.exit(); got.Code != 3 {
			t.Errorf("got %+v", got)
		}
		if !strings.Contains(s.text(), "late\r\n") {
			t.Errorf("output %q", s.text())
		}
	})
	t.Run("talking", func(t *testing.T) {
		t.Parallel()
		s := run(t, "sh", "-c", "trap '' HUP; (while echo tick; do sleep 0.1; done) & exit 4")
		if got := s.exit(); got.Code != 4 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("flooding", func(t *testing.T) {
		t.Parallel()
		s := run(t, "sh", "-c", "trap '' HUP; echo first; yes & exit 5")
		if got := s.exit(); got.Code != 5 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestAfterExit(t *testing.T) {
	s := run(t, "true")
	s.exit()
	_, cwdErr := s.Cwd()
	for what, err := range map[string]error{"Signal": s.Signal(2), "Cwd": cwdErr} {
		if !errors.Is(err, pty.ErrExited) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.Resize(100, 40); err != nil {
		t.Errorf("Resize: %v", err)
	}
	if err := s.Kill(context.Background()); err != nil {
		t.Errorf("Kill: %v", err)
	}
}
