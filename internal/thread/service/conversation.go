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

// Conversations is the Manager of what harnesses keep of threads, for who reads. The thread is
// there, or "" for what is about all. Errors: ErrNoStore, thread.ErrNotFound.
func (d *Service) Conversations(thread string) (*store.Manager, error) {
	if err := d.available(); err != nil {
		return nil, err
	}
	if d.conversations == nil {
		return nil, fmt.Errorf("%w: this server keeps none of harnesses", ErrNoStore)
	}
	if thread != "" {
		if _, err := d.Manager.Thread(thread); err != nil {
			return nil, err
		}
	}
	return d.conversations, nil
}

// WriteConversation is for who writes: do is called when what has happened on the thread's
// terminals before is in the records. A thread that is not there is made as by any other first use,
// but not for what is refused: do is tried before, and has to be told again. Errors: ErrNoStore,
// those of do and of CreateThread.
func (d *Service) WriteConversation(ctx context.Context, threadID string, do func(*store.Manager) error) error {
	r, err := d.Conversations("")
	if err != nil {
		return err
	}
	if _, err = d.Manager.Thread(threadID); isMissing(err) {
		if err := do(r); !isMissing(err) {
			return err
		}
		if _, err = d.Manager.CreateThread(ctx, threadID, thread.Use{}); errors.Is(err, thread.ErrConflict) {
			err = nil // somebody else was first
		}
	}
	if err != nil {
		return err
	}
	return d.ChangeConversation(ctx, threadID, do)
}

// ChangeConversation is WriteConversation for what makes no thread. Errors: ErrNoStore,
// thread.ErrNotFound, those of do.
func (d *Service) ChangeConversation(ctx context.Context, thread string, do func(*store.Manager) error) error {
	r, err := d.Conversations(thread)
	if err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, currentPatience)
	defer cancel()
	_ = d.flush(limit)
	return do(r)
}

// openConversations makes the Manager of records, if the server has any.
func (d *Service) openConversations() {
	cfg := d.cfg.Conversations
	if cfg.Store == nil {
		return
	}
	cfg.Notify = d.watchers.notify
	cfg.Failed = func(err error) { d.cfg.Log.Error("trouble with the records of harnesses", "error", err) }
	d.conversations = store.NewManager(cfg)
}

// loadPermissions brings the permissions of threads into memory, from their copy where there is no
// database. Where neither can be read everything is denied.
func (d *Service) loadPermissions() {
	load := d.enforcer.LoadCopy
	if d.conversations != nil {
		load = d.conversations.LoadPermissions
	}
	if err := load(); err != nil {
		d.cfg.Log.Error("the permissions of threads cannot be read; everything is denied that they could forbid",
			"error", err)
		d.enforcer.FailClosed(err)
	}
}

// runConversations starts what saves conversation files.
func (d *Service) runConversations() {
	if d.conversations != nil {
		d.life.Go(func() { d.conversations.Run(d.ctx) })
	}
}

// closeConversations saves what is left.
func (d *Service) closeConversations() {
	if d.conversations == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastSaves)
	defer cancel()
	if err := d.conversations.Close(ctx); err != nil {
		d.cfg.Log.Warn("the last record files are not saved", "error", err)
	}
}

// deleteConversations deletes a thread and what belongs to its records.
func (d *Service) deleteConversations(ctx context.Context, thread string) error {
	remove := func() error {
		err := d.Manager.DeleteThread(ctx, thread)
		if err == nil && d.conversations != nil {
			d.conversations.Forget(thread)
		}
		return err
	}
	if d.conversations == nil {
		return remove()
	}
	return d.conversations.DeleteThread(thread, remove)
}
