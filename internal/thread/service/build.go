package service

import (
	"cmp"
	"fmt"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/startdir"
	"github.com/evertty/evertty/internal/thread"
)

// buildLayers makes the layers that are missing.
func (lc *lifecycle) buildLayers(threadID string, u thread.Use, alive bool) (l thread.Layers, err error) {
	err = lc.update(func(c *change) error {
		l = thread.Layers{}
		if err := c.buildThread(&l, threadID, u); err != nil {
			return err
		}
		if err := c.buildTerminal(&l, u); err != nil {
			return err
		}
		if err := c.buildSession(&l, alive); err != nil || !l.NewTerminal || u.Process == nil {
			return err
		}
		return c.begin(l.Terminal, l.Session.ID, processIn(u.Process))
	})
	return l, err
}

func (c *change) buildThread(l *thread.Layers, id string, u thread.Use) (err error) {
	if l.Thread, err = c.Thread(id); err == nil || !missing(err) {
		return err
	}
	if err := checkNew(id); err != nil {
		return err
	}
	l.NewThread = true
	th := thread.Thread{ID: id, Provider: u.Provider, Policy: c.db.policy, Chosen: c.db.chosen, CreatedAt: c.now,
		UpdatedAt: c.now}
	if u.Policy != nil {
		th.Policy, th.Chosen = *u.Policy, true
	}
	if u.Lease != "" {
		if l.Lease, err = c.Lease(u.Lease); err != nil {
			return err
		}
		if th.Provider != "" && th.Provider != l.Lease.Provider {
			return fmt.Errorf("%w: lease %s is of %s", thread.ErrConflict, u.Lease, l.Lease.Provider)
		}
		th.Provider, th.Lease = l.Lease.Provider, u.Lease
	}
	th.Provider = cmp.Or(th.Provider, c.db.provider)
	if _, ok := c.db.providers[th.Provider]; !ok {
		return c.db.noProvider(th.Provider)
	}
	l.Thread = th
	c.PutThread(th)
	return c.emit(id, thread.ThreadCreated, thread.Detail{Source: th.Provider})
}

func (c *change) buildTerminal(l *thread.Layers, u thread.Use) error {
	t, id, err := choose(c.Tx, l.Thread, u)
	if err != nil && !missing(err) {
		return err
	}
	if err == nil {
		l.Terminal = t
		return c.buildLease(l, t.Lease)
	}
	lease := l.Thread.Lease
	if u.Lease != "" {
		if _, err := c.Lease(u.Lease); err != nil {
			return err
		}
		lease = u.Lease
	}
	if err := c.buildLease(l, lease); err != nil {
		return err
	}
	return c.makeTerminal(l, id, u)
}

// firstDir is the directory of a new terminal that nobody gave one: home on this machine, at a
// provider "" until the first command says it.
func firstDir(provider string) string {
	if provider == thread.Local {
		return startdir.Home()
	}
	return ""
}

// makeTerminal makes a terminal, again when it has been there: its newest version is then in its
// history.
func (c *change) makeTerminal(l *thread.Layers, id string, u thread.Use) error {
	again := id != "" && (id == l.Thread.Active || id == l.Thread.Default)
	if id == "" {
		id = newID("term")
	}
	st, err := c.LastState(id)
	if missing(err) {
		if u.Cwd == "" {
			u.Cwd = firstDir(l.Lease.Provider)
		}
		st, err = thread.State{Cwd: u.Cwd, Env: u.Env, At: c.now}.Normal()
	} else {
		again = true
	}
	if err != nil {
		return err
	}
	t := thread.Terminal{ID: id, Thread: l.Thread.ID, Lease: l.Lease.ID, Kind: cmp.Or(u.Kind, thread.Shell),
		Name: cmp.Or(u.Name, id), Cmd: append([]string{}, u.Cmd...), Cols: u.Cols, Rows: u.Rows, State: st,
		CreatedAt: c.now, UpdatedAt: c.now}
	c.PutTerminal(t)
	if _, err := c.State(id, st.Version); missing(err) {
		c.PutState(id, st)
	}
	l.Terminal, l.NewTerminal = t, true
	c.setActive(&l.Thread, id)
	kind := thread.TerminalCreated
	if again {
		kind = thread.TerminalRecreated
	}
	return c.emit(t.Thread, kind, thread.Detail{TerminalID: id, LeaseID: t.Lease, Cwd: st.Cwd, Version: st.Version})
}

// setActive makes a thread's first terminal its default and active one.
func (c *change) setActive(th *thread.Thread, terminal string) {
	if th.Default != "" && th.Active != "" {
		return
	}
	th.Default, th.Active = cmp.Or(th.Default, terminal), cmp.Or(th.Active, terminal)
	th.UpdatedAt = c.now
	c.PutThread(*th)
}

// buildLease finds the lease of a terminal, makes it again under its id, or makes the thread's
// first.
func (c *change) buildLease(l *thread.Layers, id string) (err error) {
	if id != "" {
		if l.Lease, err = c.Lease(id); err == nil {
			return instance(c.Tx, l)
		} else if !missing(err) {
			return err
		}
	}
	lease := thread.Lease{ID: id, Provider: l.Thread.Provider, Thread: l.Thread.ID}
	kind := thread.LeaseRecreated
	if id == "" {
		lease.ID, kind = owner.Space(l.Thread.ID)+newID(ofLease), thread.LeaseCreated
	}
	if l.Lease, err = c.makeLease(lease); err != nil {
		return err
	}
	l.NewLease = true
	if l.Thread.Lease == "" {
		l.Thread.Lease, l.Thread.UpdatedAt = l.Lease.ID, c.now
		c.PutThread(l.Thread)
	}
	if err := instance(c.Tx, l); err != nil {
		return err
	}
	return c.emit(l.Thread.ID, kind, thread.Detail{LeaseID: l.Lease.ID, Source: l.Lease.Provider})
}

// makeLease writes a new lease. One whose row was lost gets back the instance that it had, which
// has to be asked how it is.
func (c *change) makeLease(l thread.Lease) (thread.Lease, error) {
	if _, ok := c.db.providers[l.Provider]; !ok {
		return l, c.db.noProvider(l.Provider)
	}
	l.Desired, l.Observed, l.Status, l.CreatedAt, l.UpdatedAt, l.ObservedAt = thread.WantRunning, thread.Dead,
		thread.LeaseActive, c.now, c.now, c.now
	old, err := c.Instances(l.ID)
	if err != nil {
		return l, err
	}
	if len(old) > 0 && old[0].EndedAt.IsZero() {
		l.Instance, l.Observed, l.NeedsRefresh = old[0].ID, thread.Unknown, true
	}
	c.PutLease(l)
	return l, nil
}

func (c *change) buildSession(l *thread.Layers, alive bool) (err error) {
	if l.Session, err = c.db.sessionOf(c.Tx, l.Thread.ID, alive); !missing(err) {
		return err
	}
	s := thread.Session{ID: newID("sess"), Thread: l.Thread.ID, Status: thread.Active, Policy: l.Thread.Policy,
		StartedAt: c.now, LastActiveAt: c.now}
	c.putSession(s)
	l.Session, l.NewSession = s, true
	c.count(func(st *Stats) { st.SessionsCreated++ })
	return c.emit(s.Thread, thread.SessionCreated,
		thread.Detail{SessionID: s.ID, TerminalID: l.Terminal.ID, LeaseID: l.Lease.ID, ExpiresAt: s.ExpiresAt()})
}
