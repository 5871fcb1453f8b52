package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// undoTime is how long an instance may take to go away that could not be written down.
const undoTime = 30 * time.Second

// leaseWork is one piece of work on a lease whose lock is held.
type leaseWork struct {
	ls     *Leases
	p      provider.Lifecycle
	source string
	l      thread.Lease
	i      thread.Instance
}

// withLease works on a lease and returns it.
func (ls *Leases) withLease(ctx context.Context, id, source string, do func(*leaseWork) error) (thread.Lease, error) {
	w, err := ls.work(ctx, id, source, func(w *leaseWork) error { return cmp.Or(do(w), w.read(id)) })
	return w.l, err
}

// work does a piece of work on a lease, which it locks, and returns it as it was read last.
func (ls *Leases) work(ctx context.Context, id, source string, do func(*leaseWork) error) (*leaseWork, error) {
	w := &leaseWork{ls: ls, source: source}
	return w, ls.leaseLocks.do(ctx, id, func() error {
		if err := w.read(id); err != nil {
			return err
		}
		if w.p = ls.providers[w.l.Provider]; w.p == nil {
			return ls.noProvider(w.l.Provider)
		}
		return do(w)
	})
}

func (w *leaseWork) read(id string) error {
	return w.ls.view(func(tx *sqlite.Tx) (err error) {
		l := thread.Layers{}
		if l.Lease, err = tx.Lease(id); err != nil {
			return err
		}
		if err := instance(tx, &l); err != nil {
			return err
		}
		w.l, w.i = l.Lease, l.Instance
		return nil
	})
}

func (w *leaseWork) bound() bool { return w.i.ID != "" && w.i.EndedAt.IsZero() }

// ensure gets the compute of a lease running: a running instance is kept, a paused one resumed, a
// dead one and one that the provider does not know replaced. A provider that does not answer
// replaces nothing: the instance might be there. Errors, of package thread: ErrNotFound,
// ErrNoProvider, ErrProvider, ErrNoSpace; ctx.Err().
func (ls *Leases) ensure(ctx context.Context, id string) (thread.Lease, thread.Instance, error) {
	w, err := ls.work(ctx, id, "use", func(w *leaseWork) error {
		if w.l.Observed == thread.Running && !w.l.NeedsRefresh && ls.isFresh(id) {
			return nil
		}
		if w.bound() {
			if err := w.refresh(ctx); err != nil {
				return err
			}
		}
		switch {
		case w.l.Observed == thread.Frozen:
			return w.resume(ctx)
		case w.l.Observed != thread.Running:
			return w.create(ctx)
		case w.l.Desired != thread.WantRunning: // it was resumed by the provider
			return errors.Join(w.setDesired(thread.WantRunning), w.read(id))
		}
		return nil
	})
	return w.l, w.i, err
}

// pause pauses the compute of a lease, whoever uses it. What is paused stays so without an error.
// Errors, of package thread: ErrNotFound, ErrTransition (it is dead), ErrNoProvider, ErrProvider (also
// provider.ErrUnsupported); ctx.Err().
func (ls *Leases) pause(ctx context.Context, id, source string) (thread.Lease, error) {
	return ls.withLease(ctx, id, source, func(w *leaseWork) error {
		if err := w.known(ctx); err != nil || w.l.Observed == thread.Frozen {
			return err
		}
		if !w.bound() {
			return w.refuse(thread.IntentPause, thread.Frozen)
		}
		// Written before it is done: when this server is killed in between, the next one finds a
		// pause that was cut short.
		if err := w.setDesired(thread.WantPaused); err != nil {
			return err
		}
		w.ls.computeChanged(w.l, thread.Frozen)
		if err := w.ignoreIfIn(ctx, thread.Frozen, w.p.Pause(ctx, w.i.Session)); err != nil {
			w.ls.computeChanged(w.l, thread.Running)
			return errors.Join(w.fail("pause", err), w.setDesired(thread.WantRunning))
		}
		return w.apply(step{event: thread.IntentPause, to: thread.Frozen, want: thread.WantPaused})
	})
}

// setDesired writes the intent before it is carried out.
func (w *leaseWork) setDesired(d thread.Desired) error {
	return w.ls.update(func(c *change) error { return c.setLease(w.l.ID, func(l *thread.Lease) { l.Desired = d }) })
}

// resume is the reverse of pause, with the same errors.
func (ls *Leases) resume(ctx context.Context, id, source string) (thread.Lease, error) {
	return ls.withLease(ctx, id, source, func(w *leaseWork) error {
		if err := w.known(ctx); err != nil || w.l.Observed == thread.Running {
			return err
		}
		if w.l.Observed != thread.Frozen {
			return w.refuse(thread.IntentResume, thread.Running)
		}
		return w.resume(ctx)
	})
}

// destroy ends the compute of a lease. The lease stays, its next use makes other compute. What is dead
// stays so without an error. Errors, of package thread: ErrNotFound, ErrNoProvider, ErrProvider;
// ctx.Err().
func (ls *Leases) destroy(ctx context.Context, id, source string) (thread.Lease, error) {
	return ls.withLease(ctx, id, source, func(w *leaseWork) error {
		if !w.bound() {
			return ls.update(func(c *change) error {
				return c.setLease(id, func(l *thread.Lease) {
					l.Desired, l.Status = thread.WantDestroyed, thread.LeaseExpired
				})
			})
		}
		if err := w.p.Destroy(ctx, w.i.Session); err != nil {
			return w.fail("destroy", err)
		}
		w.ls.computeChanged(w.l, thread.Dead)
		return w.apply(step{event: thread.IntentDestroy, to: thread.Dead, want: thread.WantDestroyed,
			status: thread.LeaseExpired})
	})
}

// refresh asks the provider how the compute of a lease is. Errors, of package thread: ErrNotFound,
// ErrNoProvider, ErrProvider; ctx.Err().
func (ls *Leases) refresh(ctx context.Context, id, source string) (thread.Lease, error) {
	return ls.withLease(ctx, id, source, func(w *leaseWork) error {
		if !w.bound() {
			return nil
		}
		return w.refresh(ctx)
	})
}

// known asks the provider when the row may be wrong.
func (w *leaseWork) known(ctx context.Context) error {
	if w.bound() && (w.l.NeedsRefresh || w.l.Observed == thread.Unknown) {
		return w.refresh(ctx)
	}
	return nil
}

// refuse adds an event for a change that is not allowed. The table alone does not say it: dead →
// running is for making compute, not for resuming it.
func (w *leaseWork) refuse(event string, to thread.Observed) error {
	refusal := fmt.Errorf("%w: lease %s is %s", thread.ErrTransition, w.l.ID, w.l.Observed)
	return w.ls.update(func(c *change) error {
		c.refused = refusal
		return c.recordStep(w.l, step{event: event, source: w.source, to: to}, refusal)
	})
}

// refresh asks the provider.
func (w *leaseWork) refresh(ctx context.Context) error {
	seen, err := w.p.Status(ctx, w.i.Session)
	if err != nil {
		return w.fail("status", err)
	}
	w.ls.computeChanged(w.l, seen)
	return w.apply(step{event: thread.ObserveStatus, to: seen})
}

func (w *leaseWork) create(ctx context.Context) error {
	if err := w.ls.update(func(c *change) error {
		return c.setLease(w.l.ID, func(l *thread.Lease) { l.Status = thread.LeaseRecovering })
	}); err != nil {
		return err
	}
	made, err := w.p.Create(ctx, provider.CreateRequest{Name: w.l.ID})
	if err != nil {
		w.ls.count(func(st *Stats) { st.InstanceErrors++ })
		return w.fail("create", err)
	}
	w.ls.computeChanged(w.l, thread.Running)
	if err := w.apply(step{event: thread.IntentRunning, to: thread.Running, want: thread.WantRunning,
		bind: made.ID}); err != nil {
		w.ls.computeChanged(w.l, thread.Dead)
		// Without a row no server would find it again.
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
		defer cancel()
		return errors.Join(err, w.p.Destroy(undo, made.ID))
	}
	return nil
}

func (w *leaseWork) resume(ctx context.Context) error {
	if err := w.ignoreIfIn(ctx, thread.Running, w.p.Resume(ctx, w.i.Session)); err != nil {
		return w.fail("resume", err)
	}
	w.ls.computeChanged(w.l, thread.Running)
	return w.apply(step{event: thread.IntentResume, to: thread.Running, want: thread.WantRunning})
}

// ignoreIfIn is nil for a change that the provider refused because the instance is in the wanted
// state already: somebody else changed it, or a change before was not written down.
func (w *leaseWork) ignoreIfIn(ctx context.Context, want thread.Observed, err error) error {
	if errors.Is(err, provider.ErrState) {
		if seen, failed := w.p.Status(ctx, w.i.Session); failed == nil && seen == want {
			return nil
		}
	}
	return err
}
