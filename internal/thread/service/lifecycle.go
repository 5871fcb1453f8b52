package service

import (
	"context"
	"errors"

	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// historyStep is how many commands, and how many events, of a deleted thread go in one transaction,
// for which all other writers wait: some ten milliseconds.
const historyStep = 500

// pause freezes the compute of a thread and its session. A second time changes nothing. Errors, of
// package thread: ErrNotFound, ErrTransition (there is nothing to pause), ErrInUse (another live
// session uses the same lease: pause the lease), ErrProvider; ctx.Err().
func (lc *lifecycle) pause(ctx context.Context, threadID string) error {
	return lc.threadLocks.do(ctx, threadID, func() error {
		if err := lc.expiry.closeOverdue(ctx, threadID); err != nil {
			return err
		}
		leases, err := lc.leases.ofThread(threadID)
		if err != nil {
			return err
		}
		for _, l := range leases {
			if err := lc.unshared(threadID, l.ID); err != nil {
				return err
			}
		}
		if err := changeEach(ctx, leases, lc.leases.pause); err != nil {
			return err
		}
		return lc.update(func(c *change) error { return c.pauseSession(threadID) })
	})
}

func (c *change) pauseSession(threadID string) error {
	s, ok := c.db.window(threadID)
	if !ok || s.Status == thread.Paused {
		return nil
	}
	from := s.Status
	s, err := s.To(thread.Paused)
	if err != nil {
		return err
	}
	s.LastActiveAt = c.now
	c.putSession(s)
	return c.emit(threadID, thread.SessionPaused,
		thread.Detail{SessionID: s.ID, From: string(from), To: string(s.Status), ExpiresAt: s.ExpiresAt()})
}

// changeEach changes all leases for which it is possible. Errors: thread.ErrTransition when it is
// possible for none, and the first of another kind.
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

// unshared refuses a lease that a live session of another thread uses. Errors: thread.ErrInUse.
func (lc *lifecycle) unshared(threadID, lease string) error {
	used, err := read(lc.database, func(tx *sqlite.Tx) (bool, error) { return lc.shared(tx, threadID, lease) })
	if err == nil && used {
		err = &inUse{lease}
	}
	return err
}

// inUse is thread.ErrInUse of a lease that another thread needs.
type inUse struct{ lease string }

func (e *inUse) Error() string { return "lease " + e.lease + " is in use by another thread" }
func (e *inUse) Unwrap() error { return thread.ErrInUse }

// resume continues the compute of a thread and its session; a thread whose session is over gets a
// new one. A second time changes nothing but activity. Errors, of package thread: ErrNotFound,
// ErrTransition (the compute is gone: the next open makes another), ErrProvider; ctx.Err().
func (lc *lifecycle) resume(ctx context.Context, threadID string) error {
	return lc.threadLocks.do(ctx, threadID, func() error {
		leases, err := lc.leases.ofThread(threadID)
		if err != nil {
			return err
		}
		if err := changeEach(ctx, leases, lc.leases.resume); err != nil {
			return err
		}
		_, err = lc.openLocked(ctx, threadID, thread.Use{})
		return err
	})
}

// destroy ends the processes and the session of a thread and destroys the compute that no other
// thread uses. Terminals and leases stay, the next open goes on in their state. Errors:
// thread.ErrNotFound, ErrProvider; ctx.Err().
func (lc *lifecycle) destroy(ctx context.Context, threadID string) error {
	return lc.threadLocks.do(ctx, threadID, func() error {
		return lc.destroyLocked(ctx, threadID, thread.ReasonDestroyed)
	})
}

func (lc *lifecycle) destroyLocked(ctx context.Context, threadID, reason string) error {
	leases, err := lc.leases.ofThread(threadID)
	if err != nil {
		return err
	}
	if s, ok := lc.window(threadID); ok {
		err = lc.expiry.finish(ctx, s, reason)
	} else {
		err = lc.expiry.endProcesses(ctx, threadID, reason)
	}
	if err != nil {
		return err
	}
	for _, l := range leases {
		if err := lc.unshared(threadID, l.ID); errors.Is(err, thread.ErrInUse) {
			continue
		} else if err != nil {
			return err
		}
		if _, err := lc.leases.destroy(ctx, l.ID, "api"); err != nil {
			return err
		}
	}
	return nil
}

// delete destroys a thread and removes its rows and its history, and the leases that were made for
// it and that no other thread uses. Errors: any of destroy.
func (lc *lifecycle) delete(ctx context.Context, threadID string) error {
	unlock, err := lc.threadLocks.lock(ctx, threadID)
	if err != nil {
		return err
	}
	defer unlock()
	if err := lc.destroyLocked(ctx, threadID, thread.ReasonDeleted); err != nil {
		return err
	}
	leases, err := lc.leases.ofThread(threadID)
	if err != nil {
		return err
	}
	for more := true; more; {
		err := lc.update(func(c *change) error { more = c.DropHistory(threadID, historyStep); return nil })
		if err != nil {
			return err
		}
	}
	return lc.update(func(c *change) error {
		c.DeleteThread(threadID)
		for _, l := range leases {
			if users, err := c.LeaseThreads(l.ID); err != nil {
				return err
			} else if l.Thread == threadID && len(users) == 0 {
				c.dropLease(l.ID)
			}
		}
		c.events = append(c.events, thread.Event{ThreadID: threadID, Type: thread.ThreadDeleted, At: c.now})
		return nil
	})
}

// setPolicy changes the policy of a thread and of its live session. Errors: thread.ErrNotFound,
// ErrInvalid.
func (lc *lifecycle) setPolicy(threadID string, p thread.Policy) error {
	return lc.update(func(c *change) error {
		if err := p.Check(); err != nil {
			return err
		}
		th, err := c.Thread(threadID)
		if err != nil || th.Policy == p && th.Chosen {
			return err
		}
		th.Policy, th.Chosen, th.UpdatedAt = p, true, c.now
		c.PutThread(th)
		d := thread.Detail{}
		if s, ok := lc.window(threadID); ok {
			s.Policy = p
			d.SessionID, d.ExpiresAt = s.ID, s.ExpiresAt()
			c.putSession(s)
		}
		return c.emit(threadID, thread.ThreadPolicy, d)
	})
}
