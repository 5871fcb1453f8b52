package server

import (
	"context"
	"errors"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/terminal/wait"
	"github.com/evertty/evertty/wire"
)

func (ts *terminals) waitFor(ctx context.Context, in wire.Wait) (wire.Waited, error) {
	t, err := ts.terminalOf(ctx, in.TerminalRef)
	if err != nil {
		return wire.Waited{}, err
	}
	w, err := ts.Waits.Wait(ctx, t, in)
	if wait.NotMet(err) {
		e := httpapi.ErrorFor(err, httpapi.EchoOf(ctx))
		e.Details.Text, e.Details.Seq = &w.Text, &w.Seq
		return w, e
	}
	if errors.Is(err, journal.ErrNotKept) {
		if j, err := t.Journal(); err == nil {
			return w, notKept(httpapi.EchoOf(ctx), "since", *in.Since, j)
		}
	}
	return w, err
}
