package service

import (
	"context"
	"errors"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/lifecycle"
)

// reconcile brings the records in line with what is there: at the start, and after the database
// could not be written. What a killed server had not written down of commands is in the histories
// of their shells.
func (d *Service) reconcile() {
	found, err := d.reconcileRows()
	if err != nil {
		d.failed(err)
	}
	d.adoptLater(found)
}

// reconcileAgain is reconcile in the recorder's goroutine.
func (d *Service) reconcileAgain() {
	found, err := d.reconcileRows()
	if err != nil {
		return
	}
	if old := d.trouble.Swap(nil); old != nil {
		d.cfg.Log.Info("works again", "was", *old)
	}
	d.adoptLater(found)
}

// adoptLater creates rows for what has none, unless the server closes: the recorder is at work
// longer than what Close waits for first.
func (d *Service) adoptLater(found []unrecorded) {
	if len(found) > 0 {
		d.life.TryGo(func() { d.adopt(found) })
	}
}

// unrecorded is something without a row.
type unrecorded struct {
	shell    *registry.Shell
	terminal *terminal.Terminal
}

func (d *Service) reconcileRows() (found []unrecorded, err error) {
	open, err := d.Manager.OpenCommands()
	if err != nil {
		return nil, err
	}
	waiting := map[string][]thread.Command{}
	for _, k := range open {
		waiting[k.Terminal] = append(waiting[k.Terminal], k)
	}
	alive := lifecycle.Alive{Processes: map[string]lifecycle.Process{}}
	for _, s := range d.shells.List("") {
		_, err := d.Manager.Terminal(s.Key)
		if isMissing(err) {
			found = append(found, unrecorded{shell: s})
			continue
		}
		if err != nil {
			return nil, err
		}
		running, err := d.reconcileCommands(s, waiting[s.Key])
		if err != nil {
			return nil, err
		}
		alive.Commands = append(alive.Commands, running...)
		if p, ok := proc.Find(s.Stats().PID); ok {
			alive.Processes[s.Key] = d.process(p)
		}
		shellRow(s).recorded.Store(true)
	}
	list, err := d.reconcileTerminals(&alive)
	if err != nil {
		return nil, err
	}
	if _, err := d.Manager.Recover(alive); err != nil {
		return nil, err
	}
	return append(found, list...), d.reconcileStates()
}

// reconcileTerminals adds the terminals that run. One that was deleted has no row, and one that has
// ended gets it when it is started again.
func (d *Service) reconcileTerminals(alive *lifecycle.Alive) (found []unrecorded, err error) {
	for _, t := range d.terminals.All() {
		if t.Deleted() {
			continue
		}
		r, err := d.Manager.Terminal(t.ID)
		switch {
		case isMissing(err) && t.Running():
			found = append(found, unrecorded{terminal: t})
			continue
		case isMissing(err):
			continue
		case err != nil:
			return nil, err
		}
		row(t).recorded.Store(true)
		if !t.Running() {
			if err := d.reconcileEnded(t, r); err != nil {
				return nil, err
			}
		} else if p, ok := proc.Find(t.Process().PID()); ok {
			alive.Processes[t.ID] = d.process(p)
		}
	}
	return found, nil
}

// reconcileEnded writes where the last program of an ended terminal was, when the records have not
// seen its end: the server before was killed in between. They keep what a rollback wrote since.
func (d *Service) reconcileEnded(t *terminal.Terminal, r thread.Terminal) error {
	ended, dir := t.EndedAt().Truncate(time.Millisecond), t.Cwd() // clocks of records are coarser
	if dir == r.State.Cwd || terminal.Absolute(dir) == "" || !r.State.At.Before(ended) {
		return nil
	}
	last, err := d.Manager.LastRuntime(t.ID)
	switch {
	case err != nil && !isMissing(err):
		return err
	case err == nil && !last.Live() && !last.EndedAt.Before(ended):
		return nil
	}
	if _, _, err := d.Manager.SaveCwd(t.ID, dir); err != nil && !isRefusal(err) {
		return err
	}
	row(t).noted.Store(&dir)
	return nil
}

// reconcileStates writes the states of all shells and terminals, most of which are known.
func (d *Service) reconcileStates() error {
	for _, s := range d.shells.List("") {
		state := s.State()
		if !shellRow(s).recorded.Load() || terminal.Absolute(state.Cwd) == "" {
			continue
		}
		if _, _, err := d.Manager.Save(s.Key,
			thread.State{Cwd: state.Cwd, Env: state.Delta, Unset: state.Unset}); err != nil && !isRefusal(err) {
			return err
		}
	}
	for _, t := range d.terminals.All() {
		if dir := t.Cwd(); row(t).recorded.Load() && t.Running() && terminal.Absolute(dir) != "" {
			if _, _, err := d.Manager.SaveCwd(t.ID, dir); err != nil && !isRefusal(err) {
				return err
			}
			row(t).noted.Store(&dir)
			row(t).exported.Store(nil) // what the records missed is noted at the next look
		}
	}
	return nil
}

// reconcileCommands writes down what the history of a shell has and the records have not, and
// returns the commands that still run or wait.
func (d *Service) reconcileCommands(s *registry.Shell, open []thread.Command) (running []string, err error) {
	known, err := d.Manager.Commands(thread.CommandQuery{Thread: s.Session, Terminal: s.Key, Limit: 1})
	if err != nil && !isMissing(err) {
		return nil, err
	}
	after := ""
	if len(known) > 0 {
		after = known[0].ID
	}
	var list []thread.Command
	add := func(i shell.Info) {
		k := rowOf(s.Key, i)
		list = append(list, k)
		if !k.Ended() {
			running = append(running, k.ID)
		}
	}
	for _, k := range open {
		if e, err := s.Shell.Command(k.ID); err == nil && k.ID != after {
			add(e.Info())
		}
	}
	history := s.Shell.Commands(registry.MaxListed, "")
	for at := len(history) - 1; at >= 0; at-- {
		if history[at].ID == after {
			history = history[at:] // it may have been written down as running
			break
		}
	}
	for _, i := range history {
		add(i)
	}
	if len(list) == 0 {
		return running, nil
	}
	return running, d.Manager.Batch(func(b *lifecycle.Batch) error {
		for _, k := range list {
			if err := b.Command(k); err != nil && !isRefusal(err) {
				return err
			}
		}
		return nil
	})
}

// adopt makes the rows of what has none: it is of before the first database, or somebody removed
// them.
func (d *Service) adopt(list []unrecorded) {
	for _, one := range list {
		if d.ctx.Err() != nil {
			return
		}
		if err := d.adoptOne(d.ctx, one); err != nil && !errors.Is(err, context.Canceled) {
			d.cfg.Log.Warn("cannot write the record of what is there", "error", err)
		}
	}
}

func (d *Service) adoptOne(ctx context.Context, one unrecorded) error {
	if t := one.terminal; t != nil {
		if _, err := d.openThread(ctx, t.Thread(), useOf(t), t.Spec().Provider); err != nil {
			return err
		}
		d.recordTerminal(t)
		return nil
	}
	s := one.shell
	if _, err := d.openThread(ctx, s.Session, useOfShell(s), s.Spec().Provider); err != nil {
		return err
	}
	d.recordShell(s)
	_, err := d.reconcileCommands(s, nil)
	return err
}
