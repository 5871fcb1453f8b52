package lifecycle

import (
	"fmt"

	"github.com/evertty/evertty/internal/thread"
)

// Thread finds a thread. Errors: ErrNotFound.
func (m *Manager) Thread(id string) (th thread.Thread, err error) {
	return th, m.view(func(tx thread.Tx) error { th, err = tx.Thread(id); return err })
}

// MayBegin reports whether a thread is there or may be made under its id. Errors: ErrInvalid.
func (m *Manager) MayBegin(id string) error {
	if checkNew(id) == nil {
		return nil
	}
	if _, err := m.Thread(id); missing(err) {
		return checkNew(id)
	}
	return nil
}

// Threads are by id those behind after, at most limit; 0 is MaxPage.
func (m *Manager) Threads(after string, limit int) (list []thread.Thread, err error) {
	return list, m.view(func(tx thread.Tx) error { list, err = tx.Threads(after, limit); return err })
}

// Session finds a session, live or not. Errors: ErrNotFound.
func (m *Manager) Session(id string) (s thread.Session, err error) {
	err = m.view(func(tx thread.Tx) error { s, err = tx.Session(id); return err })
	if w, ok := m.window(s.Thread); ok && w.ID == id {
		return w, nil
	}
	return s, err
}

// Sessions are all of a thread, the newest first; the live ones of all threads with "". Errors:
// ErrNotFound.
func (m *Manager) Sessions(threadID string) (list []thread.Session, err error) {
	if threadID == "" {
		m.mu.Lock()
		defer m.mu.Unlock()
		list = make([]thread.Session, 0, len(m.live))
		for _, w := range m.live {
			list = append(list, w.Session)
		}
		return list, nil
	}
	err = m.view(func(tx thread.Tx) error {
		if _, err := tx.Thread(threadID); err != nil {
			return err
		}
		list, err = tx.Sessions(threadID)
		return err
	})
	if w, ok := m.window(threadID); ok && len(list) > 0 && list[0].ID == w.ID {
		list[0] = w
	}
	return list, err
}

// Events are those of a thread after a number, ascending, at most limit; 0 is MaxPage. Errors:
// ErrNotFound, ErrInvalid.
func (m *Manager) Events(threadID string, after int64, limit int) (list []thread.Event, err error) {
	if after < 0 {
		return nil, fmt.Errorf("%w: event %d", thread.ErrInvalid, after)
	}
	return list, m.view(func(tx thread.Tx) error {
		if _, err := tx.Thread(threadID); err != nil {
			return err
		}
		list, err = tx.Events(threadID, after, limit)
		return err
	})
}

// SetPolicy changes what sessions of a thread may, the live one too. Errors: ErrNotFound,
// ErrInvalid.
func (m *Manager) SetPolicy(threadID string, p thread.Policy) error {
	if err := p.Check(); err != nil {
		return err
	}
	return m.update(func(c *change) error {
		th, err := c.Thread(threadID)
		if err != nil || th.Policy == p && th.Chosen {
			return err
		}
		th.Policy, th.Chosen, th.UpdatedAt = p, true, c.now
		if err := c.PutThread(th); err != nil {
			return err
		}
		d := thread.Detail{}
		if s, ok := m.window(threadID); ok {
			s.Policy = p
			d.Session, d.ExpiresAt = s.ID, s.ExpiresAt()
			if err := c.putSession(s); err != nil {
				return err
			}
		}
		return c.emit(threadID, thread.ThreadPolicy, d)
	})
}
