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
		(&recovery{ss, k, held[k.ID]}).run()
		return nil
	})
	for _, k := range list {
		delete(held, k.ID)
	}
	for key, programs := range held {
		ss.cfg.Log.Warn("ending what belongs to no shell", "key", key, "programs", len(programs))
		ss.life.Go((&recovery{Shells: ss, held: programs}).endPrograms)
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

// recovery recovers one shell, or ends one that was deleted.
type recovery struct {
	*Shells
	kept datadir.KeptShell
	held []*keeper.Program // for it
}

func (r *recovery) run() {
	if errors.Is(r.kept.Damage, datadir.ErrNotFound) { // its creator got no answer
		r.life.Go(r.clear)
		return
	}
	row, damage := recordOf(r.kept)
	s := r.newShell(row)
	close(s.started)
	var err error
	config := r.shellConfig(s.Key, s.Session)
	config.Frozen = r.cfg.Hooks.Paused(s.Session)
	s.Shell, err = shell.Recover(config, r.kept.Dir, r.held, shell.Spec{ID: s.Key, Name: s.ID, Sandbox: s.rules})
	switch {
	case err != nil && row.Deleted:
		r.life.Go(r.clear)
		return
	case err != nil:
		r.giveUp(s, errors.Join(damage, err))
		return
	}
	s.phase = shellFound
	if row.Deleted {
		s.phase = shellEnding
	}
	if damage != nil {
		r.cfg.Metrics.FailedRecoveries.Inc()
		r.cfg.Log.Warn("a shell's record is damaged, it gets a new one", "key", s.Key, "session", s.Session, "error",
			damage)
		if err := r.saveShell(s, false); err != nil {
			r.cfg.Log.Warn("cannot write a shell's record", "key", s.Key, "error", err)
		}
	}
	r.mu.Lock()
	r.byKey[s.Key] = s
	r.mu.Unlock()
	r.resumeTerminalExecs(s)
	if row.Deleted {
		r.life.Go(func() { r.remove(s) })
	}
}

// recordOf is the record of a shell. A damaged one is replaced: the shell has its key as its id then, in the session
// of recovered terminals.
func recordOf(k datadir.KeptShell) (r shellRecord, err error) {
	if err = k.Damage; err == nil {
		r, err = parseShellRecord(k.ID, k.Facts)
	}
	if err != nil {
		r = shellRecord{Shell: k.ID, ID: k.ID, Session: terminal.RecoveredSession, CreatedAt: time.Now().UTC()}
	}
	return r, err
}

// giveUp notes a directory whose shell was not recovered, and closes the files that are held for it. It ends the
// programs of a damaged shell, which cannot be reached any more. After other failures, such as a lack of descriptors,
// the next server may succeed.
func (r *recovery) giveUp(s *Shell, why error) {
	r.cfg.Metrics.FailedRecoveries.Inc()
	r.cfg.Log.Error("cannot bring back a shell", "key", s.Key, "session", s.Session, "error", why)
	r.damaged.add(s.Key, damagedShell{s.Session, why})
	if errors.Is(why, shell.ErrDamaged) {
		r.life.Go(r.end)
		return
	}
	for _, p := range r.held {
		closeFiles(p)
	}
}

// clear ends the rest of a deleted shell, and removes its files.
func (r *recovery) clear() {
	r.end()
	if err := r.cfg.Store.RemoveShell(r.kept.ID); err != nil {
		r.cfg.OnCleanup(err)
	}
}

// end ends the programs that are held for a shell, and their descendants.
func (r *recovery) end() {
	r.endPrograms()
	if err := proctree.Sweep(r.ctx, r.kept.Dir, r.cfg.Keeper.LastPID()); err != nil {
		r.cfg.Log.Warn("processes of a shell remain", "key", r.kept.ID, "error", err)
	}
}

// endPrograms ends the programs and has the keeper release them. It returns when they have ended.
func (r *recovery) endPrograms() {
	for _, p := range r.held {
		if p.Child != nil {
			r.endChild(p)
		}
		closeFiles(p)
		r.cfg.Keeper.Release(p.ID)
	}
}

func (r *recovery) endChild(p *keeper.Program) {
	ctx, cancel := context.WithTimeout(r.ctx, proc.KillGrace)
	defer cancel()
	if err := p.Child.Kill(ctx, nil); err != nil {
		r.cfg.Log.Warn("processes of a shell remain", "name", p.ID, "pid", p.Child.PID(), "error", err)
		return // its end may never come
	}
	p.Child.Wait()
}

func closeFiles(p *keeper.Program) {
	for _, f := range p.Files {
		_ = f.Close()
	}
}

// Problems are the problems of recovery, one sentence each.
func (ss *Shells) Problems() (list []string) {
	damaged := ss.damaged.all()
	for _, d := range damaged { // the reason of one is enough
		list = []string{fmt.Sprintf("shells could not be brought back, deleting those of their session removes them: "+
			"%v (shells: %d)", d.why, len(damaged))}
	}
	var incomplete [][]string
	for _, s := range ss.List("") {
		if lost := s.Damage(); len(lost) > 0 {
			incomplete = append(incomplete, lost)
		}
	}
	if n := len(incomplete); n > 0 {
		list = append(list, fmt.Sprintf("shells came back without a part of their files: %s (shells: %d)",
			incomplete[n-1][0], n))
	}
	return list
}
