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

// launcher is the launcher of a command in a shell process.
func (e *Exec) launcher(proc *bash.Process) launcher {
	if e.spec().Background {
		return &background{inShell: inShell{proc: proc}}
	}
	return &foreground{inShell: inShell{proc: proc}}
}

// inShell is the common part of the launchers that run a command through the shell.
type inShell struct {
	proc *bash.Process
	text string // control lines
}

// prepare writes the files of a command and notes the running processes, which belong to earlier commands.
func (i *inShell) prepare(l *life, home, cwd string) (done bool, err error) {
	if i.text, err = l.text(home, cwd); err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entry.Process = i.proc.Number
	l.entry.Processes = proctree.FormatStarts(proctree.Children(i.proc.Proc().PID))
	return false, nil
}

// start has the keeper hold the files of a command, and sends the shell its control lines. Errors: errNotSent.
func (i *inShell) start(l *life) error {
	if err := l.files.Hold(); err != nil {
		return err
	}
	err := i.proc.Send(i.text)
	if errors.Is(err, ErrEnded) && !l.stdinOpen() {
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	return err
}

func (*inShell) status(l *life) (code int, ok bool) { return l.status() }

// foreground runs a command in the shell itself.
type foreground struct {
	inShell
	ticks        *time.Ticker // nil of a command with a timeout
	stoppedLooks int          // how often in a row the shell was found stopped
}

func (f *foreground) start(l *life) error {
	if err := f.inShell.start(l); err != nil {
		return err
	}
	l.markStarted(f.proc.Proc().PID)
	return nil
}

func (f *foreground) attach(l *life) (detach func()) {
	if !l.deadline().IsZero() {
		return func() {}
	}
	f.ticks = time.NewTicker(stoppedLook)
	return f.ticks.Stop
}

func (f *foreground) status(l *life) (code int, ok bool) {
	if code, ok = l.status(); !ok && l.shell.answerAsked(l.Exec) {
		l.notice.recreated = true
	}
	return code, ok
}

func (f *foreground) exited() <-chan struct{} { return f.proc.Ended }

func (f *foreground) afterExit(l *life) (r Result, over bool) {
	if code, ok := l.status(); ok {
		return Result{ExitCode: code, ShellEnded: true}, true
	}
	l.unread = !l.stdinOpen() && l.script("", "").HasWhole(f.proc.Unread())
	return Result{ExitCode: f.proc.Code, ShellEnded: true}, true
}

func (f *foreground) tick() <-chan time.Time {
	if f.ticks == nil {
		return nil
	}
	return f.ticks.C
}

// look kills a shell that somebody has stopped and does not continue.
func (f *foreground) look(l *life) {
	if f.stoppedLooks++; !l.shell.isStopped(f.proc) {
		f.stoppedLooks = 0
	}
	if f.stoppedLooks >= stoppedLooks {
		f.proc.Kill()
	}
}

// stop interrupts the command, so that nothing of it runs after that. What does not end within cancelGrace, or could
// continue, is killed, the shell first for the same reason. Jobs of earlier commands stay.
func (f *foreground) stop(l *life, r *Result) stopOutcome {
	s := l.shell
	ended, err := interrupt.Interrupt(s.life, f.target(l.Exec))
	if s.detached() {
		return stopped
	}
	if err != nil {
		if !errors.Is(err, ErrEnded) && !errors.Is(err, interrupt.ErrGone) { // else it needed nobody to end it
			s.config.Log.Info("a shell is ended with its command", "command", l.id, "reason", err)
		}
		if !shelldir.Closed(f.proc.Ended) {
			s.destroy(f.proc, l.Exec)
		}
		r.ShellEnded = true
	}
	_ = os.Remove(s.interruptMarker())
	if ended {
		return hadEnded
	}
	return stopped
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
func (f *foreground) settle(l *life, r *Result) {
	s := l.shell
	if s.remote() {
		s.readRemote()
		r.Cwd = s.cwdNow()
		return
	}
	r.Cwd = l.home
	if l.spec().Cwd == "" {
		ended := script.Told(l.dir)
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
	gone, cancel := context.WithTimeout(s.life, endGrace)
	defer cancel()
	_ = proc.Proc().Wait(gone)
	proctree.KillAll(s.life, victims, dir, endGrace)
	proc.AwaitEnd()
}
