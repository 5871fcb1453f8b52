package shell

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// Stop ends the processes of a shell and their descendants (SIGHUP, SIGKILL after pty.KillGrace) and cancels its
// commands. The next command starts the shell again with its state. why is the Result.Reason of the cancelled
// commands; "" is none. Errors: as Delete.
func (s *Shell) Stop(ctx context.Context, why string) error {
	s.submitting.Lock() // nobody gets a turn meanwhile
	defer s.submitting.Unlock()
	s.mu.Lock()
	proc, gone := s.proc, s.deleted || s.detached()
	list := append(s.queue.commands(false), s.all...)
	s.mu.Unlock()
	if gone {
		return nil
	}
	s.SetFrozen(false)
	for _, e := range list {
		if !e.hasEnded() {
			e.setReason(why)
			e.Cancel()
		}
	}
	var err error
	if proc != nil && !shelldir.Closed(proc.Ended) {
		if killErr := proc.End(ctx); killErr != nil {
			err = fmt.Errorf("shell: stop %s: %w", s.spec.ID, killErr)
		}
		select {
		case <-proc.Ended:
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		}
	}
	return errors.Join(err, proctree.Sweep(ctx, s.spec.Dir, s.config.Keeper.LastPID()))
}

// Roots are the processes from which all of the shell's descend: its launcher, bash, and the processes of commands
// beside it.
func (s *Shell) Roots() []proc.Process {
	s.mu.Lock()
	shell, all := s.proc, slices.Clone(s.all)
	s.mu.Unlock()
	var list []proc.Process
	if shell != nil && !shelldir.Closed(shell.Ended) {
		if p, ok := proc.Find(shell.Launcher()); ok && !p.Ended {
			list = append(list, p)
		}
		if bash := shell.Proc(); bash.PID > 0 {
			list = append(list, bash)
		}
	}
	for _, e := range all {
		i := e.Info()
		switch {
		case i.Status != Running || i.PID <= 0:
		case i.Isolated:
			if p, ok := proc.Find(i.PID); ok {
				list = append(list, p)
			}
		case i.Background:
			if p, ok := e.begunAs(i.PID); ok {
				list = append(list, p)
			}
		}
	}
	return list
}

// Roll sets the directory and the environment, which is given by its differences from the first start, in its turn in
// the queue; submitted reports that it will happen. It returns when it has happened or ctx has ended, and goes on then.
// For a directory that does not exist it takes the nearest parent. Errors: as Submit, ctx.Err().
func (s *Shell) Roll(ctx context.Context, cwd string, delta map[string]string, unset []string) (submitted bool,
	err error) {
	dir := "." // where nobody knows better
	if cwd != "" {
		dir = shelldir.Nearest(cwd)
	}
	delta, unset = maps.Clone(delta), slices.Clone(unset)
	if s.remote() {
		return s.changeRemote(ctx, func(state.Environment) state.Environment {
			return state.Environment{Cwd: cwd, Delta: map[string]string{}, Unset: unset}.With(delta, nil)
		})
	}
	e, err := s.submitInternal(func() string { return s.rollText(dir, delta, unset) })
	if err != nil {
		return false, fmt.Errorf("shell: roll: %w", err)
	}
	defer s.discard(e)
	if _, err := e.Wait(ctx); err != nil {
		return true, err
	}
	return true, s.Settled(ctx)
}

// discard removes the directory of an internal command when it has ended and the shell has read all of its control
// lines: the shell ends when it cannot write there.
func (s *Shell) discard(e *Exec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.detached() {
		return // Delete removes all of them
	}
	s.work.Go(func() {
		select {
		case <-e.done:
			if s.Settled(s.ctx) == nil && !s.detached() {
				_ = os.RemoveAll(e.dir)
				e.outputs[0].Forget()
				e.outputs[1].Forget()
			}
		case <-s.ctx.Done():
		}
	})
}

// rollText restores the environment of the first start, then applies the differences. It is called in its turn, when
// the current environment is known.
func (s *Shell) rollText(cwd string, delta map[string]string, unset []string) string {
	now := s.State()
	s.mu.Lock()
	first := map[string]string{}
	for _, pair := range s.firstEnv {
		name, value, _ := strings.Cut(pair, "=")
		first[name] = value
	}
	s.mu.Unlock()
	set, gone := map[string]string{}, slices.Clone(unset)
	for name := range now.Delta {
		if value, had := first[name]; had {
			set[name] = value
		} else {
			gone = append(gone, name)
		}
	}
	for _, name := range now.Unset {
		if value, had := first[name]; had {
			set[name] = value
		}
	}
	for _, name := range unset {
		delete(set, name)
	}
	maps.Copy(set, delta)
	gone = slices.DeleteFunc(gone, func(name string) bool { _, is := set[name]; return is || !state.ValidName(name) })
	maps.DeleteFunc(set, func(name, _ string) bool { return !state.ValidName(name) })
	slices.Sort(gone)
	bash := s.scriptBash()
	return bash.ChangeDir(cwd) + bash.Environment(set, slices.Compact(gone), "((1))")
}
