package shell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty"
)

// isolated runs a command as one process beside the shell, started by the keeper.
type isolated struct {
	plan  proc.Plan
	child *pty.Child
	exit  pty.Exit // valid when ended is closed
	ended chan struct{}
}

// isolated runs a command in a goroutine of its own.
func (s *Shell) isolated(e *Exec) {
	defer s.pruneIfDue()
	defer s.freeSlot()
	s.awaitCapture(e.stop)
	s.mu.Lock()
	proc := s.proc
	s.mu.Unlock()
	s.attempt(readyShell{Process: proc}, e, &isolated{}, true)
}

// prepare plans the program, or ends the command with the codes of a shell for a program that it cannot find or
// execute.
func (i *isolated) prepare(l *life, home, cwd string) (done bool, err error) {
	s, spec := l.shell, l.spec()
	if s.remote() {
		i.plan, err = pty.Spec{Argv: append(slices.Clone(s.config.Remote.Program), l.dir), Dir: s.home()}.Plan()
		s.tag(&i.plan)
		return false, err
	}
	env := s.State().Env
	for name, value := range spec.Env {
		env[name] = value
	}
	i.plan, err = pty.Spec{Argv: spec.Argv, Dir: cwd, Env: env}.Plan()
	if err == nil {
		i.plan.Env = i.plan.Env[:0]
		for name, value := range env {
			i.plan.Env = append(i.plan.Env, name+"="+value)
		}
		slices.Sort(i.plan.Env)
		i.plan.Env = append(i.plan.Env, "PWD="+cwd)
		s.tag(&i.plan)
		return false, nil
	}
	code, words := 127, "command not found"
	if errors.Is(err, os.ErrPermission) {
		code, words = 126, "Permission denied"
	} else if !errors.Is(err, pty.ErrNoCommand) {
		code, words = 126, err.Error()
	}
	l.endUnstarted(spec.Argv[0]+": "+words+"\n", cwd, Result{ExitCode: code, Cwd: home})
	return true, nil
}

func (i *isolated) start(l *life) (err error) {
	input := ""
	if l.hasInput() {
		input = filepath.Join(l.dir, shelldir.InputFile)
	}
	if i.child, err = l.files.Run(i.plan, input); err != nil {
		if i.child != nil {
			dispose(i.child)
		}
		return err
	}
	shelldir.RemoveFIFOs(l.dir)
	l.files.CloseWriters()
	l.markStarted(i.child.PID())
	return nil
}

// dispose kills a child that is not needed.
func dispose(child *pty.Child) {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = child.Kill(now, nil)
	child.Wait()
}

func (i *isolated) attach(*life) (detach func()) {
	i.ended = make(chan struct{})
	go func() { // not of work: it ends when the child or the connection to the keeper does
		i.exit = i.child.Wait()
		close(i.ended)
	}()
	return func() {}
}

// status waits for the keeper's report on a child that has ended.
func (i *isolated) status(l *life) (code int, ok bool) {
	if !bash.Exited(i.child) {
		return 0, false
	}
	select {
	case <-i.ended:
		return bash.ExitCode(i.exit), true
	case <-l.shell.life.Done():
		return 0, false
	}
}

func (i *isolated) exited() <-chan struct{} { return i.ended }
func (i *isolated) afterExit(*life) (Result, bool) {
	return Result{ExitCode: bash.ExitCode(i.exit)}, true
}
func (*isolated) tick() <-chan time.Time    { return nil }
func (*isolated) look(*life)                {}
func (*isolated) settle(l *life, r *Result) { r.Cwd = l.home }

func (i *isolated) stop(l *life, _ *Result) stopOutcome {
	if p, ok := proc.Find(i.child.PID()); ok {
		l.terminate(p)
	}
	return stopping
}
