package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/interrupt"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// inShell is the common part of the launchers that run a command through the shell.
type inShell struct {
	proc *bash.Process
	text string // control lines
}

// prepare writes the files of a command and notes the running processes, which belong to earlier commands.
func (i *inShell) prepare(x *execution, cwd string) (err error) {
	if i.text, err = x.controlLines(cwd); err != nil {
		return err
	}
	running := proctree.FormatStarts(proctree.Children(i.proc.Proc().PID))
	x.cmd.change(func(row *history.Entry) { row.Process, row.Processes = i.proc.Number, running })
	return nil
}

// controlLines are the lines with which the shell runs the command, with cwd as the directory of this command alone.
func (x *execution) controlLines(cwd string) (string, error) {
	e, s := x.cmd, x.cmd.shell
	row := e.row()
	c := &script.Command{Bash: s.procs.scriptBash(), ID: e.id, Dir: e.dir, Text: row.Info.Command,
		Internal: e.internal(), Background: row.Spec.Background, Cwd: cwd, Home: x.home, Env: row.Spec.Env,
		Last: s.state.now().last}
	switch {
	case row.Spec.StdinOpen:
		c.Input = script.OpenInput
	case e.hasInput():
		c.Input = script.FileInput
	}
	if s.remote != nil {
		c.Relay = append(slices.Clone(s.remote.Program), e.dir)
	} else if !c.Internal {
		c.Look = look(s.ctx, c)
	}
	if echo := c.Echo(); echo != "" && e.Size(Stderr) == 0 { // else it was made before, for another process
		e.log(Stderr).Append([]byte(echo))
	}
	lines, err := c.Lines()
	if err == nil && !c.Background {
		s.state.change(func(f *bashFacts) { f.mayAlias = c.MayAlias() })
	}
	return lines, err
}

// send has the keeper hold the files of a command, and sends the shell its control lines. Errors: errNotSent.
func (i *inShell) send(x *execution) error {
	if err := x.files.Hold(); err != nil {
		return err
	}
	err := i.proc.Send(i.text)
	if errors.Is(err, ErrEnded) && !x.cmd.spec().StdinOpen {
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	return err
}

// foreground runs a command in the shell itself.
type foreground struct{ inShell }

func (f *foreground) start(x *execution) error {
	if err := f.send(x); err != nil {
		return err
	}
	x.cmd.markRunning(f.proc.Proc().PID)
	return nil
}

// wait also kills a shell that was stopped and does not continue, unless the command has a timeout.
func (f *foreground) wait(ctx context.Context, x *execution) (Result, progress) {
	s := x.cmd.shell
	var look <-chan time.Time
	if x.cmd.deadline().IsZero() {
		s.procs.stopped.Store(0)
		ticker := time.NewTicker(stoppedLook)
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		if r, ok := f.status(x); ok {
			return r, finished
		}
		select {
		case <-x.files.Watch.Changed:
		case <-look:
			if s.procs.isStoppedForLong(f.proc) {
				f.proc.Kill()
			}
		case <-f.proc.Ended:
			return f.afterExit(x)
		case <-ctx.Done():
			if s.detached() {
				return Result{}, unfinished
			}
			if r, ok := f.status(x); ok {
				return r, finished
			}
			return Result{}, unfinished
		}
	}
}

// status is the result of a command that the shell has reported. It answers a relay that asks for another instance.
func (f *foreground) status(x *execution) (r Result, ok bool) {
	if r.ExitCode, ok = x.cmd.status(); ok {
		f.settle(x, &r)
	} else if remote := x.cmd.shell.remote; remote != nil && remote.answerAsked(x.cmd) {
		x.notice.recreated = true
	}
	return r, ok
}

// afterExit is the result of a command whose shell has ended.
func (f *foreground) afterExit(x *execution) (Result, progress) {
	r, is := Result{ExitCode: f.proc.Code, ShellEnded: true}, finished
	if code, ok := x.cmd.status(); ok {
		r.ExitCode = code
	} else if c := (&script.Command{Dir: x.cmd.dir}); !x.cmd.spec().StdinOpen && c.HasWhole(f.proc.Unread()) {
		is = unread
	}
	f.settle(x, &r)
	return r, is
}

// signal interrupts the command, so that nothing of it runs after that. What does not end within cancelGrace, or could
// continue, is killed, the shell first for the same reason. Jobs of earlier commands stay.
func (f *foreground) signal(x *execution, r *Result) progress {
	s := x.cmd.shell
	hadEnded, err := interrupt.Interrupt(s.ctx, f.target(x.cmd))
	if s.detached() {
		return unfinished
	}
	if err != nil {
		if !errors.Is(err, ErrEnded) && !errors.Is(err, interrupt.ErrGone) { // else it ended by itself
			s.config.Log.Info("a shell is ended with its command", "command", x.cmd.id, "reason", err)
		}
		if !shelldir.Closed(f.proc.Ended) {
			destroy(s.ctx, f.proc, x.cmd)
		}
		r.ShellEnded = true
	}
	_ = os.Remove(s.procs.interruptMarker())
	if hadEnded {
		return finishedBefore
	}
	f.settle(x, r)
	return finished
}

// target describes a command to package interrupt.
func (f *foreground) target(e *Exec) interrupt.Target {
	s, proc, grace := e.shell, f.proc, cancelGrace
	if s.remote != nil {
		grace = remoteGrace
	}
	prefix, line := proc.BarrierLine()
	return interrupt.Target{Bash: proc.Proc(), Dir: e.dir, Earlier: e.earlier(), Marker: s.procs.interruptMarker(),
		Limit: grace,
		Ended: func() bool { _, ok := e.status(); return ok },
		Send:  func() error { return proc.Send(line) },
		Await: func(ctx context.Context) error { return proc.AwaitBarrier(ctx, prefix) },
		AwaitAll: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, cancelGrace)
			defer cancel()
			err := proc.Barrier(ctx, "")
			// The line was sent more than once, and has made its marker again.
			_ = os.Remove(filepath.Join(s.spec.Dir, shelldir.MarkersDir, prefix+strconv.Itoa(proc.Proc().PID)))
			return err
		}}
}

// settle finds the shell's directory after the command.
func (f *foreground) settle(x *execution, r *Result) {
	s := x.cmd.shell
	if s.remote != nil {
		s.remote.read()
		r.Cwd = s.state.directory()
		return
	}
	r.Cwd = x.home
	if x.cmd.spec().Cwd == "" {
		r.Cwd = s.state.directory()
		if now, err := f.proc.Cwd(); err == nil {
			r.Cwd = proc.LogicalDir(cmp.Or(script.Told(x.cmd.dir).PWD, r.Cwd), now)
		}
	}
	s.state.setDirectory(r.Cwd)
}
