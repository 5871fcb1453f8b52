package lifecycle

import (
	"context"
	"fmt"
	"path"

	"github.com/evertty/evertty/internal/thread"
)

// Open readies a thread for a use: whatever of its layers is missing is made, an expired session is
// closed and followed by a new one, a paused one is resumed, compute that is gone is replaced, and
// the activity is noted. It is cheap when all is there. ctx ends waiting for providers.
//
// Errors: ErrInvalid, ErrNotFound (Use.Lease), ErrConflict (Use.Terminal of another thread,
// Use.Name taken), ErrNoProvider, ErrProvider, ErrNoSpace, the reason of ctx.
func (m *Manager) Open(ctx context.Context, threadID string, u thread.Use) (thread.Layers, error) {
	if err := checkUse(u, threadID); err != nil {
		return thread.Layers{}, err
	}
	unlock, err := m.threads.lock(ctx, threadID)
	if err != nil {
		return thread.Layers{}, err
	}
	defer unlock()
	return m.open(ctx, threadID, u)
}

func (m *Manager) open(ctx context.Context, threadID string, u thread.Use) (thread.Layers, error) {
	if err := m.closeOverdue(ctx, threadID); err != nil {
		return thread.Layers{}, err
	}
	l, err := m.readLayers(threadID, u, true)
	if missing(err) {
		l, err = m.buildLayers(threadID, u, true)
	}
	if err != nil {
		return l, err
	}
	if err := m.ready(ctx, &l); err != nil {
		return l, m.failed(l, err)
	}
	return l, m.active(&l)
}

// CreateThread is Open of a thread that must not be there yet. Errors: ErrConflict and those of
// Open.
func (m *Manager) CreateThread(ctx context.Context, threadID string, u thread.Use) (thread.Layers, error) {
	if threadID == "" {
		threadID = newID("thread")
	}
	if err := checkUse(u, threadID); err != nil {
		return thread.Layers{}, err
	}
	unlock, err := m.threads.lock(ctx, threadID)
	if err != nil {
		return thread.Layers{}, err
	}
	defer unlock()
	if _, err := m.Thread(threadID); err == nil {
		return thread.Layers{}, fmt.Errorf("%w: thread %s", thread.ErrConflict, threadID)
	} else if !missing(err) {
		return thread.Layers{}, err
	}
	return m.open(ctx, threadID, u)
}

func checkUse(u thread.Use, threadID string) error {
	if err := checkID("thread", threadID); err != nil {
		return err
	}
	if u.Terminal != "" {
		if err := checkID("terminal", u.Terminal); err != nil {
			return err
		}
	}
	if u.Name != "" {
		if err := checkID("terminal name", u.Name); err != nil {
			return err
		}
	}
	if u.Kind != "" && u.Kind != thread.PTY && u.Kind != thread.Shell {
		return fmt.Errorf("%w: kind %.20q", thread.ErrInvalid, u.Kind)
	}
	if u.Cwd != "" && (!path.IsAbs(u.Cwd) || len(u.Cwd) > thread.MaxCwd) {
		return fmt.Errorf("%w: directory %.80q", thread.ErrInvalid, u.Cwd)
	}
	if u.Policy != nil {
		return u.Policy.Check()
	}
	return nil
}

// readLayers finds all layers. ErrNotFound: at least one is missing. Without alive, a session that
// is over will do, or none.
func (m *Manager) readLayers(threadID string, u thread.Use, alive bool) (l thread.Layers, err error) {
	return l, m.view(func(tx thread.Tx) error {
		if l.Thread, err = tx.Thread(threadID); err != nil {
			return err
		}
		if l.Session, err = m.sessionOf(tx, threadID, alive); err != nil {
			return err
		}
		if l.Terminal, _, err = choose(tx, l.Thread, u); err != nil {
			return err
		}
		if l.Lease, err = tx.Lease(l.Terminal.Lease); err != nil {
			return err
		}
		return instance(tx, &l)
	})
}

// sessionOf is the live session of a thread, or without alive the newest, or none.
func (m *Manager) sessionOf(tx thread.Tx, threadID string, alive bool) (thread.Session, error) {
	if s, ok := m.window(threadID); ok {
		return s, nil
	}
	if alive {
		return thread.Session{}, fmt.Errorf("live session of thread %s: %w", threadID, thread.ErrNotFound)
	}
	s, err := tx.LastSession(threadID)
	if missing(err) {
		return thread.Session{}, nil
	}
	return s, err
}

func instance(tx thread.Tx, l *thread.Layers) (err error) {
	if l.Lease.Instance == "" {
		return nil
	}
	if l.Instance, err = tx.Instance(l.Lease.Instance); missing(err) {
		return nil
	}
	return err
}

// choose finds the terminal that a use means. With ErrNotFound id is the one to make, "" is a new
// one.
func choose(tx thread.Tx, th thread.Thread, u thread.Use) (t thread.Terminal, id string, err error) {
	if u.Terminal != "" {
		t, err = tx.Terminal(u.Terminal)
		if err == nil && t.Thread != th.ID {
			err = fmt.Errorf("%w: terminal %s belongs to another thread", thread.ErrConflict, t.ID)
		}
		if err == nil && u.Kind != "" && u.Kind != t.Kind {
			err = fmt.Errorf("%w: terminal %s is a %s", thread.ErrConflict, t.ID, t.Kind)
		}
		return t, u.Terminal, err
	}
	for _, id := range []string{th.Active, th.Default} {
		if id == "" {
			continue
		}
		if t, err = tx.Terminal(id); err != nil || u.Kind == "" || t.Kind == u.Kind {
			return t, id, err
		}
	}
	list, err := tx.Terminals(th.ID)
	if err != nil {
		return t, "", err
	}
	for _, t := range list {
		if u.Kind == "" || t.Kind == u.Kind {
			return t, t.ID, nil
		}
	}
	return t, "", fmt.Errorf("terminal of thread %s: %w", th.ID, thread.ErrNotFound)
}

// buildLayers makes what is missing.
func (m *Manager) buildLayers(threadID string, u thread.Use, alive bool) (l thread.Layers, err error) {
	err = m.update(func(c *change) error {
		l = thread.Layers{}
		if err := c.buildThread(&l, threadID, u); err != nil {
			return err
		}
		if err := c.buildTerminal(&l, u); err != nil {
			return err
		}
		return c.buildSession(&l, alive)
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
	th := thread.Thread{ID: id, Provider: u.Provider, Policy: *c.m.cfg.Policy, Chosen: c.m.cfg.Chosen, CreatedAt: c.now,
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
	if th.Provider == "" {
		th.Provider = c.m.cfg.Provider
	}
	if _, ok := c.m.cfg.Providers[th.Provider]; !ok {
		return c.m.noProvider(th.Provider)
	}
	l.Thread = th
	if err := c.PutThread(th); err != nil {
		return err
	}
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

// makeTerminal makes a terminal, again when it has been there: its newest version is then in its
// history.
func (c *change) makeTerminal(l *thread.Layers, id string, u thread.Use) error {
	again := id != "" && (id == l.Thread.Active || id == l.Thread.Default)
	if id == "" {
		id = newID("term")
	}
	t := thread.Terminal{ID: id, Thread: l.Thread.ID, Lease: l.Lease.ID, Kind: u.Kind, Name: u.Name,
		Cmd: append([]string{}, u.Cmd...), Cols: u.Cols, Rows: u.Rows, CreatedAt: c.now, UpdatedAt: c.now}
	if t.Kind == "" {
		t.Kind = thread.Shell
	}
	if t.Name == "" {
		t.Name = id
	}
	st, err := c.LastState(id)
	if missing(err) {
		if st, err = (thread.State{Cwd: u.Cwd, Env: u.Env}).Normal(); err != nil {
			return err
		}
		if st.Cwd == "" {
			st.Cwd = c.m.cfg.Cwd(l.Lease.Provider)
		}
		st.At, err = c.now, nil
	} else {
		again = true
	}
	if err != nil {
		return err
	}
	t.State = st
	if err := c.PutTerminal(t); err != nil {
		return err
	}
	if _, err := c.State(id, st.Version); missing(err) {
		if err := c.PutState(id, st); err != nil {
			return err
		}
	}
	l.Terminal, l.NewTerminal = t, true
	if err := c.setActive(&l.Thread, id); err != nil {
		return err
	}
	kind := thread.TerminalCreated
	if again {
		kind = thread.TerminalRecreated
	}
	return c.emit(t.Thread, kind, thread.Detail{Terminal: id, Lease: t.Lease, Cwd: st.Cwd, Version: st.Version})
}

// setActive makes a thread's first terminal its default and active one.
func (c *change) setActive(th *thread.Thread, terminal string) error {
	if th.Default != "" && th.Active != "" {
		return nil
	}
	if th.Default == "" {
		th.Default = terminal
	}
	if th.Active == "" {
		th.Active = terminal
	}
	th.UpdatedAt = c.now
	return c.PutThread(*th)
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
		lease.ID, kind = newID("lease"), thread.LeaseCreated
	}
	if l.Lease, err = c.makeLease(lease); err != nil {
		return err
	}
	l.NewLease = true
	if l.Thread.Lease == "" {
		l.Thread.Lease, l.Thread.UpdatedAt = l.Lease.ID, c.now
		if err := c.PutThread(l.Thread); err != nil {
			return err
		}
	}
	if err := instance(c.Tx, l); err != nil {
		return err
	}
	return c.emit(l.Thread.ID, kind, thread.Detail{Lease: l.Lease.ID, Source: l.Lease.Provider})
}

// makeLease writes a new lease. One whose row was lost gets back the instance that it had, which
// has to be asked how it is.
func (c *change) makeLease(l thread.Lease) (thread.Lease, error) {
	if _, ok := c.m.cfg.Providers[l.Provider]; !ok {
		return l, c.m.noProvider(l.Provider)
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
	return l, c.PutLease(l)
}

func (c *change) buildSession(l *thread.Layers, alive bool) (err error) {
	if l.Session, err = c.m.sessionOf(c.Tx, l.Thread.ID, alive); !missing(err) {
		return err
	}
	s := thread.Session{ID: newID("sess"), Thread: l.Thread.ID, Status: thread.Active, Policy: l.Thread.Policy,
		StartedAt: c.now, LastActiveAt: c.now}
	if err := c.putSession(s); err != nil {
		return err
	}
	l.Session, l.NewSession = s, true
	c.count(func(st *Stats) { st.SessionsCreated++ })
	return c.emit(s.Thread, thread.SessionCreated,
		thread.Detail{Session: s.ID, Terminal: l.Terminal.ID, Lease: l.Lease.ID, ExpiresAt: s.ExpiresAt()})
}

// ready gets the compute of a thread running.
func (m *Manager) ready(ctx context.Context, l *thread.Layers) (err error) {
	if l.Session.Status == thread.Paused { // everything of the thread was paused
		leases, err := m.leasesOf(l.Thread.ID)
		if err != nil {
			return err
		}
		for _, other := range leases {
			if other.ID == l.Lease.ID || other.Observed != thread.Frozen {
				continue
			}
			if _, _, err := m.ensure(ctx, other.ID, "use"); err != nil {
				return err
			}
		}
	}
	l.Lease, l.Instance, err = m.ensure(ctx, l.Lease.ID, "use")
	return err
}

// failed ends a session that never had compute. The next Open makes another one.
func (m *Manager) failed(l thread.Layers, cause error) error {
	if !l.NewSession {
		return cause
	}
	err := m.update(func(c *change) error {
		s, ok := m.window(l.Thread.ID)
		if !ok {
			return nil
		}
		return c.end(s, thread.Failed, thread.ReasonProvider, cause)
	})
	if err != nil {
		return err
	}
	return cause
}

// active notes the activity, and that a paused session is none any more.
func (m *Manager) active(l *thread.Layers) error {
	if l.Session.Status == thread.Paused || l.Session.Status == thread.Idle {
		if err := m.wake(l.Thread.ID, true); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.live[l.Thread.ID]; w != nil {
		w.touch(m.clock.now())
		l.Session = w.Session
	}
	return nil
}

// Status is the layers of a thread's active terminal, or of the terminal that u names, as they are.
// A terminal or lease whose row is missing is made again under its id; a session that is over is
// closed first. Nothing counts as activity. Errors: ErrNotFound (no such thread or terminal), those
// of the store, the reason of ctx.
func (m *Manager) Status(ctx context.Context, threadID string, u thread.Use) (thread.Layers, error) {
	if err := m.expireOnRead(ctx, threadID); err != nil {
		return thread.Layers{}, err
	}
	l, err := m.readLayers(threadID, u, false)
	if !missing(err) {
		return l, err
	}
	th, err := m.Thread(threadID)
	if err != nil {
		return l, err
	}
	if u.Terminal != "" && u.Terminal != th.Active && u.Terminal != th.Default {
		if _, err := m.Terminal(u.Terminal); err != nil {
			return l, err
		}
	}
	return m.buildLayers(threadID, u, false)
}
