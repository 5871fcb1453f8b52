package terminal_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/tests/supervisortest"
	"github.com/evertty/evertty/vt"
)

// TestAPurgeThatIsGivenUp: a caller that leaves in the middle of a purge leaves a terminal whose last
// screen and end are on disk, or nothing.
func TestAPurgeThatIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	m := supervisortest.OpenWith(t, dir, supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine}})
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	var kept []string
	for range 100 {
		term := start(t, m, "sh", "-c", "echo sh''own; exec cat")
		see(t, term, "shown")
		if err := m.Terminals.Delete(gone, term, true); err == nil {
			if left, _ := filepath.Glob(filepath.Join(dir, "terminals", term.ID, "*")); len(left) > 0 {
				t.Fatalf("a purge left %q", left)
			}
			continue
		}
		supervisortest.Until(t, "the end, which the next server would take for one of its own", func() bool {
			return !term.Running()
		})
		if kept = append(kept, term.ID); len(kept) == 10 {
			break
		}
	}
	if len(kept) == 0 {
		t.Fatal("no caller left before the end")
	}
	supervisortest.Leave(t, m)
	m = supervisortest.OpenWith(t, dir, supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine}})
	for _, id := range kept {
		term := findIn(t, m, id)
		if i := term.Wire(); i.State != terminal.StateExited || i.Exit == nil || i.Exit.Reason != "killed" ||
			i.Damage != "" {
			t.Errorf("%+v", i)
		}
		see(t, term, "shown")
	}
}

// TestAPurgeBehindADelete: nothing that still looks after a deleted terminal writes what its purge has removed.
func TestAPurgeBehindADelete(t *testing.T) {
	parallel(t)
	dir, ctx := t.TempDir(), context.Background()
	m := supervisortest.OpenWith(t, dir, supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine,
		Interval: time.Millisecond}})
	for range 25 {
		term := start(t, m, "sh", "-c", "echo sh''own; exec cat")
		see(t, term, "shown")
		if err := m.Terminals.Delete(ctx, term, false); err != nil {
			t.Fatal(err)
		}
		if err := m.Terminals.Delete(ctx, findIn(t, m, term.ID), true); err != nil {
			t.Fatal(err)
		}
	}
	_, other, _ := m.Terminals.Problems()
	if left, _ := filepath.Glob(filepath.Join(dir, "terminals", "*")); len(left) > 0 || len(other) > 0 {
		t.Errorf("left are %q, problems %q", left, other)
	}
}
