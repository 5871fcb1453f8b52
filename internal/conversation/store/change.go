package store

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

// writer changes conversations, one transaction at a time. Its fields are constant but for
// deleting, which is safe for concurrent use.
type writer struct {
	*Reader
	clock    thread.Clock
	notify   func(thread string)
	saver    *saver
	deleting sync.Map // ids of threads that are being deleted: writes to them are refused
}

// change is one transaction on a thread's current conversation, with the events that come of it.
type change struct {
	Tx
	thread string
	now    time.Time
	head   conversation.Head
	made   bool // the conversation, by this change
	dirty  bool // head has to be written
	notify bool
}

// update changes the current conversation of a thread, which it makes when there is none. fn
// changes lists and parts with the Tx and what the head says of them in c.head, and calls changed.
// The file is saved when update returns, or soon.
func (w *writer) update(threadID string, fn func(*change) error) error {
	return w.transact(threadID, func(c *change) (err error) {
		if c.head, err = c.CurrentConversation(threadID); missing(err) {
			if err = c.begin(conversation.NewState()); err == nil {
				err = c.emit(Created, thread.Detail{})
			}
		}
		if err != nil {
			return err
		}
		return fn(c)
	})
}

// transact is update for changes that need no conversation. An absent thread is ErrNotFound, but only
// when nothing else would be refused in it: a caller that makes the thread for the change knows that
// it will succeed.
func (w *writer) transact(threadID string, fn func(*change) error) error {
	return w.write(threadID, func(c *change) error {
		_, absent := c.Thread(threadID)
		switch {
		case absent == nil:
			return fn(c)
		case !missing(absent):
			return absent
		}
		c.PutThread(thread.Thread{ID: threadID, Provider: thread.Local, Policy: thread.DefaultPolicy(),
			CreatedAt: c.now, UpdatedAt: c.now})
		if err := fn(c); err != nil {
			return err
		}
		c.finish()
		return cmp.Or(c.Err(), absent) // nothing of this is kept
	})
}

// write is transact for a thread that need not exist.
func (w *writer) write(thread string, fn func(*change) error) error {
	var c *change
	err := w.store.Update(func(tx Tx) error {
		if _, deleting := w.deleting.Load(thread); deleting {
			return fmt.Errorf("%w: thread %s is being deleted", conversation.ErrNotFound, thread)
		}
		c = &change{Tx: tx, thread: thread, now: w.now()}
		if err := fn(c); err != nil {
			return err
		}
		c.finish()
		return nil
	})
	if err != nil {
		return mapError(err)
	}
	if c.notify {
		w.notify(thread)
	}
	if c.dirty {
		w.saver.changed(c.head)
	}
	return nil
}

// now returns the time with the precision of the store.
func (w *writer) now() time.Time { return w.clock().UTC().Truncate(time.Microsecond) }

// begin makes a new conversation the thread's current one.
func (c *change) begin(s conversation.State) error {
	if err := c.checkRoom(); err != nil {
		return err
	}
	c.RetireConversation(c.thread)
	now := stamp(c.now)
	c.head = conversation.Head{RecordHead: wire.RecordHead{SessionID: newID(c.now), ThreadID: c.thread, Current: true,
		CreatedAt: now, UpdatedAt: now}}
	c.made = true
	c.PutConversation(c.head)
	return c.putState(s)
}

// changed makes finish write the head, and the file be saved after it.
func (c *change) changed() { c.dirty = true }

// finish writes the head. Its time is later than any before, because a file is known to be of now
// by it.
func (c *change) finish() {
	if !c.dirty {
		return
	}
	if last, err := time.Parse(timeForm, c.head.UpdatedAt); err == nil && !c.made && !c.now.After(last) {
		c.now = last.Add(time.Microsecond)
	}
	c.head.UpdatedAt = stamp(c.now)
	c.PutConversation(c.head)
}

// emit adds an event to the thread's stream, in the same transaction, and returns Err. An empty
// Source is the conversation.
func (c *change) emit(kind string, d thread.Detail) error {
	if d.Source == "" {
		d.Source = c.head.SessionID
	}
	c.notify = true
	c.AddEvent(thread.Event{ThreadID: c.thread, Type: kind, At: c.now, Data: d})
	return c.Err()
}
