package store

import (
	"fmt"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/thread"
)

// Steer puts a message for the harness into the mailbox of the thread, and returns its number. Errors: ErrTooMany (MaxMail wait already).
func (m *Manager) Steer(threadID, text string) (it Item[string], err error) {
	if text == "" {
		return it, fmt.Errorf("%w: the message is empty", conversation.ErrInvalid)
	}
	return it, m.update(threadID, func(c *change) error {
		if c.head.Waiting >= conversation.MaxMail {
			return fmt.Errorf("%w: %d messages wait in the mailbox, which is the most; drain it", conversation.ErrTooMany, c.head.Waiting)
		}
		if it, err = item(c, "messages to the mailbox", &c.head.Mail, text, conversation.MaxItemBytes); err != nil {
			return err
		}
		c.head.Waiting++
		if err := c.AddMail(c.head.ID, it); err != nil {
			return err
		}
		return c.tell(Steered, thread.Detail{Version: it.Seq})
	})
}

// Mail is what waits in the mailbox, in order. It goes on waiting.
func (m *Manager) Mail(thread string) (list []Item[string], err error) {
	return list, m.view(thread, "", func(tx Tx, h conversation.Head) error { list, err = tx.Mail(h.ID); return err })
}

// Drain takes what waits in the mailbox, in order; each message is given once. A thread that has no record gets none by it.
func (m *Manager) Drain(thread string) (list []Item[string], err error) {
	if list, err = m.Mail(thread); err != nil || len(list) == 0 {
		return list, err
	}
	return list, m.update(thread, func(c *change) error {
		if list, err = c.TakeMail(c.head.ID, stamp(c.now)); err != nil || len(list) == 0 {
			return err
		}
		c.head.Waiting = 0
		c.changed()
		return nil
	})
}
