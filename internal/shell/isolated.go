package shell

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty"
)

// isolated runs a command as one process beside the shell, started by the keeper.
type isolated struct {
	plan  proc.Plan
	child *pty.Child
	exit  pty.Exit      // valid when ended is closed
	ended chan struct{} // of child; made by wait
}

// runIsolated runs a command in a goroutine of its own.
func (e *Exec) runIsolated() {
	s := e.shell
	defer s.pruneIfDue()
	defer s.queue.freeSlot()
	_ = s.Settled(e.stopped)
	e.attempt(s.procs.current.Load(), restartNotice{}, maxStarts)
}

// prepare plans the program. It ends the command with the codes of a shell for a program that it cannot find or
// execute.
func (i *isolated) prepare(x *execution, cwd string) (err error) {
	e, s := x.cmd, x.cmd.shell
	spec := e.spec()
	if s.remote != nil {
		i.plan, err = pty.Spec{Argv: append(slices.Clone(s.remote.Program), e.dir), Dir: s.procs.home()}.Plan()
		s.procs.tag(&i.plan)
		return err
	}
	env := s.State().Env
	maps.Copy(env, spec.Env)
	i.plan, err = pty.Spec{Argv: spec.Argv, Dir: cwd, Env: env, Confine: s.procs.confined()}.Plan()
	if err == nil {
		i.plan.Env = i.plan.Env[:0]
		for name, value := range env {
			i.plan.Env = append(i.plan.Env, name+"="+value)
		}
		slices.Sort(i.plan.Env)
		i.plan.Env = append(i.plan.Env, "PWD="+cwd)
		s.procs.tag(&i.plan)
		return nil
	}
	code, words := 127, "command not found"
	if errors.Is(err, os.ErrPermission) {
		code, words = 126, "Permission denied"
	} else if !errors.Is(err, pty.ErrNoCommand) {
		code, words = 126, err.Error()
	}
	e.endUnstarted(spec.Argv[0]+": "+words+"\n", cwd, Result{ExitCode: code, Cwd: x.home})
	return nil
}

func (i *isolated) start(x *execution) (err error) {
	input := ""
	if x.cmd.hasInput() {
		input = filepath.Join(x.cmd.dir, shelldir.InputFile)
	}
	if i.child, err = x.files.Run(i.plan, input); err != nil {
		if i.child != nil {
			dispose(i.child)
		}
		return err
	}
	shelldir.RemoveFIFOs(x.cmd.dir)
	x.files.CloseWriters()
	x.cmd.markRunning(i.child.PID())
	return nil
}

// dispose kills a child that is not needed.
func dispose(child *pty.Child) {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = child.Kill(now, nil)
	child.Wait()
}

// wait waits for the keeper's report on the end of the child.
func (i *isolated) wait(ctx context.Context, x *execution) (Result, progress) {
	s := x.cmd.shell
	if i.ended == nil {
		i.ended = make(chan struct{})
		go func() { // not of work: it ends when the child or the connection to the keeper does
			i.exit = i.child.Wait()
			close(i.ended)
		}()
	}
	select {
	case <-i.ended:
	case <-ctx.Done():
		if s.detached() || !bash.Exited(i.child) {
			return Result{}, unfinished
		}
		select { // the report is on its way
		case <-i.ended:
		case <-s.ctx.Done():
			return Result{}, unfinished
		}
	}
	return Result{ExitCode: bash.ExitCode(i.exit), Cwd: x.home}, finished
}

func (i *isolated) signal(x *execution, _ *Result) progress {
	if p, ok := proc.Find(i.child.PID()); ok {
		x.cmd.terminate(p)
	}
	return unfinished
}
