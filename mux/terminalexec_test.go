package mux_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/mux"
	"github.com/evertty/evertty/shell"
)

func TestExecOnATerminal(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	s := createShell(t, m, "s", "")
	run(t, s, "cd '"+dir+"'; export A='x  y'")
	ctx := context.Background()
	var seen *mux.Terminal
	r, err := m.ExecTerminal(ctx, s, shell.Command{Text: `test -t 0 -a -t 1 -a -t 2; echo "$? $A$B $PWD $TERM"; exit 9`, Env: map[string]string{"B": "!"}},
		func(term *mux.Terminal) { seen = term })
	if err != nil {
		t.Fatal(err)
	}
	if want := "0 x  y! " + dir + " xterm-256color\r\n"; string(r.Output) != want || r.ExitCode != 9 || r.Cwd != dir || r.PID == 0 || r.Truncated {
		t.Errorf("%q with code %d in %s, want %q with 9", r.Output, r.ExitCode, r.Cwd, want)
	}
	if seen == nil || seen.ID != r.ID || seen.Info().DeletedAt == nil || len(m.List("")) != 0 {
		t.Errorf("the terminal is %v, listed are %d", seen, len(m.List("")))
	}
	for _, c := range []struct {
		name    string
		command shell.Command
		want    string
	}{
		{"argv", shell.Command{Isolated: true, Argv: []string{"printf", "%s|", "a b", "c"}}, "a b|c|"},
		{"directory of its own", shell.Command{Text: "pwd", Cwd: "/"}, "/\r\n"},
		{"typed", shell.Command{Text: "stty -echo; printf 'name? '; read x; echo \"hello $x\"", Stdin: []byte("you\n")}, "hello you\r\n"},
	} {
		r, err := m.ExecTerminal(ctx, s, c.command, nil)
		if err != nil || !strings.HasSuffix(string(r.Output), c.want) || r.ExitCode != 0 {
			t.Errorf("%s: %q, %v; want %q", c.name, r.Output, err, c.want)
		}
	}
	if r, err := m.ExecTerminal(ctx, s, shell.Command{Text: "seq 1000", MaxReply: 10}, nil); err != nil || string(r.Output) != "1\r\n2\r\n3\r\n4" || !r.Truncated {
		t.Errorf("cut: %q, %v", r.Output, err)
	}
	if _, err := m.ExecTerminal(ctx, s, shell.Command{Isolated: true}, nil); !errors.Is(err, mux.ErrInvalid) {
		t.Errorf("no command: %v, want ErrInvalid", err)
	}
}

func TestExecOnATerminalEnds(t *testing.T) {
	m := open(t, t.TempDir())
	s := createShell(t, m, "s", "")
	var r mux.TerminalExec
	var err error
	for limit := 200 * time.Millisecond; string(r.Output) != "x\r\n"; limit *= 2 { // a slow machine needs longer to come to the sleep
		begun := time.Now()
		r, err = m.ExecTerminal(context.Background(), s, shell.Command{Text: "echo x; sleep 1000; echo NOT", Timeout: limit}, nil)
		if err != nil || r.ExitCode != 124 || !r.TimedOut || alive(r.PID) || limit > patience {
			t.Fatalf("timeout of %v: %+v, %v", limit, r, err)
		}
		if took := time.Since(begun); took < limit {
			t.Errorf("the timeout of %v came after %v", limit, took)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, err = m.ExecTerminal(ctx, s, shell.Command{Text: "trap '' HUP; sleep 1000"}, func(*mux.Terminal) { cancel() })
	if !errors.Is(err, context.Canceled) || r.ExitCode != 130 || !r.Cancelled || alive(r.PID) {
		t.Errorf("cancel: %+v, %v", r, err)
	}
	if n := len(m.List("")); n != 0 {
		t.Errorf("%d terminals are listed", n)
	}
	closing, end := context.WithCancelCause(context.Background())
	r, err = m.ExecTerminal(closing, s, shell.Command{Text: "sleep 1000"}, func(*mux.Terminal) { end(mux.ErrClosing) })
	if !errors.Is(err, mux.ErrClosing) || r.Cancelled || !alive(r.PID) || len(m.List("")) != 1 {
		t.Errorf("the end of the server: %+v, %v; it has to run on", r, err)
	}
}
