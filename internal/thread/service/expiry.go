package service

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/parallel"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

const (
	// sweepEvery is the time between two sweeps when there is something to do.
	sweepEvery = 500 * time.Millisecond
	// sweepLatest is the time between two when there is nothing: a machine that slept has missed no more.
	sweepLatest = 10 * time.Second
	// sweepsAtOnce bounds the sweeps at work: one that ends processes takes as long as these do.
	sweepsAtOnce = 4
	// closesAtOnce bounds the sessions that a sweep closes at once: each may wait for a provider and
	// for processes.
	closesAtOnce = 8
	// expireTime is how long providers and the ends of processes may take when a session is over.
	expireTime = time.Minute
)

// expiry announces and closes sessions whose time or budget is over. It holds the lock of a thread
// while it closes the thread's session.
type expiry struct {
	*database
	*parts
	*activity
	leases *Leases
	// settle returns when the rows have every process that began before the call, or ctx ends; end
	// when the processes have ended, or ctx is over. The ends of processes are recorded as any
	// other. Both are called under no lock but the thread's own, and may call all that does not take
	// it.
	settle func(ctx context.Context)
	end    func(ctx context.Context, threadID string, processes []thread.Runtime, reason string) error

	sweeping sync.WaitGroup
}

// run sweeps when something is due, until the server closes.
func (e *expiry) run() {
	slots := make(chan struct{}, sweepsAtOnce)
	for e.awaitDue() {
		select {
		case slots <- struct{}{}:
		default:
			continue // the next one
		}
		e.sweeping.Go(func() {
			defer func() { <-slots }()
			if err := e.sweep(e.ctx); err != nil && e.ctx.Err() == nil && !isRefusal(err) {
				e.log.Warn("sessions cannot be closed", "error", err)
			}
		})
	}
}

// awaitDue waits until a sweep has something to do, and reports whether the server goes on.
func (e *expiry) awaitDue() bool {
	pause := time.NewTimer(e.untilSweep(sweepLatest))
	defer pause.Stop()
	changed := e.changed
	for {
		select {
		case <-changed:
			changed = nil // the others of a moment have the same sweep
			pause.Reset(sweepEvery)
		case <-pause.C:
			return true
		case <-e.wake:
			return true
		case <-e.ctx.Done():
			return false
		}
	}
}

// sweep closes the sessions whose time or budget is over and announces the next ones. It takes as
// long as end and providers do. Before a session is closed its remote compute is paused, unless
// another live session uses it or a command runs there; compute of this machine is never paused.
// Viewers and commands that run keep a session from ending for want of activity, not from its other
// ends. A thread whose lock is held is left for the next sweep.
//
// Errors: any of the store and of ctx, joined; what could be done is done.
func (e *expiry) sweep(ctx context.Context) error {
	flushed := e.flush()
	now := e.clock.now()
	due := e.liveSessions(func(w *window) bool { return w.Expired(now) != "" })
	soon := e.liveSessions(func(w *window) bool {
		end := w.ExpiresAt()
		return w.Expired(now) == "" && end.Sub(now) <= w.WarnAhead() && !w.WarnedFor.Equal(end)
	})
	errs := []error{flushed, parallel.Each(due, closesAtOnce, func(s thread.Session) error {
		if err := e.sweepThread(ctx, s.Thread); err != nil {
			return fmt.Errorf("close session %s of thread %s: %w", s.ID, s.Thread, err)
		}
		return nil
	})}
	for _, s := range soon {
		errs = append(errs, e.warn(s))
	}
	e.forget()
	return errors.Join(errs...)
}

func (e *expiry) sweepThread(ctx context.Context, threadID string) error {
	unlock, ok := e.threadLocks.try(threadID)
	if !ok {
		return nil
	}
	defer unlock()
	return e.closeOverdue(ctx, threadID)
}

// warn announces the end of a session. An idle session has a status for it, which the next activity
// ends.
func (e *expiry) warn(s thread.Session) error {
	reason := thread.ReasonMax
	if s.ExpiresAt().Before(s.StartedAt.Add(s.Policy.Max)) {
		reason = thread.ReasonIdle
		if busy, err := e.isBusy(s.Thread); err != nil || busy {
			return err
		}
	}
	return e.update(func(c *change) (err error) {
		now, ok := e.window(s.Thread)
		if !ok || now.ID != s.ID || !now.ExpiresAt().Equal(s.ExpiresAt()) {
			return nil
		}
		if reason == thread.ReasonIdle {
			if now, err = now.To(thread.Idle); err != nil {
				return err
			}
		}
		now.WarnedFor = now.ExpiresAt()
		c.putSession(now)
		return c.emit(s.Thread, thread.SessionExpiring,
			thread.Detail{SessionID: s.ID, Reason: reason, ExpiresAt: now.ExpiresAt()})
	})
}

// closeOverdue closes the thread's session when it is over. The thread is locked.
func (e *expiry) closeOverdue(ctx context.Context, threadID string) error {
	s, ok := e.window(threadID)
	if !ok {
		return nil
	}
	reason, err := e.over(s)
	if err != nil || reason == "" {
		return err
	}
	return e.expire(ctx, s, reason)
}

// expireOnRead is closeOverdue for a reader, which does not wait for the lock of the thread.
func (e *expiry) expireOnRead(ctx context.Context, threadID string) error {
	if s, ok := e.window(threadID); !ok || s.Expired(e.clock.now()) == "" {
		return nil
	}
	return e.sweepThread(ctx, threadID)
}

// expire pauses compute that no other session uses, ends the processes and closes the session, in
// this order. The thread is locked. Events have what fails of the first two, and the session closes
// even so: a provider that is down would keep it open for ever.
//
// It goes on when ctx ends: the reader that found the session over may leave, the work has to be
// done.
func (e *expiry) expire(ctx context.Context, s thread.Session, reason string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), expireTime)
	defer cancel()
	leases, err := e.leases.ofThread(s.Thread)
	if err != nil {
		return err
	}
	e.pauseUnused(ctx, s.Thread, leases)
	if err := e.finish(ctx, s, reason); err != nil {
		return err
	}
	e.pauseUnused(ctx, s.Thread, leases) // what commands of the session itself have kept running
	return nil
}

// finish ends the processes and closes the session.
func (e *expiry) finish(ctx context.Context, s thread.Session, reason string) error {
	cause := e.endProcesses(ctx, s.Thread, reason)
	return e.update(func(c *change) error {
		now, ok := e.window(s.Thread)
		if !ok || now.ID != s.ID {
			return nil
		}
		return c.endSession(now, thread.Closed, reason, cause)
	})
}

func (e *expiry) endProcesses(ctx context.Context, threadID, reason string) error {
	e.settle(ctx) // else one that has just begun outlives its session
	list, err := read(e.database, func(tx *sqlite.Tx) ([]thread.Runtime, error) { return tx.LiveRuntimes(threadID) })
	if err != nil || len(list) == 0 {
		return err
	}
	return e.end(ctx, threadID, list, reason)
}

// endSession writes the end of a session. cause is what went wrong, or nil.
func (c *change) endSession(s thread.Session, to thread.Status, reason string, cause error) error {
	s, err := s.To(to)
	if err != nil {
		return err
	}
	s.EndedAt, s.CloseReason = c.now, reason
	c.putSession(s)
	c.count(func(st *Stats) {
		st.SessionsClosed[reason]++
		st.SessionSeconds += s.EndedAt.Sub(s.StartedAt).Seconds()
	})
	d := thread.Detail{SessionID: s.ID, Reason: reason}
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
func (e *expiry) pauseUnused(ctx context.Context, threadID string, leases []thread.Lease) {
	for _, l := range leases {
		if l.Provider == thread.Local {
			continue
		}
		now, err := e.lease(l.ID)
		if err != nil || now.Observed != thread.Running {
			continue
		}
		if used, err := e.usedByOthers(threadID, l.ID); err == nil && !used {
			_, _ = e.leases.pause(ctx, l.ID, "reaper") // its failure is an event of the lease
		}
	}
}

// usedByOthers reports whether a live session of another thread or a command uses a lease.
func (e *expiry) usedByOthers(threadID, lease string) (used bool, err error) {
	err = e.view(func(tx *sqlite.Tx) error {
		n, err := tx.LeaseCommands(lease)
		if used = n > 0; used || err != nil {
			return err
		}
		used, err = e.shared(tx, threadID, lease)
		return err
	})
	return used, err
}
