package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// CreateThread makes a thread that is not there yet, with its session, first terminal and lease. ""
// lets the server choose its id. Errors, of package thread: ErrConflict, ErrInvalid, ErrNoProvider,
// ErrNotFound (u.Lease), ErrProvider.
func (t *Threads) CreateThread(ctx context.Context, id string, u thread.Use) (thread.Layers, error) {
	if err := t.available(); err != nil {
		return thread.Layers{}, err
	}
	return t.lifecycle.create(ctx, id, u)
}

// DefaultPolicy returns the policy of threads that bring none.
func (t *Threads) DefaultPolicy() thread.Policy { return t.policy }

// Thread returns a thread with its session, active terminal and lease. A session that is over is
// closed first. It is no activity. Errors: thread.ErrNotFound.
func (t *Threads) Thread(ctx context.Context, id string) (thread.Layers, error) {
	return t.after(ctx, id, func(context.Context, string) error { return nil })
}

// after changes a thread when all that has happened in it is in the database, and returns it.
func (t *Threads) after(ctx context.Context, id string,
	change func(context.Context, string) error) (thread.Layers, error) {
	if err := t.recorder.current(ctx, id); err != nil {
		return thread.Layers{}, err
	}
	if err := change(ctx, id); err != nil {
		return thread.Layers{}, err
	}
	return t.lifecycle.status(ctx, id, thread.Use{})
}

// ListThreads returns the threads by id behind after, at most limit (1 to thread.MaxPage). next is
// the after of the next part, "" at the end.
func (t *Threads) ListThreads(ctx context.Context, prefix, after string, limit int) (list []thread.Layers, next string,
	err error) {
	threads, err := read(t.database, func(tx *sqlite.Tx) ([]thread.Thread, error) {
		return tx.Threads(prefix, after, limit)
	})
	if err != nil {
		return nil, "", err
	}
	if limit > 0 && len(threads) == limit {
		next = threads[limit-1].ID
	}
	list = make([]thread.Layers, 0, len(threads))
	for _, th := range threads {
		l, err := t.lifecycle.status(ctx, th.ID, thread.Use{})
		if missing(err) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, "", err
		}
		list = append(list, l)
	}
	return list, next, nil
}

// DeleteThread ends everything of a thread and removes it, and lets nothing new begin meanwhile
// (thread.ErrDeleting): terminals with their screens, shells with their logs, conversations with
// their files, rows and events. Errors: thread.ErrNotFound, ErrProvider, any of deleting terminals
// and shells.
func (t *Threads) DeleteThread(ctx context.Context, id string) error {
	if err := t.recorder.current(ctx, id); err != nil {
		return err
	}
	if _, err := t.thread(id); err != nil {
		return err
	}
	open, err := t.doors.close(ctx, id)
	if err != nil {
		return err
	}
	defer open()
	if err := errors.Join(t.processes.removeTerminals(ctx, id), t.shells.DeleteSession(ctx, id)); err != nil {
		return err
	}
	_ = t.recorder.flush(ctx)
	if err := t.Conversations.delete(ctx, id); err != nil {
		return err
	}
	t.pauses.forget(id)
	return nil
}

// TouchThread is activity. Errors: thread.ErrExpired, ErrNotFound.
func (t *Threads) TouchThread(ctx context.Context, id string) (thread.Layers, error) {
	if err := t.expiry.touchSession(id); err != nil {
		return thread.Layers{}, err
	}
	return t.lifecycle.status(ctx, id, thread.Use{})
}

// PauseThread stops the processes of a thread (SIGSTOP of the trees, or the provider's pause). A
// second time changes nothing. Errors: any of lifecycle.pause.
func (t *Threads) PauseThread(ctx context.Context, id string) (thread.Layers, error) {
	return t.after(ctx, id, t.lifecycle.pause)
}

// ResumeThread is the reverse of PauseThread. Commands and input resume a thread too. Errors: any
// of lifecycle.resume.
func (t *Threads) ResumeThread(ctx context.Context, id string) (thread.Layers, error) {
	return t.after(ctx, id, t.lifecycle.resume)
}

// DestroyThread ends the processes, the session and the compute that no other thread uses; the
// terminals and the lease stay, and the next use goes on in their state. Errors: any of
// lifecycle.destroy.
func (t *Threads) DestroyThread(ctx context.Context, id string) (thread.Layers, error) {
	l, err := t.after(ctx, id, t.lifecycle.destroy)
	if err != nil {
		return l, err
	}
	for _, term := range t.terminals.List(id) {
		if !term.Running() {
			term.EndLeftovers(ctx)
		}
	}
	return l, nil
}

// SetThreadPolicy changes the policy of a thread and of its live session; from now on it counts as
// chosen (see processes.end). Errors: thread.ErrNotFound, ErrInvalid.
func (t *Threads) SetThreadPolicy(ctx context.Context, id string, p thread.Policy) (thread.Layers, error) {
	if err := t.lifecycle.setPolicy(id, p); err != nil {
		return thread.Layers{}, err
	}
	return t.lifecycle.status(ctx, id, thread.Use{})
}

// ThreadSessions returns the sessions of a thread, the newest first. Errors: thread.ErrNotFound.
func (t *Threads) ThreadSessions(id string) ([]thread.Session, error) { return t.expiry.sessionsOf(id) }

// ListEvents returns the events of a thread after a number, ascending, at most limit; 0 is
// thread.MaxPage. Errors: thread.ErrNotFound, ErrInvalid.
func (d *database) ListEvents(threadID string, after int64, limit int) (list []thread.Event, err error) {
	return list, d.view(func(tx *sqlite.Tx) error {
		if after < 0 {
			return fmt.Errorf("%w: event %d", thread.ErrInvalid, after)
		}
		if _, err := tx.Thread(threadID); err != nil {
			return err
		}
		list, err = tx.Events(threadID, after, limit)
		return err
	})
}

// ThreadCommands returns commands of a thread in the order in which they began. Errors:
// thread.ErrNotFound (the thread, or Before).
func (t *Threads) ThreadCommands(ctx context.Context, q thread.CommandQuery) ([]thread.Command, error) {
	if err := t.recorder.current(ctx, q.Thread); err != nil {
		return nil, err
	}
	return commandsOf(t.database, q)
}

func commandsOf(d *database, q thread.CommandQuery) ([]thread.Command, error) {
	return readOf(d, q.Thread, func(tx *sqlite.Tx) ([]thread.Command, error) { return tx.Commands(q) })
}

// ForgetCommand deletes a command that has ended, with its text. Errors: ctx.Err().
func (t *Threads) ForgetCommand(ctx context.Context, id string) error {
	if !t.isOpen() {
		return nil
	}
	t.recorder.note(func(c *change) error { return gone(c.Tx.ForgetCommand(id)) })
	return t.recorder.flush(ctx)
}
