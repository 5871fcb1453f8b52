package shell

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// background runs a command in the background of the shell.
type background struct {
	inShell
	pid     int           // what the command was begun as, 0 when nobody knows
	process proc.Process  // zero when it has ended
	ended   chan struct{} // of process; nil when only the status tells
}

func (b *background) start(l *life) error {
	if err := b.inShell.start(l); err != nil {
		return err
	}
	b.await(l)
	return nil
}

// await waits until the command has begun, and notes its process.
func (b *background) await(l *life) {
	b.pid = b.begun(l)
	if b.pid > 0 {
		if process, there := proc.Find(b.pid); there {
			l.mu.Lock()
			l.entry.Processes = proctree.FormatStarts([]proc.Process{process})
			l.mu.Unlock()
		}
	}
	l.markStarted(b.pid)
	if b.pid > 0 {
		l.save()
	}
}

// begun waits for the process id of the command, whose outputs are open then. It is 0 when the command or its shell
// has ended before, and when the shell has passed the command without starting it, for lack of a process or a
// descriptor.
func (b *background) begun(l *life) int {
	s := l.shell
	pid, known := b.awaitPID(l, endGrace)
	if known {
		return pid
	}
	if s.isStopped(b.proc) {
		b.proc.Kill() // else it might come to a command that was answered
	}
	_ = b.proc.Barrier(s.life, "")
	pid, _ = b.awaitPID(l, startLimit)
	return pid
}

// awaitPID is begun with a limit. known is false when it has passed without any marker.
func (b *background) awaitPID(l *life, limit time.Duration) (pid int, known bool) {
	s := l.shell
	ctx, cancel := s.clock.WithTimeout(s.life, limit)
	defer cancel()
	for {
		if pid, ok := shelldir.FindNumber(l.dir, shelldir.PidName); ok {
			return pid, true
		}
		if _, ok := l.status(); ok {
			return 0, true
		}
		select {
		case <-l.files.Watch.Changed:
		case <-b.proc.Ended:
			pid, _ := shelldir.FindNumber(l.dir, shelldir.PidName)
			return pid, true
		case <-ctx.Done():
			return 0, s.detached()
		}
	}
}

func (b *background) attach(l *life) (detach func()) {
	s := l.shell
	if s.detached() { // perhaps the command has not come to open its FIFOs
		return func() {}
	}
	shelldir.RemoveFIFOs(l.dir)
	process, there := l.begunAs(b.pid)
	if pid, begun := shelldir.FindNumber(l.dir, shelldir.PidName); !there && begun && pid == 0 {
		return func() {} // the user has unset BASHPID: only the status tells of the end
	}
	b.process, b.ended = process, make(chan struct{})
	if !there {
		close(b.ended)
		return func() {}
	}
	ctx, cancel := context.WithCancel(s.life)
	s.work.Go(func() {
		if err := process.Wait(ctx); err == nil {
			close(b.ended)
		}
	})
	return cancel
}

// begunAs is the process of a background command, false when it has ended. Process ids are reused: its tag
// and the start time identify it, where an earlier server has written that. A record may be a copy.
func (e *Exec) begunAs(pid int) (proc.Process, bool) {
	p, there := proc.Find(pid)
	if pid <= 0 || !there {
		return proc.Process{}, false
	}
	if start, noted := e.earlier()[pid]; noted && start != p.Start || !proctree.Tagged(e.shell.spec.Dir, pid) {
		return proc.Process{}, false
	}
	return p, true
}

func (b *background) exited() <-chan struct{} { return b.ended }

// afterExit waits for the report of the process that waits for the command's, which comes within reportGrace unless
// that was killed too.
func (b *background) afterExit(l *life) (r Result, over bool) {
	limit, cancel := l.shell.clock.WithTimeout(l.shell.life, reportGrace)
	defer cancel()
	for {
		if code, ok := l.status(); ok {
			return Result{ExitCode: code}, true
		}
		select {
		case <-l.files.Watch.Changed:
		case <-limit.Done():
			return Result{ExitCode: killedCode}, !l.shell.detached()
		}
	}
}

func (*background) tick() <-chan time.Time { return nil }
func (*background) look(*life)             {}

func (b *background) stop(l *life, _ *Result) stopOutcome {
	l.terminate(b.process)
	return stopping
}

// settle ends the descendants of a command whose own process was killed: it came neither to its end nor to an exit.
func (b *background) settle(l *life, r *Result) {
	l.forgetValues()
	r.Cwd = l.home
	if r.TimedOut || r.Cancelled || r.ExitCode <= signalCodes {
		return
	}
	if _, finished := shelldir.FindMarker(l.dir, shelldir.FinishedName); !finished {
		l.terminate(proc.Process{})
	}
}

// terminate ends a command beside the queue: SIGTERM to its process and descendants, SIGKILL after pty.KillGrace.
func (e *Exec) terminate(p proc.Process) {
	s := e.shell
	victims := proctree.LivingTree(p, e.dir)
	for _, v := range victims {
		_ = v.Signal(unix.SIGTERM)
		_ = v.Signal(unix.SIGCONT)
	}
	ctx, cancel := context.WithTimeout(s.life, proc.KillGrace)
	defer cancel()
	for _, v := range victims {
		_ = v.Wait(ctx)
	}
	if !s.detached() {
		proctree.KillAll(s.life, proctree.Successors(append(victims, p), e.dir), e.dir, endGrace)
	}
}
