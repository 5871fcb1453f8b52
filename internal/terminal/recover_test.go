package terminal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/wire"
)

// TestTerminalsComeBack: what ran runs on under the next server, what had ended
// is there as it was.
func TestTerminalsComeBack(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	ended := start(t, m, "sh", "-c", "printf 'done here\\a\\a'; exit 3")
	waitFor(t, ended, wire.WaitCondition{For: "exit"})
	ran := start(t, m, "sh", "-c", "cd /; printf 'still at it'; read x; printf \"heard $x\"; exit 4")
	waitFor(t, ran, wire.WaitCondition{For: "text", Pattern: "still at it"})
	gone := start(t, m, "true")
	waitFor(t, gone, wire.WaitCondition{For: "exit"})
	if err := m.Terminals.Delete(context.Background(), gone, false); err != nil {
		t.Fatal(err)
	}
	pid, printed := ran.Wire().PID, ended.Wire().LastOutputAt
	leave(t, m)

	m = open(t, dir)
	if n := len(m.Terminals.List("s")); n != 2 {
		t.Errorf("%d terminals are listed, want 2", n)
	}
	again := findIn(t, m, ended.ID)
	if i := again.Wire(); i.State != terminal.StateExited || i.Exit == nil || *i.Exit.Code != 3 || i.PID != 0 {
		t.Errorf("the ended one came back as %s with exit %+v", i.State, i.Exit)
	}
	if got := snapshot.Text(again.Hub().Snapshot().Frame, -1); !strings.HasPrefix(got, "done here\n") {
		t.Errorf("screen %q", got)
	}
	if i := again.Wire(); i.BellCount != 2 || i.LastOutputAt == nil || !i.LastOutputAt.Equal(*printed) {
		t.Errorf("with its screen it had %d bells and printed last at %v, want %v", i.BellCount, i.LastOutputAt, printed)
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
	on := findIn(t, m, ran.ID)
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
	if findIn(t, m, gone.ID).Wire().DeletedAt.IsZero() {
		t.Error("the deleted terminal is no longer deleted")
	}
	for _, id := range []string{ended.ID, ran.ID, gone.ID} {
		if err := m.Terminals.Delete(context.Background(), findIn(t, m, id), true); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "terminals")); len(left) != 0 {
		t.Errorf("after the purge %v are left", left)
	}
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
	if f := term.Hub().Snapshot().Frame; f.Rows != 24 || len(f.Main.Lines) != 24 || f.Main.Bottom != 23 {
		t.Errorf("without a screen there are %d rows and %d lines, down to %d", f.Rows, len(f.Main.Lines), f.Main.Bottom)
	}
	if term.Wire().Damage == "" {
		t.Error("the damage is not told")
	}
	if i := findIn(t, m, lost.ID).Wire(); i.Damage == "" || i.Cmd[0] != "echo" {
		t.Errorf("the one whose newest record is rubbish: command %q, damage %q", i.Cmd, i.Damage)
	}
}
