package service

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/evertty/evertty/internal/parallel"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/lifecycle"
)

// Threads, as routes see them. A thread's id is the session of terminals and shells: whatever is
// used first of the two makes all layers of the other.
//
// Every method fails with ErrNoStore when there is no database, and else with the errors of the
// thread.Manager's method of that name.

// CreateThread makes a thread that is not there yet, with its session, first terminal and lease.
// The id "" lets the server choose one. Errors: thread.ErrConflict, ErrInvalid, ErrNoProvider,
// ErrNotFound (u.Lease), ErrProvider.
func (d *Service) CreateThread(ctx context.Context, id string, u thread.Use) (thread.Layers, error) {
	if err := d.available(); err != nil {
		return thread.Layers{}, err
	}
	return d.Manager.CreateThread(ctx, id, u)
}

// DefaultPolicy is that of threads that bring none.
func (d *Service) DefaultPolicy() thread.Policy { return *d.cfg.Policy }

// Thread is a thread with its session, active terminal and lease, as they are: SessionReply,
// TerminalReply, LeaseReply and ThreadReply of the Layers are the replies. A session that is over
// is closed first; nothing counts as activity. Errors: thread.ErrNotFound.
func (d *Service) Thread(ctx context.Context, id string) (thread.Layers, error) {
	if err := d.current(ctx, id); err != nil {
		return thread.Layers{}, err
	}
	return d.Manager.Status(ctx, id, thread.Use{})
}

// Threads are by id those behind after, at most limit (1 to thread.MaxPage). next is the after of
// the next part, "" at the end.
func (d *Service) Threads(ctx context.Context, after string, limit int) (list []thread.Layers, next string, err error) {
	if err := d.available(); err != nil {
		return nil, "", err
	}
	threads, err := d.Manager.Threads(after, limit)
	if err != nil {
		return nil, "", err
	}
	if limit > 0 && len(threads) == limit {
		next = threads[limit-1].ID
	}
	list = make([]thread.Layers, 0, len(threads))
	for _, t := range threads {
		l, err := d.Manager.Status(ctx, t.ID, thread.Use{})
		if isMissing(err) {
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
// (thread.ErrDeleting): terminals with their screens, shells
// with their logs, records with their files, rows and events. Errors: thread.ErrNotFound,
// ErrProvider, those of Delete and Delete.
func (d *Service) DeleteThread(ctx context.Context, id string) error {
	if err := d.current(ctx, id); err != nil {
		return err
	}
	if _, err := d.Manager.Thread(id); err != nil {
		return err
	}
	open, err := d.doors.close(ctx, id)
	if err != nil {
		return err
	}
	defer open()
	if err := errors.Join(d.removeTerminals(ctx, id), d.shells.DeleteSession(ctx, id)); err != nil {
		return err
	}
	_ = d.flush(ctx)
	if err := d.deleteConversations(ctx, id); err != nil {
		return err
	}
	d.pauses.forget(id)
	return nil
}

// removeTerminals ends and removes all terminals of a thread, deleted ones too.
func (d *Service) removeTerminals(ctx context.Context, thread string) error {
	var list []*terminal.Terminal
	for _, t := range d.terminals.Unsorted() {
		if t.In(thread) {
			list = append(list, t)
		}
	}
	return parallel.Each(list, registry.DeletesAtOnce, func(t *terminal.Terminal) error {
		return d.terminals.Delete(ctx, t, true)
	})
}

// TouchThread is activity. Errors: thread.ErrExpired, ErrNotFound.
func (d *Service) TouchThread(ctx context.Context, id string) (thread.Layers, error) {
	if err := d.available(); err != nil {
		return thread.Layers{}, err
	}
	if err := d.Manager.Touch(id); err != nil {
		return thread.Layers{}, err
	}
	return d.Manager.Status(ctx, id, thread.Use{})
}

// PauseThread stops the processes of a thread (SIGSTOP of the trees, or the provider's pause). A
// second time changes nothing. Errors: thread.ErrNotFound, ErrTransition, ErrInUse, ErrProvider.
func (d *Service) PauseThread(ctx context.Context, id string) (thread.Layers, error) {
	return d.change(ctx, id, (*lifecycle.Manager).Pause)
}

// ResumeThread is the reverse. Commands and input resume a thread too.
func (d *Service) ResumeThread(ctx context.Context, id string) (thread.Layers, error) {
	return d.change(ctx, id, (*lifecycle.Manager).Resume)
}

// DestroyThread ends the processes, the session and the compute that nobody else uses; the
// terminals and the lease stay, and the next use goes on in their state.
func (d *Service) DestroyThread(ctx context.Context, id string) (thread.Layers, error) {
	l, err := d.change(ctx, id, (*lifecycle.Manager).Destroy)
	if err != nil {
		return l, err
	}
	for _, t := range d.terminals.List(id) {
		if !t.Running() {
			t.EndLeftovers(ctx)
		}
	}
	return l, nil
}

func (d *Service) change(ctx context.Context, id string,
	do func(*lifecycle.Manager, context.Context, string) error) (thread.Layers, error) {
	if err := d.current(ctx, id); err != nil {
		return thread.Layers{}, err
	}
	if err := do(d.Manager, ctx, id); err != nil {
		return thread.Layers{}, err
	}
	return d.Manager.Status(ctx, id, thread.Use{})
}

// SetThreadPolicy changes what sessions of a thread may, the live one too; from now on its policy
// counts as chosen (see end). Errors: thread.ErrNotFound, ErrInvalid.
func (d *Service) SetThreadPolicy(ctx context.Context, id string, p thread.Policy) (thread.Layers, error) {
	if err := d.available(); err != nil {
		return thread.Layers{}, err
	}
	if err := d.Manager.SetPolicy(id, p); err != nil {
		return thread.Layers{}, err
	}
	return d.Manager.Status(ctx, id, thread.Use{})
}

// ThreadSessions are the sessions of a thread, the newest first. Errors: thread.ErrNotFound.
func (d *Service) ThreadSessions(id string) ([]thread.Session, error) {
	if err := d.available(); err != nil {
		return nil, err
	}
	return d.Manager.Sessions(id)
}

// ThreadTerminals are the terminals of a thread behind the one with the id after, from the oldest for "", at most
// limit; 0 is all. next is the after of the next part, "" at the end. A part costs what it has. Errors:
// thread.ErrNotFound.
func (d *Service) ThreadTerminals(ctx context.Context, id, after string, limit int) (replies []thread.TerminalReply,
	next string, err error) {
	rows := math.MaxInt32
	if limit > 0 {
		rows = limit + 1
		err = d.refreshPart(ctx, id, after, rows)
	} else {
		err = d.current(ctx, id)
	}
	if err != nil {
		return nil, "", err
	}
	th, err := d.Manager.Thread(id)
	if err != nil {
		return nil, "", err
	}
	list, err := d.Manager.TerminalPart(id, after, rows)
	if limit > 0 && len(list) > limit {
		list, next = list[:limit], list[limit-1].ID
	}
	replies = make([]thread.TerminalReply, 0, len(list))
	for _, t := range list {
		replies = append(replies, thread.Layers{Thread: th, Terminal: t}.TerminalReply())
	}
	return replies, next, err
}

// refreshPart is current for a part of the terminals of a thread.
func (d *Service) refreshPart(ctx context.Context, id, after string, limit int) error {
	if err := d.current(ctx, ""); err != nil {
		return err
	}
	list, err := d.Manager.TerminalPart(id, after, limit)
	if err != nil {
		return err
	}
	wanted := make(map[string]bool, len(list))
	for _, t := range list {
		wanted[t.ID] = true
	}
	patience, cancel := context.WithTimeout(ctx, currentPatience)
	defer cancel()
	d.refresh(patience, id, func(id string) bool { return wanted[id] })
	return d.current(ctx, "")
}

// ActivateTerminal makes a terminal the one that is meant when none is named. Errors:
// thread.ErrNotFound.
func (d *Service) ActivateTerminal(ctx context.Context, threadID, terminal string) (thread.Layers, error) {
	if err := d.available(); err != nil {
		return thread.Layers{}, err
	}
	if err := d.Manager.Activate(threadID, terminal); err != nil {
		return thread.Layers{}, err
	}
	return d.Manager.Status(ctx, threadID, thread.Use{Terminal: terminal})
}

// TerminalHistory is the versions of a terminal's state, the newest first. Errors:
// thread.ErrNotFound.
func (d *Service) TerminalHistory(ctx context.Context, thread, terminal string) ([]thread.State, error) {
	if err := d.current(ctx, thread); err != nil {
		return nil, err
	}
	if err := d.owns(thread, terminal); err != nil {
		return nil, err
	}
	return d.Manager.History(terminal)
}

// owns reports whether a terminal is the thread's. Errors: thread.ErrNotFound.
func (d *Service) owns(threadID, terminal string) error {
	t, err := d.Manager.Terminal(terminal)
	if err == nil && t.Thread != threadID {
		err = fmt.Errorf("terminal %s of thread %s: %w", terminal, threadID, thread.ErrNotFound)
	}
	return err
}

// ThreadCommands are commands of a thread in the order in which they began. Errors:
// thread.ErrNotFound (the thread, or Before).
func (d *Service) ThreadCommands(ctx context.Context, q thread.CommandQuery) ([]thread.Command, error) {
	if err := d.current(ctx, q.Thread); err != nil {
		return nil, err
	}
	return d.Manager.Commands(q)
}
