package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// reconcile brings the rows in line with the live processes: at the start, and after the database
// could not be written. Commands that a killed server had not written are in the histories of their
// shells.
func (rc *recorder) reconcile() {
	found, err := rc.reconcileRows()
	if err != nil {
		rc.failed(err)
	}
	rc.adoptLater(found)
}

// reconcileAgain is reconcile in the recorder's goroutine.
func (rc *recorder) reconcileAgain() {
	found, err := rc.reconcileRows()
	if err != nil {
		return
	}
	if old := rc.trouble.Swap(nil); old != nil {
		rc.log.Info("works again", "was", *old)
	}
	rc.adoptLater(found)
}

// adoptLater makes the missing rows, unless the server closes: the recorder outlives the goroutines
// that Close waits for first.
func (rc *recorder) adoptLater(found []unrecorded) {
	if len(found) > 0 {
		rc.life.TryGo(func() { rc.adopt(found) })
	}
}

// unrecorded makes the row of a shell or a terminal that has none.
type unrecorded func() error

func (rc *recorder) reconcileRows() (found []unrecorded, err error) {
	open, err := read(rc.database, func(tx *sqlite.Tx) ([]thread.Command, error) { return tx.OpenCommands("") })
	if err != nil {
		return nil, err
	}
	waiting := map[string][]thread.Command{}
	for _, k := range open {
		waiting[k.Terminal] = append(waiting[k.Terminal], k)
	}
	live := alive{processes: map[string]process{}, commands: map[string]bool{}}
	for _, s := range rc.shells.List("") {
		_, err := rc.terminal(s.Key)
		if missing(err) {
			found = append(found, func() error { return rc.adoptShell(s) })
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := rc.reconcileCommands(s, waiting[s.Key], live.commands); err != nil {
			return nil, err
		}
		if p, ok := proc.Find(s.Stats().PID); ok {
			live.processes[s.Key] = rc.process(p)
		}
		shellRow(s).recorded.Store(true)
	}
	list, err := rc.reconcileTerminals(live.processes)
	if err != nil {
		return nil, err
	}
	if err := rc.update(func(c *change) error { return c.recover(live) }); err != nil {
		return nil, err
	}
	return append(found, list...), rc.reconcileStates()
}

// reconcileTerminals adds the processes of the terminals that run. A deleted one has no row, and
// one that has ended gets it with its next start.
func (rc *recorder) reconcileTerminals(processes map[string]process) (found []unrecorded, err error) {
	for _, t := range rc.terminals.All() {
		if t.Deleted() {
			continue
		}
		r, err := rc.terminal(t.ID)
		if missing(err) {
			if t.Running() {
				found = append(found, func() error { return rc.hooks.recordTerminal(rc.ctx, t) })
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		row(t).recorded.Store(true)
		if !t.Running() {
			if err := rc.reconcileEnded(t, r); err != nil {
				return nil, err
			}
		} else if p, ok := proc.Find(t.Process().PID()); ok {
			processes[t.ID] = rc.process(p)
		}
	}
	return found, nil
}

// reconcileEnded writes the last directory of a terminal whose program has ended, when its row has
// not seen the end: the server before was killed in between. What a rollback wrote since stays.
func (rc *recorder) reconcileEnded(t *terminal.Terminal, r thread.Terminal) error {
	ended, dir := t.EndedAt().Truncate(time.Millisecond), t.Cwd() // the clock of rows is coarser
	if dir == r.State.Cwd || terminal.Absolute(dir) == "" || !r.State.At.Before(ended) {
		return nil
	}
	last, err := read(rc.database, func(tx *sqlite.Tx) (thread.Runtime, error) { return tx.LastRuntime(t.ID) })
	if gone(err) != nil || err == nil && !last.Live() && !last.EndedAt.Before(ended) {
		return gone(err)
	}
	if err := rc.update(func(c *change) error { return c.saved(t.ID, inDir(dir)) }); err != nil && !isRefusal(err) {
		return err
	}
	row(t).noted.Store(&dir)
	return nil
}

// inDir is a state with another directory.
func inDir(dir string) func(thread.State) thread.State {
	return func(s thread.State) thread.State { s.Cwd = dir; return s }
}

// reconcileStates writes the states of all shells and terminals, most of which the rows have.
func (rc *recorder) reconcileStates() error {
	dirs := map[*terminal.Terminal]string{}
	for _, t := range rc.terminals.All() {
		if dir := t.Cwd(); row(t).recorded.Load() && t.Running() && terminal.Absolute(dir) != "" {
			dirs[t] = dir
		}
	}
	err := rc.update(func(c *change) error {
		var errs []error
		for _, s := range rc.shells.List("") {
			if state, ok := stateOf(s); ok && shellRow(s).recorded.Load() {
				errs = append(errs, c.outcome(c.saved(s.Key, func(thread.State) thread.State { return state })))
			}
		}
		for t, dir := range dirs {
			errs = append(errs, c.outcome(c.saved(t.ID, inDir(dir))))
		}
		return errors.Join(slices.DeleteFunc(errs, isRefusal)...)
	})
	if err != nil {
		return err
	}
	for t, dir := range dirs {
		row(t).noted.Store(&dir)
		row(t).exported.Store(nil) // what the rows missed is noted at the next look
	}
	return nil
}

// reconcileCommands writes the commands that the history of a shell has and the rows have not, and
// adds the ids of those that still run or wait to running.
func (rc *recorder) reconcileCommands(s *registry.Shell, open []thread.Command, running map[string]bool) error {
	known, err := commandsOf(rc.database, thread.CommandQuery{Thread: s.Session, Terminal: s.Key, Limit: 1})
	if gone(err) != nil {
		return err
	}
	after := ""
	if len(known) > 0 {
		after = known[0].ID
	}
	var list []thread.Command
	add := func(i shell.Info) {
		k := rowOf(s.Key, i)
		list = append(list, k)
		running[k.ID] = !k.Ended()
	}
	for _, k := range open {
		if e, err := s.Shell.Command(k.ID); err == nil && k.ID != after {
			add(e.Info())
		}
	}
	history := s.Shell.Commands(registry.MaxListed, "")
	first := slices.IndexFunc(history, func(i shell.Info) bool { return i.ID == after }) // its row may say that it runs
	for _, i := range history[max(first, 0):] {
		add(i)
	}
	if len(list) == 0 {
		return nil
	}
	return rc.update(func(c *change) error {
		for _, k := range list {
			if err := c.outcome(c.command(k)); err != nil && !isRefusal(err) {
				return err
			}
		}
		return nil
	})
}

// adopt makes missing rows: of what is older than the database, or whose row was removed.
func (rc *recorder) adopt(list []unrecorded) {
	for _, record := range list {
		if rc.ctx.Err() != nil {
			return
		}
		if err := record(); err != nil && !errors.Is(err, context.Canceled) {
			rc.log.Warn("cannot write the record of what is there", "error", err)
		}
	}
}

func (rc *recorder) adoptShell(s *registry.Shell) error {
	if _, err := rc.hooks.openShell(rc.ctx, s); err != nil {
		return err
	}
	rc.recordShell(s)
	return rc.reconcileCommands(s, nil, map[string]bool{})
}
