package shell

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// background runs a command in the background of the shell.
type background struct {
	inShell
	pid     int           // of the process that the command began as; 0 when it is unknown
	process proc.Process  // zero when it has ended
	ended   chan struct{} // closed when process has ended; nil when only the status shows it
	stopped bool          // signal has ended it
}

func (b *background) start(x *execution) error {
	if err := b.send(x); err != nil {
		return err
	}
	b.awaitStart(x)
	return nil
}

// awaitStart waits until the command has begun, and notes its process.
func (b *background) awaitStart(x *execution) {
	e, s := x.cmd, x.cmd.shell
	pid, known := b.awaitPID(x, endGrace)
	if !known {
		if s.procs.isStopped(b.proc) {
			b.proc.Kill() // else it might come to a command that was answered
		}
		_ = b.proc.Barrier(s.ctx, "")
		pid, _ = b.awaitPID(x, startLimit)
	}
	b.pid = pid
	if process, there := proc.Find(pid); there && pid > 0 {
		starts := proctree.FormatStarts([]proc.Process{process})
		e.change(func(row *history.Entry) { row.Processes = starts })
	}
	e.markRunning(pid)
	if pid > 0 {
		e.saveOrLog()
	}
}

// awaitPID waits for the process id of the command, whose outputs are open then. It is 0 when the command or its shell
// has ended before, and when the shell has passed the command without starting it, for lack of a process or a
// descriptor. known is false when the limit has passed without any marker.
func (b *background) awaitPID(x *execution, limit time.Duration) (pid int, known bool) {
	s := x.cmd.shell
	ctx, cancel := s.clock.WithTimeout(s.ctx, limit)
	defer cancel()
	known = x.await(ctx, b.proc.Ended, func() (ok bool) {
		if pid, ok = shelldir.FindNumber(x.cmd.dir, shelldir.PidName); !ok {
			_, ok = x.cmd.status()
		}
		return ok
	})
	return pid, known || s.detached() || shelldir.Closed(b.proc.Ended)
}

// watch finds the process of a begun command, and has a goroutine wait for its end.
func (b *background) watch(x *execution) {
	e, s := x.cmd, x.cmd.shell
	if b.ended != nil || s.detached() { // perhaps the command has not come to open its FIFOs
		return
	}
	shelldir.RemoveFIFOs(e.dir)
	process, there := e.begunAs(b.pid)
	if pid, begun := shelldir.FindNumber(e.dir, shelldir.PidName); !there && begun && pid == 0 {
		return // the user has unset BASHPID: only the status shows the end
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

// wait gives the report of a process that has ended reportGrace to come: what reports it may have been killed too.
func (b *background) wait(ctx context.Context, x *execution) (Result, progress) {
	s := x.cmd.shell
	b.watch(x)
	var code int
	reported := func() (ok bool) { code, ok = x.cmd.status(); return ok }
	ok := x.await(ctx, b.ended, reported)
	if !ok && shelldir.Closed(b.ended) {
		limit, cancel := s.clock.WithTimeout(s.ctx, reportGrace)
		defer cancel()
		if ok = x.await(limit, nil, reported); !ok && !s.detached() {
			code, ok = killedCode, true
		}
	}
	if !ok {
		return Result{}, unfinished
	}
	x.cmd.forgetValues()
	if !b.stopped && code > signalCodes {
		// A command whose own process was killed came neither to its end nor to an exit: its descendants end too.
		if _, whole := shelldir.FindMarker(x.cmd.dir, shelldir.FinishedName); !whole {
			x.cmd.terminate(proc.Process{})
		}
	}
	return Result{ExitCode: code, Cwd: x.home}, finished
}

func (b *background) signal(x *execution, _ *Result) progress {
	b.stopped = true
	x.cmd.terminate(b.process)
	return unfinished
}

// terminate ends a command beside the queue: SIGTERM to its process and descendants, SIGKILL after proc.KillGrace.
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
