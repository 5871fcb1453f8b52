package supervisor_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/wire"
)

func TestWaitConditions(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "--norc")
	waitFor(t, term, wire.WaitCondition{For: "prompt"})
	ctx := context.Background()
	if _, err := term.Input(ctx, []byte("echo $((6*7))\n")); err != nil {
		t.Fatal(err)
	}
	if w := waitFor(t, term, wire.WaitCondition{For: "text", Pattern: "\n42\n"}); w.Seq == 0 {
		t.Errorf("position %d after output", w.Seq)
	}
	waitFor(t, term, wire.WaitCondition{For: "regex", Pattern: `(?m)^4\d$`})
	waitFor(t, term, wire.WaitCondition{For: "idle", IdleMS: 50})
	if _, err := term.Input(ctx, []byte("sleep 1000\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, wire.WaitCondition{For: "text", Pattern: "sleep 1000\n"})
	if w, err := waits.Wait(ctx, term, within(wire.WaitCondition{For: "text", Pattern: "never"},
		50*time.Millisecond)); !errors.Is(err, terminal.ErrTimeout) || !strings.Contains(w.Text, "42") {
		t.Errorf("text that never comes: %v with %q, want ErrTimeout with the screen", err, w.Text)
	}
	if err := term.Signal("INT"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, wire.WaitCondition{For: "prompt"})
	if _, err := term.Input(ctx, []byte("exit 7\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, wire.WaitCondition{For: "exit"})
	if e := term.Wire().Exit; e == nil || *e.Code != 7 || e.Reason != "exit" {
		t.Errorf("exit %+v, want 7", e)
	}
	if _, err := waits.Wait(ctx, term, within(wire.WaitCondition{For: "text", Pattern: "never"}, patience)); !errors.Is(
		err,
		terminal.ErrExited,
	) {
		t.Errorf("wait after the end: %v, want ErrExited", err)
	}
	if _, err := term.Input(ctx, []byte("x")); !errors.Is(err, terminal.ErrExited) {
		t.Errorf("input after the end: %v, want ErrExited", err)
	}
}

func TestWaitPromptBelievesTheShell(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c",
		`printf '\033]133;C\007busy'; read x; printf '\033]133;A\007ready\033]133;B\007'; read x`)
	waitFor(t, term, wire.WaitCondition{For: "text", Pattern: "busy"})
	if _, err := waits.Wait(context.Background(), term,
		within(wire.WaitCondition{For: "prompt"}, 400*time.Millisecond)); !errors.Is(err, terminal.ErrTimeout) {
		t.Errorf("a command is running by its own word: %v, want ErrTimeout", err)
	}
	if _, err := term.Input(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, wire.WaitCondition{For: "prompt"})
}

func TestInputToAProgramThatDoesNotRead(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", "stty raw -echo; printf ready; exec sleep 1000")
	waitFor(t, term, wire.WaitCondition{For: "text", Pattern: "ready"})
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := term.Input(ctx, make([]byte, 1<<20))
	if err == nil || !strings.Contains(err.Error(), "of 1048576 bytes were taken") {
		t.Errorf("%v, want how many bytes were taken", err)
	}
	if err := m.Terminals.Delete(context.Background(), term, true); err != nil {
		t.Error(err)
	}
}

func TestNamesAreUniqueInASession(t *testing.T) {
	m := open(t, t.TempDir())
	var made, taken atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := m.Terminals.Create("s", wire.CreateTerminal{Name: "n", Cmd: []string{"cat"}})
			switch {
			case err == nil:
				made.Add(1)
			case errors.Is(err, terminal.ErrNameTaken):
				taken.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 || taken.Load() != 7 {
		t.Errorf("%d made, %d refused; want 1 and 7", made.Load(), taken.Load())
	}
	if _, err := m.Terminals.Create("other", wire.CreateTerminal{Name: "n", Cmd: []string{"cat"}}); err != nil {
		t.Errorf("the name in another session: %v", err)
	}
	if _, err := m.Terminals.Find("", "n"); !errors.Is(err, terminal.ErrAmbiguous) {
		t.Errorf("the name without session: %v, want ErrAmbiguous", err)
	}
	term, err := m.Terminals.Find("s", "n")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Terminals.Delete(context.Background(), term, false); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Terminals.Create("s", wire.CreateTerminal{Name: "n", Cmd: []string{"cat"}}); err != nil {
		t.Errorf("the name after its terminal was deleted: %v", err)
	}
}

func TestFailedCreateLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	for _, c := range []struct {
		session string
		create  wire.CreateTerminal
		want    error
	}{
		{"s", wire.CreateTerminal{Cmd: []string{"no-such-program"}}, pty.ErrNoCommand},
		{"s", wire.CreateTerminal{Cwd: "/no/such/dir"}, pty.ErrNoDir},
		{"s", wire.CreateTerminal{Env: map[string]string{"A=B": ""}}, pty.ErrBadEnv},
		{"s", wire.CreateTerminal{Cols: new(1001)}, terminal.ErrInvalid},
		{"s", wire.CreateTerminal{Cmd: []string{}}, terminal.ErrInvalid},
		{"s/x", wire.CreateTerminal{}, terminal.ErrInvalid},
		{"s", wire.CreateTerminal{Name: "a b"}, terminal.ErrInvalid},
		{"s", wire.CreateTerminal{SizePolicy: "mine"}, terminal.ErrInvalid},
	} {
		if _, err := m.Terminals.Create(c.session, c.create); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c, err, c.want)
		}
	}
	if n := len(m.Terminals.List("")); n != 0 {
		t.Errorf("%d terminals are listed", n)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "terminals")); len(left) != 0 {
		t.Errorf("files are left: %v", left)
	}
}

// TestTerminalsComeBack: what ran runs on under the next server, what had ended
// is there as it was.
func TestTerminalsComeBack(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	ended := start(t, m, "sh", "-c", "printf 'done here'; exit 3")
	waitFor(t, ended, wire.WaitCondition{For: "exit"})
	ran := start(t, m, "sh", "-c", "cd /; printf 'still at it'; read x; printf \"heard $x\"; exit 4")
	waitFor(t, ran, wire.WaitCondition{For: "text", Pattern: "still at it"})
	gone := start(t, m, "true")
	waitFor(t, gone, wire.WaitCondition{For: "exit"})
	if err := m.Terminals.Delete(context.Background(), gone, false); err != nil {
		t.Fatal(err)
	}
	pid := ran.Wire().PID
	leave(t, m)

	m = open(t, dir)
	if n := len(m.Terminals.List("s")); n != 2 {
		t.Errorf("%d terminals are listed, want 2", n)
	}
	again := find(t, m, ended.ID)
	if i := again.Wire(); i.State != terminal.StateExited || i.Exit == nil || *i.Exit.Code != 3 || i.PID != 0 {
		t.Errorf("the ended one came back as %s with exit %+v", i.State, i.Exit)
	}
	if got := snapshot.Text(again.Hub().Snapshot().Frame, -1); !strings.HasPrefix(got, "done here\n") {
		t.Errorf("screen %q", got)
	}
	if _, err := again.Input(context.Background(), []byte("x")); !errors.Is(err, terminal.ErrExited) {
		t.Errorf("input: %v, want ErrExited", err)
	}
	if _, err := waits.Wait(context.Background(), again,
		within(wire.WaitCondition{For: "prompt"}, patience)); !errors.Is(err,
		terminal.ErrExited) {
		t.Errorf("wait for a prompt: %v, want ErrExited", err)
	}
	if err := again.Resize(100, 30); !errors.Is(err, terminal.ErrExited) {
		t.Errorf("resize: %v, want ErrExited", err)
	}
	on := find(t, m, ran.ID)
	if i := on.Wire(); i.State != terminal.StateRunning || i.PID != pid || i.Cwd != "/" {
		t.Errorf("the running one came back as %s, process %d in %q, was %d in /", i.State, i.PID, i.Cwd, pid)
	}
	waitFor(t, on, wire.WaitCondition{For: "text", Pattern: "still at it"})
	if _, err := on.Input(context.Background(), []byte("you\n")); err != nil {
		t.Error(err)
	}
	waitFor(t, on, wire.WaitCondition{For: "exit"})
	waitFor(t, on, wire.WaitCondition{For: "text", Pattern: "heard you"})
	if i := on.Wire(); i.State != terminal.StateExited || *i.Exit.Code != 4 {
		t.Errorf("it ended as %s %+v", i.State, i.Exit)
	}
	if find(t, m, gone.ID).Wire().DeletedAt.IsZero() {
		t.Error("the deleted terminal is no longer deleted")
	}
	for _, id := range []string{ended.ID, ran.ID, gone.ID} {
		if err := m.Terminals.Delete(context.Background(), find(t, m, id), true); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "terminals")); len(left) != 0 {
		t.Errorf("after the purge %v are left", left)
	}
}

func find(t *testing.T, m *supervisor.Supervisor, id string) *terminal.Terminal {
	t.Helper()
	term, err := m.Terminals.Find("", id)
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func TestOneDamagedTerminalCostsNothingElse(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	whole, hurt, lost := start(t, m, "echo", "whole"), start(t, m, "echo", "hurt"), start(t, m, "echo", "lost")
	for _, term := range []*terminal.Terminal{whole, hurt, lost} {
		waitFor(t, term, wire.WaitCondition{For: "exit"})
	}
	leave(t, m)
	screens, _ := filepath.Glob(filepath.Join(dir, "terminals", hurt.ID, "screen.*"))
	for _, f := range append(screens, filepath.Join(dir, "terminals", lost.ID, "meta")) {
		if err := os.WriteFile(f, []byte("rubbish"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m = open(t, dir)
	term, err := m.Terminals.Find("", whole.ID)
	if err != nil || !strings.Contains(snapshot.Text(term.Hub().Snapshot().Frame, -1), "whole") {
		t.Errorf("the whole one: %v", err)
	}
	if term, err = m.Terminals.Find("", hurt.ID); err != nil {
		t.Fatal(err)
	}
	term.Hub()
	if term.Wire().Damage == "" {
		t.Error("the damage is not told")
	}
	if i := find(t, m, lost.ID).Wire(); i.Damage == "" || i.Cmd[0] != "echo" {
		t.Errorf("the one whose newest record is rubbish: command %q, damage %q", i.Cmd, i.Damage)
	}
}

func TestDeleteEndsTheWholeTree(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and ends many processes, for seconds")
	}
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c", "trap '' HUP; sleep 1001 & printf started; wait")
	waitFor(t, term, wire.WaitCondition{For: "text", Pattern: "started"})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.Terminals.Delete(ctx, term, false); err != nil {
		t.Fatal(err)
	}
	if i := term.Wire(); i.State != terminal.StateExited || i.Exit.Reason != "killed" {
		t.Errorf("%s %+v, want exited and killed", i.State, i.Exit)
	}
	if len(m.Terminals.List("")) != 0 {
		t.Error("a deleted terminal is listed")
	}
	if err := m.Terminals.Delete(ctx, term, false); err != nil {
		t.Errorf("deleting again: %v", err)
	}
}
