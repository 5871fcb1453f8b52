package supervisor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
)

// onTerminal runs a command on a terminal to its end.
func onTerminal(t *testing.T, m *supervisor.Supervisor, s *registry.Shell,
	c shell.Command) (out string, r shell.Result, e *shell.Exec) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	e, err := m.Shells.ExecTTY(ctx, s, c)
	if err == nil {
		r, err = e.Wait(ctx)
	}
	if err != nil {
		t.Fatalf("%s: %v", c.Text, err)
	}
	return printedBy(t, e), r, e
}

// printedBy is what the log of a command has.
func printedBy(t *testing.T, e *shell.Exec) string {
	t.Helper()
	p := make([]byte, e.Size(shell.Stdout))
	if n, err := e.ReadAt(shell.Stdout, p, 0); n != len(p) {
		t.Errorf("%d bytes of %d: %v", n, len(p), err)
	}
	return string(p)
}

// noTerminals checks that commands have left no terminal in a list: all of them are deleted, and
// readable by id.
func noTerminals(t *testing.T, m *supervisor.Supervisor) {
	t.Helper()
	until(t, "end of the terminals", func() bool {
		return !slices.ContainsFunc(m.Terminals.Unsorted(), func(t *terminal.Terminal) bool { return !t.Deleted() })
	})
}

func TestExecOnATerminal(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	s := createShell(t, m, "s", "")
	run(t, s, "cd '"+dir+"'; export A='x  y'")
	out, r, e := onTerminal(t, m, s, shell.Command{Text: `test -t 0 -a -t 1 -a -t 2; echo "$? $A$B $PWD $TERM"; exit 9`,
		Env: map[string]string{"B": "!"}})
	if want := "0 x  y! " + dir + " xterm-256color\r\n"; out != want || r.ExitCode != 9 || r.Cwd != dir || r.Truncated {
		t.Errorf("%q: %+v, want %q with 9", out, r, want)
	}
	if i := e.Info(); i.Status != shell.Done || i.PTY == "" || i.PID == 0 || i.Cwd != dir || i.StartedAt.IsZero() {
		t.Errorf("%+v", i)
	}
	for _, c := range []struct {
		name    string
		command shell.Command
		want    string
	}{
		{"argv", shell.Command{Isolated: true, Argv: []string{"printf", "%s|", "a b", "c"}}, "a b|c|"},
		{"directory of its own", shell.Command{Text: "pwd", Cwd: "/"}, "/\r\n"},
		{"typed", shell.Command{Text: "stty -echo; printf 'name? '; read x; echo \"hello $x\"", Stdin: []byte("you\n")},
			"hello you\r\n"},
		{"end of file", shell.Command{Text: "wc -c", Stdin: []byte("one\ntwo\n")}, "8\r\n"},
		{"end of file in a line", shell.Command{Text: "wc -c", Stdin: []byte("one\ntwo")}, "7\r\n"},
		{"end of file at once", shell.Command{Text: "cat; echo over", Stdin: []byte{}}, "over\r\n"},
	} {
		if out, r, _ := onTerminal(t, m, s, c.command); !strings.HasSuffix(out, c.want) || r.ExitCode != 0 {
			t.Errorf("%s: %q, %+v; want %q", c.name, out, r, c.want)
		}
	}
	if out, r, _ := onTerminal(t, m, s, shell.Command{Text: "seq 1000", MaxReply: 10}); len(out) != 4893 ||
		!r.Truncated || r.TruncatedReason != output.CutReply {
		t.Errorf("cut: %d bytes, %+v", len(out), r)
	}
	if _, err := m.Shells.ExecTTY(context.Background(), s, shell.Command{Isolated: true}); !errors.Is(err,
		terminal.ErrInvalid) {
		t.Errorf("no command: %v, want ErrInvalid", err)
	}
	if n := len(m.Shells.Commands("s", 0, "")); n != 9 {
		t.Errorf("%d commands in the history", n)
	}
	noTerminals(t, m)
}

// TestManyExecsOnTerminals: they leave nothing but their history.
func TestManyExecsOnTerminals(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	s := createShell(t, m, "s", "")
	for range 30 {
		if out, _, _ := onTerminal(t, m, s, shell.Command{Text: "echo hi"}); out != "hi\r\n" {
			t.Fatalf("%q", out)
		}
	}
	noTerminals(t, m)
}

func TestExecOnATerminalEnds(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	s := createShell(t, m, "s", "")
	var out string
	for limit := 200 * time.Millisecond; out != "x\r\n"; limit *= 2 { // a slow machine comes to the sleep later
		begun := time.Now()
		var r shell.Result
		var e *shell.Exec
		out, r, e = onTerminal(t, m, s, shell.Command{Text: "echo x; sleep 1000; echo NOT", Timeout: limit})
		if r.ExitCode != 124 || !r.TimedOut || alive(e.Info().PID) || limit > patience {
			t.Fatalf("timeout of %v: %+v", limit, r)
		}
		if took := time.Since(begun); took < limit {
			t.Errorf("the timeout of %v came after %v", limit, took)
		}
	}
	e, err := m.Shells.ExecTTY(context.Background(), s, shell.Command{Text: "trap '' HUP; sleep 1000"})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := m.Shells.Command("s", e.ID()); err != nil || found != e {
		t.Errorf("%v, %v", found, err)
	}
	e.Cancel()
	if r, err := e.Wait(context.Background()); err != nil || r.ExitCode != 130 || !r.Cancelled || alive(e.Info().PID) ||
		e.Info().Status != shell.Cancelled {
		t.Errorf("cancel: %+v, %v", r, err)
	}
	if e, err = m.Shells.ExecTTY(context.Background(), s, shell.Command{Text: "sleep 1000"}); err != nil {
		t.Fatal(err)
	}
	pid := e.Info().PID
	deleteShells(t, m, "s")
	if _, err := e.Wait(context.Background()); !errors.Is(err, shell.ErrDeleted) {
		t.Errorf("of a shell that was deleted: %v", err)
	}
	until(t, "end of the command of a shell that was deleted", func() bool { return !alive(pid) })
	noTerminals(t, m)
}

// TestExecOnATerminalOverServers: the next server goes on with it: log without gap or repetition,
// cancel, timeout and end.
func TestExecOnATerminalOverServers(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	s := createShell(t, m, "s", "")
	e, err := m.Shells.ExecTTY(context.Background(), s, shell.Command{Text: "echo before; read x; echo $x; sleep 1000"})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "output", func() bool { return printedBy(t, e) == "before\r\n" })
	id, pid := e.ID(), e.Info().PID
	leave(t, m)
	if !alive(pid) {
		t.Error("it did not run on")
	}
	m = open(t, dir)
	if e, err = m.Shells.Command("s", id); err != nil || e.Info().Status != shell.Running {
		t.Fatalf("%v", err)
	}
	terminal, err := m.Terminals.Find("s", e.Info().PTY)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := terminal.Input(context.Background(), []byte("after\n")); err != nil {
		t.Fatal(err)
	}
	until(t, "output", func() bool { return printedBy(t, e) == "before\r\nafter\r\nafter\r\n" })
	e.Cancel()
	if r, err := e.Wait(context.Background()); err != nil || r.ExitCode != 130 {
		t.Errorf("%+v, %v", r, err)
	}
	noTerminals(t, m)
}
