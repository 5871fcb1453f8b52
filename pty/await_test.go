package pty_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
)

// TestAwait: a reader that was interrupted awaits what there is to read: output, the end of a child whose terminal
// others hold open, and Close. What comes between the two is not missed.
func TestAwait(t *testing.T) {
	for _, c := range []struct {
		name, script, typed string
		do                  func(p *pty.Process) error
		want                error
	}{
		{name: "output", script: "read -r _; echo there", typed: "\n"},
		{name: "the end", script: "read -r _", typed: "\n"},
		{name: "an end beside others", script: "sleep 1000 & read -r _", typed: "\n"},
		{name: "a kill", script: "exec cat", want: io.EOF,
			do: func(p *pty.Process) error { return p.Signal(unix.SIGKILL) }},
		{name: "close", script: "exec cat", do: (*pty.Process).Close, want: pty.ErrClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := pty.Start(pty.Spec{Argv: []string{"bash", "-c", "stty -echo; " + c.script}, Cols: 80, Rows: 24})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = errors.Join(p.Kill(now()), p.Close()) }()
			interrupt(t, p)
			called := make(chan struct{})
			if err := p.Master().Await(func() { close(called) }); err != nil {
				t.Fatal(err)
			}
			if c.do != nil {
				err = c.do(p)
			} else {
				_, err = p.Write(t.Context(), []byte(c.typed))
			}
			if err != nil {
				t.Fatal(err)
			}
			select {
			case <-called:
			case <-time.After(patience):
				t.Fatal("nobody is called")
			}
			if _, err := p.Read(make([]byte, 100)); c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// interrupt ends a Read that waits or will wait.
func interrupt(t *testing.T, p *pty.Process) {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := p.Read(make([]byte, 1))
		ended <- err
	}()
	p.Master().Interrupt()
	select {
	case err := <-ended:
		if !errors.Is(err, pty.ErrInterrupted) {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("it reads on")
	}
}

// TestInterruptOnce: one Interrupt ends one Read; the next ones take all output.
func TestInterruptOnce(t *testing.T) {
	p, err := pty.Start(pty.Spec{Argv: []string{"bash", "-c", "stty -echo; read -r _; echo all"}, Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	interrupt(t, p)
	if _, err := p.Write(t.Context(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(p); !strings.HasSuffix(string(got), "all\r\n") || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
