package registry

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/parallel"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/pty/keeper"
)

// Recover recovers the shells of the disk, several at a time, without waiting for their commands. A damaged shell
// affects no other. Programs that the keeper holds for no shell are ended.
func (m *Registry) Recover() error {
	list, err := m.cfg.Store.Shells()
	if err != nil {
		return err
	}
	held, err := m.heldForShells()
	if err != nil {
		return err
	}
	_ = parallel.Each(list, runtime.GOMAXPROCS(0), func(k datadir.KeptShell) error {
		m.restoreShell(k, held[k.ID])
		return nil
	})
	for _, k := range list {
		delete(held, k.ID)
	}
	for key, programs := range held {
		m.cfg.Log.Warn("ending what belongs to no shell", "key", key, "programs", len(programs))
		m.life.Go(func() { m.endPrograms(programs) })
	}
	return nil
}

// heldForShells returns the programs that the keeper holds for shells, by their keys. It leaves others alone, which
// may be of another release.
func (m *Registry) heldForShells() (map[string][]*keeper.Program, error) {
	list, err := m.cfg.Keeper.TakePrograms(m.ctx)
	if err != nil {
		return nil, fmt.Errorf("take over from the keeper: %w", err)
	}
	held := map[string][]*keeper.Program{}
	for _, p := range list {
		name, ok := strings.CutPrefix(p.ID, shell.Prefix)
		if !ok {
			m.cfg.Log.Warn("the keeper holds what this server knows nothing of", "name", p.ID)
			closeFiles(p)
			continue
		}
		key, _, _ := strings.Cut(name, ".")
		held[key] = append(held[key], p)
	}
	return held, nil
}

// restoreShell recovers one shell, or ends one that nobody wants any more.
func (m *Registry) restoreShell(k datadir.KeptShell, held []*keeper.Program) {
	if errors.Is(k.Damage, datadir.ErrNotFound) { // its creator was not told of it
		m.life.Go(func() { m.clearShell(k, held) })
		return
	}
	r, damage := m.recordOf(k)
	s := m.newShell(r)
	close(s.started)
	var err error
	config := m.shellConfig(k.ID, s.Session)
	config.Frozen = m.cfg.Hooks.Paused(r.Session)
	switch s.Shell, err = shell.Recover(config, k.Dir, held, shell.Spec{ID: k.ID, Name: r.ID}); {
	case err != nil && r.Deleted:
		m.life.Go(func() { m.clearShell(k, held) })
		return
	case err != nil:
		m.noteDamaged(k.ID, r.Session, errors.Join(damage, err))
		m.closeOrEnd(k, held, err)
		return
	}
	s.phase = shellFound
	if r.Deleted {
		s.phase = shellEnding
	}
	if damage != nil {
		m.cfg.Metrics.FailedRecoveries.Inc()
		m.cfg.Log.Warn("a shell's record is damaged, it gets a new one", "key", k.ID, "session", r.Session, "error",
			damage)
		if err := m.saveShell(s, false); err != nil {
			m.cfg.Log.Warn("cannot write a shell's record", "key", k.ID, "error", err)
		}
	}
	m.mu.Lock()
	m.byKey[s.Key] = s
	m.mu.Unlock()
	m.resumeTerminalExecs(s)
	if r.Deleted {
		m.life.Go(func() { m.remove(s) })
	}
}

// recordOf is the record of a shell. A damaged one is replaced: the shell has its key as its id then, in the session
// of recovered terminals.
func (m *Registry) recordOf(k datadir.KeptShell) (shellRecord, error) {
	err := k.Damage
	if err == nil {
		var r shellRecord
		if r, err = parseShellRecord(k.ID, k.Facts); err == nil {
			return r, nil
		}
	}
	return shellRecord{Shell: k.ID, ID: k.ID, Session: terminal.RecoveredSession, CreatedAt: time.Now().UTC()}, err
}

// closeOrEnd closes what is held for a shell that was not recovered. It ends the programs of a damaged shell, which
// cannot be reached any more. After other failures, such as a lack of descriptors, the next server may succeed.
func (m *Registry) closeOrEnd(k datadir.KeptShell, held []*keeper.Program, why error) {
	if errors.Is(why, shell.ErrDamaged) {
		m.life.Go(func() { m.endShell(k, held) })
		return
	}
	for _, p := range held {
		closeFiles(p)
	}
}

// clearShell ends the rest of a shell that nobody wants, and removes its files.
func (m *Registry) clearShell(k datadir.KeptShell, held []*keeper.Program) {
	m.endShell(k, held)
	if err := m.cfg.Store.RemoveShell(k.ID); err != nil {
		m.cfg.OnCleanup(err)
	}
}

// endShell ends the programs that are held for a shell, and their descendants.
func (m *Registry) endShell(k datadir.KeptShell, held []*keeper.Program) {
	m.endPrograms(held)
	if err := proctree.Sweep(m.ctx, k.Dir, m.cfg.Keeper.LastPID()); err != nil {
		m.cfg.Log.Warn("processes of a shell remain", "key", k.ID, "error", err)
	}
}

// endPrograms ends programs and has the keeper release them. It returns when they have ended.
func (m *Registry) endPrograms(list []*keeper.Program) {
	for _, p := range list {
		if p.Child != nil {
			m.endChild(p)
		}
		closeFiles(p)
		m.cfg.Keeper.Release(p.ID)
	}
}

func (m *Registry) endChild(p *keeper.Program) {
	ctx, cancel := context.WithTimeout(m.ctx, proc.KillGrace)
	defer cancel()
	if err := p.Child.Kill(ctx, nil); err != nil {
		m.cfg.Log.Warn("processes of a shell remain", "name", p.ID, "pid", p.Child.PID(), "error", err)
		return // its end may never come
	}
	p.Child.Wait()
}

func closeFiles(p *keeper.Program) {
	for _, f := range p.Files {
		_ = f.Close()
	}
}

// noteDamaged notes a directory whose shell was not recovered.
func (m *Registry) noteDamaged(key, session string, why error) {
	m.cfg.Metrics.FailedRecoveries.Inc()
	m.cfg.Log.Error("cannot bring back a shell", "key", key, "session", session, "error", why)
	m.mu.Lock()
	m.damaged[key] = damagedShell{session, why}
	m.mu.Unlock()
}

// removeDamaged removes the directories of a session's damaged shells, of all sessions for "".
func (m *Registry) removeDamaged(session string) (err error) {
	var keys []string
	m.mu.Lock()
	for key, d := range m.damaged {
		if session == "" || d.session == session {
			keys = append(keys, key)
		}
	}
	m.mu.Unlock()
	for _, key := range keys {
		e := m.cfg.Store.RemoveShell(key)
		err = errors.Join(err, e)
		if e != nil {
			continue
		}
		m.mu.Lock()
		delete(m.damaged, key)
		m.mu.Unlock()
	}
	return err
}

// damagedShells counts the shells that were not recovered, with the reason of one.
func (m *Registry) damagedShells() (n int, why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.damaged {
		n, why = n+1, d.why
	}
	return n, why
}

// incompleteShells counts the recovered shells with unreadable files, with the loss of one.
func (m *Registry) incompleteShells() (n int, what string) {
	for _, s := range m.List("") {
		if list := s.Damage(); len(list) > 0 {
			n, what = n+1, list[0]
		}
	}
	return n, what
}

// Problems are the problems of recovery, one sentence each.
func (m *Registry) Problems() (list []string) {
	if n, why := m.damagedShells(); n > 0 {
		list = append(list, fmt.Sprintf("shells could not be brought back, deleting those of their session removes "+
			"them: %v (shells: %d)", why, n))
	}
	if n, what := m.incompleteShells(); n > 0 {
		list = append(list, fmt.Sprintf("shells came back without a part of their files: %s (shells: %d)", what, n))
	}
	return list
}
