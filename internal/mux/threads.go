package mux

import (
	"context"
	"errors"
	"fmt"

	"github.com/evertty/evertty/internal/thread"
)

// Threads, as routes see them. A thread's id is the session of terminals and shells: whatever is used first of the two makes all layers of the other.
//
// Every method fails with ErrNoRecords when there is no database, and else with the errors of the session.Manager's method of that name.

// CreateThread makes a thread that is not there yet, with its session, first terminal and lease. The id "" lets the server choose one.
// Errors: session.ErrConflict, ErrInvalid, ErrNoProvider, ErrNotFound (u.Lease), ErrProvider.
func (m *Mux) CreateThread(ctx context.Context, id string, u thread.Use) (thread.Layers, error) {
	d, err := m.durable()
	if err != nil {
		return thread.Layers{}, err
	}
	return d.CreateThread(ctx, id, u)
}

// DefaultPolicy is that of threads that bring none.
func (m *Mux) DefaultPolicy() thread.Policy { return *m.cfg.Policy }

// Thread is a thread with its session, active terminal and lease, as they are: SessionReply, TerminalReply, LeaseReply and ThreadReply of the Layers are the
// replies. A session that is over is closed first; nothing counts as activity. Errors: session.ErrNotFound.
func (m *Mux) Thread(ctx context.Context, id string) (thread.Layers, error) {
	d, err := m.current(ctx, id)
	if err != nil {
		return thread.Layers{}, err
	}
	return d.Status(ctx, id, thread.Use{})
}

// Threads are by id those behind after, at most limit (1 to session.MaxPage). next is the after of the next part, "" at the end.
func (m *Mux) Threads(ctx context.Context, after string, limit int) (list []thread.Layers, next string, err error) {
	d, err := m.durable()
	if err != nil {
		return nil, "", err
	}
	threads, err := d.Threads(after, limit)
	if err != nil {
		return nil, "", err
	}
	if limit > 0 && len(threads) == limit {
		next = threads[limit-1].ID
	}
	list = make([]thread.Layers, 0, len(threads))
	for _, t := range threads {
		l, err := d.Status(ctx, t.ID, thread.Use{})
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

// DeleteThread ends everything of a thread and removes it: terminals with their screens, shells with their logs, records with their files, rows and events. Errors: session.ErrNotFound,
// ErrProvider, those of Delete and DeleteShell.
func (m *Mux) DeleteThread(ctx context.Context, id string) error {
	d, err := m.current(ctx, id)
	if err != nil {
		return err
	}
	if _, err := d.Manager.Thread(id); err != nil {
		return err
	}
	if err := errors.Join(m.removeTerminals(ctx, id), m.DeleteShells(ctx, id)); err != nil {
		return err
	}
	_ = d.flush(ctx)
	if err := d.deleteRecords(ctx, id); err != nil {
		return err
	}
	d.pauses.forget(id)
	return nil
}

// removeTerminals ends and removes all terminals of a thread, deleted ones too.
func (m *Mux) removeTerminals(ctx context.Context, thread string) error {
	var list []*Terminal
	for _, t := range m.unsorted() {
		if t.in(thread) {
			list = append(list, t)
		}
	}
	return each(list, deletesAtOnce, func(t *Terminal) error { return m.Delete(ctx, t, true) })
}

// TouchThread is activity. Errors: session.ErrExpired, ErrNotFound.
func (m *Mux) TouchThread(ctx context.Context, id string) (thread.Layers, error) {
	d, err := m.durable()
	if err != nil {
		return thread.Layers{}, err
	}
	if err := d.Touch(id); err != nil {
		return thread.Layers{}, err
	}
	return d.Status(ctx, id, thread.Use{})
}

// PauseThread stops the processes of a thread (SIGSTOP of the trees, or the provider's pause). A second time changes nothing.
// Errors: session.ErrNotFound, ErrTransition, ErrInUse, ErrProvider.
func (m *Mux) PauseThread(ctx context.Context, id string) (thread.Layers, error) {
	return m.change(ctx, id, (*thread.Manager).Pause)
}

// ResumeThread is the reverse. Commands and input resume a thread too.
func (m *Mux) ResumeThread(ctx context.Context, id string) (thread.Layers, error) {
	return m.change(ctx, id, (*thread.Manager).Resume)
}

// DestroyThread ends the processes, the session and the compute that nobody else uses; the terminals and the lease stay, and the next use goes on in their state.
func (m *Mux) DestroyThread(ctx context.Context, id string) (thread.Layers, error) {
	l, err := m.change(ctx, id, (*thread.Manager).Destroy)
	if err != nil {
		return l, err
	}
	for _, t := range m.List(id) {
		if !t.running() {
			t.endRest(ctx)
		}
	}
	return l, nil
}

func (m *Mux) change(ctx context.Context, id string, do func(*thread.Manager, context.Context, string) error) (thread.Layers, error) {
	d, err := m.current(ctx, id)
	if err != nil {
		return thread.Layers{}, err
	}
	if err := do(d.Manager, ctx, id); err != nil {
		return thread.Layers{}, err
	}
	return d.Status(ctx, id, thread.Use{})
}

// SetThreadPolicy changes what sessions of a thread may, the live one too; from now on its policy counts as chosen (see end). Errors: session.ErrNotFound, ErrInvalid.
func (m *Mux) SetThreadPolicy(ctx context.Context, id string, p thread.Policy) (thread.Layers, error) {
	d, err := m.durable()
	if err != nil {
		return thread.Layers{}, err
	}
	if err := d.SetPolicy(id, p); err != nil {
		return thread.Layers{}, err
	}
	return d.Status(ctx, id, thread.Use{})
}

// ThreadSessions are the sessions of a thread, the newest first. Errors: session.ErrNotFound.
func (m *Mux) ThreadSessions(id string) ([]thread.Session, error) {
	d, err := m.durable()
	if err != nil {
		return nil, err
	}
	return d.Sessions(id)
}

// ThreadTerminals are the terminals of a thread, the oldest first. Errors: session.ErrNotFound.
func (m *Mux) ThreadTerminals(ctx context.Context, id string) ([]thread.TerminalReply, error) {
	d, err := m.current(ctx, id)
	if err != nil {
		return nil, err
	}
	th, err := d.Manager.Thread(id)
	if err != nil {
		return nil, err
	}
	list, err := d.Terminals(id)
	replies := make([]thread.TerminalReply, 0, len(list))
	for _, t := range list {
		replies = append(replies, thread.Layers{Thread: th, Terminal: t}.TerminalReply())
	}
	return replies, err
}

// ActivateTerminal makes a terminal the one that is meant when none is named. Errors: session.ErrNotFound.
func (m *Mux) ActivateTerminal(ctx context.Context, threadID, terminal string) (thread.Layers, error) {
	d, err := m.durable()
	if err != nil {
		return thread.Layers{}, err
	}
	if err := d.Activate(threadID, terminal); err != nil {
		return thread.Layers{}, err
	}
	return d.Status(ctx, threadID, thread.Use{Terminal: terminal})
}

// TerminalHistory is the versions of a terminal's state, the newest first. Errors: session.ErrNotFound.
func (m *Mux) TerminalHistory(ctx context.Context, thread, terminal string) ([]thread.State, error) {
	d, err := m.current(ctx, thread)
	if err != nil {
		return nil, err
	}
	if err := d.owns(thread, terminal); err != nil {
		return nil, err
	}
	return d.History(terminal)
}

// owns tells whether a terminal is the thread's. Errors: session.ErrNotFound.
func (d *durable) owns(threadID, terminal string) error {
	t, err := d.Terminal(terminal)
	if err == nil && t.Thread != threadID {
		err = fmt.Errorf("terminal %s of thread %s: %w", terminal, threadID, thread.ErrNotFound)
	}
	return err
}

// ThreadCommands are commands of a thread in the order in which they began. Errors: session.ErrNotFound (the thread, or Before).
func (m *Mux) ThreadCommands(ctx context.Context, q thread.CommandQuery) ([]thread.Command, error) {
	d, err := m.current(ctx, q.Thread)
	if err != nil {
		return nil, err
	}
	return d.Commands(q)
}
