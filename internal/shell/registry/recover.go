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
func (ss *Shells) Recover() error {
	list, err := ss.cfg.Store.Shells()
	if err != nil {
		return err
	}
	held, err := ss.heldForShells()
	if err != nil {
		return err
	}
	_ = parallel.Each(list, runtime.GOMAXPROCS(0), func(k datadir.KeptShell) error {
		ss.restoreShell(k, held[k.ID])
		return nil
	})
	for _, k := range list {
		delete(held, k.ID)
	}
	for key, programs := range held {
		ss.cfg.Log.Warn("ending what belongs to no shell", "key", key, "programs", len(programs))
		ss.life.Go(func() { ss.endPrograms(programs) })
	}
	return nil
}

// heldForShells returns the programs that the keeper holds for shells, by their keys. It leaves others alone, which
// may be of another release.
func (ss *Shells) heldForShells() (map[string][]*keeper.Program, error) {
	list, err := ss.cfg.Keeper.TakePrograms(ss.ctx)
	if err != nil {
		return nil, fmt.Errorf("take over from the keeper: %w", err)
	}
	held := map[string][]*keeper.Program{}
	for _, p := range list {
		name, ok := strings.CutPrefix(p.ID, shell.Prefix)
		if !ok {
			ss.cfg.Log.Warn("the keeper holds what this server knows nothing of", "name", p.ID)
			closeFiles(p)
			continue
		}
		key, _, _ := strings.Cut(name, ".")
		held[key] = append(held[key], p)
	}
	return held, nil
}

// restoreShell recovers one shell, or ends one that nobody wants any more.
func (ss *Shells) restoreShell(k datadir.KeptShell, held []*keeper.Program) {
	if errors.Is(k.Damage, datadir.ErrNotFound) { // its creator was not told of it
		ss.life.Go(func() { ss.clearShell(k, held) })
		return
	}
	r, damage := ss.recordOf(k)
	s := ss.newShell(r)
	close(s.started)
	var err error
	config := ss.shellConfig(k.ID, s.Session)
	config.Frozen = ss.cfg.Hooks.Paused(r.Session)
	switch s.Shell, err = shell.Recover(config, k.Dir, held, shell.Spec{ID: k.ID, Name: r.ID}); {
	case err != nil && r.Deleted:
		ss.life.Go(func() { ss.clearShell(k, held) })
		return
	case err != nil:
		ss.noteDamaged(k.ID, r.Session, errors.Join(damage, err))
		ss.closeOrEnd(k, held, err)
		return
	}
	s.phase = shellFound
	if r.Deleted {
		s.phase = shellEnding
	}
	if damage != nil {
		ss.cfg.Metrics.FailedRecoveries.Inc()
		ss.cfg.Log.Warn("a shell's record is damaged, it gets a new one", "key", k.ID, "session", r.Session, "error",
			damage)
		if err := ss.saveShell(s, false); err != nil {
			ss.cfg.Log.Warn("cannot write a shell's record", "key", k.ID, "error", err)
		}
	}
	ss.mu.Lock()
	ss.byKey[s.Key] = s
	ss.mu.Unlock()
	ss.resumeTerminalExecs(s)
	if r.Deleted {
		ss.life.Go(func() { ss.remove(s) })
	}
}

// recordOf is the record of a shell. A damaged one is replaced: the shell has its key as its id then, in the session
// of recovered terminals.
func (ss *Shells) recordOf(k datadir.KeptShell) (shellRecord, error) {
	err := k.Damage
	if err == nil {
		var r shellRecord
		if r, err = parseShellRecord(k.ID, k.Facts); err == nil {
			return r, nil
		}
	}
	return shellRecord{Shell: k.ID, ID: k.ID, Session: terminal.RecoveredSession, CreatedAt: time.Now().UTC()}, err
}

// closeOrEnd closes the files that are held for a shell that was not recovered. It ends the programs of a damaged
// shell, which cannot be reached any more. After other failures, such as a lack of descriptors, the next server may
// succeed.
func (ss *Shells) closeOrEnd(k datadir.KeptShell, held []*keeper.Program, why error) {
	if errors.Is(why, shell.ErrDamaged) {
		ss.life.Go(func() { ss.endShell(k, held) })
		return
	}
	for _, p := range held {
		closeFiles(p)
	}
}

// clearShell ends the rest of a shell that nobody wants, and removes its files.
func (ss *Shells) clearShell(k datadir.KeptShell, held []*keeper.Program) {
	ss.endShell(k, held)
	if err := ss.cfg.Store.RemoveShell(k.ID); err != nil {
		ss.cfg.OnCleanup(err)
	}
}

// endShell ends the programs that are held for a shell, and their descendants.
func (ss *Shells) endShell(k datadir.KeptShell, held []*keeper.Program) {
	ss.endPrograms(held)
	if err := proctree.Sweep(ss.ctx, k.Dir, ss.cfg.Keeper.LastPID()); err != nil {
		ss.cfg.Log.Warn("processes of a shell remain", "key", k.ID, "error", err)
	}
}

// endPrograms ends programs and has the keeper release them. It returns when they have ended.
func (ss *Shells) endPrograms(list []*keeper.Program) {
	for _, p := range list {
		if p.Child != nil {
			ss.endChild(p)
		}
		closeFiles(p)
		ss.cfg.Keeper.Release(p.ID)
	}
}

func (ss *Shells) endChild(p *keeper.Program) {
	ctx, cancel := context.WithTimeout(ss.ctx, proc.KillGrace)
	defer cancel()
	if err := p.Child.Kill(ctx, nil); err != nil {
		ss.cfg.Log.Warn("processes of a shell remain", "name", p.ID, "pid", p.Child.PID(), "error", err)
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
func (ss *Shells) noteDamaged(key, session string, why error) {
	ss.cfg.Metrics.FailedRecoveries.Inc()
	ss.cfg.Log.Error("cannot bring back a shell", "key", key, "session", session, "error", why)
	ss.mu.Lock()
	ss.damaged[key] = damagedShell{session, why}
	ss.mu.Unlock()
}

// removeDamaged removes the directories of a session's damaged shells, of all sessions for "".
func (ss *Shells) removeDamaged(session string) (err error) {
	var keys []string
	ss.mu.Lock()
	for key, d := range ss.damaged {
		if session == "" || d.session == session {
			keys = append(keys, key)
		}
	}
	ss.mu.Unlock()
	for _, key := range keys {
		e := ss.cfg.Store.RemoveShell(key)
		err = errors.Join(err, e)
		if e != nil {
			continue
		}
		ss.mu.Lock()
		delete(ss.damaged, key)
		ss.mu.Unlock()
	}
	return err
}

// damagedShells counts the shells that were not recovered, with the reason of one.
func (ss *Shells) damagedShells() (n int, why error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for _, d := range ss.damaged {
		n, why = n+1, d.why
	}
	return n, why
}

// incompleteShells counts the recovered shells with unreadable files, with the loss of one.
func (ss *Shells) incompleteShells() (n int, what string) {
	for _, s := range ss.List("") {
		if list := s.Damage(); len(list) > 0 {
			n, what = n+1, list[0]
		}
	}
	return n, what
}

// Problems are the problems of recovery, one sentence each.
func (ss *Shells) Problems() (list []string) {
	if n, why := ss.damagedShells(); n > 0 {
		list = append(list, fmt.Sprintf("shells could not be brought back, deleting those of their session removes "+
			"them: %v (shells: %d)", why, n))
	}
	if n, what := ss.incompleteShells(); n > 0 {
		list = append(list, fmt.Sprintf("shells came back without a part of their files: %s (shells: %d)", what, n))
	}
	return list
}
