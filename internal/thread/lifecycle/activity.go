package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

// Touch notes activity in a thread: input, output, a file. It costs a lock and a comparison; the
// Store learns it with Flush. A paused session stays paused. Errors: ErrExpired (the session is
// over, and only Open makes another one), ErrNotFound.
func (m *Manager) Touch(threadID string) error {
	now := m.clock.now()
	m.mu.Lock()
	w := m.live[threadID]
	if w != nil && w.Status != thread.Idle && w.Expired(now) == "" {
		w.touch(now)
		m.mu.Unlock()
		return nil
	}
	m.mu.Unlock()
	if w == nil {
		return m.noWindow(threadID)
	}
	return m.touchInactive(threadID)
}

func (w *window) touch(now time.Time) {
	if now.After(w.LastActiveAt) {
		w.LastActiveAt, w.dirty = now, true
	}
}

func (m *Manager) noWindow(threadID string) error {
	if _, err := m.Thread(threadID); err != nil {
		return err
	}
	return fmt.Errorf("%w: thread %s", thread.ErrExpired, threadID)
}

// touchInactive is for a session that is idle or seems to be over.
func (m *Manager) touchInactive(threadID string) error {
	s, ok := m.window(threadID)
	if !ok {
		return m.noWindow(threadID)
	}
	reason, err := m.over(s)
	if err != nil {
		return err
	}
	if reason != "" {
		return fmt.Errorf("%w: thread %s: %s", thread.ErrExpired, threadID, reason)
	}
	return m.wake(threadID, false)
}

// wake makes an idle session active again, and a paused one with paused.
func (m *Manager) wake(threadID string, paused bool) error {
	return m.update(func(c *change) error {
		s, ok := m.window(threadID)
		if !ok {
			return fmt.Errorf("%w: thread %s", thread.ErrExpired, threadID)
		}
		from, kind := s.Status, thread.SessionActive
		switch {
		case from == thread.Paused && !paused || from == thread.Active:
			return nil
		case from == thread.Paused:
			kind = thread.SessionResumed
		}
		s, err := s.To(thread.Active)
		if err != nil {
			return err
		}
		s.LastActiveAt, s.WarnedFor = c.now, time.Time{}
		if err := c.putSession(s); err != nil {
			return err
		}
		return c.emit(threadID, kind, thread.Detail{Session: s.ID, From: string(from), To: string(s.Status),
			ExpiresAt: s.ExpiresAt()})
	})
}

// Charge adds to what a thread's session has used. Like Touch it is kept with Flush. Errors:
// ErrBudget, when it is now too much: the next Sweep closes the session; ErrInvalid.
func (m *Manager) Charge(threadID string, u thread.Usage) error {
	if err := u.Check(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.live[threadID]
	if w == nil {
		return nil // what ended cannot be charged
	}
	w.Used, w.dirty = w.Used.Plus(u), true
	if w.Used.Beyond(w.Policy.Budget) {
		return fmt.Errorf("%w: thread %s", thread.ErrBudget, threadID)
	}
	return nil
}

// Flush writes activity and usage that are only in memory. Errors: those of the store; then they
// stay for the next time.
func (m *Manager) Flush() error {
	m.mu.Lock()
	var list []thread.Session
	for _, w := range m.live {
		if w.dirty {
			list = append(list, w.Session)
		}
	}
	m.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	return m.update(func(c *change) error {
		for _, s := range list {
			if err := c.Pulse(s.ID, s.LastActiveAt, s.Used); err != nil {
				return err
			}
		}
		c.after = append(c.after, func() { m.flushed(list) })
		return nil
	})
}

func (m *Manager) flushed(list []thread.Session) {
	for _, s := range list {
		if w := m.live[s.Thread]; w != nil && w.ID == s.ID && w.LastActiveAt.Equal(s.LastActiveAt) && w.Used == s.Used {
			w.dirty = false
		}
	}
}

// over says why a session has to end now, "" when it has not. People who look on and commands that
// run are activity.
func (m *Manager) over(s thread.Session) (string, error) {
	reason := s.Expired(m.clock.now())
	if reason != thread.ReasonIdle {
		return reason, nil
	}
	busy, err := m.isBusy(s.Thread)
	if err != nil || !busy {
		return reason, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.live[s.Thread]; w != nil && w.ID == s.ID {
		w.touch(m.clock.now())
	}
	return "", nil
}

func (m *Manager) isBusy(threadID string) (busy bool, err error) {
	if m.cfg.InUse(threadID) {
		return true, nil
	}
	return busy, m.view(func(tx thread.Tx) error {
		open, err := tx.OpenCommands(threadID)
		busy = len(open) > 0
		return err
	})
}

// closeOverdue closes the thread's session when it is over. The thread is locked.
func (m *Manager) closeOverdue(ctx context.Context, thread string) error {
	s, ok := m.window(thread)
	if !ok {
		return nil
	}
	reason, err := m.over(s)
	if err != nil || reason == "" {
		return err
	}
	return m.expire(ctx, s, reason)
}

// expireOnRead is closeOverdue for who only looks: it does not wait for somebody who is at work in
// the thread.
func (m *Manager) expireOnRead(ctx context.Context, thread string) error {
	s, ok := m.window(thread)
	if !ok || s.Expired(m.clock.now()) == "" {
		return nil
	}
	unlock, ok := m.threads.try(thread)
	if !ok {
		return nil
	}
	defer unlock()
	return m.closeOverdue(ctx, thread)
}

// Live is the live session of a thread. One that is over is closed first. Errors: ErrExpired,
// ErrNotFound.
func (m *Manager) Live(ctx context.Context, threadID string) (thread.Session, error) {
	if err := m.expireOnRead(ctx, threadID); err != nil {
		return thread.Session{}, err
	}
	if s, ok := m.window(threadID); ok {
		return s, nil
	}
	return thread.Session{}, m.noWindow(threadID)
}
