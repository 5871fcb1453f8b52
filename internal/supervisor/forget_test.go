package supervisor_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/tests/supervisortest"
)

// TestRecordsAreForgottenFirst: a command stays to be asked for until nothing else tells of it, also when the server
// is killed between the records and the files.
func TestRecordsAreForgottenFirst(t *testing.T) {
	m := supervisortest.Open(t, t.TempDir())
	defer supervisortest.DeleteShells(t, m, "work")
	e := submit(t, createShell(t, m, "work", "one"), shell.Command{Text: "echo secret"})
	outcome(t, e)
	refused := errors.New("the disk is full")
	if err := m.Shells.Forget(t.Context(), e, func() error { return refused }); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	if found, err := m.Shells.Command("work", e.ID()); err != nil || stdout(t, found) != "secret\n" {
		t.Errorf("after a failure: %v", err)
	}
	if err := m.Shells.Forget(t.Context(), e, func() error {
		_, err := m.Shells.Command("work", e.ID())
		return err
	}); err != nil {
		t.Error(err)
	}
	if _, err := m.Shells.Command("work", e.ID()); !errors.Is(err, shell.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// TestTheEndOfASessionWaitsForEndingShells: of a shell that somebody else, or an earlier server, has begun to delete
// nothing is left either.
func TestTheEndOfASessionWaitsForEndingShells(t *testing.T) {
	dir := t.TempDir()
	m := supervisortest.Open(t, dir)
	s := createShell(t, m, "work", "one")
	run(t, s, "trap '' TERM HUP; (trap '' TERM HUP; exec sleep 1000) & true")
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := m.Shells.Delete(gone, s); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	supervisortest.DeleteShells(t, m, "work")
	if left, err := os.ReadDir(filepath.Join(dir, "shells")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
