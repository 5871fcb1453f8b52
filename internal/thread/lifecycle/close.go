package lifecycle

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

// historyStep is how many commands, and how many events, of a deleted thread go in one transaction,
// for which everybody else who writes waits: some ten milliseconds.
const historyStep = 500

// expireTime is how long providers and the ends of processes may take when a session is over.
const expireTime = time.Minute

// expire pauses compute that nobody else uses, ends the processes and closes the session, in this
// order. The thread is locked. What fails of the first two is told by events and does not keep the
// session open: a provider that is down would keep it open for ever.
//
// It goes on when ctx ends: whoever happened to find the session over may leave, the work has to be
// done.
func (m *Manager) expire(ctx context.Context, s thread.Session, reason string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), expireTime)
	defer cancel()
	leases, err := m.leasesOf(s.Thread)
	if err != nil {
		return err
	}
	m.pauseUnused(ctx, s.Thread, leases)
	if err := m.finish(ctx, s, reason); err != nil {
		return err
	}
	m.pauseUnused(ctx, s.Thread, leases) // what commands of the session itself have kept running
	return nil
}

// finish ends the processes and closes the session.
func (m *Manager) finish(ctx context.Context, s thread.Session, reason string) error {
	cause := m.endProcesses(ctx, s.Thread, reason)
	return m.update(func(c *change) error {
		now, ok := m.window(s.Thread)
		if !ok || now.ID != s.ID {
			return nil
		}
		return c.end(now, thread.Closed, reason, cause)
	})
}

func (m *Manager) endProcesses(ctx context.Context, threadID, reason string) error {
	m.cfg.Settle(ctx) // else one that has just begun outlives its session
	var list []thread.Runtime
	err := m.view(func(tx thread.Tx) (err error) {
		list, err = tx.LiveRuntimes(threadID)
		return err
	})
	if err != nil || len(list) == 0 {
		return err
	}
	return m.cfg.End(ctx, threadID, list, reason)
}

// end writes the end of a session. cause is what went wrong, or nil.
func (c *change) end(s thread.Session, to thread.Status, reason string, cause error) error {
	s, err := s.To(to)
	if err != nil {
		return err
	}
	s.EndedAt, s.CloseReason = c.now, reason
	if err := c.putSession(s); err != nil {
		return err
	}
	c.count(func(st *Stats) {
		st.SessionsClosed[reason]++
		st.SessionSeconds += s.EndedAt.Sub(s.StartedAt).Seconds()
	})
	d := thread.Detail{Session: s.ID, Reason: reason}
	if cause != nil {
		d.Error = thread.Clip(cause.Error(), thread.MaxError)
	}
	kind := thread.SessionClosed
	if to == thread.Failed {
		kind = thread.SessionFailed
	}
	return c.emit(s.Thread, kind, d)
}

// pauseUnused pauses the remote compute of a thread that no other live session uses and no command
// runs on.
func (m *Manager) pauseUnused(ctx context.Context, threadID string, leases []thread.Lease) {
	for _, l := range leases {
		if l.Provider == thread.Local {
			continue
		}
		now, err := m.Lease(l.ID)
		if err != nil || now.Observed != thread.Running {
			continue
		}
		if used, err := m.usedByOthers(threadID, l.ID); err == nil && !used {
			_, _ = m.pauseLease(ctx, l.ID, "reaper") // it has told its failure itself
		}
	}
}

// usedByOthers reports whether a live session of another thread or a command uses a lease.
func (m *Manager) usedByOthers(threadID, lease string) (used bool, err error) {
	err = m.view(func(tx thread.Tx) error {
		n, err := tx.LeaseCommands(lease)
		if used = n > 0; used || err != nil {
			return err
		}
		used, err = m.shared(tx, threadID, lease)
		return err
	})
	return used, err
}

// shared reports whether a live session of another thread, one that is not paused, uses a lease.
func (m *Manager) shared(tx thread.Tx, threadID, lease string) (bool, error) {
	threads, err := tx.LeaseThreads(lease)
	return slices.ContainsFunc(threads, func(other string) bool {
		s, live := m.window(other)
		return other != threadID && live && s.Status != thread.Paused
	}), err
}

// leasesOf is the leases of a thread's terminals, and the one for terminals to come.
func (m *Manager) leasesOf(threadID string) (list []thread.Lease, err error) {
	return list, m.view(func(tx thread.Tx) error {
		list = nil
		th, err := tx.Thread(threadID)
		if err != nil {
			return err
		}
		terminals, err := tx.Terminals(threadID)
		if err != nil {
			return err
		}
		ids := []string{th.Lease}
		for _, t := range terminals {
			ids = append(ids, t.Lease)
		}
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			l, err := tx.Lease(id)
			if missing(err) {
				continue // the next use makes it again
			}
			if err != nil {
				return err
			}
			list = append(list, l)
		}
		return nil
	})
}

// Pause freezes the compute of a thread and its session. A second time changes nothing.
// Errors: ErrNotFound, ErrTransition (there is nothing to pause), ErrInUse (another live session
// uses the same lease: pause the lease), ErrProvider, the reason of ctx.
func (m *Manager) Pause(ctx context.Context, thread string) error {
	unlock, err := m.threads.lock(ctx, thread)
	if err != nil {
		return err
	}
	defer unlock()
	if err := m.closeOverdue(ctx, thread); err != nil {
		return err
	}
	leases, err := m.leasesOf(thread)
	if err != nil {
		return err
	}
	if err := m.unshared(thread, leases); err != nil {
		return err
	}
	if err := changeEach(ctx, leases, m.pauseLease); err != nil {
		return err
	}
	return m.paused(thread)
}

// changeEach makes a change of all leases for which it is possible. Errors: ErrTransition when it
// is possible for none, and the first of another kind.
func changeEach(ctx context.Context, leases []thread.Lease,
	change func(ctx context.Context, lease, source string) (thread.Lease, error)) error {
	var refused error
	done := 0
	for _, l := range leases {
		_, err := change(ctx, l.ID, "api")
		switch {
		case err == nil:
			done++
		case errors.Is(err, thread.ErrTransition):
			refused = err
		default:
			return err
		}
	}
	if done > 0 {
		return nil
	}
	return refused
}

func (m *Manager) unshared(threadID string, leases []thread.Lease) error {
	return m.view(func(tx thread.Tx) error {
		for _, l := range leases {
			used, err := m.shared(tx, threadID, l.ID)
			if err != nil {
				return err
			}
			if used {
				return &inUse{l.ID}
			}
		}
		return nil
	})
}

// inUse says that a lease is needed by another thread.
type inUse struct{ lease string }

func (e *inUse) Error() string { return "lease " + e.lease + " is in use by another thread" }
func (e *inUse) Unwrap() error { return thread.ErrInUse }

func (m *Manager) paused(threadID string) error {
	return m.update(func(c *change) error {
		s, ok := m.window(threadID)
		if !ok || s.Status == thread.Paused {
			return nil
		}
		from := s.Status
		s, err := s.To(thread.Paused)
		if err != nil {
			return err
		}
		s.LastActiveAt = c.now
		if err := c.putSession(s); err != nil {
			return err
		}
		return c.emit(threadID, thread.SessionPaused,
			thread.Detail{Session: s.ID, From: string(from), To: string(s.Status), ExpiresAt: s.ExpiresAt()})
	})
}

// Resume lets the compute of a thread and its session go on; a thread whose session is over gets a
// new one. A second time changes nothing but activity. Errors: ErrNotFound, ErrTransition (the
// compute is gone: the next Open makes another), ErrProvider, the reason of ctx.
func (m *Manager) Resume(ctx context.Context, threadID string) error {
	unlock, err := m.threads.lock(ctx, threadID)
	if err != nil {
		return err
	}
	defer unlock()
	leases, err := m.leasesOf(threadID)
	if err != nil {
		return err
	}
	if err := changeEach(ctx, leases, m.resumeLease); err != nil {
		return err
	}
	_, err = m.open(ctx, threadID, thread.Use{})
	return err
}

// Destroy ends the processes and the session of a thread and destroys the compute that no other
// thread uses. Terminals and leases stay, the next Open goes on in their state. Errors:
// ErrNotFound, ErrProvider, the reason of ctx.
func (m *Manager) Destroy(ctx context.Context, threadID string) error {
	unlock, err := m.threads.lock(ctx, threadID)
	if err != nil {
		return err
	}
	defer unlock()
	return m.destroy(ctx, threadID, thread.ReasonDestroyed)
}

func (m *Manager) destroy(ctx context.Context, threadID, reason string) error {
	leases, err := m.leasesOf(threadID)
	if err != nil {
		return err
	}
	if s, ok := m.window(threadID); ok {
		err = m.finish(ctx, s, reason)
	} else {
		err = m.endProcesses(ctx, threadID, reason)
	}
	if err != nil {
		return err
	}
	for _, l := range leases {
		if err := m.unshared(threadID, []thread.Lease{l}); errors.Is(err, thread.ErrInUse) {
			continue
		} else if err != nil {
			return err
		}
		if _, err := m.destroyLease(ctx, l.ID, "api"); err != nil {
			return err
		}
	}
	return nil
}

// DeleteThread destroys a thread and removes everything that is kept of it, its history too, and
// leases that were made for it and that nobody else uses. Errors: those of Destroy.
func (m *Manager) DeleteThread(ctx context.Context, threadID string) error {
	unlock, err := m.threads.lock(ctx, threadID)
	if err != nil {
		return err
	}
	defer unlock()
	if err := m.destroy(ctx, threadID, thread.ReasonDeleted); err != nil {
		return err
	}
	leases, err := m.leasesOf(threadID)
	if err != nil {
		return err
	}
	for more := true; more; {
		err := m.update(func(c *change) (err error) { more, err = c.DropHistory(threadID, historyStep); return err })
		if err != nil {
			return err
		}
	}
	return m.update(func(c *change) error {
		if err := c.DeleteThread(threadID); err != nil {
			return err
		}
		for _, l := range leases {
			if err := c.dropLease(threadID, l); err != nil {
				return err
			}
		}
		c.events = append(c.events, thread.Event{Thread: threadID, Type: thread.ThreadDeleted, At: c.now})
		return nil
	})
}

func (c *change) dropLease(thread string, l thread.Lease) error {
	if l.Thread != thread {
		return nil
	}
	users, err := c.LeaseThreads(l.ID)
	if err != nil || len(users) > 0 {
		return err
	}
	c.after = append(c.after, func() { delete(c.m.fresh, l.ID) })
	return c.Tx.DeleteLease(l.ID)
}
