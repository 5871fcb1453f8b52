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
	stopped bool          // signal has ended it
}

func (b *background) start(x *execution) error {
	if err := b.send(x); err != nil {
		return err
	}
	b.await(x)
	return nil
}

// await waits until the command has begun, and notes its process.
func (b *background) await(x *execution) {
	e := x.cmd
	b.pid = b.begun(x)
	if process, there := proc.Find(b.pid); there && b.pid > 0 {
		e.mu.Lock()
		e.entry.Processes = proctree.FormatStarts([]proc.Process{process})
		e.mu.Unlock()
	}
	e.markRunning(b.pid)
	if b.pid > 0 {
		e.save()
	}
}

// begun waits for the process id of the command, whose outputs are open then. It is 0 when the command or its shell
// has ended before, and when the shell has passed the command without starting it, for lack of a process or a
// descriptor.
func (b *background) begun(x *execution) int {
	s := x.cmd.shell
	pid, known := b.awaitPID(x, endGrace)
	if known {
		return pid
	}
	if s.isStopped(b.proc) {
		b.proc.Kill() // else it might come to a command that was answered
	}
	_ = b.proc.Barrier(s.ctx, "")
	pid, _ = b.awaitPID(x, startLimit)
	return pid
}

// awaitPID is begun with a limit. known is false when it has passed without any marker.
func (b *background) awaitPID(x *execution, limit time.Duration) (pid int, known bool) {
	s := x.cmd.shell
	ctx, cancel := s.clock.WithTimeout(s.ctx, limit)
	defer cancel()
	for {
		if pid, ok := shelldir.FindNumber(x.cmd.dir, shelldir.PidName); ok {
			return pid, true
		}
		if _, ok := x.cmd.status(); ok {
			return 0, true
		}
		select {
		case <-x.files.Watch.Changed:
		case <-b.proc.Ended:
			pid, _ := shelldir.FindNumber(x.cmd.dir, shelldir.PidName)
			return pid, true
		case <-ctx.Done():
			return 0, s.detached()
		}
	}
}

// watch finds the process of a begun command, and has a goroutine wait for its end.
func (b *background) watch(x *execution) {
	e := x.cmd
	s := e.shell
	if b.ended != nil || s.detached() { // perhaps the command has not come to open its FIFOs
		return
	}
	shelldir.RemoveFIFOs(e.dir)
	process, there := e.begunAs(b.pid)
	if pid, begun := shelldir.FindNumber(e.dir, shelldir.PidName); !there && begun && pid == 0 {
		return // the user has unset BASHPID: only the status tells of the end
	}
	b.process, b.ended = process, make(chan struct{})
	if !there {
		close(b.ended)
		return
	}
	s.work.Go(func() {
		if err := process.Wait(s.ctx); err == nil {
			close(b.ended)
		}
	})
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

func (b *background) wait(ctx context.Context, x *execution) (Result, progress) {
	s := x.cmd.shell
	b.watch(x)
	for {
		if code, ok := x.cmd.status(); ok {
			return b.settled(x, code), finished
		}
		select {
		case <-x.files.Watch.Changed:
		case <-b.ended:
			return b.afterExit(x)
		case <-ctx.Done():
			if code, ok := x.cmd.status(); ok && !s.detached() {
				return b.settled(x, code), finished
			}
			return Result{}, unfinished
		}
	}
}

// afterExit waits for the report of the process that waits for the command's, which comes within reportGrace unless
// that was killed too.
func (b *background) afterExit(x *execution) (Result, progress) {
	s := x.cmd.shell
	limit, cancel := s.clock.WithTimeout(s.ctx, reportGrace)
	defer cancel()
	for {
		if code, ok := x.cmd.status(); ok {
			return b.settled(x, code), finished
		}
		select {
		case <-x.files.Watch.Changed:
		case <-limit.Done():
			if s.detached() {
				return Result{}, unfinished
			}
			return b.settled(x, killedCode), finished
		}
	}
}

func (b *background) signal(x *execution, _ *Result) progress {
	b.stopped = true
	x.cmd.terminate(b.process)
	return unfinished
}

// settled is the result of a command with an exit code. It ends the descendants of one whose own process was killed: it
// came neither to its end nor to an exit.
func (b *background) settled(x *execution, code int) Result {
	e := x.cmd
	e.forgetValues()
	if !b.stopped && code > signalCodes {
		if _, finished := shelldir.FindMarker(e.dir, shelldir.FinishedName); !finished {
			e.terminate(proc.Process{})
		}
	}
	return Result{ExitCode: code, Cwd: x.home}
}

// terminate ends a command beside the queue: SIGTERM to its process and descendants, SIGKILL after pty.KillGrace.
func (e *Exec) terminate(p proc.Process) {
	s := e.shell
	victims := proctree.LivingTree(p, e.dir)
	for _, v := range victims {
		_ = v.Signal(unix.SIGTERM)
		_ = v.Signal(unix.SIGCONT)
	}
	ctx, cancel := context.WithTimeout(s.ctx, proc.KillGrace)
	defer cancel()
	for _, v := range victims {
		_ = v.Wait(ctx)
	}
	if !s.detached() {
		proctree.KillAll(s.ctx, proctree.Successors(append(victims, p), e.dir), e.dir, endGrace)
	}
}
