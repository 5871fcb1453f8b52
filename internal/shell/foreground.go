package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/interrupt"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// shellLauncher runs a command through the shell.
type shellLauncher interface {
	launcher
	prepare(e *Exec, home, cwd string) error
}

// launcher is the launcher of a command in a shell process.
func (e *Exec) launcher(proc *bash.Process) shellLauncher {
	if e.spec().Background {
		return &background{inShell: inShell{proc: proc}}
	}
	return &foreground{inShell{proc: proc}}
}

// inShell is the common part of the launchers that run a command through the shell.
type inShell struct {
	proc *bash.Process
	text string // control lines
}

// prepare writes the files of a command and notes the running processes, which belong to earlier commands.
func (i *inShell) prepare(e *Exec, home, cwd string) (err error) {
	if i.text, err = e.text(home, cwd); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.entry.Process = i.proc.Number
	e.entry.Processes = proctree.FormatStarts(proctree.Children(i.proc.Proc().PID))
	return nil
}

// send has the keeper hold the files of a command, and sends the shell its control lines. Errors: errNotSent.
func (i *inShell) send(x *execution) error {
	if err := x.files.Hold(); err != nil {
		return err
	}
	err := i.proc.Send(i.text)
	if errors.Is(err, ErrEnded) && !x.cmd.stdinOpen() {
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

// wait also kills a shell that somebody has stopped and does not continue, unless the command has a timeout.
func (f *foreground) wait(ctx context.Context, x *execution) (Result, progress) {
	s := x.cmd.shell
	var look <-chan time.Time
	if x.cmd.deadline().IsZero() {
		ticker := time.NewTicker(stoppedLook)
		defer ticker.Stop()
		look = ticker.C
	}
	for stopped := 0; ; {
		if r, ok := f.status(x); ok {
			return r, finished
		}
		select {
		case <-x.files.Watch.Changed:
		case <-look:
			if stopped++; !s.isStopped(f.proc) {
				stopped = 0
			}
			if stopped >= stoppedLooks {
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
	} else if x.cmd.shell.answerAsked(x.cmd) {
		x.notice.recreated = true
	}
	return r, ok
}

// afterExit is the result of a command whose shell has ended.
func (f *foreground) afterExit(x *execution) (Result, progress) {
	r, is := Result{ExitCode: f.proc.Code, ShellEnded: true}, finished
	if code, ok := x.cmd.status(); ok {
		r.ExitCode = code
	} else if !x.cmd.stdinOpen() && x.cmd.script("", "").HasWhole(f.proc.Unread()) {
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
		if !errors.Is(err, ErrEnded) && !errors.Is(err, interrupt.ErrGone) { // else it needed nobody to end it
			s.config.Log.Info("a shell is ended with its command", "command", x.cmd.id, "reason", err)
		}
		if !shelldir.Closed(f.proc.Ended) {
			s.destroy(f.proc, x.cmd)
		}
		r.ShellEnded = true
	}
	_ = os.Remove(s.interruptMarker())
	if hadEnded {
		return finishedBefore
	}
	f.settle(x, r)
	return finished
}

// interruptMarker is a file that exists while an interrupt may have stopped the shell.
func (s *Shell) interruptMarker() string { return filepath.Join(s.spec.Dir, shelldir.InterruptFile) }

// target describes a command to package interrupt.
func (f *foreground) target(e *Exec) interrupt.Target {
	s, proc := e.shell, f.proc
	prefix, line := proc.BarrierLine()
	return interrupt.Target{Bash: proc.Proc(), Dir: e.dir, Earlier: e.earlier(), Marker: s.interruptMarker(),
		Limit: s.grace(),
		Ended: func() bool { _, ok := e.status(); return ok },
		Send:  func() error { return proc.Send(line) },
		Await: func(ctx context.Context) error { return proc.AwaitBarrier(ctx, prefix) },
		AwaitAll: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, cancelGrace)
			defer cancel()
			err := proc.Barrier(ctx, "")
			// The line was told more than once, and has made its sign again.
			_ = os.Remove(filepath.Join(s.spec.Dir, shelldir.MarkersDir, prefix+strconv.Itoa(proc.Proc().PID)))
			return err
		}}
}

// earlier are the children of the shell before the command.
func (e *Exec) earlier() proctree.Starts {
	e.mu.Lock()
	defer e.mu.Unlock()
	return proctree.ParseStarts(e.entry.Processes)
}

// settle finds the shell's directory after the command.
func (f *foreground) settle(x *execution, r *Result) {
	s := x.cmd.shell
	if s.remote() {
		s.readRemote()
		r.Cwd = s.cwdNow()
		return
	}
	r.Cwd = x.home
	if x.cmd.spec().Cwd == "" {
		ended := script.Told(x.cmd.dir)
		if now, err := f.proc.Cwd(); err == nil {
			r.Cwd = proc.LogicalDir(cmp.Or(ended.PWD, s.cwdNow()), now)
		} else {
			r.Cwd = s.cwdNow()
		}
	}
	s.mu.Lock()
	s.cwd = r.Cwd
	s.mu.Unlock()
}

// destroy kills a shell with the processes of its command, or all of its descendants without a command, and waits for
// them.
func (s *Shell) destroy(proc *bash.Process, e *Exec) {
	var dir string
	var earlier proctree.Starts
	if e != nil {
		dir, earlier = e.dir, e.earlier()
	}
	victims := proctree.Members(proc.Proc(), dir, earlier)
	proc.Kill()
	// Until it is gone it is the parent of earlier jobs too, and holds the command's outputs.
	gone, cancel := context.WithTimeout(s.ctx, endGrace)
	defer cancel()
	_ = proc.Proc().Wait(gone)
	proctree.KillAll(s.ctx, victims, dir, endGrace)
	proc.AwaitEnd()
}
