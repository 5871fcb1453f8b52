package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/thread"
)

// lastSaves bounds how long a server that leaves writes conversation files; the next one writes the
// rest.
const lastSaves = 5 * time.Second

// Conversations keeps the conversations of threads: what the agents' harnesses say and do. manager is
// constant after Threads.Open.
type Conversations struct {
	*database
	*parts
	lifecycle *lifecycle
	recorder  *recorder
	cfg       store.Config
	manager   *store.Conversations // nil: the server keeps none
}

// open makes the manager, if the server keeps conversations.
func (c *Conversations) open() {
	if c.cfg.Store != nil {
		c.manager = store.New(c.cfg)
	}
}

// close saves the files that wait.
func (c *Conversations) close() {
	if c.manager == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastSaves)
	defer cancel()
	if err := c.manager.Close(ctx); err != nil {
		c.log.Warn("the last record files are not saved", "error", err)
	}
}

// ReadConversation returns the conversations for a reader of a thread, which has to exist; "" is for
// all threads. Errors: ErrNoStore, thread.ErrNotFound.
func (c *Conversations) ReadConversation(threadID string) (*store.Conversations, error) {
	if err := c.available(); err != nil {
		return nil, err
	}
	if c.manager == nil {
		return nil, fmt.Errorf("%w: this server keeps none of harnesses", ErrNoStore)
	}
	if threadID != "" {
		if _, err := c.thread(threadID); err != nil {
			return nil, err
		}
	}
	return c.manager, nil
}

// WriteConversation calls do when what has happened before on the thread's terminals is in the
// database. A thread that does not exist is made first, as by any other use, but not for a change
// that is refused: do is tried before, and has to fail with thread.ErrNotFound. Errors: ErrNoStore,
// any of do and of CreateThread.
func (c *Conversations) WriteConversation(ctx context.Context, threadID string,
	do func(*store.Conversations) error) error {
	m, err := c.ReadConversation("")
	if err != nil {
		return err
	}
	if _, err = c.thread(threadID); missing(err) {
		if err := do(m); !missing(err) {
			return err
		}
		if _, err = c.lifecycle.create(ctx, threadID, thread.Use{}); errors.Is(err, thread.ErrConflict) {
			err = nil // another caller was first
		}
	}
	if err != nil {
		return err
	}
	return c.ChangeConversation(ctx, threadID, do)
}

// ChangeConversation is WriteConversation for changes that make no thread. Errors: ErrNoStore,
// thread.ErrNotFound, any of do.
func (c *Conversations) ChangeConversation(ctx context.Context, threadID string,
	do func(*store.Conversations) error) error {
	m, err := c.ReadConversation(threadID)
	if err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, currentTimeout)
	defer cancel()
	_ = c.recorder.flush(limit)
	return do(m)
}

// delete deletes a thread with its conversations.
func (c *Conversations) delete(ctx context.Context, threadID string) error {
	if c.manager == nil {
		return c.lifecycle.delete(ctx, threadID)
	}
	return c.manager.DeleteThread(threadID, func() error {
		err := c.lifecycle.delete(ctx, threadID)
		if err == nil {
			c.manager.Forget(threadID)
		}
		return err
	})
}
