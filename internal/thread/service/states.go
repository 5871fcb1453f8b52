package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
	"github.com/evertty/evertty/wire"
)

// Ends of the history of a terminal's states.
const (
	maxStates   = 1000 // versions of a terminal that are kept
	trimStates  = 64   // versions after which old ones are looked for
	busyUpdates = 120  // versions in busyTime above which thread.TerminalBusy is emitted
	busyTime    = time.Minute
)

// States are the terminals of threads with the versions of their states: what outlives their
// processes. It has no state of its own.
type States struct {
	*database
	*parts
	lifecycle *lifecycle
	recorder  *recorder
	hooks     *hooks
	remote    *remote
}

// save makes a new version of a terminal's state when s is another one; version and time of s do not
// matter. kind is the type of its event.
func (c *change) save(t thread.Terminal, s thread.State, kind string) (thread.Terminal, error) {
	if t.State.Same(s) {
		return t, nil
	}
	s.Version, s.At = t.State.Version+1, c.now
	t.State, t.UpdatedAt = s, c.now
	c.PutState(t.ID, s)
	if s.Version%trimStates == 0 {
		c.TrimStates(t.ID, s.Version-maxStates)
	}
	c.PutTerminal(t)
	c.count(func(st *Stats) { st.StateUpdates++ })
	if err := c.emit(t.Thread, kind, thread.Detail{TerminalID: t.ID, Cwd: s.Cwd, Version: s.Version}); err != nil {
		return t, err
	}
	if c.db.rated(t.ID, c.now) != busyUpdates+1 { // once in each busyTime
		return t, nil
	}
	c.count(func(st *Stats) { st.StateTooOften++ })
	return t, c.emit(t.Thread, thread.TerminalBusy, thread.Detail{TerminalID: t.ID, Version: t.State.Version,
		Reason: fmt.Sprintf("more than %d versions in %s", busyUpdates, busyTime)})
}

// rollback makes a new version that equals an old one. The processes that run do not follow: the
// next one starts there. Errors: thread.ErrNotFound (no such terminal of the thread, or the version
// is not kept).
func (st *States) rollback(threadID, terminal string, version int64) (t thread.Terminal, err error) {
	return t, st.update(func(c *change) error {
		now, err := terminalOf(c.Tx, threadID, terminal)
		if err != nil {
			return err
		}
		s, err := c.State(terminal, version)
		if err != nil {
			return err
		}
		t, err = c.save(now, s, thread.TerminalRolledBack)
		return err
	})
}

// page returns the terminals of a thread behind the one with the id after, from the oldest for "", at
// most limit; 0 is all. Errors: thread.ErrNotFound, also when after is no terminal of the thread.
func (st *States) page(threadID, after string, limit int) ([]thread.Terminal, error) {
	return readOf(st.database, threadID, func(tx *sqlite.Tx) ([]thread.Terminal, error) {
		if after != "" {
			if _, err := terminalOf(tx, threadID, after); err != nil {
				return nil, err
			}
		}
		return tx.Terminals(threadID, after, limit)
	})
}

// terminalOf finds a terminal of a thread. Errors: thread.ErrNotFound.
func terminalOf(tx *sqlite.Tx, threadID, terminal string) (thread.Terminal, error) {
	t, err := tx.Terminal(terminal)
	if err == nil && t.Thread != threadID {
		err = fmt.Errorf("terminal %s: %w", terminal, thread.ErrNotFound) // as one that is nowhere
	}
	return t, err
}

// deleteTerminal removes a terminal with its history. Another terminal of the thread takes its place
// as active and default. Errors: thread.ErrNotFound, ErrInUse (a process runs in it).
func (c *change) deleteTerminal(terminal string) error {
	t, err := c.Terminal(terminal)
	if err != nil {
		return err
	}
	if r, err := c.LastRuntime(terminal); err == nil && r.Live() {
		return fmt.Errorf("%w: process %d runs in terminal %s", thread.ErrInUse, r.PID, terminal)
	} else if err != nil && !missing(err) {
		return err
	}
	if err := c.unsetActive(t); err != nil {
		return err
	}
	c.DeleteTerminal(terminal)
	c.after = append(c.after, func() { delete(c.db.busy, terminal) })
	return c.emit(t.Thread, thread.TerminalDeleted, thread.Detail{TerminalID: terminal})
}

func (c *change) unsetActive(t thread.Terminal) error {
	th, err := c.Thread(t.Thread)
	if err != nil || th.Active != t.ID && th.Default != t.ID {
		return err
	}
	list, err := c.Terminals(t.Thread, "", 2) // t and another one
	if err != nil {
		return err
	}
	next := ""
	if i := slices.IndexFunc(list, func(other thread.Terminal) bool { return other.ID != t.ID }); i >= 0 {
		next = list[i].ID
	}
	if th.Active == t.ID {
		th.Active = next
	}
	if th.Default == t.ID {
		th.Default = next
	}
	th.UpdatedAt = c.now
	c.PutThread(th)
	return nil
}

// ThreadTerminals returns the terminals of a thread behind the one with the id after, from the oldest
// for "", at most limit; 0 is all. next is the after of the next part, "" at the end. A part costs
// what it has. Errors: thread.ErrNotFound.
func (st *States) ThreadTerminals(ctx context.Context, id, after string, limit int) (replies []wire.ThreadTerminal,
	next string, err error) {
	rows := limit
	if limit > 0 {
		rows++ // one more tells whether there are others
		err = st.currentPart(ctx, id, after, rows)
	} else {
		err = st.recorder.current(ctx, id)
	}
	if err != nil {
		return nil, "", err
	}
	th, err := st.thread(id)
	if err != nil {
		return nil, "", err
	}
	list, err := st.page(id, after, rows)
	list, next = pageOf(list, limit, func(t thread.Terminal) string { return t.ID })
	replies = make([]wire.ThreadTerminal, 0, len(list))
	for _, t := range list {
		replies = append(replies, thread.Layers{Thread: th, Terminal: t}.WireTerminal())
	}
	return replies, next, err
}

// pageOf cuts a list that was read with one row more than limit, which tells whether there are
// others: then next is the id of the last row, else "". A limit of 0 cuts nothing.
func pageOf[T any](list []T, limit int, id func(T) string) (page []T, next string) {
	if limit == 0 || len(list) <= limit {
		return list, ""
	}
	return list[:limit], id(list[limit-1])
}

// currentPart is recorder.current for a part of the terminals of a thread.
func (st *States) currentPart(ctx context.Context, id, after string, limit int) error {
	if err := st.recorder.current(ctx, ""); err != nil {
		return err
	}
	list, err := st.page(id, after, limit)
	if err != nil {
		return err
	}
	wanted := make(map[string]bool, len(list))
	for _, t := range list {
		wanted[t.ID] = true
	}
	patience, cancel := context.WithTimeout(ctx, currentTimeout)
	defer cancel()
	st.recorder.refresh(patience, id, func(id string) bool { return wanted[id] })
	return st.recorder.current(ctx, "")
}

// ActivateTerminal makes a terminal the one that is meant when none is named. Errors:
// thread.ErrNotFound, also of a terminal of another thread.
func (st *States) ActivateTerminal(ctx context.Context, threadID, terminal string) (thread.Layers, error) {
	err := st.update(func(c *change) error {
		th, err := c.Thread(threadID)
		if err != nil {
			return err
		}
		if _, err := terminalOf(c.Tx, threadID, terminal); err != nil || th.Active == terminal {
			return err
		}
		th.Active, th.UpdatedAt = terminal, c.now
		c.PutThread(th)
		return c.emit(threadID, thread.TerminalActivated, thread.Detail{TerminalID: terminal})
	})
	if err != nil {
		return thread.Layers{}, err
	}
	return st.lifecycle.status(ctx, threadID, thread.Use{Terminal: terminal})
}

// TerminalHistory returns the versions of a terminal's state, the newest first. Errors:
// thread.ErrNotFound.
func (st *States) TerminalHistory(ctx context.Context, threadID, terminal string) ([]thread.State, error) {
	if err := st.recorder.current(ctx, threadID); err != nil {
		return nil, err
	}
	return read(st.database, func(tx *sqlite.Tx) ([]thread.State, error) {
		if _, err := terminalOf(tx, threadID, terminal); err != nil {
			return nil, err
		}
		return tx.States(terminal)
	})
}

// When a rollback has an effect: wire.RolledBack.Applied.
const (
	AppliedNow    = "now"    // the shell is in that directory with that environment
	AppliedQueued = "queued" // it will be, when the commands before are done
	AppliedNext   = "next"   // the next start of the program is there: one that runs cannot be told
)

// rollPatience is how long a rollback waits for the commands before it.
const rollPatience = 2 * time.Second

// RollbackTerminal makes a new version of a terminal's state that equals an old one. A shell gets
// it at its next turn: it goes to the directory, exports and unsets. A program on a PTY is left
// alone, its next start is there. Errors: thread.ErrNotFound (the thread, the terminal, or the
// version is not kept), any of Submit.
func (st *States) RollbackTerminal(ctx context.Context, threadID, terminalID string,
	version int64) (wire.RolledBack, error) {
	if err := st.recorder.current(ctx, threadID); err != nil {
		return wire.RolledBack{}, err
	}
	t, err := st.rollback(threadID, terminalID, version)
	if err != nil {
		return wire.RolledBack{}, err
	}
	th, err := st.thread(threadID)
	if err != nil {
		return wire.RolledBack{}, err
	}
	place, err := st.remote.terminalProvider(threadID)
	if err != nil {
		return wire.RolledBack{}, err
	}
	reply := wire.RolledBack{ThreadTerminal: thread.Layers{Thread: th, Terminal: t}.WireTerminal()}
	if _, gone := terminal.StartDir(place, t.State.Cwd); place == "" && gone != "" {
		reply.CwdFallback = t.State.Cwd
	}
	reply.Applied, err = st.applyState(ctx, threadID, terminalID, t.State)
	if s := st.shells.Lookup(threadID, terminalID); s != nil && reply.CwdFallback != "" && reply.Applied == AppliedNow {
		reply.Cwd = s.State().Cwd
	}
	return reply, err
}

func (st *States) applyState(ctx context.Context, threadID, terminalID string, to thread.State) (string, error) {
	s := st.shells.Lookup(threadID, terminalID)
	if s == nil {
		return AppliedNext, nil
	}
	if err := st.hooks.authorizeCommand(s); err != nil {
		return "", err
	}
	limit, cancel := context.WithTimeout(ctx, rollPatience)
	defer cancel()
	submitted, err := s.Roll(limit, to.Cwd, to.Env, to.Unset)
	switch {
	case err == nil:
		return AppliedNow, nil
	case submitted && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return AppliedQueued, nil
	}
	return "", err
}
