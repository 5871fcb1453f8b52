package store

import (
	"fmt"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/thread"
)

// Enqueue puts a message for the harness into the inbox of the thread, and returns its number.
// Errors: ErrTooMany (MaxMail wait already).
func (cs *Conversations) Enqueue(threadID, text string) (it Item[string], err error) {
	if text == "" {
		return it, fmt.Errorf("%w: the message is empty", conversation.ErrInvalid)
	}
	return it, cs.update(threadID, func(c *change) error {
		if c.head.Waiting >= conversation.MaxMail {
			return fmt.Errorf("%w: %d messages wait in the mailbox, which is the most; drain it",
				conversation.ErrTooMany, c.head.Waiting)
		}
		if it, err = inbox.add(c, text); err != nil {
			return err
		}
		c.head.Waiting++
		return c.emit(Steered, thread.Detail{Version: it.Seq})
	})
}

// Inbox returns the waiting messages in order, and leaves them.
func (cs *Conversations) Inbox(thread string) (list []Item[string], err error) {
	return list, cs.view(thread, "", func(tx Tx, h conversation.Head) error {
		list, err = tx.Inbox(h.SessionID)
		return err
	})
}

// Dequeue removes and returns the waiting messages in order; each message is given once. A thread
// that has no conversation gets none by it.
func (cs *Conversations) Dequeue(thread string) (list []Item[string], err error) {
	if list, err = cs.Inbox(thread); err != nil || len(list) == 0 {
		return list, err
	}
	return list, cs.update(thread, func(c *change) error {
		if list, err = c.TakeInbox(c.head.SessionID, stamp(c.now)); err != nil || len(list) == 0 {
			return err
		}
		c.head.Waiting = 0
		c.changed()
		return nil
	})
}
