package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/stdio"
)

// Stop ends the processes of a shell and their descendants (SIGHUP, SIGKILL after proc.KillGrace), cancels its commands
// and refuses the changes of its state that wait. The next command starts the shell again with its state. why is the
// Result.Reason of the cancelled commands; "" is none. Errors: as Delete.
func (s *Shell) Stop(ctx context.Context, why string) error {
	s.submitting.Lock() // no command gets a turn meanwhile
	defer s.submitting.Unlock()
	if s.detached() {
		return nil
	}
	list := append(s.Execs(), s.queue.internal()...)
	s.SetFrozen(false)
	s.queue.dropChanges(fmt.Errorf("%w: the shell was stopped before their turn", ErrBadEnv))
	for _, e := range list {
		if !e.hasEnded() {
			e.mu.Lock()
			e.reason = why
			e.mu.Unlock()
			e.Cancel()
		}
	}
	err := s.procs.end(ctx, ctx.Done(), "stop")
	if ctx.Err() != nil && s.procs.running() != nil {
		return err
	}
	return errors.Join(err, proctree.Sweep(ctx, s.spec.Dir, s.config.Keeper.LastPID()))
}

// Delete ends all processes that any process of the shell has started, releases what the keeper holds, and removes
// Dir. Commands that wait or run fail with ErrDeleted. It returns when nothing is left, or with an error about
// survivors.
func (s *Shell) Delete(ctx context.Context) error {
	s.mu.Lock()
	first := !s.detached()
	s.cancel(ErrDeleted)
	s.mu.Unlock()
	err := s.procs.end(ctx, nil, "delete")
	if first {
		s.shutDown(ErrDeleted) // nothing starts after this
	}
	err = errors.Join(err, proctree.Sweep(ctx, s.spec.Dir, s.config.Keeper.LastPID()))
	list := append(s.Execs(), s.queue.internal()...)
	s.queue.dropChanges(ErrDeleted)
	for _, e := range list {
		s.queue.remove(e)
		if !e.hasEnded() {
			e.end(Failed, nil, ErrDeleted)
		}
		e.finish()
		s.config.Keeper.Release(e.holdID())
		if e.spec().StdinOpen { // the server's own end is closed already, the keeper's is not
			s.config.Keeper.Release(stdio.InputID(e.holdID()))
		}
	}
	if err != nil {
		return err
	}
	if err := os.RemoveAll(s.spec.Dir); err != nil {
		return fmt.Errorf("shell: delete %s: %w", s.spec.ID, err)
	}
	for _, e := range list {
		e.forget()
	}
	return nil
}

// Retire ends the process of an idle shell: no command has its turn, waits or runs beside it, no background process
// is left, and its state is captured. The next command starts the shell again (Result.Recreated). It reports whether
// the process has ended.
func (s *Shell) Retire(idle time.Duration) bool {
	s.submitting.Lock() // no command gets a turn meanwhile
	defer s.submitting.Unlock()
	waiting, beside, busy := s.queue.counts() // before the look at the capture: a turn begins with one
	unused := shelldir.Closed(s.state.now().captured) && !s.detached() && !busy && waiting == 0 && beside == 0
	b := s.procs.running()
	if !unused || b == nil || time.Since(s.Stats().LastActivity) < idle {
		return false
	}
	list, err := proctree.Belonging(s.spec.Dir, s.config.Keeper.LastPID())
	own := []int{b.Proc().PID, b.Launcher()}
	if err != nil || slices.ContainsFunc(list, func(p proc.Process) bool { return !slices.Contains(own, p.PID) }) {
		return false
	}
	b.Kill()
	select {
	case <-b.Ended:
		return true
	case <-time.After(endGrace):
		return false
	}
}

// Roots are the processes from which all of the shell's descend: its launcher, bash, and the processes of commands
// beside it.
func (s *Shell) Roots() (list []proc.Process) {
	if b := s.procs.running(); b != nil {
		if p, ok := proc.Find(b.Launcher()); ok && !p.Ended {
			list = append(list, p)
		}
		if bash := b.Proc(); bash.PID > 0 {
			list = append(list, bash)
		}
	}
	for _, e := range s.Execs() {
		i := e.Info()
		if i.Status != Running || i.PID <= 0 || !i.Isolated && !i.Background {
			continue
		}
		find := e.begunAs
		if i.Isolated {
			find = proc.Find
		}
		if p, ok := find(i.PID); ok {
			list = append(list, p)
		}
	}
	return list
}
