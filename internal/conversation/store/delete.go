package store

import (
	"fmt"

	"github.com/evertty/evertty/internal/conversation"
)

// purgeStep is how many rows are deleted in one transaction, for which everybody else who writes
// waits: some ten milliseconds.
const purgeStep = 1000

// DeleteThread has a thread deleted by remove, which deletes its row, and deletes its records and
// their files after that. Meanwhile nobody writes to them. Errors: those of remove; then nothing
// has changed. What cannot be deleted then is told by Config.Failed; what a killed server has not
// come to is deleted by the next one.
func (m *Manager) DeleteThread(thread string, remove func() error) error {
	if !m.setDeleting(thread) {
		return fmt.Errorf("%w: thread %s is being deleted", conversation.ErrNotFound, thread)
	}
	defer m.endDeleting(thread)
	var list []conversation.Head
	// An Update, so that who writes already is done.
	err := m.cfg.Store.Update(func(tx Tx) (err error) { list, err = tx.Conversations(thread); return err })
	if err != nil {
		return mapError(err)
	}
	if err := remove(); err != nil {
		return err
	}
	for _, h := range list {
		m.saver.remove(h.SessionID)
	}
	if err := m.purge(); err != nil {
		m.cfg.Failed(err)
	}
	return nil
}

// purge deletes what is left of records whose threads are gone: the files, which nobody would know
// without the rows, then the rows, a few at a time.
func (m *Manager) purge() error {
	m.importing.Lock()
	defer m.importing.Unlock()
	return m.purgeNow()
}

// purgeNow is purge for who holds m.importing. A thread may be deleted at any moment of it: its
// records keep their ids until their own files were removed.
func (m *Manager) purgeNow() error {
	gone, err := m.removeFiles()
	if err != nil {
		return err
	}
	for more := true; more; {
		err := m.cfg.Store.Update(func(tx Tx) (err error) {
			more, err = tx.PurgeConversations(gone, purgeStep)
			return err
		})
		if err != nil {
			return fmt.Errorf("records of deleted threads: %w", err)
		}
	}
	return nil
}

// removeFiles deletes the files of records of which only rows are left, and names those.
func (m *Manager) removeFiles() (gone []string, err error) {
	for after := ""; ; {
		var ids []string
		err := m.cfg.Store.View(func(tx Tx) (err error) {
			ids, err = tx.DeletedConversations(after, conversation.MaxPage)
			return err
		})
		if err != nil {
			return gone, fmt.Errorf("records of deleted threads: %w", err)
		}
		if len(ids) == 0 {
			return gone, nil
		}
		for _, id := range ids {
			m.saver.remove(id)
			after = id
		}
		gone = append(gone, ids...)
	}
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
