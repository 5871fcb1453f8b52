package service

import (
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

// The changes in this file write down what has happened already: they refuse nothing because of a
// session or a budget, and ignore a row that is gone.

// process identifies a process also after its PID has another owner.
type process struct {
	PID      int
	PIDStart int64 // start time in clock ticks since boot
	Boot     string
}

// processIn is the process of a runtime.
func processIn(r *thread.Runtime) process { return process{r.PID, r.PIDStart, r.Boot} }

// began notes that a process runs in a terminal. One before it that never ended is lost. The process
// that the row has already changes nothing.
func (c *change) began(terminal string, p process) error {
	t, err := c.Terminal(terminal)
	if err != nil {
		return gone(err)
	}
	s, _ := c.db.window(t.Thread)
	return c.begin(t, s.ID, p)
}

// begin is began of a terminal's row in a session, "" for none.
func (c *change) begin(t thread.Terminal, session string, p process) error {
	last, err := c.LastRuntime(t.ID)
	if err == nil && last.Live() && last.State != thread.Starting && isProcess(last, p) {
		return nil
	}
	if gone(err) != nil {
		return err
	}
	if last.Live() {
		if err := c.endRuntime(t, last, runtimeEnd{lost: true}); err != nil {
			return err
		}
	}
	r := thread.Runtime{ID: newID("runtime"), Terminal: t.ID, Session: session, Generation: last.Generation + 1,
		PID: p.PID, PIDStart: p.PIDStart, Boot: p.Boot, State: thread.Up, StartedAt: c.now}
	c.PutRuntime(r)
	return c.emit(t.Thread, thread.RuntimeStarted,
		thread.Detail{TerminalID: t.ID, RuntimeID: r.ID, SessionID: r.Session, PID: r.PID, Version: r.Generation})
}

// isProcess reports whether a runtime is the process, or one whose server was killed before it
// could write the PID.
func isProcess(r thread.Runtime, p process) bool {
	return r.PID == p.PID && r.PIDStart == p.PIDStart && r.Boot == p.Boot || r.State == thread.Starting
}

// runtimeEnd is how a process ended.
type runtimeEnd struct {
	code   *int   // nil: not known
	signal string // that ended it; "" is none
	lost   bool   // it is gone, and how it ended is not known
}

// ended notes the end of the process of a terminal, if one runs, and nothing of its commands: the
// shell that ran them knows how they ended.
func (c *change) ended(terminal string, e runtimeEnd) error {
	r, err := c.LastRuntime(terminal)
	if err != nil || !r.Live() {
		return gone(err)
	}
	t, err := c.Terminal(terminal)
	if err != nil {
		return gone(err)
	}
	return c.endRuntime(t, r, e)
}

func (c *change) endRuntime(t thread.Terminal, r thread.Runtime, e runtimeEnd) error {
	next, kind := thread.Exited, thread.RuntimeExited
	if e.lost {
		next, kind = thread.Lost, thread.RuntimeLost
	}
	r, err := r.To(next)
	if err != nil {
		return err
	}
	r.ExitCode, r.Signal, r.EndedAt = e.code, e.signal, c.now
	c.PutRuntime(r)
	return c.emit(t.Thread, kind, thread.Detail{TerminalID: t.ID, RuntimeID: r.ID, PID: r.PID, ExitCode: r.ExitCode,
		Signal: r.Signal, Version: r.Generation})
}

// saved notes the state of a terminal that next makes of the row's. next changes no map or slice of
// it. Errors: thread.ErrInvalid.
func (c *change) saved(terminal string, next func(thread.State) thread.State) error {
	t, err := c.Terminal(terminal)
	if err != nil {
		return gone(err)
	}
	s, err := next(t.State).Normal()
	if err != nil {
		return err
	}
	if t.State.Same(s) {
		c.count(func(st *Stats) { st.StateUnchanged++ })
		return nil
	}
	_, err = c.save(t, s, thread.TerminalState)
	return gone(err)
}

// removed deletes a terminal. Its process, if it is not known to have ended, is lost.
func (c *change) removed(terminal string) error {
	if err := c.ended(terminal, runtimeEnd{lost: true}); err != nil {
		return err
	}
	return gone(c.deleteTerminal(terminal))
}

// command notes the status of a command: it waits, runs, or has ended. The status that the row has
// already changes nothing, and one that has ended stays so. Errors: thread.ErrInvalid (the id),
// ErrConflict (the id is of another terminal's).
func (c *change) command(k thread.Command) error {
	t, err := c.Terminal(k.Terminal)
	if err != nil {
		return gone(err)
	}
	if err := checkID("command", k.ID); err != nil {
		return err
	}
	old, err := c.Command(k.ID)
	switch {
	case missing(err):
		r, err := c.LastRuntime(t.ID)
		if gone(err) != nil {
			return err
		}
		if err == nil && r.Live() {
			k.Runtime = r.ID
		}
	case err != nil:
		return err
	case old.Terminal != k.Terminal:
		return fmt.Errorf("%w: command %s of another terminal", thread.ErrConflict, k.ID)
	case old.Ended() || old.Status == k.Status || k.Status == thread.CommandQueued:
		return nil
	default:
		k.Runtime, k.Line, k.Env, k.Background = old.Runtime, old.Line, old.Env, old.Background
	}
	if !k.Ended() {
		return c.beginCommand(t, k)
	}
	if old.Status != thread.CommandRunning && !k.StartedAt.IsZero() {
		running := k
		running.Status, running.ExitCode, running.FinishedAt = thread.CommandRunning, nil, time.Time{}
		if err := c.beginCommand(t, running); err != nil {
			return err
		}
	}
	return c.endCommand(t, k)
}

// beginCommand writes a command that waits or runs, with its event.
func (c *change) beginCommand(t thread.Terminal, k thread.Command) error {
	kind := thread.CommandQueuedEvent
	if k.Status == thread.CommandRunning {
		kind = thread.CommandStarted
		if k.StartedAt.IsZero() {
			k.StartedAt = c.now
		}
	}
	c.PutCommand(k)
	return c.emit(t.Thread, kind, thread.Detail{TerminalID: t.ID, CommandID: k.ID, RuntimeID: k.Runtime,
		Command: thread.Clip(k.Line, thread.MaxLine), Cwd: k.Cwd, PID: k.PID})
}

// endCommand writes a command that has ended, with its event.
func (c *change) endCommand(t thread.Terminal, k thread.Command) error {
	c.PutCommand(k)
	return c.emit(t.Thread, thread.CommandFinished,
		thread.Detail{TerminalID: t.ID, CommandID: k.ID, RuntimeID: k.Runtime, To: string(k.Status),
			ExitCode: k.ExitCode, Reason: k.Reason})
}

// alive is what outlived the server that started it.
type alive struct {
	processes map[string]process // by terminal
	commands  map[string]bool    // that still run or wait, by id
}

// recover brings the rows in line with the live processes: one that lives is adopted; one that does
// not is lost, and its commands have failed; a process that its terminal's row does not have begins
// a new generation. Providers are asked about their compute before the next use. Errors: any of
// the store.
func (c *change) recover(a alive) error {
	if err := c.recoverProcesses(a); err != nil {
		return err
	}
	if err := c.recoverCommands(a); err != nil {
		return err
	}
	leases, err := c.Leases(thread.LeaseQuery{})
	if err != nil {
		return err
	}
	for _, l := range leases {
		if l.Observed == thread.Dead && l.Status != thread.LeaseRecovering {
			continue
		}
		if l.Status == thread.LeaseRecovering {
			l.Status = thread.LeaseActive
		}
		if l.CutShort() {
			l.Desired = thread.WantRunning
		}
		l.NeedsRefresh = true
		c.PutLease(l)
	}
	return nil
}

func (c *change) recoverProcesses(a alive) error {
	list, err := c.LiveRuntimes("")
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(list)) // terminals whose process has its row
	for _, r := range list {
		p, lives := a.processes[r.Terminal]
		lives = lives && isProcess(r, p)
		if lives && r.State == thread.Adopted {
			known[r.Terminal] = true
			continue
		}
		t, err := c.Terminal(r.Terminal)
		if missing(err) {
			continue // its row comes back with the next use, and the next process makes this one lost
		}
		if err != nil {
			return err
		}
		if lives {
			err = c.adopt(t, r, p)
			known[r.Terminal] = true
		} else {
			err = c.endRuntime(t, r, runtimeEnd{lost: true})
		}
		if err != nil {
			return err
		}
	}
	for terminal, p := range a.processes {
		if known[terminal] {
			continue
		}
		if err := c.began(terminal, p); err != nil {
			return err
		}
	}
	return nil
}

func (c *change) adopt(t thread.Terminal, r thread.Runtime, p process) error {
	r, err := r.To(thread.Adopted)
	if err != nil {
		return err
	}
	r.PID, r.PIDStart, r.Boot = p.PID, p.PIDStart, p.Boot
	c.PutRuntime(r)
	return c.emit(t.Thread, thread.RuntimeAdopted,
		thread.Detail{TerminalID: t.ID, RuntimeID: r.ID, PID: r.PID, Version: r.Generation})
}

func (c *change) recoverCommands(a alive) error {
	list, err := c.OpenCommands("")
	if err != nil {
		return err
	}
	for _, k := range list {
		if a.commands[k.ID] {
			continue
		}
		t, err := c.Terminal(k.Terminal)
		if missing(err) {
			continue
		}
		if err != nil {
			return err
		}
		k.Status, k.ExitCode, k.StdoutBytes, k.StderrBytes, k.FinishedAt = thread.CommandFailed, nil, 0, 0, c.now
		if err := c.endCommand(t, k); err != nil {
			return err
		}
	}
	return nil
}
