package service

import (
	"context"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/parallel"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/provider/local"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
)

// endTime bounds the end of processes whose session is over: SIGHUP, proc.KillGrace, SIGKILL, and
// what the disk may hold up.
const endTime = proc.KillGrace + 10*time.Second

// processes finds and ends the processes of threads on this machine. It has no state of its own.
type processes struct {
	*database
	*parts
	leases *Leases
	pauses *pauses
	remote *remote
}

// end ends processes because their session is over, as expiry.end has to: all of them when a client
// chose the thread's policy, destroys the thread, or its budget is used up. Of a thread with the
// server's default policy only shells end in which nothing runs: they come back with their next
// command, while a program on a terminal belongs to whoever started it and outlives its viewers.
func (pr *processes) end(ctx context.Context, threadID string, list []thread.Runtime, reason string) error {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	all := true
	if reason == thread.ReasonIdle || reason == thread.ReasonMax {
		th, err := pr.thread(threadID)
		if err != nil {
			return err
		}
		all = th.Chosen || pr.remote.isRemote(threadID) // its compute is paused: nothing of it can go on
	}
	wanted := map[string]bool{}
	for _, r := range list {
		wanted[r.Terminal] = true
	}
	var ends []func() error
	for _, t := range pr.terminals.Running(threadID) {
		if all && wanted[t.ID] {
			ends = append(ends, func() error { return pr.hangUp(ctx, t) })
		}
	}
	for _, s := range pr.shells.List(threadID) {
		switch {
		case !wanted[s.Key]:
		case all:
			ends = append(ends, func() error { return s.Stop(ctx, reason) })
		default:
			ends = append(ends, func() error { s.Retire(0); return nil })
		}
	}
	return parallel.Each(ends, len(ends), func(end func() error) error { return end() })
}

// hangUp ends the program of a terminal, which stays listed with its last screen, and waits for the
// end. Errors: terminal.ErrClosing, ctx.Err().
func (pr *processes) hangUp(ctx context.Context, t *terminal.Terminal) error {
	t.HangUp(ctx)
	select {
	case <-t.Done():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-pr.ctx.Done():
		return terminal.ErrClosing
	}
}

// removeTerminals ends and removes all terminals of a thread, deleted ones too.
func (pr *processes) removeTerminals(ctx context.Context, threadID string) error {
	list := slices.DeleteFunc(pr.terminals.Unsorted(), func(t *terminal.Terminal) bool { return !t.In(threadID) })
	return parallel.Each(list, registry.DeletesAtOnce, func(t *terminal.Terminal) error {
		return pr.terminals.Delete(ctx, t, true)
	})
}

// inUse reports whether the terminals of a thread have viewers, or output that is not charged yet.
func (pr *processes) inUse(threadID string) bool {
	return slices.ContainsFunc(pr.terminals.Running(threadID), func(t *terminal.Terminal) bool {
		return t.AttachedViewers() > 0 || t.Printed() > row(t).charged.Load()
	})
}

// settling reports whether a program of a thread may have printed something while no server ran that is not read yet.
func (pr *processes) settling(threadID string) bool {
	return slices.ContainsFunc(pr.terminals.Running(threadID), (*terminal.Terminal).Settling)
}

// localInstance returns the state and the processes of an instance on this machine, as package
// local asks for them. "" is the instance of a lease that has none.
func (pr *processes) localInstance(id string) (k local.Known, ok bool) {
	k.State = thread.Running
	if id == "" {
		return k, true
	}
	l, err := pr.leases.ofInstance(thread.Local, id)
	if err != nil {
		return k, false
	}
	if l.Observed == thread.Frozen || pr.pauses.foundPaused(l.ID) {
		k.State = thread.Frozen
	}
	for _, threadID := range pr.pauses.threads(l.ID) {
		for _, p := range pr.roots(threadID) {
			k.PIDs = append(k.PIDs, p.PID)
		}
	}
	return k, true
}

// roots returns the processes that all others of a thread descend from.
func (pr *processes) roots(threadID string) (list []proc.Process) {
	for _, t := range pr.terminals.Running(threadID) {
		if p, ok := proc.Find(t.Process().PID()); ok {
			list = append(list, p)
		}
	}
	for _, s := range pr.shells.List(threadID) {
		list = append(list, s.Roots()...)
	}
	return list
}

// trees returns the processes of a thread with their descendants.
func (pr *processes) trees(threadID string) (list []proc.Tree) {
	for _, p := range pr.roots(threadID) {
		if t, ok := proc.TreeOf(p.PID); ok {
			list = append(list, t)
		}
	}
	return list
}
