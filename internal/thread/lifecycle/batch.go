package lifecycle

import (
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

// Batch is several changes in one transaction, for who writes down what has happened already:
// nothing is refused because of a window or a budget, and what is about something that is gone is
// left out.
type Batch struct{ c *change }

// Batch makes the changes of fn, all or none. fn may be called once only and must not call the
// Manager. Errors: those of the store and of fn.
func (m *Manager) Batch(fn func(*Batch) error) error {
	return m.update(func(c *change) error { return fn(&Batch{c}) })
}

// gone is err unless it says that there is nothing to change.
func gone(err error) error {
	if missing(err) {
		return nil
	}
	return err
}

// Begin is BeginRuntime. The process that the terminal is known to have already changes nothing.
func (b *Batch) Begin(terminal string, p Process) error {
	last, err := b.c.LastRuntime(terminal)
	if err == nil && last.Live() && last.State != thread.Starting && isProcess(last, p) {
		return nil
	}
	if gone(err) != nil {
		return err
	}
	_, err = b.c.beginRuntime(terminal, p)
	return gone(err)
}

// End is EndRuntime of the process that the terminal has, if it has one.
func (b *Batch) End(terminal string, e RuntimeEnd) error {
	r, err := b.c.LastRuntime(terminal)
	if err != nil || !r.Live() {
		return gone(err)
	}
	t, err := b.c.Terminal(terminal)
	if err != nil {
		return gone(err)
	}
	return b.c.endRuntime(t, r, e)
}

// Save is Manager.Save. Errors: ErrInvalid.
func (b *Batch) Save(terminal string, s thread.State) error {
	s, err := s.Normal()
	if err != nil {
		return err
	}
	t, err := b.c.Terminal(terminal)
	if err == nil && t.State.Same(s) {
		b.c.count(func(st *Stats) { st.StateUnchanged++ })
		return nil
	}
	if err == nil {
		_, _, err = b.c.save(t, s, thread.TerminalState)
	}
	return gone(err)
}

// SaveCwd is Save of another directory with what else the state has.
func (b *Batch) SaveCwd(terminal, cwd string) error {
	return b.Change(terminal, func(s thread.State) thread.State { s.Cwd = cwd; return s })
}

// Change is Save of what next makes of the state. next changes no map or slice of it.
func (b *Batch) Change(terminal string, next func(thread.State) thread.State) error {
	t, err := b.c.Terminal(terminal)
	if err != nil {
		return gone(err)
	}
	return b.Save(terminal, next(t.State))
}

// DeleteTerminal is Manager.DeleteTerminal. A process of it that is not known to have ended is
// lost.
func (b *Batch) DeleteTerminal(terminal string) error {
	if err := b.End(terminal, RuntimeEnd{Lost: true}); err != nil {
		return err
	}
	return gone(b.c.deleteTerminal(terminal))
}

// Command writes down how a command is now: that it waits, that it runs, or how it ended. What is
// known already changes nothing, and one that has ended stays so.
func (b *Batch) Command(k thread.Command) error {
	t, err := b.c.Terminal(k.Terminal)
	if err != nil {
		return gone(err)
	}
	if err := checkID("command", k.ID); err != nil {
		return err
	}
	old, err := b.c.Command(k.ID)
	switch {
	case missing(err):
		if k, err = b.c.bound(t, k); err != nil {
			return err
		}
		old = k
		old.Status = ""
	case err != nil:
		return err
	case old.Terminal != k.Terminal:
		return fmt.Errorf("%w: command %s of another terminal", thread.ErrConflict, k.ID)
	case old.Ended() || old.Status == k.Status || k.Status == thread.CommandQueued:
		return nil
	default:
		k.Runtime, k.Line, k.Env, k.Background = old.Runtime, old.Line, old.Env, old.Background
	}
	return b.c.recordCommand(t, old, k)
}

// ForgetCommand removes a command that has ended, with its text.
func (b *Batch) ForgetCommand(id string) error { return gone(b.c.Tx.ForgetCommand(id)) }

// bound is a new command with the process that it runs in.
func (c *change) bound(t thread.Terminal, k thread.Command) (thread.Command, error) {
	if k.Runtime != "" {
		return k, nil
	}
	r, err := c.LastRuntime(t.ID)
	if err == nil && r.Live() {
		k.Runtime = r.ID
	}
	return k, gone(err)
}

// recordCommand writes a command's row and the events of what has not been told of it.
func (c *change) recordCommand(t thread.Terminal, old, k thread.Command) error {
	if !k.Ended() {
		_, err := c.writeCommand(t, k)
		return err
	}
	if old.Status != thread.CommandRunning && !k.StartedAt.IsZero() {
		running := k
		running.Status, running.ExitCode, running.FinishedAt = thread.CommandRunning, nil, time.Time{}
		if _, err := c.writeCommand(t, running); err != nil {
			return err
		}
	}
	if err := c.PutCommand(k); err != nil {
		return err
	}
	return c.emit(t.Thread, thread.CommandFinished,
		thread.Detail{Terminal: t.ID, Command: k.ID, Runtime: k.Runtime, To: string(k.Status), ExitCode: k.ExitCode,
			Reason: k.Reason})
}

// OpenCommands are the commands of all threads that have not ended.
func (m *Manager) OpenCommands() (list []thread.Command, err error) {
	return list, m.view(func(tx thread.Tx) error { list, err = tx.OpenCommands(""); return err })
}

// AuthorizeCommand lets one more command begin in a thread whose session is active, without a look
// at the store: it counts against the budget and is activity. Errors: ErrExpired (Open first: there
// is no session, it is over, idle or paused), ErrBudget (the command must not run; the next Sweep
// closes the session).
func (m *Manager) AuthorizeCommand(threadID string) error {
	now := m.clock.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.live[threadID]
	if w == nil || w.Status != thread.Active || w.Expired(now) != "" {
		return fmt.Errorf("%w: thread %s", thread.ErrExpired, threadID)
	}
	m.stats.Commands++
	w.Used.Commands++
	w.dirty = true
	if w.Used.Beyond(w.Policy.Budget) {
		return fmt.Errorf("%w: thread %s", thread.ErrBudget, threadID)
	}
	w.touch(now)
	return nil
}

// TouchInput is Touch for somebody who types: it is refused too when the session is paused or idle,
// which Open ends. Errors: ErrExpired.
func (m *Manager) TouchInput(threadID string) error {
	now := m.clock.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.live[threadID]
	if w == nil || w.Status != thread.Active || w.Expired(now) != "" {
		return fmt.Errorf("%w: thread %s", thread.ErrExpired, threadID)
	}
	w.touch(now)
	return nil
}
