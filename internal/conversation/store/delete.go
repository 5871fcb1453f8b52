package store

import (
	"fmt"
	"sync"

	"github.com/evertty/evertty/internal/conversation"
)

// purgeStep is how many rows are deleted in one transaction: some ten milliseconds, for which all
// other writers wait.
const purgeStep = 1000

// eraser deletes the conversations of deleted threads: rows and files.
type eraser struct {
	writer *writer // constant, as failed is
	failed func(error)

	// purging is held over a purge, and over an import, whose rows a purge would take for rows of a
	// deleted thread. It is taken before every other lock.
	purging sync.Mutex
}

// DeleteThread calls remove, which deletes the thread's row, and then deletes its records and
// their files. Until it returns, writes to them are refused. Errors: of remove; then nothing
// has changed. Errors behind it go to Config.Failed; the next server deletes what a killed one has
// left.
func (e *eraser) DeleteThread(thread string, remove func() error) error {
	if _, deleting := e.writer.deleting.LoadOrStore(thread, nil); deleting {
		return fmt.Errorf("%w: thread %s is being deleted", conversation.ErrNotFound, thread)
	}
	defer e.writer.deleting.Delete(thread)
	var list []conversation.Head
	// An Update, so that a write that runs has ended.
	err := e.writer.store.Update(func(tx Tx) (err error) { list, err = tx.Conversations(thread); return err })
	if err != nil {
		return mapError(err)
	}
	if err := remove(); err != nil {
		return err
	}
	for _, h := range list {
		e.writer.saver.remove(h.SessionID)
	}
	if err := e.purge(); err != nil {
		e.failed(err)
	}
	return nil
}

// purge deletes the rest of records whose threads are gone: the files, whose names are only in
// the rows, then the rows, a few at a time.
func (e *eraser) purge() error {
	e.purging.Lock()
	defer e.purging.Unlock()
	return e.purgeNow()
}

// purgeNow is purge under its lock. A thread may be deleted at any moment of it: its
// records keep their ids until their own files were removed.
func (e *eraser) purgeNow() error {
	gone, err := e.removeFiles()
	if err != nil {
		return err
	}
	for more := true; more; {
		err := e.writer.store.Update(func(tx Tx) error {
			more = tx.PurgeConversations(gone, purgeStep)
			return nil
		})
		if err != nil {
			return fmt.Errorf("records of deleted threads: %w", err)
		}
	}
	return nil
}

// removeFiles deletes the files of records whose threads are gone, and returns their ids.
func (e *eraser) removeFiles() (gone []string, err error) {
	for after := ""; ; {
		var ids []string
		err := e.writer.store.View(func(tx Tx) (err error) {
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
			e.writer.saver.remove(id)
			after = id
		}
		gone = append(gone, ids...)
	}
}
