package terminal_test

import (
	"context"
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
