package wait_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/tests/supervisortest"
	"github.com/evertty/evertty/wire"
)

func TestMain(m *testing.M) { supervisortest.Main(m) }

const patience = supervisortest.Patience

var (
	open     = supervisortest.Open
	parallel = supervisortest.Parallel
	leave    = supervisortest.Leave
	start    = supervisortest.Start
	waitFor  = supervisortest.Wait
	await    = supervisortest.Await
	until    = supervisortest.Until
	within   = supervisortest.Within
	see      = supervisortest.See
	typeIn   = supervisortest.TypeIn
	waits    = supervisortest.Waits
)

// screen is what the terminal shows.
func screen(term *terminal.Terminal) string {
	var b strings.Builder
	for _, l := range term.Hub().Snapshot().Frame.Main.Lines {
		b.WriteString(l.Text() + "\n")
	}
	return b.String()
}

// background is a context that ends with patience.
func background(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// fails checks that a wait ends with an error.
func fails(t *testing.T, term *terminal.Terminal, r wire.Wait, want error) {
	t.Helper()
	if got, err := waits.Wait(background(t), term, r); !errors.Is(err, want) {
		t.Errorf("%+v: matched %+v, %v, want %v", r.Any, got.Match, err, want)
	}
}

// find is the terminal of that id.
func find(t *testing.T, m *supervisor.Supervisor, id string) *terminal.Terminal {
	t.Helper()
	term, err := m.Terminals.Find("", id)
	if err != nil {
		t.Fatal(err)
	}
	return term
}
