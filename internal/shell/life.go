package shell

import (
	"cmp"
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

// life is one command on its way from its turn to its end, the same for every kind of launcher:
//
//	queued    it is on the disk, and nothing of it has run: a later server queues it again
//	starting  its files are made, and on the disk it is running: the keeper holds its files before it can begin
//	running   the launcher has started it: a later server takes its files from the keeper and follows it
//	ended     it has a Result, or the error of which it failed; late output goes on to its log
//
// A server that is killed leaves what the next one needs to go on from any of these states; see Recover. Commands on a
// terminal of their own take the same states from outside: Enroll, Begin, Finish.
type life struct {
	*Exec
	files  *stdio.Files
	launch launcher
	home   string        // the shell's directory at the start
	notice restartNotice // of the shell, for the result
	unread bool          // the shell has ended and had not read of the command, which has certainly not run
}

// launcher starts, watches and ends the commands of one kind: in the foreground of the shell, in its background, or
// isolated, as processes of their own. In a remote shell each of these runs a relay instead of the text.
type launcher interface {
	// prepare makes what start needs. done reports that it has ended the command instead.
	prepare(l *life, home, cwd string) (done bool, err error)
	// start starts the command. Its files are open, and its record says that it runs. Errors: errNotSent.
	start(l *life) error
	// attach starts to watch the command, which an earlier server may have started, and returns a function that stops
	// it.
	attach(l *life) (detach func())
	// status is the exit code of the command, once it is known.
	status(l *life) (code int, ok bool)
	// exited is closed when the process of the command has ended; nil when only the status tells.
	exited() <-chan struct{}
	// afterExit is the result of a command whose process has ended; over is false when the shell is detached.
	afterExit(l *life) (r Result, over bool)
	// tick receives when look is to be called.
	tick() <-chan time.Time
	look(l *life)
	// stop ends a command that was cancelled or timed out, as r says.
	stop(l *life, r *Result) stopOutcome
	// settle completes the result of a command that has ended, before its outputs are drained.
	settle(l *life, r *Result)
}

// stopOutcome is the outcome of launcher.stop.
type stopOutcome int

const (
	stopping stopOutcome = iota // its end is waited for
	stopped                     // it has ended, as the result says; or the shell is left
	hadEnded                    // it had ended by itself before
)

// begin makes and opens the files of a command, records that it runs, and starts it. In this order the next server
// understands the state after every step. done reports that the command has ended already.
func (l *life) begin(home, cwd string) (done bool, err error) {
	s := l.shell
	l.home = home
	err = s.withRoom(func() (err error) {
		done, err = l.launch.prepare(l, home, cwd)
		return err
	})
	if done || err != nil {
		return done, err
	}
	if l.files, err = stdio.Open(l.streams, s.withRoom); err != nil {
		return false, err
	}
	l.markRunning(cmp.Or(cwd, home))
	if err = s.withRoom(l.trySave); err == nil {
		err = l.launch.start(l)
	}
	switch {
	case errors.Is(err, errNotSent):
		l.files.Reset()
	case err != nil:
		l.files.Abandon()
	}
	return false, err
}

// errNotSent is of a shell that ended before it got the control lines of a command, whose logs are unchanged.
var errNotSent = errors.New("the shell was not told")

// markRunning notes that the command runs.
func (e *Exec) markRunning(cwd string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := &e.entry.Info
	i.Status, i.StartedAt, i.Cwd = Running, time.Now(), cwd
	if limit := e.entry.Spec.Timeout; limit > 0 {
		e.entry.Deadline = i.StartedAt.Add(limit)
	}
}

// follow waits for the end of a started command, and ends it at a cancel or its timeout. over is false when the shell
// is detached.
func (l *life) follow() (r Result, over bool) {
	late, stopLate := l.overtime()
	defer stopLate()
	cancelled := l.Exec.stop
	for {
		if code, ok := l.launch.status(l); ok {
			if !r.TimedOut && !r.Cancelled {
				r.ExitCode = code
			}
			return r, true
		}
		var why Result
		select {
		case <-l.files.Watch.Changed:
			continue
		case <-l.launch.tick():
			l.launch.look(l)
			continue
		case <-l.launch.exited():
			last, over := l.launch.afterExit(l)
			if r.TimedOut || r.Cancelled {
				last = r
			}
			return last, over
		case <-late:
			why = Result{ExitCode: timeoutCode, TimedOut: true}
		case <-cancelled:
			why = Result{ExitCode: cancelCode, Cancelled: true}
		case <-l.shell.life.Done():
			return Result{}, false
		}
		late, cancelled = nil, nil
		// Of two facts that came at once select takes any, and a server that was away finds both: the end counts.
		if _, ok := l.launch.status(l); ok {
			continue
		}
		switch l.launch.stop(l, &why) {
		case stopped:
			return why, !l.shell.detached()
		case stopping:
			r = why
		case hadEnded:
		}
	}
}

// run follows a command to its end and answers it. again reports that the command has certainly not run; without
// mayAgain it is answered all the same.
func (l *life) run(mayAgain bool) (again bool) {
	defer l.launch.attach(l)()
	r, over := l.follow()
	if !over {
		l.files.Close()
		return false
	}
	if mayAgain && l.unread && !shelldir.Closed(l.Exec.stop) {
		l.files.Reset()
		return true
	}
	l.conclude(r)
	return false
}

// runBeside is run for a command beside the queue. It frees the command's slot.
func (l *life) runBeside() {
	defer l.shell.pruneIfDue()
	defer l.shell.freeSlot()
	l.run(false)
}

// conclude drains the outputs of a command, answers it, and follows late output in a goroutine.
func (l *life) conclude(r Result) {
	s := l.shell
	l.launch.settle(l, &r)
	eof := l.files.Drain()
	r.Background = !eof
	if l.noteTruncated(&r); !r.Truncated && !l.files.Copying() {
		r.Truncated, r.TruncatedReason = true, output.CutUnheld
	}
	r.Recreated, r.Lost, r.CwdFallback = l.notice.recreated || r.Recreated, l.notice.lost, l.notice.fallback
	s.mu.Lock()
	s.active = time.Now()
	if s.current == l.Exec {
		s.current = nil
	}
	s.mu.Unlock()
	l.answer(&r)
	l.files.FollowLate(eof)
}

// attempt tries once to run a command in its turn, in the shell b or beside it. again reports that the command has
// certainly not run because the shell had ended. On the last try, and for a cancelled command, that is its end.
func (s *Shell) attempt(b readyShell, e *Exec, launch launcher, last bool) (again bool) {
	home, cwd, ok := s.directories(b.Process, e)
	if e.endIfCancelled() {
		return false
	}
	if spec := e.spec(); spec.Within != "" && s.directory(b.Process, spec.Cwd) != spec.Within {
		s.failed(e, ErrMoved)
		return false
	}
	if !ok {
		e.missing(cwd, b.restartNotice, home)
		return false
	}
	background := e.spec().Background
	if background && !s.takeSlot() {
		e.end(Failed, nil, fmt.Errorf("%w: %d run beside the shell", ErrQueueFull, maxParallel))
		return false
	}
	l := &life{Exec: e, launch: launch, notice: b.restartNotice}
	free := func() {
		if background {
			s.freeSlot()
		}
	}
	if s.remote() {
		var err error
		if l.notice.recreated, err = s.ready(e, false); err != nil {
			free()
			s.failUnready(e, err)
			return false
		}
	}
	done, err := l.begin(home, cwd)
	switch {
	case done:
		free()
		return false
	case errors.Is(err, errNotSent) && !last:
		free()
		return b.AwaitEnd()
	case err != nil:
		free()
		s.failed(e, err)
		return false
	case background:
		s.work.Go(l.runBeside)
		return false
	}
	return l.run(!last)
}

// inShell runs a command in the foreground or background of the shell. It tries again in the next process when one
// has ended before it had read the command, and returns the last process. A background command continues after that.
func (s *Shell) inShell(b readyShell, e *Exec) *bash.Process {
	for try := 1; ; try++ {
		again := s.attempt(b, e, e.launcher(b.Process), try == maxStarts)
		if !again || s.detached() || e.endIfCancelled() {
			break
		}
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

// takeSlot takes one of the maxParallel slots beside the queue, freeSlot gives it back.
func (s *Shell) takeSlot() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parallel >= maxParallel {
		return false
	}
	s.parallel++
	return true
}

func (s *Shell) freeSlot() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parallel--
}

// directories returns the shell's directory, and the absolute directory of this command alone, "" without one; ok is
// false when that does not exist. An isolated command always has one.
func (s *Shell) directories(proc *bash.Process, e *Exec) (home, cwd string, ok bool) {
	spec := e.spec()
	if s.remote() {
		return s.cwdNow(), "", true // the relay sees to it
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
