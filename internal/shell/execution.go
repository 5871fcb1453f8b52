package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/shell/shelldir"
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
	// start starts the command. Its files are open, and its record says that it runs. Errors: errNotSent.
	start(x *execution) error
	// wait waits for the end of the command, which an earlier server may have started, and completes its result. When
	// ctx has ended first, a command that has ended too counts as ended.
	wait(ctx context.Context, x *execution) (Result, progress)
	// signal ends a command that was cancelled or timed out, as r says.
	signal(x *execution, r *Result) progress
}

// progress is how far a command is after a wait or a signal.
type progress int

const (
	unfinished     progress = iota // it may run: its end is waited for, or the shell is left
	finished                       // it has ended, as the result says
	unread                         // its shell ended and had not read of it: it has certainly not run
	finishedBefore                 // of a signal: it had ended by itself, with another result
)

// begin opens the files of a command, records that it runs, and starts it. In this order the next server understands
// the state after every step. Errors: errNotSent.
func (x *execution) begin(cwd string) (err error) {
	s := x.cmd.shell
	if x.files, err = stdio.Open(x.cmd.streams, s.withRoom); err != nil {
		return err
	}
	x.cmd.markStarting(cmp.Or(cwd, x.home))
	if err = s.withRoom(x.cmd.trySave); err == nil {
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

// errNotSent is of a shell that ended before it got the control lines of a command, whose logs are unchanged.
var errNotSent = errors.New("the shell was not told")

// Why an execution is to end.
var (
	errTimedOut  = errors.New("timed out")
	errCancelled = errors.New("cancelled")
)

// untilStopped is a context that ends with errTimedOut or errCancelled, or with the shell's.
func (x *execution) untilStopped() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(x.cmd.shell.ctx)
	late, stopTimer := x.cmd.overtime()
	go func() {
		select {
		case <-late:
			cancel(errTimedOut)
		case <-x.cmd.stop:
			cancel(errCancelled)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		stopTimer()
	}
}

// follow waits for the end of a started command, and ends it at a cancel or its timeout. It is unfinished when the
// shell is detached.
func (x *execution) follow() (Result, progress) {
	s := x.cmd.shell
	ctx, stop := x.untilStopped()
	defer stop()
	r, is := x.launch.wait(ctx, x)
	if is != unfinished || s.detached() {
		return r, is
	}
	r = Result{ExitCode: cancelCode, Cancelled: true}
	if errors.Is(context.Cause(ctx), errTimedOut) {
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
	case is == unread && x.try < maxStarts && !shelldir.Closed(x.cmd.stop):
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
	s := x.cmd.shell
	eof := x.files.Drain()
	r.Background = !eof
	if x.cmd.noteTruncated(&r); !r.Truncated && !x.files.Copying() {
		r.Truncated, r.TruncatedReason = true, output.CutUnheld
	}
	r.Recreated, r.Lost, r.CwdFallback = x.notice.recreated || r.Recreated, x.notice.lost, x.notice.fallback
	s.mu.Lock()
	s.active = time.Now()
	s.mu.Unlock()
	s.queue.leave(x.cmd)
	x.cmd.answer(&r)
	x.files.FollowLate(eof)
}

// attempt tries once to run a command in its turn, in the shell b or beside it. retry reports that it has certainly not
// run, because the shell had ended, and may start again.
func (s *Shell) attempt(b readyShell, e *Exec, try int) (retry bool) {
	spec := e.spec()
	home, cwd, ok := s.directories(b.Process, spec)
	if e.endIfCancelled() {
		return false
	}
	if spec.Within != "" && s.directory(b.Process, spec.Cwd) != spec.Within {
		s.failed(e, ErrMoved)
		return false
	}
	if !ok {
		e.missing(cwd, b.restartNotice, home)
		return false
	}
	if spec.Background {
		if err := s.queue.takeSlot(); err != nil {
			e.end(Failed, nil, err)
			return false
		}
	}
	x := &execution{cmd: e, notice: b.restartNotice, home: home, try: try}
	begun, err := x.launchIn(b.Process, cwd)
	if begun && spec.Background {
		s.work.Go(x.runBeside)
		return false
	}
	if spec.Background {
		s.queue.freeSlot()
	}
	switch {
	case begun:
		return x.run()
	case errors.Is(err, errNotSent) && try < maxStarts:
		return b.AwaitEnd()
	case err != nil:
		s.failed(e, err)
	}
	return false
}

// launchIn prepares and begins a command; begun is false without an error when that has ended it.
func (x *execution) launchIn(proc *bash.Process, cwd string) (begun bool, err error) {
	s := x.cmd.shell
	if s.remote() {
		if x.notice.recreated, err = s.ready(x.cmd, false); err != nil {
			s.failUnready(x.cmd, err)
			return false, nil
		}
	}
	err = s.withRoom(func() (err error) {
		x.launch, err = x.cmd.prepare(proc, x.home, cwd)
		return err
	})
	if err != nil || x.launch == nil {
		return false, err
	}
	err = x.begin(cwd)
	return err == nil, err
}

// prepare makes the launcher of a command and the files that it needs; nil when that has ended the command.
func (e *Exec) prepare(proc *bash.Process, home, cwd string) (launcher, error) {
	if spec := e.spec(); spec.Isolated {
		return prepareIsolated(e, spec, home, cwd)
	}
	launch := e.launcher(proc)
	return launch, launch.prepare(e, home, cwd)
}

// inShell runs a command in the foreground or background of the shell. It tries again in the next process when one
// has ended before it had read the command, and returns the last process. A background command continues after that.
func (s *Shell) inShell(b readyShell, e *Exec) *bash.Process {
	for try := 1; s.attempt(b, e, try) && !s.detached() && !e.endIfCancelled(); try++ {
		next, err := s.readyProcess()
		if s.detached() || e.endIfCancelled() {
			break
		}
		if err != nil {
			s.failUnknown(e, err)
			break
		}
		next = s.takeRestart(next, e)
		next.restartNotice = b.restartNotice.merge(next.restartNotice)
		b = next
	}
	if e.hasEnded() {
		s.returnRestart(b, e)
	}
	return b.Process
}

// directories returns the shell's directory, and the absolute directory of this command alone, "" without one; ok is
// false when that does not exist. An isolated command always has one.
func (s *Shell) directories(proc *bash.Process, spec Command) (home, cwd string, ok bool) {
	if s.remote() {
		return s.cwdNow(), "", true // the relay goes there
	}
	home = s.cwdOf(proc)
	cwd = spec.Cwd
	switch {
	case cwd == "" && spec.Isolated:
		cwd = shelldir.Nearest(home)
	case cwd == "":
		return home, "", true
	case !filepath.IsAbs(cwd):
		cwd = filepath.Join(home, cwd)
	}
	info, err := os.Stat(cwd)
	return home, cwd, err == nil && info.IsDir()
}

// missing ends a command whose directory does not exist, as the shell would.
func (e *Exec) missing(cwd string, n restartNotice, home string) {
	reason := unix.ENOENT
	if _, err := os.Stat(cwd); err == nil {
		reason = unix.ENOTDIR
	} else if errors.Is(err, unix.EACCES) {
		reason = unix.EACCES
	}
	e.endUnstarted(fmt.Sprintf("Failed to change directory to %s: %s\n", cwd, errnoText(reason)), home,
		Result{ExitCode: 1, Cwd: home, Recreated: n.recreated, Lost: n.lost, CwdFallback: n.fallback})
}

// errnoText is the text of C's strerror, which shells print.
func errnoText(e unix.Errno) string {
	switch e {
	case unix.ENOENT:
		return "No such file or directory"
	case unix.ENOTDIR:
		return "Not a directory"
	case unix.EACCES:
		return "Permission denied"
	}
	return e.Error()
}

// endUnstarted ends a command that could not be started, as a shell does: with a message on standard error and a
// code.
func (e *Exec) endUnstarted(message, cwd string, r Result) {
	e.outputs[1].Append([]byte(message))
	e.finishOutputs()
	e.mu.Lock()
	e.entry.Info.Cwd, e.entry.Info.StartedAt = cwd, time.Now()
	e.mu.Unlock()
	e.end(Done, &r, nil)
}

// failed ends a command that could not be started.
func (s *Shell) failed(e *Exec, err error) {
	shelldir.RemoveFIFOs(e.dir)
	switch {
	case s.detached():
	case errors.Is(err, ErrEnded):
		s.failUnknown(e, err)
	default:
		e.end(Failed, nil, fmt.Errorf("start: %w", shelldir.SpaceError(err)))
	}
}

// failUnknown ends a command whose result is unknown.
func (s *Shell) failUnknown(e *Exec, why error) {
	shelldir.RemoveFIFOs(e.dir)
	e.end(Failed, nil, fmt.Errorf("%w: %w", ErrEnded, why))
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
