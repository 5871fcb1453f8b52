package lifecycle

import (
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

// Process is what is known of a process when it begins.
type Process struct {
	PID      int // 0: it is being started, and StartedRuntime tells the rest
	PIDStart int64
	Boot     string
}

// BeginRuntime notes that a process begins to visit a terminal. One that was there and never ended
// is lost. Errors: ErrNotFound.
func (m *Manager) BeginRuntime(terminal string, p Process) (r thread.Runtime, err error) {
	return r, m.update(func(c *change) error {
		r, err = c.beginRuntime(terminal, p)
		return err
	})
}

func (c *change) beginRuntime(terminal string, p Process) (thread.Runtime, error) {
	t, err := c.Terminal(terminal)
	if err != nil {
		return thread.Runtime{}, err
	}
	last, err := c.LastRuntime(terminal)
	if err != nil && !missing(err) {
		return last, err
	}
	if last.Live() {
		if err := c.endRuntime(t, last, RuntimeEnd{Lost: true}); err != nil {
			return last, err
		}
	}
	r := thread.Runtime{ID: newID("runtime"), Terminal: terminal, Generation: last.Generation + 1, PID: p.PID,
		PIDStart: p.PIDStart, Boot: p.Boot, State: thread.Up, StartedAt: c.now}
	if s, ok := c.m.window(t.Thread); ok {
		r.Session = s.ID
	}
	if p.PID == 0 {
		r.State = thread.Starting
		return r, c.PutRuntime(r)
	}
	return r, c.startedRuntime(t, r)
}

func (c *change) startedRuntime(t thread.Terminal, r thread.Runtime) error {
	if err := c.PutRuntime(r); err != nil {
		return err
	}
	return c.emit(t.Thread, thread.RuntimeStarted,
		thread.Detail{Terminal: t.ID, Runtime: r.ID, Session: r.Session, PID: r.PID, Version: r.Generation})
}

// StartedRuntime notes that a process that was being started runs. Errors: ErrNotFound,
// ErrTransition, ErrInvalid.
func (m *Manager) StartedRuntime(id string, p Process) error {
	if p.PID <= 0 {
		return fmt.Errorf("%w: process id %d", thread.ErrInvalid, p.PID)
	}
	return m.update(func(c *change) error {
		r, err := c.Runtime(id)
		if err != nil {
			return err
		}
		t, err := c.Terminal(r.Terminal)
		if err != nil {
			return err
		}
		if r, err = r.To(thread.Up); err != nil {
			return err
		}
		r.PID, r.PIDStart, r.Boot = p.PID, p.PIDStart, p.Boot
		return c.startedRuntime(t, r)
	})
}

// RuntimeEnd is how a process ended.
type RuntimeEnd struct {
	Code   *int   // nil when nobody knows
	Signal string // that ended it; "" is none
	Lost   bool   // it is gone and nobody saw how
}

// EndRuntime notes the end of a process, and nothing of its commands: who ran them knows how they
// ended. A second end is ignored. Errors: ErrNotFound.
func (m *Manager) EndRuntime(id string, e RuntimeEnd) error {
	return m.update(func(c *change) error {
		r, err := c.Runtime(id)
		if err != nil || !r.Live() {
			return err
		}
		t, err := c.Terminal(r.Terminal)
		if err != nil {
			return err
		}
		return c.endRuntime(t, r, e)
	})
}

func (c *change) endRuntime(t thread.Terminal, r thread.Runtime, e RuntimeEnd) error {
	next, kind := thread.Exited, thread.RuntimeExited
	if e.Lost {
		next, kind = thread.Lost, thread.RuntimeLost
	}
	r, err := r.To(next)
	if err != nil {
		return err
	}
	r.ExitCode, r.Signal, r.EndedAt = e.Code, e.Signal, c.now
	if err := c.PutRuntime(r); err != nil {
		return err
	}
	return c.emit(t.Thread, kind, thread.Detail{Terminal: t.ID, Runtime: r.ID, PID: r.PID, ExitCode: r.ExitCode,
		Signal: r.Signal, Version: r.Generation})
}

// Runtimes that may be alive, of a thread, or of all with "".
func (m *Manager) Runtimes(threadID string) (list []thread.Runtime, err error) {
	return list, m.view(func(tx thread.Tx) error { list, err = tx.LiveRuntimes(threadID); return err })
}

// LastRuntime is the newest process of a terminal. Errors: ErrNotFound.
func (m *Manager) LastRuntime(terminal string) (r thread.Runtime, err error) {
	return r, m.view(func(tx thread.Tx) error { r, err = tx.LastRuntime(terminal); return err })
}

// BeginCommand notes a command that waits or runs: ID (the caller's, or "" for one of ours),
// Terminal, Line, Cwd and Status are the least. Called again with the same ID it notes that a
// waiting one runs now. It is activity, and counts against the session's budget. Errors:
// ErrNotFound, ErrExpired (Open first), ErrBudget (it must not run; the next Sweep closes the
// session), ErrTransition, ErrInvalid, ErrNoSpace.
func (m *Manager) BeginCommand(k thread.Command) (thread.Command, error) {
	if k.ID == "" {
		k.ID = newID("cmd")
	}
	if k.Status != thread.CommandQueued && k.Status != thread.CommandRunning {
		return k, fmt.Errorf("%w: a command does not begin as %.20q", thread.ErrInvalid, k.Status)
	}
	if err := checkID("command", k.ID); err != nil {
		return k, err
	}
	var threadID string
	err := m.update(func(c *change) error {
		t, err := c.Terminal(k.Terminal)
		if err != nil {
			return err
		}
		threadID = t.Thread
		old, err := c.Command(k.ID)
		switch {
		case missing(err):
			k, err = c.newCommand(t, k)
		case err == nil && old.Terminal != k.Terminal:
			err = fmt.Errorf("%w: command %s of another terminal", thread.ErrConflict, k.ID)
		case err == nil:
			k, err = c.runCommand(t, old, k)
		}
		return err
	})
	if err != nil {
		return k, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.live[threadID]; w != nil {
		w.touch(m.clock.now())
	}
	return k, nil
}

func (c *change) newCommand(t thread.Terminal, k thread.Command) (thread.Command, error) {
	s, ok := c.m.window(t.Thread)
	if !ok {
		return k, fmt.Errorf("%w: thread %s", thread.ErrExpired, t.Thread)
	}
	c.after = append(c.after, func() {
		if w := c.m.live[t.Thread]; w != nil {
			w.Used.Commands++
			w.dirty = true
			c.m.stats.Commands++
		}
	})
	s.Used.Commands++
	if s.Used.Beyond(s.Policy.Budget) {
		c.refused = fmt.Errorf("%w: thread %s", thread.ErrBudget, t.Thread)
		return k, nil
	}
	if k.Runtime == "" {
		if r, err := c.LastRuntime(t.ID); err == nil && r.Live() {
			k.Runtime = r.ID
		} else if err != nil && !missing(err) {
			return k, err
		}
	}
	return c.writeCommand(t, k)
}

func (c *change) runCommand(t thread.Terminal, old, k thread.Command) (thread.Command, error) {
	next, err := old.To(k.Status)
	if err != nil || old.Status == k.Status {
		return next, err
	}
	next.PID, next.Cwd = k.PID, k.Cwd
	if k.Runtime != "" {
		next.Runtime = k.Runtime
	}
	if next.StartedAt = k.StartedAt; next.StartedAt.IsZero() {
		next.StartedAt = c.now
	}
	return c.writeCommand(t, next)
}

func (c *change) writeCommand(t thread.Terminal, k thread.Command) (thread.Command, error) {
	kind := thread.CommandQueuedEvent
	if k.Status == thread.CommandRunning {
		kind = thread.CommandStarted
		if k.StartedAt.IsZero() {
			k.StartedAt = c.now
		}
	}
	if err := c.PutCommand(k); err != nil {
		return k, err
	}
	return k, c.emit(t.Thread, kind, thread.Detail{Terminal: t.ID, Command: k.ID, Runtime: k.Runtime,
		Line: thread.Clip(k.Line, thread.MaxLine), Cwd: k.Cwd, PID: k.PID})
}

// CommandEnd is how a command ended.
type CommandEnd struct {
	Status      thread.CommandStatus // CommandDone, CommandCancelled or CommandFailed
	ExitCode    *int                 // nil when it has none
	StdoutBytes int64
	StderrBytes int64
	FinishedAt  time.Time // zero is now
}

// EndCommand notes the end of a command, which is activity. A second end is ignored. Errors:
// ErrNotFound, ErrInvalid, ErrNoSpace.
func (m *Manager) EndCommand(id string, e CommandEnd) error {
	if !(thread.Command{Status: e.Status}).Ended() || thread.CommandArrows[e.Status] == nil {
		return fmt.Errorf("%w: a command does not end as %.20q", thread.ErrInvalid, e.Status)
	}
	threadID := ""
	err := m.update(func(c *change) error {
		k, err := c.Command(id)
		if err != nil || k.Ended() {
			return err
		}
		t, err := c.Terminal(k.Terminal)
		if err != nil {
			return err
		}
		threadID = t.Thread
		return c.endCommand(t, k, e)
	})
	if err != nil || threadID == "" {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.live[threadID]; w != nil && w.Expired(m.clock.now()) != thread.ReasonMax {
		w.touch(m.clock.now())
	}
	return nil
}

func (c *change) endCommand(t thread.Terminal, k thread.Command, e CommandEnd) error {
	k, err := k.To(e.Status)
	if err != nil {
		return err
	}
	k.ExitCode, k.StdoutBytes, k.StderrBytes = e.ExitCode, e.StdoutBytes, e.StderrBytes
	if k.FinishedAt = e.FinishedAt; k.FinishedAt.IsZero() {
		k.FinishedAt = c.now
	}
	if err := c.PutCommand(k); err != nil {
		return err
	}
	return c.emit(t.Thread, thread.CommandFinished,
		thread.Detail{Terminal: t.ID, Command: k.ID, Runtime: k.Runtime, To: string(k.Status), ExitCode: k.ExitCode})
}

// Command finds a command. Errors: ErrNotFound.
func (m *Manager) Command(id string) (k thread.Command, err error) {
	return k, m.view(func(tx thread.Tx) error { k, err = tx.Command(id); return err })
}

// Commands are those of a thread or terminal in the order in which they began. Errors: ErrNotFound
// (the thread, or Before).
func (m *Manager) Commands(q thread.CommandQuery) (list []thread.Command, err error) {
	return list, m.view(func(tx thread.Tx) error {
		if _, err := tx.Thread(q.Thread); err != nil {
			return err
		}
		list, err = tx.Commands(q)
		return err
	})
}
