package record

import "fmt"

// purgeStep is how many rows are deleted in one transaction, for which everybody else who writes waits: some ten milliseconds.
const purgeStep = 1000

// DeleteThread has a thread deleted by remove, which deletes its row, and deletes its records and their files after that. Meanwhile nobody writes
// to them. Errors: those of remove; then nothing has changed. What cannot be deleted then is told by Config.Failed; rows are deleted by the next server.
func (m *Manager) DeleteThread(thread string, remove func() error) error {
	if !m.setDeleting(thread) {
		return fmt.Errorf("%w: thread %s is being deleted", ErrNotFound, thread)
	}
	defer m.endDeleting(thread)
	var list []Head
	// An Update, so that who writes already is done.
	err := m.cfg.Store.Update(func(tx Tx) (err error) { list, err = tx.Records(thread); return err })
	if err != nil {
		return named(err)
	}
	if err := remove(); err != nil {
		return err
	}
	for _, h := range list {
		m.saver.remove(h.ID)
	}
	if err := m.purge(); err != nil {
		m.cfg.Failed(err)
	}
	return nil
}

// purge deletes the rows of records whose threads are gone, a few at a time.
func (m *Manager) purge() error {
	for more := true; more; {
		err := m.cfg.Store.Update(func(tx Tx) (err error) { more, err = tx.PurgeRecords(purgeStep); return err })
		if err != nil {
			return fmt.Errorf("records of deleted threads: %w", err)
		}
	}
	return nil
}

func (m *Manager) setDeleting(thread string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.deleting[thread]
	m.deleting[thread] = true
	return !was
}

func (m *Manager) endDeleting(thread string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.deleting, thread)
}

func (m *Manager) isDeleting(thread string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.deleting[thread]
}
