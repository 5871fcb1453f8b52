package shell

import (
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/interrupt"
)

// TestNothingGoesOn: after a cancel the rest of a command does not run, whatever the program in front of it does with
// SIGINT; the shell lives on where bash can be told so.
func TestNothingGoesOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		ended bool
	}{
		{"bash -c 'trap \"exit 0\" INT; echo ready; sleep 100'; echo NOT", true},
		{"( bash -c 'trap \"exit 0\" INT; echo ready; sleep 100'; echo NOT ); echo NOT", true},
		{"( ( echo ready; sleep 100; echo NOT ); echo NOT ); echo NOT", false},
		{"echo ready; sleep 100 | cat; echo NOT", false},
		{"sleep 100 & echo ready; wait; echo NOT", false},
		{"cat <(echo ready; sleep 100); echo NOT", false},
		{"bash -c 'echo ready; kill -STOP $$; echo NOT'; echo NOT", false},
		{"set -m; ( echo ready; sleep 100; echo NOT ); echo NOT", false},
	} {
		s := start(t)
		run(t, s, "sleep 100 & job=$!")
		e, err := s.Submit(Command{Text: c.text})
		if err != nil {
			t.Fatal(err)
		}
		if !poll(func() bool { return e.Size(Stdout) > 0 }) {
			t.Fatalf("%q does not begin", c.text)
		}
		e.Cancel() // the next process is there, or is about to be
		if r := result(t, e); r.out != "ready\n" || r.ExitCode != cancelCode || r.ShellEnded != c.ended {
			t.Errorf("%q: %+v", c.text, r)
		}
		if r := run(t, s, "kill -0 $job 2>/dev/null && echo lives"); !c.ended && r.out != "lives\n" {
			t.Errorf("%q: the earlier job: %+v", c.text, r)
		}
		if _, err := os.Lstat(s.procs.interruptMarker()); err == nil {
			t.Errorf("%q: the shell still counts as stopped", c.text)
		}
	}
}

// TestBuiltinsInTheBackground: a loop of them has few moments at which its shell heeds SIGINT; most are found.
func TestBuiltinsInTheBackground(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	const tries, most = 20, 8
	s := start(t)
	ended := 0
	for range tries {
		r := do(t, s, Command{Text: "while :; do true & wait $!; done; echo NOT", Timeout: 100 * time.Millisecond})
		if !r.TimedOut || r.out != "" {
			t.Errorf("%+v", r)
		}
		if r.ShellEnded {
			ended++
		}
	}
	if ended > most {
		t.Errorf("%d of %d timeouts ended the shell", ended, tries)
	}
}

// TestStoppedForAMoment: a shell that is stopped from outside and goes on soon is none the worse for it, with a command
// and without.
func TestStoppedForAMoment(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	s := start(t)
	e, err := s.Submit(Command{Text: "echo ready; sleep 0.2; echo on"})
	if err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { return e.Size(Stdout) > 0 }) {
		t.Fatal("the command does not begin")
	}
	bash := s.procs.current.Load().Proc()
	halt(t, bash.PID)
	if !poll(func() bool { return s.procs.stopped.Load() > 0 }) { // one look is too few to end it
		t.Fatal("nobody looks")
	}
	_ = bash.Signal(unix.SIGCONT)
	expect(t, result(t, e), 0, "ready\non\n")
	halt(t, bash.PID)
	_ = bash.Signal(unix.SIGCONT)
	if r := run(t, s, "echo on"); r.out != "on\n" || r.Recreated {
		t.Errorf("%+v", r)
	}
	halt(t, bash.PID)
	if r := run(t, s, "echo on"); r.out != "on\n" || !r.Recreated {
		t.Errorf("stopped for good: %+v", r)
	}
}

// TestFrozenByAnEarlierServer: a server that ends while it has a shell stopped leaves the end of the command to the
// next one.
func TestFrozenByAnEarlierServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	client, err := connect(data)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	s, err := bring(client, data, log)
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Submit(Command{Text: "( echo ready; sleep 100; echo NOT ); echo NOT"})
	if err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { return e.Size(Stdout) > 0 }) {
		t.Fatal("the command does not begin")
	}
	target := (&foreground{inShell{proc: s.procs.current.Load()}}).target(e)
	target.Send = func() error { return errors.New("the server ends here") }
	if _, err := interrupt.Interrupt(t.Context(), target); err == nil {
		t.Fatal("it was not cut short")
	}
	bash := s.procs.current.Load().Proc()
	s.Detach()
	_ = client.Close()
	if p, ok := proc.Find(bash.PID); !ok || !p.Stopped {
		t.Errorf("bash %+v, %v", p, ok)
	}
	s = nextServer(t, data)
	if e, err = s.Command(e.ID()); err != nil {
		t.Fatal(err)
	}
	if r := result(t, e); r.out != "ready\n" || !r.Cancelled || r.ShellEnded {
		t.Errorf("%+v", r)
	}
	if r := run(t, s, "echo on"); r.out != "on\n" || r.Recreated {
		t.Errorf("%+v", r)
	}
}
