package lifecycle

import (
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

// Ends of the history of a terminal's states.
const (
	maxStates   = 1000 // versions of a terminal that are kept
	trimStates  = 64   // versions after which old ones are looked for
	busyUpdates = 120  // versions in busyTime that are told as TerminalBusy
	busyTime    = time.Minute
)

// rate counts versions in the time that began at since.
type rate struct {
	since time.Time
	n     int
}

// Save makes a new version of a terminal's state when s differs from the present one; version and
// time of s do not matter. Errors: ErrNotFound, ErrInvalid, ErrNoSpace.
func (m *Manager) Save(terminal string, s thread.State) (t thread.Terminal, changed bool, err error) {
	if s, err = s.Normal(); err != nil {
		return t, false, err
	}
	return m.saveIf(terminal, func(thread.State) thread.State { return s })
}

// SaveCwd is Save of another directory with the environment as it is, for who knows nothing else of
// the process.
func (m *Manager) SaveCwd(terminal, cwd string) (t thread.Terminal, changed bool, err error) {
	if _, err := thread.NewState(cwd).Normal(); err != nil {
		return t, false, err
	}
	return m.saveIf(terminal, func(s thread.State) thread.State { s.Cwd = cwd; return s })
}

// saveIf asks before it writes: most saves change nothing, and reading waits for nobody.
func (m *Manager) saveIf(terminal string,
	next func(thread.State) thread.State) (t thread.Terminal, changed bool, err error) {
	same := false
	err = m.view(func(tx thread.Tx) error {
		t, err = tx.Terminal(terminal)
		same = t.State.Same(next(t.State))
		return err
	})
	if err != nil || same {
		m.countSame(err == nil)
		return t, false, err
	}
	err = m.update(func(c *change) error {
		now, err := c.Terminal(terminal)
		if err != nil {
			return err
		}
		t, changed, err = c.save(now, next(now.State), thread.TerminalState)
		return err
	})
	return t, changed, err
}

func (m *Manager) countSame(same bool) {
	if same {
		m.mu.Lock()
		m.stats.StateUnchanged++
		m.mu.Unlock()
	}
}

func (c *change) save(t thread.Terminal, s thread.State, kind string) (thread.Terminal, bool, error) {
	if t.State.Same(s) {
		return t, false, nil
	}
	s.Version, s.At = t.State.Version+1, c.now
	t.State, t.UpdatedAt = s, c.now
	if err := c.PutState(t.ID, s); err != nil {
		return t, false, err
	}
	if s.Version%trimStates == 0 {
		if err := c.TrimStates(t.ID, s.Version-maxStates); err != nil {
			return t, false, err
		}
	}
	if err := c.PutTerminal(t); err != nil {
		return t, false, err
	}
	c.count(func(st *Stats) { st.StateUpdates++ })
	if err := c.emit(t.Thread, kind, thread.Detail{Terminal: t.ID, Cwd: s.Cwd, Version: s.Version}); err != nil {
		return t, false, err
	}
	return t, true, c.watch(t)
}

// watch tells when a terminal changes its state too often: something saves what is not a state.
func (c *change) watch(t thread.Terminal) error {
	c.m.mu.Lock()
	r := c.m.busy[t.ID]
	if c.now.Sub(r.since) >= busyTime {
		r = rate{since: c.now}
	}
	r.n++
	c.m.busy[t.ID] = r
	c.m.mu.Unlock()
	if r.n != busyUpdates+1 { // told once in each busyTime
		return nil
	}
	c.count(func(st *Stats) { st.StateTooOften++ })
	return c.emit(t.Thread, thread.TerminalBusy,
		thread.Detail{Terminal: t.ID, Version: t.State.Version,
			Reason: fmt.Sprintf("more than %d versions in %s", busyUpdates, busyTime)})
}

// History is the versions of a terminal's state, the newest first, at most maxStates. Errors:
// ErrNotFound.
func (m *Manager) History(terminal string) (list []thread.State, err error) {
	return list, m.view(func(tx thread.Tx) error {
		if _, err := tx.Terminal(terminal); err != nil {
			return err
		}
		list, err = tx.States(terminal)
		return err
	})
}

// Rollback makes a new version that equals an old one. The processes that run learn nothing of it:
// the next one starts there. Errors: ErrNotFound (no such terminal, or the version is not kept).
func (m *Manager) Rollback(terminal string, version int64) (t thread.Terminal, err error) {
	return t, m.update(func(c *change) error {
		now, err := c.Terminal(terminal)
		if err != nil {
			return err
		}
		s, err := c.State(terminal, version)
		if err != nil {
			return err
		}
		t, _, err = c.save(now, s, thread.TerminalRolledBack)
		return err
	})
}

// Terminal finds a terminal. Errors: ErrNotFound.
func (m *Manager) Terminal(id string) (t thread.Terminal, err error) {
	return t, m.view(func(tx thread.Tx) error { t, err = tx.Terminal(id); return err })
}

// Terminals are those of a thread, the oldest first. Errors: ErrNotFound.
func (m *Manager) Terminals(threadID string) (list []thread.Terminal, err error) {
	return list, m.view(func(tx thread.Tx) error {
		if _, err := tx.Thread(threadID); err != nil {
			return err
		}
		list, err = tx.Terminals(threadID)
		return err
	})
}

// TerminalPart is those of Terminals behind the one with the id after, from the first for "", at most limit. Errors:
// ErrNotFound, also when after is no terminal of the thread.
func (m *Manager) TerminalPart(threadID, after string, limit int) (list []thread.Terminal, err error) {
	return list, m.view(func(tx thread.Tx) error {
		if _, err := tx.Thread(threadID); err != nil {
			return err
		}
		if after != "" {
			if t, err := tx.Terminal(after); err != nil {
				return err
			} else if t.Thread != threadID {
				return fmt.Errorf("terminal %s of thread %s: %w", after, threadID, thread.ErrNotFound)
			}
		}
		list, err = tx.TerminalPart(threadID, after, limit)
		return err
	})
}

// Describe keeps what lists tell of a terminal beside its state. Errors: ErrNotFound, ErrConflict
// (the name), ErrInvalid.
func (m *Manager) Describe(terminal, name, title string, cols, rows int) error {
	if name != "" {
		if err := checkID("terminal name", name); err != nil {
			return err
		}
	}
	return m.update(func(c *change) error {
		t, err := c.Terminal(terminal)
		if err != nil {
			return err
		}
		if name != "" {
			t.Name = name
		}
		t.Title, t.Cols, t.Rows = thread.Clip(title, thread.MaxLine), cols, rows
		return c.PutTerminal(t)
	})
}

// Activate makes a terminal the one that is meant when none is named. Errors: ErrNotFound (also one
// of another thread).
func (m *Manager) Activate(threadID, terminal string) error {
	return m.update(func(c *change) error {
		th, err := c.Thread(threadID)
		if err != nil {
			return err
		}
		t, err := c.Terminal(terminal)
		if err != nil {
			return err
		}
		if t.Thread != threadID {
			return fmt.Errorf("terminal %s of thread %s: %w", terminal, threadID, thread.ErrNotFound)
		}
		if th.Active == terminal {
			return nil
		}
		th.Active, th.UpdatedAt = terminal, c.now
		if err := c.PutThread(th); err != nil {
			return err
		}
		return c.emit(threadID, thread.TerminalActivated, thread.Detail{Terminal: terminal})
	})
}

// DeleteTerminal removes a terminal with all that is kept of it. Another one of the thread takes
// its place as active and default. Errors: ErrNotFound, ErrInUse (a process runs in it).
func (m *Manager) DeleteTerminal(terminal string) error {
	return m.update(func(c *change) error { return c.deleteTerminal(terminal) })
}

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
	if err := c.Tx.DeleteTerminal(terminal); err != nil {
		return err
	}
	c.after = append(c.after, func() { delete(c.m.busy, terminal) })
	return c.emit(t.Thread, thread.TerminalDeleted, thread.Detail{Terminal: terminal})
}

func (c *change) unsetActive(t thread.Terminal) error {
	th, err := c.Thread(t.Thread)
	if err != nil || th.Active != t.ID && th.Default != t.ID {
		return err
	}
	list, err := c.TerminalPart(t.Thread, "", 2) // t and another one
	if err != nil {
		return err
	}
	next := ""
	for _, other := range list {
		if other.ID != t.ID {
			next = other.ID
			break
		}
	}
	if th.Active == t.ID {
		th.Active = next
	}
	if th.Default == t.ID {
		th.Default = next
	}
	th.UpdatedAt = c.now
	return c.PutThread(th)
}
