package terminal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/wire"
)

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

// TestDeleteSession: the terminals of one session go, with purge also those that were deleted before, and what a
// deleted one was given as variables is on disk no more.
func TestDeleteSession(t *testing.T) {
	parallel(t)
	dir, ctx := t.TempDir(), context.Background()
	m := open(t, dir)
	of := map[string]string{}
	for _, session := range []string{"one", "two"} {
		term, err := m.Terminals.Create(session, wire.CreateTerminal{Cmd: []string{"cat"},
			Env: map[string]string{"PASS": "hush-" + session}})
		if err != nil {
			t.Fatal(err)
		}
		term.Env()["PASS"] = "changed by a caller"
		if got := term.Env()["PASS"]; got != "hush-"+session {
			t.Errorf("it has %q", got)
		}
		of[session] = term.ID
	}
	kept := func(id string) (hush bool, files int) {
		list, _ := filepath.Glob(filepath.Join(dir, "terminals", id, "*"))
		for _, f := range list {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			hush = hush || strings.Contains(string(b), "hush")
		}
		return hush, len(list)
	}
	if hush, _ := kept(of["one"]); !hush {
		t.Error("the variables of one that runs are not on disk")
	}
	if err := m.Terminals.DeleteSession(ctx, "one", false); err != nil {
		t.Fatal(err)
	}
	first, err := m.Terminals.Find("", of["one"])
	if err != nil || !first.Deleted() || len(first.Env()) > 0 || len(m.Terminals.List("")) != 1 {
		t.Errorf("%v, %v, %d are listed", first, err, len(m.Terminals.List("")))
	}
	if hush, files := kept(of["one"]); hush || files == 0 {
		t.Errorf("of the deleted one %d files are left, with variables: %v", files, hush)
	}
	if _, err := m.Terminals.Restart(first); !errors.Is(err, terminal.ErrNotFound) {
		t.Error(err)
	}
	for _, session := range []string{"one", "two"} {
		if err := m.Terminals.DeleteSession(ctx, session, true); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Terminals.Find("", of[session]); !errors.Is(err, terminal.ErrNotFound) {
			t.Errorf("%s: %v", session, err)
		}
		if _, files := kept(of[session]); files > 0 {
			t.Errorf("%s has %d files", session, files)
		}
	}
}
