package lifecycle

import (
	"github.com/evertty/evertty/internal/thread"
)

// Alive is what outlived the server that had started it.
type Alive struct {
	Processes map[string]Process // by terminal
	Commands  []string           // that still run or wait
}

// Recovered is what Recover found.
type Recovered struct {
	Adopted, Lost, Failed int      // runtimes that go on; that are gone; commands that are gone
	Unknown               []string // terminals of Alive that the store does not have: Open them, then BeginRuntime
}

// Recover brings the records in line with what is alive. It is called once, after NewManager and
// before anything else. A process that lives is adopted; one that is not among them is lost, and
// its commands have failed; a live one that the store does not know by its PID begins a new
// generation. What compute of providers does is asked before the next use. Errors: those of the
// store.
func (m *Manager) Recover(a Alive) (done Recovered, err error) {
	err = m.update(func(c *change) error {
		done = Recovered{}
		if err := c.recoverProcesses(a, &done); err != nil {
			return err
		}
		if err := c.recoverCommands(a, &done); err != nil {
			return err
		}
		leases, err := c.Leases("")
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
			if err := c.PutLease(l); err != nil {
				return err
			}
		}
		return nil
	})
	return done, err
}

func (c *change) recoverProcesses(a Alive, done *Recovered) error {
	known := map[string]bool{}
	list, err := c.LiveRuntimes("")
	if err != nil {
		return err
	}
	for _, r := range list {
		t, err := c.Terminal(r.Terminal)
		if missing(err) {
			continue // its row comes back with the next use, and the next process makes this one lost
		}
		if err != nil {
			return err
		}
		p, alive := a.Processes[r.Terminal]
		if alive && isProcess(r, p) {
			known[r.Terminal] = true
			done.Adopted++
			err = c.adopt(t, r, p)
		} else {
			done.Lost++
			err = c.endRuntime(t, r, RuntimeEnd{Lost: true})
		}
		if err != nil {
			return err
		}
	}
	for terminal, p := range a.Processes {
		if known[terminal] {
			continue
		}
		_, err := c.beginRuntime(terminal, p)
		switch {
		case missing(err):
			done.Unknown = append(done.Unknown, terminal)
		case err != nil:
			return err
		default:
			done.Adopted++
		}
	}
	return nil
}

// isProcess reports whether a runtime is the process: also one of which the server died before it
// could write down the PID.
func isProcess(r thread.Runtime, p Process) bool {
	return r.PID == p.PID && r.PIDStart == p.PIDStart && r.Boot == p.Boot || r.State == thread.Starting
}

func (c *change) adopt(t thread.Terminal, r thread.Runtime, p Process) error {
	if r.State == thread.Adopted {
		return nil
	}
	r, err := r.To(thread.Adopted)
	if err != nil {
		return err
	}
	r.PID, r.PIDStart, r.Boot = p.PID, p.PIDStart, p.Boot
	if err := c.PutRuntime(r); err != nil {
		return err
	}
	return c.emit(t.Thread, thread.RuntimeAdopted,
		thread.Detail{Terminal: t.ID, Runtime: r.ID, PID: r.PID, Version: r.Generation})
}

func (c *change) recoverCommands(a Alive, done *Recovered) error {
	alive := map[string]bool{}
	for _, id := range a.Commands {
		alive[id] = true
	}
	list, err := c.OpenCommands("")
	if err != nil {
		return err
	}
	for _, k := range list {
		if alive[k.ID] {
			continue
		}
		t, err := c.Terminal(k.Terminal)
		if missing(err) {
			continue
		}
		if err != nil {
			return err
		}
		done.Failed++
		if err := c.endCommand(t, k, CommandEnd{Status: thread.CommandFailed}); err != nil {
			return err
		}
	}
	return nil
}
