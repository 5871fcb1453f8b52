package shell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// foreground runs a command in the shell itself and ends it, in another incarnation when this one has ended before it had read of the command. It returns the last one.
func (s *Shell) foreground(b revived, e *Exec) *incarnation {
	defer func() { s.keep(b, e) }()
	for try := 1; ; try++ {
		again := s.foregroundOnce(b, e, try == maxStarts)
		if !again || s.leaving() || e.withdrawn() {
			return b.incarnation
		}
		next, err := s.alive()
		switch {
		case s.leaving() || e.withdrawn():
			return b.incarnation
		case err != nil:
			s.lose(e, err)
			return b.incarnation
		}
		next = s.brief(next, e)
		next.news = b.news.and(next.news)
		b = next
	}
}

// foregroundOnce tells whether the command has certainly not run, which is an end of it like others the last time, and where somebody wanted its end.
func (s *Shell) foregroundOnce(b revived, e *Exec, last bool) (again bool) {
	home, cwd, ok := s.place(b.incarnation, e)
	if e.withdrawn() {
		return false
	}
	if !ok {
		e.missing(cwd, b, home)
		return false
	}
	if s.remote() {
		var err error
		if b.recreated, err = s.ready(e, false); err != nil {
			s.unready(e, err)
			return false
		}
	}
	run, err := s.begin(b.incarnation, e, home, cwd, e.commandLines)
	if errors.Is(err, errUntold) && !last {
		return b.awaitEnd()
	}
	if err != nil {
		s.failed(e, err)
		return false
	}
	r, over := s.await(b.incarnation, run, e)
	if !over {
		run.leave()
		return false
	}
	if r.ShellEnded && !last && !r.TimedOut && !shelldir.Closed(e.stop) && run.unheard(b.incarnation) {
		run.forget()
		return true
	}
	r.Recreated, r.Lost, r.CwdFallback = b.recreated || r.Recreated, b.lost, b.fallback
	s.finish(b.incarnation, run, e, r, home)
	return false
}

// place is the shell's directory now, and the absolute directory that the command alone wants, "" when none; ok is false when that one is absent.
func (s *Shell) place(body *incarnation, e *Exec) (home, cwd string, ok bool) {
	if s.remote() {
		return s.cwdNow(), "", true // the relay sees to it
	}
	home, err := body.process().Cwd()
	if err != nil {
		s.mu.Lock()
		home = s.cwd
		s.mu.Unlock()
	}
	cwd = e.spec().Cwd
	if cwd == "" {
		return home, "", true
	}
	if !filepath.IsAbs(cwd) {
		cwd = filepath.Join(home, cwd)
	}
	info, err := os.Stat(cwd)
	return home, cwd, err == nil && info.IsDir()
}

// missing ends a command whose directory is absent, as the shell would have ended it.
func (e *Exec) missing(cwd string, b revived, home string) {
	reason := unix.ENOENT
	if _, err := os.Stat(cwd); err == nil {
		reason = unix.ENOTDIR
	} else if errors.Is(err, unix.EACCES) {
		reason = unix.EACCES
	}
	e.say(fmt.Sprintf("Failed to change directory to %s: %s\n", cwd, errnoText(reason)))
	e.mu.Lock()
	e.record.Info.Cwd, e.record.Info.StartedAt = home, time.Now()
	e.mu.Unlock()
	e.end(Done, &Result{ExitCode: 1, Cwd: home, Recreated: b.recreated, Lost: b.lost, CwdFallback: b.fallback}, nil)
}

// errnoText is an error number as C's strerror tells it, which is how shells do.
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

// say is the whole standard error of a command that never got one of its own.
func (e *Exec) say(text string) {
	l := e.outputs[1]
	if file, at, room := l.Room(); file != nil {
		n, err := file.WriteAt([]byte(text)[:min(room, int64(len(text)))], at)
		l.Added(int64(n))
		if err != nil {
			l.Drop(err)
		}
	}
	e.outputs[0].Finish()
	l.Finish()
}

// begin opens what a command needs, writes down that it runs, has the keeper hold its files, and tells the shell the lines. In this order: a server that is
// killed after any step leaves what the next one understands.
func (s *Shell) begin(body *incarnation, e *Exec, home, cwd string, lines func(script string) string) (*running, error) {
	var text string
	err := s.withRoom(func() (err error) {
		text, err = e.text(home, cwd, lines)
		return err
	})
	if err != nil {
		return nil, err
	}
	run, err := s.open(e)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	e.mu.Lock()
	e.record.Info.Status, e.record.Info.StartedAt, e.record.Info.Cwd = Running, now, home
	if cwd != "" {
		e.record.Info.Cwd = cwd
	}
	e.record.Incarnation, e.record.Note = body.number, proctree.FormatStarts(proctree.Children(body.process().PID))
	if limit := e.record.Spec.Timeout; limit > 0 {
		e.record.Deadline = now.Add(limit)
	}
	e.mu.Unlock()
	err = s.withRoom(e.trySave)
	if err == nil {
		err = run.hold()
	}
	if err == nil {
		if err = body.tell(text); errors.Is(err, ErrEnded) && !e.stdinOpen() {
			run.forget()
			return nil, fmt.Errorf("%w: %w", errUntold, err)
		}
	}
	if err != nil {
		run.abandon()
		return nil, err
	}
	if !e.spec().Background { // one in the background has begun when its own process is known
		e.begin(body.process().PID)
	}
	return run, nil
}

// errUntold says that a shell had ended before it was told of a command, whose logs are as they were.
var errUntold = errors.New("the shell was not told")

// failed ends a command that could not be begun.
func (s *Shell) failed(e *Exec, err error) {
	shelldir.RemoveFIFOs(e.dir)
	if s.leaving() {
		return
	}
	if errors.Is(err, ErrEnded) {
		s.lose(e, err)
		return
	}
	e.end(Failed, nil, fmt.Errorf("start: %w", shelldir.SpaceError(err)))
}

// await follows a command in the foreground until it has a status, its shell has ended, or it had to be ended. over is false when the shell is left.
func (s *Shell) await(body *incarnation, run *running, e *Exec) (r Result, over bool) {
	late, stop := e.overtime()
	defer stop()
	look := time.NewTicker(stoppedLook)
	defer look.Stop()
	stopped := 0
	recreated := false
	for {
		if code, ok := e.status(); ok {
			return Result{ExitCode: code, Recreated: recreated}, true
		}
		recreated = s.answerAsked(e) || recreated
		select {
		case <-run.watch.Changed:
		case <-body.ended:
			if code, ok := e.status(); ok {
				return Result{ExitCode: code, ShellEnded: true}, true
			}
			return Result{ExitCode: body.code, ShellEnded: true}, true
		case <-look.C:
			if stopped++; late != nil || !s.halted(body) {
				stopped = 0
			}
			if stopped >= stoppedLooks {
				body.kill()
			}
		case <-late:
			return s.cancel(body, run, e, Result{ExitCode: timeoutCode, TimedOut: true})
		case <-e.stop:
			return s.cancel(body, run, e, Result{ExitCode: cancelCode, Cancelled: true})
		case <-s.life.Done():
			return Result{}, false
		}
	}
}

// finish drains the outputs of a command, answers, and leaves the rest of its outputs to a goroutine.
func (s *Shell) finish(body *incarnation, run *running, e *Exec, r Result, home string) {
	eof := run.drain()
	r.Background = !eof
	run.judge(&r)
	r.Cwd = s.settle(body, e, home)
	status := Done
	if r.Cancelled {
		status = Cancelled
	}
	s.mu.Lock()
	s.active = time.Now()
	s.current = nil
	s.mu.Unlock()
	e.answer(status, &r)
	run.see(eof)
}

// settle finds out the shell's directory after a command.
func (s *Shell) settle(body *incarnation, e *Exec, home string) string {
	dir := home
	if s.remote() {
		s.readRemote()
		return s.cwdNow()
	}
	if e.spec().Cwd == "" {
		if now, err := body.cwd(); err == nil {
			dir = now
		} else {
			s.mu.Lock()
			dir = s.cwd
			s.mu.Unlock()
		}
	}
	s.mu.Lock()
	s.cwd = dir
	s.mu.Unlock()
	return dir
}
