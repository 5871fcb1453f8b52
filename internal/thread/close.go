package thread

import (
	"context"
	"errors"
	"slices"
	"time"
)

// historyStep is how many commands, and how many events, of a deleted thread go in one transaction, for which everybody else who writes waits: some ten milliseconds.
const historyStep = 500

// expireTime is how long providers and the ends of processes may take when a session is over.
const expireTime = time.Minute

// expire pauses compute that nobody else uses, ends the processes and closes the session, in this order. The thread is locked. What fails of the first two is
// told by events and does not keep the session open: a provider that is down would keep it open for ever.
//
// It goes on when ctx ends: whoever happened to find the session over may leave, the work has to be done.
func (m *Manager) expire(ctx context.Context, s Session, reason string) error {
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
func (m *Manager) finish(ctx context.Context, s Session, reason string) error {
	cause := m.endProcesses(ctx, s.Thread, reason)
	return m.update(func(c *change) error {
		now, ok := m.window(s.Thread)
		if !ok || now.ID != s.ID {
			return nil
		}
		return c.end(now, Closed, reason, cause)
	})
}

func (m *Manager) endProcesses(ctx context.Context, thread, reason string) error {
	var list []Runtime
	err := m.view(func(tx Tx) (err error) {
		list, err = tx.LiveRuntimes(thread)
		return err
	})
	if err != nil || len(list) == 0 {
		return err
	}
	return m.cfg.End(ctx, thread, list, reason)
}

// end writes the end of a session. cause is what went wrong, or nil.
func (c *change) end(s Session, to Status, reason string, cause error) error {
	s, err := s.to(to)
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
	d := Detail{Session: s.ID, Reason: reason}
	if cause != nil {
		d.Error = clip(cause.Error(), maxError)
	}
	kind := SessionClosed
	if to == Failed {
		kind = SessionFailed
	}
	return c.emit(s.Thread, kind, d)
}

// pauseUnused pauses the remote compute of a thread that no other live session uses and no command runs on.
func (m *Manager) pauseUnused(ctx context.Context, thread string, leases []Lease) {
	for _, l := range leases {
		if l.Provider == Local {
			continue
		}
		now, err := m.Lease(l.ID)
		if err != nil || now.Observed != Running {
			continue
		}
		if used, err := m.usedBeside(thread, l.ID); err == nil && !used {
			_, _ = m.pauseLease(ctx, l.ID, "reaper") // it has told its failure itself
		}
	}
}

// usedBeside says whether a live session of another thread or a command uses a lease.
func (m *Manager) usedBeside(thread, lease string) (used bool, err error) {
	err = m.view(func(tx Tx) error {
		n, err := tx.LeaseCommands(lease)
		if used = n > 0; used || err != nil {
			return err
		}
		used, err = m.shared(tx, thread, lease)
		return err
	})
	return used, err
}

// shared says whether a live session of another thread, one that is not paused, uses a lease.
func (m *Manager) shared(tx Tx, thread, lease string) (bool, error) {
	threads, err := tx.LeaseThreads(lease)
	return slices.ContainsFunc(threads, func(other string) bool {
		s, live := m.window(other)
		return other != thread && live && s.Status != Paused
	}), err
}

// leasesOf is the leases of a thread's terminals, and the one for terminals to come.
func (m *Manager) leasesOf(thread string) (list []Lease, err error) {
	return list, m.view(func(tx Tx) error {
		list = nil
		th, err := tx.Thread(thread)
		if err != nil {
			return err
		}
		terminals, err := tx.Terminals(thread)
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
// Errors: ErrNotFound, ErrTransition (there is nothing to pause), ErrInUse (another live session uses the same lease: pause the lease), ErrProvider, the reason of ctx.
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

// changeEach makes a change of all leases for which it is possible. Errors: ErrTransition when it is possible for none, and the first of another kind.
func changeEach(ctx context.Context, leases []Lease, change func(ctx context.Context, lease, source string) (Lease, error)) error {
	var refused error
	done := 0
	for _, l := range leases {
		_, err := change(ctx, l.ID, "api")
		switch {
		case err == nil:
			done++
		case errors.Is(err, ErrTransition):
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

func (m *Manager) unshared(thread string, leases []Lease) error {
	return m.view(func(tx Tx) error {
		for _, l := range leases {
			used, err := m.shared(tx, thread, l.ID)
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
func (e *inUse) Unwrap() error { return ErrInUse }

func (m *Manager) paused(thread string) error {
	return m.update(func(c *change) error {
		s, ok := m.window(thread)
		if !ok || s.Status == Paused {
			return nil
		}
		from := s.Status
		s, err := s.to(Paused)
		if err != nil {
			return err
		}
		s.LastActiveAt = c.now
		if err := c.putSession(s); err != nil {
			return err
		}
		return c.emit(thread, SessionPaused, Detail{Session: s.ID, From: string(from), To: string(s.Status), ExpiresAt: s.ExpiresAt()})
	})
}

// Resume lets the compute of a thread and its session go on; a thread whose session is over gets a new one. A second time changes nothing but activity.
// Errors: ErrNotFound, ErrTransition (the compute is gone: the next Open makes another), ErrProvider, the reason of ctx.
func (m *Manager) Resume(ctx context.Context, thread string) error {
	unlock, err := m.threads.lock(ctx, thread)
	if err != nil {
		return err
	}
	defer unlock()
	leases, err := m.leasesOf(thread)
	if err != nil {
		return err
	}
	if err := changeEach(ctx, leases, m.resumeLease); err != nil {
		return err
	}
	_, err = m.open(ctx, thread, Use{})
	return err
}

// Destroy ends the processes and the session of a thread and destroys the compute that no other thread uses. Terminals and leases stay, the next Open goes on in their
// state. Errors: ErrNotFound, ErrProvider, the reason of ctx.
func (m *Manager) Destroy(ctx context.Context, thread string) error {
	unlock, err := m.threads.lock(ctx, thread)
	if err != nil {
		return err
	}
	defer unlock()
	return m.destroy(ctx, thread, ReasonDestroyed)
}

func (m *Manager) destroy(ctx context.Context, thread, reason string) error {
	leases, err := m.leasesOf(thread)
	if err != nil {
		return err
	}
	if s, ok := m.window(thread); ok {
		err = m.finish(ctx, s, reason)
	} else {
		err = m.endProcesses(ctx, thread, reason)
	}
	if err != nil {
		return err
	}
	for _, l := range leases {
		if err := m.unshared(thread, []Lease{l}); errors.Is(err, ErrInUse) {
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

// DeleteThread destroys a thread and removes everything that is kept of it, its history too, and leases that were made for it and that nobody else uses.
// Errors: those of Destroy.
func (m *Manager) DeleteThread(ctx context.Context, thread string) error {
	unlock, err := m.threads.lock(ctx, thread)
	if err != nil {
		return err
	}
	defer unlock()
	if err := m.destroy(ctx, thread, ReasonDeleted); err != nil {
		return err
	}
	leases, err := m.leasesOf(thread)
	if err != nil {
		return err
	}
	for more := true; more; {
		err := m.update(func(c *change) (err error) { more, err = c.DropHistory(thread, historyStep); return err })
		if err != nil {
			return err
		}
	}
	return m.update(func(c *change) error {
		if err := c.DeleteThread(thread); err != nil {
			return err
		}
		for _, l := range leases {
			if err := c.dropLease(thread, l); err != nil {
				return err
			}
		}
		c.events = append(c.events, Event{Thread: thread, Type: ThreadDeleted, At: c.now})
		return nil
	})
}

func (c *change) dropLease(thread string, l Lease) error {
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
