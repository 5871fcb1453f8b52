package thread

import "fmt"

// Thread finds a thread. Errors: ErrNotFound.
func (m *Manager) Thread(id string) (th Thread, err error) {
	return th, m.view(func(tx Tx) error { th, err = tx.Thread(id); return err })
}

// MayBegin says whether a thread is there or may be made under its id. Errors: ErrInvalid.
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
func (m *Manager) Threads(after string, limit int) (list []Thread, err error) {
	return list, m.view(func(tx Tx) error { list, err = tx.Threads(after, limit); return err })
}

// Session finds a session, live or not. Errors: ErrNotFound.
func (m *Manager) Session(id string) (s Session, err error) {
	err = m.view(func(tx Tx) error { s, err = tx.Session(id); return err })
	if w, ok := m.window(s.Thread); ok && w.ID == id {
		return w, nil
	}
	return s, err
}

// Sessions are all of a thread, the newest first; the live ones of all threads with "". Errors: ErrNotFound.
func (m *Manager) Sessions(thread string) (list []Session, err error) {
	if thread == "" {
		m.mu.Lock()
		defer m.mu.Unlock()
		list = make([]Session, 0, len(m.live))
		for _, w := range m.live {
			list = append(list, w.Session)
		}
		return list, nil
	}
	err = m.view(func(tx Tx) error {
		if _, err := tx.Thread(thread); err != nil {
			return err
		}
		list, err = tx.Sessions(thread)
		return err
	})
	if w, ok := m.window(thread); ok && len(list) > 0 && list[0].ID == w.ID {
		list[0] = w
	}
	return list, err
}

// Events are those of a thread after a number, ascending, at most limit; 0 is MaxPage. Errors: ErrNotFound, ErrInvalid.
func (m *Manager) Events(thread string, after int64, limit int) (list []Event, err error) {
	if after < 0 {
		return nil, fmt.Errorf("%w: event %d", ErrInvalid, after)
	}
	return list, m.view(func(tx Tx) error {
		if _, err := tx.Thread(thread); err != nil {
			return err
		}
		list, err = tx.Events(thread, after, limit)
		return err
	})
}

// SetPolicy changes what sessions of a thread may, the live one too. Errors: ErrNotFound, ErrInvalid.
func (m *Manager) SetPolicy(thread string, p Policy) error {
	if err := p.Check(); err != nil {
		return err
	}
	return m.update(func(c *change) error {
		th, err := c.Thread(thread)
		if err != nil || th.Policy == p && th.Chosen {
			return err
		}
		th.Policy, th.Chosen, th.UpdatedAt = p, true, c.now
		if err := c.PutThread(th); err != nil {
			return err
		}
		d := Detail{}
		if s, ok := m.window(thread); ok {
			s.Policy = p
			d.Session, d.ExpiresAt = s.ID, s.ExpiresAt()
			if err := c.putSession(s); err != nil {
				return err
			}
		}
		return c.emit(thread, ThreadPolicy, d)
	})
}
