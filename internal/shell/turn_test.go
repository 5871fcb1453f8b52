package shell

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/shell/history"
)

// TestNeverBegun: who follows a command that was cancelled before its turn, or never could begin, comes to an end of
// its output, and it can be pruned.
func TestNeverBegun(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := begin(t, s, Command{Text: "sleep 1000"})
	e, err := s.Submit(Command{Text: "echo NOT"})
	if err != nil {
		t.Fatal(err)
	}
	e.Cancel()
	if more, err := e.Follow(limited(t), 0, 0); more || err != nil {
		t.Errorf("%v, %v", more, err)
	}
	if r := result(t, e); !r.Cancelled || r.out != "" {
		t.Errorf("%+v", r)
	}
	first.Cancel()
	result(t, first)
}

// TestCancelBeforeStart: a command that is cancelled while its shell is being started again does not begin.
func TestCancelBeforeStart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for name, c := range map[string]Command{
		"foreground": {Text: ": >" + filepath.Join(data, "ran")},
		"background": {Text: ": >" + filepath.Join(data, "ran"), Background: true},
	} {
		s := start(t)
		run(t, s, "true")
		if err := s.Settled(limited(t)); err != nil {
			t.Fatal(err)
		}
		// A shell that is stopped is looked at for stoppedLooks before it counts as such: that is the time in which the
		// command has its turn and has not begun.
		pid := s.Stats().PID
		halt(t, pid)
		e, err := s.Submit(c)
		if err != nil {
			t.Fatal(err)
		}
		if !poll(func() bool { return s.Stats().Queued == 0 }) {
			t.Fatal("it does not get its turn")
		}
		e.Cancel()
		if r := result(t, e); !r.Cancelled || r.ExitCode != cancelCode {
			t.Errorf("%s: %+v", name, r)
		}
		run(t, s, "true")
		if _, err := os.Stat(filepath.Join(data, "ran")); err == nil {
			t.Errorf("%s: it ran", name)
		}
	}
}

// TestInputOfABackgroundCommand: what is written and ended right after the start arrives, however late the command
// opens its input.
func TestInputOfABackgroundCommand(t *testing.T) {
	t.Parallel()
	s := start(t)
	for range 20 {
		e, err := s.Submit(Command{Text: "cat", StdinOpen: true, Background: true})
		if err != nil {
			t.Fatal(err)
		}
		<-e.Started()
		if err := e.Input(limited(t), []byte("all of it"), true); err != nil {
			t.Fatal(err)
		}
		expect(t, result(t, e), 0, "all of it")
	}
}

// TestPruneOfThoseBeside: commands in the background and isolated ones are bounded like others.
func TestPruneOfThoseBeside(t *testing.T) {
	t.Parallel()
	s := start(t)
	do(t, s, Command{Isolated: true, Argv: []string{"true"}})
	oldest := s.Commands(1, "")[0].ID
	// Others that ended, so many that there are too many after the next ones.
	for n := range history.MaxCommands {
		r := &history.Entry{Info: Info{ID: fmt.Sprintf("%08d%s", 1+n, strings.Repeat("a", history.IDRandom)),
			Status: Done,
			Result: &Result{}}}
		e, err := s.newExec(r, s.history.Dir(r.Info.ID), s.history)
		if err != nil {
			t.Fatal(err)
		}
		e.finish()
		s.add(e)
	}
	do(t, s, Command{Isolated: true, Argv: []string{"true"}})
	if !poll(func() bool { _, err := s.Command(oldest); return err != nil }) {
		t.Errorf("%d commands are kept", len(s.Commands(0, "")))
	}
	if _, err := os.Stat(s.history.Dir(oldest)); err == nil {
		t.Error("its directory is still there")
	}
}

// TestRetireWithItsState: a shell that is ended as idle right after a command comes back with what that did, or is not
// ended.
func TestRetireWithItsState(t *testing.T) {
	t.Parallel()
	s := start(t)
	for n := range 10 {
		run(t, s, fmt.Sprintf("V=%d", n))
		s.Retire(0)
		expect(t, run(t, s, "echo $V"), 0, fmt.Sprintln(n))
	}
}

// TestChangesInTheirTurn: variables and a rolled back state are set whatever the commands before them have made of the
// builtins and variables.
func TestChangesInTheirTurn(t *testing.T) {
	t.Parallel()
	s := start(t)
	data := t.TempDir()
	gate := filepath.Join(data, "go")
	hold := func() *Exec {
		e, err := s.Submit(Command{Text: "while [ ! -e " + gate +
			" ]; do sleep 0.01; done; export LATE=1; export() { :; }; unset() { :; }; cd() { :; }; return() { :; }"})
		if err != nil {
			t.Fatal(err)
		}
		<-e.Started()
		return e
	}
	pass := func(e *Exec, n int) {
		t.Helper()
		if !poll(func() bool { return s.Stats().Queued == n }) {
			t.Fatal("it is not queued")
		}
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		result(t, e)
	}
	e := hold()
	set := make(chan error, 1)
	go func() { set <- s.SetEnv(limited(t), map[string]string{"A": "1"}, []string{"LATE"}) }()
	pass(e, 1)
	if err := <-set; err != nil {
		t.Error(err)
	}
	expect(t, run(t, s, `sh -c 'echo "$A[$LATE]"'`), 0, "1[]\n")
	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}
	run(t, s, "\\builtin unset -f export unset cd return")
	e = hold()
	rolled := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
		defer cancel()
		_, err := s.Roll(ctx, "/usr", map[string]string{"B": "2"}, nil)
		rolled <- err
	}()
	pass(e, 1)
	if err := <-rolled; err != nil {
		t.Error(err)
	}
	expect(t, run(t, s, `\builtin pwd; sh -c 'echo "$B[$A$LATE]"'`), 0, "/usr\n2[]\n")
}
