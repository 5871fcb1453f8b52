package shell

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty/keeper"
)

// TestKilledBefore: a command right after the end of its shell, at any distance, runs once, in the next shell; one that
// may have begun tells of the end.
func TestKilledBefore(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	s := start(t)
	run(t, s, "export KEPT=kept")
	file := filepath.Join(t.TempDir(), "ran")
	anew := 0
	for n := range 40 {
		run(t, s, ":")
		if err := s.Settled(limited(t)); err != nil {
			t.Fatal(err)
		}
		b := s.procs.current.Load()
		pid := b.Proc().PID
		_ = unix.Kill(pid, unix.SIGKILL)
		ended := func() bool { now, there := proc.Find(pid); return !there || now.Ended }
		for _, known := range []func() bool{ // of its end, by and by
			ended,
			func() bool { now, there := proc.Find(b.Launcher()); return !there || now.Ended },
			func() bool { return shelldir.Closed(b.Ended) },
		}[:n%4] {
			for end := time.Now().Add(patience); !known(); {
				if time.Now().After(end) {
					t.Fatal("the shell does not end")
				}
			}
		}
		r := do(t, s, Command{Text: "echo $KEPT; echo >>" + file})
		text, _ := os.ReadFile(file)
		ran := len(text)
		_ = os.Remove(file)
		switch {
		case r.Recreated && r.ExitCode == 0 && r.out == "kept\n" && ran == 1 && !r.ShellEnded:
			anew++
		default:
			t.Errorf("round %d: it ran %d times: %+v", n, ran, r)
		}
	}
	t.Logf("%d of 40 ran in the next shell", anew)
}

// TestNamesAreRemovedOnce: the launcher of a shell that ends removes the names of all FIFOs, at any moment of another
// command's start: one that runs beside the shell does not notice.
func TestNamesAreRemovedOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	s := start(t)
	stop, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		removed := map[string]bool{}
		for !shelldir.Closed(stop) {
			found, _ := filepath.Glob(filepath.Join(s.spec.Dir, shelldir.CommandsDir, "*", "[ioe]*"))
			for _, path := range found {
				if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 && !removed[path] {
					removed[path] = os.Remove(path) == nil
				}
			}
		}
		if len(removed) == 0 {
			t.Error("no name was there to be removed")
		}
	}()
	for range 100 {
		e, err := s.Submit(Command{Isolated: true, Argv: []string{"cat"}, StdinOpen: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Input(limited(t), []byte("text"), true); err != nil {
			t.Error(err)
		}
		expect(t, result(t, e), 0, "text")
	}
	close(stop)
	<-over
}

// toldNotRead gives a command to a shell that is stopped and cannot read it.
func toldNotRead(t *testing.T, s *Shell, c Command) (e *Exec, pid int) {
	run(t, s, ":")
	if err := s.Settled(limited(t)); err != nil {
		t.Fatal(err)
	}
	pid = s.Stats().PID
	s.SetFrozen(true)
	halt(t, pid)
	e, err := s.Submit(c)
	if err != nil {
		t.Fatal(err)
	}
	<-e.Started()
	return e, pid
}

// TestToldNotRead: what a stopped shell was told and never read runs in the next one.
func TestToldNotRead(t *testing.T) {
	t.Parallel()
	s := start(t)
	e, pid := toldNotRead(t, s, Command{Text: "echo once; echo $$"})
	_ = unix.Kill(pid, unix.SIGKILL)
	s.SetFrozen(false)
	if r := result(t, e); !r.Recreated || r.ShellEnded || r.ExitCode != 0 || !strings.HasPrefix(r.out, "once\n") ||
		strings.Count(r.out, "once") != 1 {
		t.Errorf("%+v", r)
	}
	alive(t, s)
	if left := fifos(t, filepath.Join(s.spec.Dir, shelldir.CommandsDir)); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestToldNotReadAndUnwanted: the same does not run in the next one when somebody wanted its end before.
func TestToldNotReadAndUnwanted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		timeout time.Duration
		end     func(*testing.T, *Shell, *Exec)
		code    int
	}{
		"cancelled": {0, func(_ *testing.T, _ *Shell, e *Exec) { e.Cancel() }, cancelCode},
		"timeout":   {50 * time.Millisecond, func(_ *testing.T, s *Shell, _ *Exec) { s.SetFrozen(false) }, timeoutCode},
		"stopped": {0, func(t *testing.T, s *Shell, _ *Exec) {
			if err := s.Stop(limited(t), ""); err != nil {
				t.Error(err)
			}
		}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			file := filepath.Join(t.TempDir(), "ran")
			e, _ := toldNotRead(t, s, Command{Text: "echo >" + file, Timeout: c.timeout})
			c.end(t, s, e)
			r := result(t, e)
			s.SetFrozen(false)
			if c.code >= 0 && r.ExitCode != c.code || r.ExitCode == 0 || r.Recreated {
				t.Errorf("%+v", r)
			}
			if !poll(func() bool { return e.outputs[0].Finished() && e.outputs[1].Finished() }) {
				t.Error("its outputs go on")
			}
			expect(t, run(t, s, "echo next"), 0, "next\n")
			if _, err := os.Stat(file); err == nil {
				t.Error("it ran")
			}
		})
	}
}

// TestLeftBeforeItBegan: a command in the background that the shell was told of and has not come to finds its outputs
// when the server has gone.
func TestLeftBeforeItBegan(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	client, err := connect(data)
	if err != nil {
		t.Fatal(err)
	}
	s, err := bring(client, data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	run(t, s, ":")
	if err := s.Settled(limited(t)); err != nil {
		t.Fatal(err)
	}
	pid := s.Stats().PID
	halt(t, pid)
	e, err := s.Submit(Command{Text: "echo out; echo err >&2", Background: true})
	if err != nil {
		t.Fatal(err)
	}
	<-e.Started()
	s.Detach()
	_ = client.Close()
	_ = unix.Kill(pid, unix.SIGCONT)
	s = nextServer(t, data)
	if e, err = s.Command(e.ID()); err != nil {
		t.Fatal(err)
	}
	if r := result(t, e); r.out != "out\n" || r.err != "err\n" || r.ExitCode != 0 {
		t.Errorf("%+v", r)
	}
}

// TestDirectoryGoneWhileAway: a server leaves right after a command; the shell and its directory go, at any moment of
// the next server's start.
func TestDirectoryGoneWhileAway(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	data := t.TempDir()
	client, err := connect(data)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { mustEndKeeper(t, client) }()
	c := config(t)
	c.Keeper = client
	s, err := bring(client, data, c.Log)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 24 {
		dir, up := filepath.Join(data, "up", "down"), filepath.Join(data, "up")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		run(t, s, "export KEPT=kept; cd "+dir)
		if n%2 == 0 {
			if err := s.Settled(limited(t)); err != nil {
				t.Fatal(err)
			}
		}
		run(t, s, "true")
		pid := s.Stats().PID
		end := func() {
			_ = unix.Kill(pid, unix.SIGKILL)
			_ = os.RemoveAll(dir)
		}
		s.Detach()
		_ = client.Close()
		if n%3 == 0 {
			end()
		}
		if client, err = connect(data); err != nil {
			t.Fatal(err)
		}
		var held []*keeper.Program
		if held, err = client.TakePrograms(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n%3 == 1 {
			end()
		}
		c.Keeper = client
		if s, err = Recover(c, filepath.Join(data, "shell"), held, Spec{ID: "kept"}); err != nil {
			t.Fatal(err)
		}
		if n%3 == 2 {
			begun := func() bool { return true }
			captured := func() bool { return shelldir.Closed(s.state.now().captured) }
			asked := func() bool { // whether its line has been read
				signs, _ := filepath.Glob(filepath.Join(data, "shell", shelldir.MarkersDir, shelldir.BarrierName+"*"))
				return len(signs) > 0 || captured()
			}
			if !poll([]func() bool{begun, asked, captured}[n/3%3]) {
				t.Fatal("the next server does not start")
			}
			end()
		}
		r := run(t, s, "pwd; echo $KEPT")
		if r.out != up+"\nkept\n" || !r.Recreated || r.CwdFallback != dir {
			t.Errorf("round %d: %+v", n, r)
		}
	}
	remove(t, s)
}

// TestNoNextShell: a command for which no shell can be started fails, and who follows its outputs comes to their end.
func TestNoNextShell(t *testing.T) {
	t.Parallel()
	s := start(t)
	run(t, s, "kill -9 $$")
	signs := filepath.Join(s.spec.Dir, shelldir.MarkersDir)
	if err := os.Rename(signs, signs+".away"); err != nil {
		t.Fatal(err)
	}
	e, err := s.Submit(Command{Text: "echo on"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Wait(limited(t)); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
	if !e.outputs[0].Finished() || !e.outputs[1].Finished() {
		t.Error("its outputs go on")
	}
	if err := os.Rename(signs+".away", signs); err != nil {
		t.Fatal(err)
	}
	expect(t, run(t, s, "echo on"), 0, "on\n")
}
