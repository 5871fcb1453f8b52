package mux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/pty"
)

// shells are the exec shells of a Mux. Both are guarded by Mux.mu.
type shells struct {
	byKey   map[string]*Shell       // of every phase
	damaged map[string]damagedShell // directories that no shell came back from, by key
}

// damagedShell is a shell's directory that nothing can be done with but remove it.
type damagedShell struct {
	session string // rescued when nobody knows
	why     error
}

// shellConfig is what a shell needs of this server.
func (m *Mux) shellConfig(key, session string) shell.Config {
	return shell.Config{Identity: pty.Identity(m.cfg.Address, session, ""), Keeper: m.cfg.Keeper, Log: m.cfg.Log, Unspliced: m.cfg.Unspliced, Moved: m.moved, Remote: m.remoteShells(),
		Logs: &m.space.logs, MakeRoom: m.makeExecRoom,
		Changed: func(i shell.Info) {
			m.cfg.Metrics.command(i)
			m.lostOutput(i)
			m.commandChanged(i, key)
		}}
}

// CreateShell starts a shell. Errors: ErrInvalid, ErrShellExists, ErrLimit, ErrClosing, those of shell.Start and of the keeper.
func (m *Mux) CreateShell(spec ShellSpec) (*Shell, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	var err error
	if spec.place, err = m.records.providerOf(spec.Session); err != nil {
		return nil, err
	}
	m.mu.Lock()
	s, err := m.reserveShell(spec, "")
	m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return m.startShell(s, spec, thread.State{})
}

// DefaultShell is the shell of a session that execs without a name go to; it comes into being when first used. Errors: those of CreateShell.
func (m *Mux) DefaultShell(threadID string) (*Shell, error) {
	spec := ShellSpec{Session: threadID, Default: true}
	if err := spec.check(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	s := m.defaultShell(threadID)
	m.mu.Unlock()
	var row thread.Terminal
	var err error
	if s == nil {
		row, _ = m.records.vacant(threadID)
		if spec.place, err = m.records.providerOf(threadID); err != nil {
			return nil, err
		}
		if dir, _ := living(spec.place, row.State.Cwd); row.ID != "" {
			spec.Cwd = dir
		}
	}
	m.mu.Lock()
	s = m.defaultShell(threadID)
	mine := s == nil
	if mine {
		s, err = m.reserveShell(spec, row.ID)
	}
	m.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case mine:
		return m.startShell(s, spec, row.State)
	}
	<-s.started // of two first uses at once one starts it for both
	if s.failure != nil {
		return nil, s.failure
	}
	return s, nil
}

// check tells whether the names are names. What only the system can tell is left to shell.Start. Errors: ErrInvalid.
func (s *ShellSpec) check() error {
	if err := CheckName("session", s.Session); err != nil {
		return err
	}
	if s.ID != "" {
		return CheckName("shell", s.ID)
	}
	return nil
}

// defaultShell is the default shell of a session, perhaps one that is about to start, or nil. The lock is held.
func (m *Mux) defaultShell(session string) *Shell {
	for _, s := range m.shells.byKey {
		if s.Default && s.Session == session && s.phase != shellGoing {
			return s
		}
	}
	return nil
}

// reserveShell makes the name and a place a new shell's, so that two requests for one name start one shell. The lock is held.
// key is that of a row that waits for its shell, "" for a new one. The caller has to call startShell after it, which gives both back when there is nothing to have them.
func (m *Mux) reserveShell(spec ShellSpec, key string) (*Shell, error) {
	if m.closing {
		return nil, ErrClosing
	}
	if s := m.defaultShell(spec.Session); s != nil && spec.Default {
		return nil, wrapf(ErrShellExists, "session %q has a default shell, %q", spec.Session, s.ID)
	}
	here := 0
	for _, s := range m.shells.byKey {
		if s.Session != spec.Session {
			continue
		}
		here++
		if s.ID == spec.ID && s.phase != shellGoing {
			return nil, wrapf(ErrShellExists, "session %q has a shell %q; delete it or choose another id", spec.Session, spec.ID)
		}
	}
	if n := len(m.shells.byKey); n >= MaxShells {
		return nil, wrapf(ErrLimit, "%d shells are there, the most this server holds", n)
	}
	if here >= MaxShellsPerSession {
		return nil, wrapf(ErrLimit, "session %q has %d shells, the most a session may have", spec.Session, here)
	}
	if _, damaged := m.shells.damaged[key]; key == "" || damaged || m.shells.byKey[key] != nil {
		key = newID()
	}
	s := m.newShell(shellRecord{Shell: key, ID: cmp.Or(spec.ID, key), Session: spec.Session, Default: spec.Default, CreatedAt: time.Now().UTC()})
	m.shells.byKey[key] = s
	m.starts.Add(1)
	return s, nil
}

// startShell starts a shell that was reserved and lets it be found.
func (m *Mux) startShell(s *Shell, spec ShellSpec, state thread.State) (*Shell, error) {
	defer m.starts.Done()
	defer close(s.started)
	release, err := m.descriptors.take(shellDescriptors)
	if s.failure = err; err == nil {
		s.failure = m.bringUp(s, spec, state)
		release()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.failure != nil {
		delete(m.shells.byKey, s.key)
		return nil, s.failure
	}
	s.phase = shellFound
	return s, nil
}

// bringUp starts a shell in a directory of its own. The record is written last: a directory without one is of a shell
// that nobody was told of, and the next server removes it.
func (m *Mux) bringUp(s *Shell, spec ShellSpec, state thread.State) error {
	dir, err := m.cfg.Store.MakeShell(s.key)
	if err != nil {
		return unmade(err)
	}
	s.Shell, err = shell.Start(m.shellConfig(s.key, s.Session), shell.Spec{ID: s.key, Name: s.ID, Dir: dir, Cwd: spec.Cwd, Env: spec.Env,
		Login: spec.Login, Timeout: spec.Timeout, MaxReply: spec.MaxReply, Place: spec.place})
	if err == nil {
		if err = m.saveShell(s, false); err == nil {
			err = m.enterShell(s, state)
		}
		if err == nil {
			return nil
		}
		if e := s.Shell.Delete(m.ctx); e != nil {
			m.cfg.Log.Warn("something is left of a shell that could not be created", "key", s.key, "error", e)
		}
	}
	if e := m.cfg.Store.RemoveShell(s.key); e != nil {
		m.cannotClean(e)
	}
	return err
}

// unmade is the error of a shell's directory that could not be made: shell.ErrNoFiles unless the disk is full.
func unmade(err error) error {
	if errors.Is(err, datadir.ErrNoSpace) {
		return err
	}
	return fmt.Errorf("%w: %w", shell.ErrNoFiles, err)
}

// enterShell makes the row of a shell that has started, or brings the shell to the state of the row that it was started for.
func (m *Mux) enterShell(s *Shell, state thread.State) error {
	d := m.records
	if d.Manager == nil {
		return nil
	}
	if _, err := d.ready(m.opening, s.Session, s.use(), s.Spec().Place); err != nil {
		return err
	}
	err := d.settle(s, state)
	d.recordShell(s)
	return err
}

// FindShell returns a shell by its id. In session "" every session's are meant. Errors: ErrNoShell; ErrAmbiguous when shells of
// several sessions have the id.
func (m *Mux) FindShell(session, id string) (*Shell, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found *Shell
	for _, s := range m.shells.byKey {
		if s.ID != id || !s.in(session) || s.phase != shellFound {
			continue
		}
		if found != nil {
			return nil, wrapf(ErrAmbiguous, "shells of several sessions are called %q", id)
		}
		found = s
	}
	if found == nil {
		return nil, wrapf(ErrNoShell, "%q", id)
	}
	return found, nil
}

// Shells are the shells of a session, all for "", oldest first.
func (m *Mux) Shells(session string) []*Shell {
	var list []*Shell
	m.mu.Lock()
	for _, s := range m.shells.byKey {
		if s.phase == shellFound && s.in(session) {
			list = append(list, s)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(list, func(a, b *Shell) int { return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.key, b.key)) })
	return list
}

// DeleteShell ends a shell, all its processes and removes its files. It goes on when ctx ends; deleting twice is no error.
// Errors: those of shell.Delete, then the next server tries again; ErrClosing; the reason of ctx.
func (m *Mux) DeleteShell(ctx context.Context, s *Shell) error {
	m.mu.Lock()
	switch {
	case m.closing:
		m.mu.Unlock()
		return ErrClosing
	case s.phase == shellFound:
		s.phase = shellGoing
		m.work.Go(func() { m.takeDown(s) })
	}
	m.mu.Unlock()
	select {
	case <-s.gone:
		return s.remains
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// takeDown ends a shell whose phase is shellGoing and removes what the disk has of it. What cannot be ended or removed keeps its place in
// the table and its record, by which the next server sees to it.
func (m *Mux) takeDown(s *Shell) {
	defer close(s.gone)
	if err := m.saveShell(s, true); err != nil {
		m.cfg.Log.Warn("cannot note that a shell is deleted", "key", s.key, "error", err) // it matters only if this server dies now
	}
	s.remains = s.Shell.Delete(m.ctx)
	if n := s.fresh(); n > 0 && m.records.Manager != nil {
		m.records.charge(s.Session, thread.Usage{Bytes: n}) // nobody finds it any more
	}
	if s.remains != nil {
		m.cfg.Log.Warn("cannot delete a shell", "key", s.key, "session", s.Session, "id", s.ID, "error", s.remains)
		return
	}
	if s.remains = m.cfg.Store.RemoveShell(s.key); s.remains != nil {
		m.cannotClean(s.remains)
	}
	m.mu.Lock()
	delete(m.shells.byKey, s.key)
	m.mu.Unlock()
	m.records.note(func(b *thread.Batch) error { return b.DeleteTerminal(s.key) })
}

// deletesAtOnce is how many shells of a session end at the same time: an end mostly waits for processes, but each look at
// them reads /proc.
const deletesAtOnce = 16

// DeleteShells ends all shells of a session, of all sessions for "", several at a time, and removes the damaged ones. Errors: those of DeleteShell.
func (m *Mux) DeleteShells(ctx context.Context, session string) error {
	err := each(m.Shells(session), deletesAtOnce, func(s *Shell) error { return m.DeleteShell(ctx, s) })
	return errors.Join(err, m.removeDamaged(session))
}

// leaveShells closes what this server has open of its shells, which go on.
func (m *Mux) leaveShells() {
	m.mu.Lock()
	list := make([]*Shell, 0, len(m.shells.byKey))
	for _, s := range m.shells.byKey {
		list = append(list, s)
	}
	m.mu.Unlock()
	for _, s := range list {
		s.Leave()
	}
}
