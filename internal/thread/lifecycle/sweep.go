package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

// sweepers is how many sessions are closed at once: each may wait for a provider and for processes.
const sweepers = 8

// Swept is what a Sweep did.
type Swept struct {
	Closed int
	Warned int
}

// Sweep closes the sessions whose time or budget is over and announces those that will be over
// soon. It belongs into a loop of about a second, and takes as long as Config.End and providers do.
// Before a session is closed its remote compute is paused, unless another live session uses it or a
// command runs there; compute of this machine is never paused. People who look on and commands that
// run keep a session from being over for want of activity, not from its other ends. A thread that
// somebody is at work in is left for the next time.
//
// Errors: those of the store and of ctx, joined; what could be done is done.
func (m *Manager) Sweep(ctx context.Context) (Swept, error) {
	flushed := m.Flush()
	due, soon := m.due(m.clock.now())
	done := Swept{}
	errs := []error{flushed}
	var mu sync.Mutex
	var all sync.WaitGroup
	turn := make(chan struct{}, sweepers)
	for _, s := range due {
		turn <- struct{}{}
		all.Go(func() {
			defer func() { <-turn }()
			closed, err := m.sweep(ctx, s.Thread)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			if closed {
				done.Closed++
			}
		})
	}
	all.Wait()
	for _, s := range soon {
		warned, err := m.warn(s)
		errs = append(errs, err)
		if warned {
			done.Warned++
		}
	}
	m.forget()
	return done, errors.Join(errs...)
}

// due is the sessions that are over, and those that will be and have not been announced.
func (m *Manager) due(now time.Time) (due, soon []thread.Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.live {
		end := w.ExpiresAt()
		switch {
		case w.Expired(now) != "":
			due = append(due, w.Session)
		case end.Sub(now) <= w.WarnAhead() && !w.WarnedFor.Equal(end):
			soon = append(soon, w.Session)
		}
	}
	return due, soon
}

func (m *Manager) sweep(ctx context.Context, thread string) (closed bool, err error) {
	unlock, ok := m.threads.try(thread)
	if !ok {
		return false, nil
	}
	defer unlock()
	s, ok := m.window(thread)
	if !ok {
		return false, nil
	}
	reason, err := m.over(s)
	if err != nil || reason == "" {
		return false, err
	}
	if err := m.expire(ctx, s, reason); err != nil {
		return false, fmt.Errorf("close session %s of thread %s: %w", s.ID, thread, err)
	}
	return true, nil
}

// warn announces the end of a session. For one that is idle the announcement is a state, which the
// next touch ends.
func (m *Manager) warn(s thread.Session) (warned bool, err error) {
	reason := thread.ReasonMax
	if s.ExpiresAt().Before(s.StartedAt.Add(s.Policy.Max)) {
		reason = thread.ReasonIdle
		if busy, err := m.isBusy(s.Thread); err != nil || busy {
			return false, err
		}
	}
	return warned, m.update(func(c *change) error {
		now, ok := m.window(s.Thread)
		if !ok || now.ID != s.ID || !now.ExpiresAt().Equal(s.ExpiresAt()) {
			return nil
		}
		if reason == thread.ReasonIdle {
			if now, err = now.To(thread.Idle); err != nil {
				return err
			}
		}
		now.WarnedFor = now.ExpiresAt()
		if err := c.putSession(now); err != nil {
			return err
		}
		warned = true
		return c.emit(s.Thread, thread.SessionExpiring,
			thread.Detail{Session: s.ID, Reason: reason, ExpiresAt: now.ExpiresAt()})
	})
}

// forget drops counts that say nothing any more.
func (m *Manager) forget() {
	now := m.clock.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, r := range m.busy {
		if now.Sub(r.since) >= busyTime {
			delete(m.busy, id)
		}
	}
	for id, at := range m.fresh {
		if now.Sub(at) > freshFor {
			delete(m.fresh, id)
		}
	}
}
