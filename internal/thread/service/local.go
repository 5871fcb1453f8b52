package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/local"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/pty"
)

// localCompute is this machine as a provider of leases: an instance is what runs here for the threads of one lease. Pause stops it (SIGSTOP) and Resume lets it go on, so nothing is lost.
// What ends an instance ends its processes. The place is known by the lease; an instance of it is only a name.
type localCompute struct {
	d     *Service
	place *local.Provider

	*pauses
}

func newLocal(d *Service) *localCompute {
	l := &localCompute{d: d, pauses: newPauses(d)}
	l.place = local.New(local.Config{Members: l.members})
	return l
}

// members are the leaders of what the threads of a lease run here.
func (l *localCompute) members(lease string) (pids []int) {
	for _, thread := range l.threads(lease) {
		for _, p := range l.d.roots(thread) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// known makes the lease's place known to a server that has not made it.
func (l *localCompute) known(ctx context.Context, e thread.Lease) error {
	_, err := l.place.Create(ctx, provider.CreateRequest{Name: e.ID})
	return err
}

// Create makes a name: everything is there already.
func (l *localCompute) Create(ctx context.Context, e thread.Lease) (string, error) {
	l.lose(e.ID, false)
	return "local-" + terminal.NewID(), l.known(ctx, e)
}

// Pause stops the processes. A look at the state of a shell that goes on meanwhile has all the time it needs.
func (l *localCompute) Pause(ctx context.Context, e thread.Lease, _ string) error {
	if err := l.known(ctx, e); err != nil {
		return err
	}
	l.freeze(e.ID, true)
	err := l.place.Pause(ctx, e.ID)
	if errors.Is(err, provider.ErrState) {
		err = nil // it is
	}
	if err != nil {
		l.freeze(e.ID, false)
		_ = l.place.Resume(context.WithoutCancel(ctx), e.ID)
		return fmt.Errorf("stop the processes: %w", err)
	}
	return nil
}

// Resume lets the processes go on.
func (l *localCompute) Resume(ctx context.Context, e thread.Lease, _ string) error {
	if err := l.known(ctx, e); err != nil {
		return err
	}
	err := l.place.Resume(ctx, e.ID)
	if errors.Is(err, provider.ErrState) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("let the processes go on: %w", err)
	}
	l.freeze(e.ID, false)
	return nil
}

// Destroy ends the processes.
func (l *localCompute) Destroy(ctx context.Context, e thread.Lease, _ string) error {
	if err := l.known(ctx, e); err != nil {
		return err
	}
	err := l.place.Destroy(ctx, e.ID)
	l.freeze(e.ID, false)
	if err == nil {
		l.lose(e.ID, true)
	}
	return err
}

// Status is what was wanted last: somebody else's SIGSTOP is no pause. One without processes stays as it was.
func (l *localCompute) Status(_ context.Context, e thread.Lease, _ string) (thread.Observed, error) {
	stopped, all := l.stopped(e.ID)
	if wasFrozen := e.Observed == thread.Frozen; stopped > 0 && (wasFrozen || stopped == all && e.Observed != thread.Running) || all == 0 && wasFrozen {
		l.freeze(e.ID, true)
		return thread.Frozen, nil
	}
	l.freeze(e.ID, false)
	return thread.Running, nil
}

// roots are the processes that everything of a thread descends from.
func (d *Service) roots(thread string) (list []pty.Proc) {
	for _, t := range d.terminals.Running(thread) {
		if p, ok := pty.FindProc(t.Process().PID()); ok {
			list = append(list, p)
		}
	}
	for _, s := range d.shells.List(thread) {
		list = append(list, s.Roots()...)
	}
	return list
}

// trees are the processes of a thread with all that they have started.
func (d *Service) trees(thread string) (list []pty.Tree) {
	for _, p := range d.roots(thread) {
		if t, ok := pty.TreeOf(p.PID); ok {
			list = append(list, t)
		}
	}
	return list
}
