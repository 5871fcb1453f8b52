package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/shell/stdio"
)

// execution runs one command, from its turn to its end, the same for every kind of launcher; see phase.
type execution struct {
	cmd    *Exec
	files  *stdio.Files
	launch launcher
	home   string        // the shell's directory at the start
	notice restartNotice // of the shell, for the result
	try    int           // number of the attempt, from 1; after maxStarts there is no other
}

// launcher starts, watches and ends the commands of one kind: in the foreground of the shell, in its background, or
// isolated, as processes of their own. In a remote shell each of these runs a relay instead of the text.
type launcher interface {
	// prepare makes what the command needs to start, with cwd as the directory of this command alone. It may end the
	// command.
	prepare(x *execution, cwd string) error
	// start starts the command. Its files are open, and its record says that it runs. Errors: errNotSent.
	start(x *execution) error
	// wait waits for the end of the command, which an earlier server may have started, and completes its result. When
	// ctx has ended first, a command that has ended too counts as ended.
	wait(ctx context.Context, x *execution) (Result, progress)
	// signal ends a command that was cancelled or timed out, as r says.
	signal(x *execution, r *Result) progress
}

// launcherOf is the launcher of a command in a shell whose process is b.
func launcherOf(spec Command, b *bash.Process) launcher {
	switch {
	case spec.Isolated:
		return &isolated{}
	case spec.Background:
		return &background{inShell: inShell{proc: b}}
	}
	return &foreground{inShell{proc: b}}
}

// progress is how far a command is after a wait or a signal.
type progress int

const (
	unfinished     progress = iota // it may run: its end is waited for, or the shell is left
	finished                       // it has ended, as the result says
	unread                         // its shell ended and had not read of it: it has certainly not run
	finishedBefore                 // of a signal: it had ended by itself, with another result
)

// errNotSent: the shell ended before it got the control lines of a command, whose logs are unchanged.
var errNotSent = errors.New("the shell was not told")

// runInShell runs a command in the foreground or background of the shell. It tries again in the next process when one
// has ended before it had read the command, and returns the last process. A background command continues after that.
func (e *Exec) runInShell(b *bash.Process, n restartNotice) *bash.Process {
	s := e.shell
	for try := 1; e.attempt(b, n, try) && !s.detached() && !e.endIfCancelled(); try++ {
		next, later, err := s.procs.ready()
		if s.detached() || e.endIfCancelled() {
			break
		}
		if err != nil {
			e.failUnknown(err)
			break
		}
		b, n = next, n.merge(s.state.takeRestart(later, e))
	}
	if e.hasEnded() {
		s.state.returnRestart(n, e)
	}
	return b
}

// attempt tries once to run a command in its turn, in the process b or beside it. retry reports that it has certainly
// not run, because the shell had ended, and may start again.
func (e *Exec) attempt(b *bash.Process, n restartNotice, try int) (retry bool) {
	s, spec := e.shell, e.spec()
	home, cwd, ok := s.procs.directories(b, spec)
	x := &execution{cmd: e, launch: launcherOf(spec, b), home: home, notice: n, try: try}
	switch {
	case e.endIfCancelled():
		return false
	case spec.Within != "" && s.Directory(spec.Cwd) != spec.Within:
		e.fail(ErrMoved)
		return false
	case !ok:
		x.endWithoutDirectory(cwd)
		return false
	}
	if spec.Background {
		if err := s.queue.takeSlot(); err != nil {
			e.end(Failed, nil, err)
			return false
		}
	}
	err := x.begin(cwd)
	begun := err == nil && !e.hasEnded()
	if spec.Background && !begun {
		s.queue.freeSlot()
	}
	switch {
	case begun && spec.Background:
		s.work.Go(x.runBeside)
	case begun:
		return x.run()
	case errors.Is(err, errNotSent) && try < maxStarts:
		return b.AwaitEnd()
	case err != nil:
		e.fail(err)
	}
	return false
}

// begin prepares a command, opens its files, records that it runs, and starts it. In this order the next server
// understands the state after every step. The command may have ended then. Errors: errNotSent.
func (x *execution) begin(cwd string) (err error) {
	e, s := x.cmd, x.cmd.shell
	if s.remote != nil {
		if x.notice.recreated, err = s.remote.ready(e, false); err != nil {
			if !s.detached() && !e.endIfCancelled() {
				e.end(Failed, nil, err)
			}
			return err
		}
	}
	err = s.withRoom(func() error { return x.launch.prepare(x, cwd) })
	if err != nil || e.hasEnded() {
		return err
	}
	if x.files, err = stdio.Open(e.streams, s.withRoom); err != nil {
		return err
	}
	e.markStarting(cmp.Or(cwd, x.home))
	if err = s.withRoom(func() error { return e.save(e.outputs) }); err == nil {
		err = x.launch.start(x)
	}
	switch {
	case errors.Is(err, errNotSent):
		x.files.Reset()
	case err != nil:
		x.files.Abandon()
	}
	return err
}

// await calls found after each change in the directory of the command until it is true. When ended is closed, or ctx
// has ended, it calls it once more, unless the shell is detached.
func (x *execution) await(ctx context.Context, ended <-chan struct{}, found func() bool) bool {
	for !found() {
		select {
		case <-x.files.Watch.Changed:
			continue
		case <-ended:
		case <-ctx.Done():
		}
		return !x.cmd.shell.detached() && found()
	}
	return true
}

// follow waits for the end of a started command, and ends it at a cancel or its timeout. It is unfinished when the
// shell is detached.
func (x *execution) follow() (Result, progress) {
	s := x.cmd.shell
	ctx, stop := x.cmd.Running()
	defer stop()
	r, is := x.launch.wait(ctx, x)
	if is != unfinished || s.detached() {
		return r, is
	}
	r = Result{ExitCode: cancelCode, Cancelled: true}
	if errors.Is(context.Cause(ctx), ErrTimedOut) {
		r = Result{ExitCode: timeoutCode, TimedOut: true}
	}
	switch x.launch.signal(x, &r) {
	case finished:
		if s.detached() {
			return r, unfinished
		}
		return r, finished
	case finishedBefore:
		return x.launch.wait(s.ctx, x)
	}
	last, is := x.launch.wait(s.ctx, x)
	r.Cwd = last.Cwd
	return r, is
}

// run follows a command to its end and answers it. retry reports that it has certainly not run and may start again.
func (x *execution) run() (retry bool) {
	r, is := x.follow()
	switch {
	case is == unfinished:
		x.files.Close()
		return false
	case is == unread && x.try < maxStarts && x.cmd.stopped.Err() == nil:
		x.files.Reset()
		return true
	}
	x.conclude(r)
	return false
}

// runBeside is run for a command beside the queue. It frees the command's slot.
func (x *execution) runBeside() {
	defer x.cmd.shell.pruneIfDue()
	defer x.cmd.shell.queue.freeSlot()
	x.run()
}

// conclude drains the outputs of a command, answers it, and follows late output in a goroutine.
func (x *execution) conclude(r Result) {
	e, s := x.cmd, x.cmd.shell
	eof := x.files.Drain(!r.ShellEnded)
	r.Background = !eof
	if e.noteTruncated(&r); !r.Truncated && !x.files.Copying() {
		r.Truncated, r.TruncatedReason = true, output.CutUnheld
	}
	r.Recreated, r.Lost, r.CwdFallback = x.notice.recreated || r.Recreated, x.notice.lost, x.notice.fallback
	s.touch()
	s.queue.leave(e)
	var failure error // of a relay
	if s.remote != nil && !r.Cancelled && !r.TimedOut {
		failure = s.remote.Outcome(e.dir)
	}
	if failure != nil {
		e.end(Failed, nil, failure)
	} else {
		e.end(r.Status(), &r, nil)
	}
	x.files.FollowLate(eof)
}

// endWithoutDirectory ends a command whose directory does not exist, as the shell would: with the text of strerror(3).
func (x *execution) endWithoutDirectory(cwd string) {
	reason := unix.ENOENT
	if _, err := os.Stat(cwd); err == nil {
		reason = unix.ENOTDIR
	} else if errors.Is(err, unix.EACCES) {
		reason = unix.EACCES
	}
	text := reason.Error()
	x.cmd.endUnstarted(fmt.Sprintf("Failed to change directory to %s: %s\n", cwd, strings.ToUpper(text[:1])+text[1:]),
		x.home, Result{ExitCode: 1, Cwd: x.home, Recreated: x.notice.recreated, Lost: x.notice.lost,
			CwdFallback: x.notice.fallback})
}

// Exit codes of commands that did not end by themselves.
const (
	timeoutCode = 124 // as timeout(1)
	cancelCode  = 130 // as a shell after SIGINT
	// killedCode is of a command whose end was not reported, as after SIGKILL.
	killedCode = 137
	// signalCodes plus the number of a signal is the code of a process that the signal ended (POSIX 2.8.2).
	signalCodes = 128
)
