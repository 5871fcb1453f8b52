package shell

import (
	"errors"
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty"
)

// launchBackground starts a command beside the queue and goes on when it runs.
func (s *Shell) launchBackground(b revived, e *Exec) {
	home, cwd, ok := s.place(b.incarnation, e)
	if e.withdrawn() {
		return
	}
	if !ok {
		e.missing(cwd, b, home)
		return
	}
	s.mu.Lock()
	full := s.beside >= maxBeside
	if !full {
		s.beside++
	}
	s.mu.Unlock()
	if full {
		e.end(Failed, nil, fmt.Errorf("%w: %d run beside the shell", ErrQueueFull, maxBeside))
		return
	}
	if s.remote() {
		var err error
		if b.recreated, err = s.ready(e, false); err != nil {
			s.leaveBeside()
			s.unready(e, err)
			return
		}
	}
	run, err := s.begin(b.incarnation, e, home, cwd, e.backgroundLines)
	if err != nil {
		s.leaveBeside()
		if errors.Is(err, errUntold) && e.withdrawn() {
			return
		}
		if errors.Is(err, errUntold) && b.awaitEnd() {
			if next, again := s.alive(); again == nil && !s.leaving() {
				next = s.brief(next, e)
				next.news = b.news.and(next.news)
				s.launchBackground(next, e)
				return
			}
		}
		s.failed(e, err)
		return
	}
	s.beginBackground(run, b, e, home)
}

// beginBackground goes on with a command in the background that the shell was told of.
func (s *Shell) beginBackground(run *running, b revived, e *Exec, home string) {
	r := Result{Recreated: b.recreated, Lost: b.lost, CwdFallback: b.fallback, Cwd: home}
	pid := run.process(b.incarnation)
	if pid > 0 {
		if process, there := pty.FindProc(pid); there {
			e.mu.Lock()
			e.record.Note = proctree.FormatStarts([]pty.Proc{process})
			e.mu.Unlock()
		}
	}
	e.begin(pid)
	if pid > 0 {
		e.save()
	}
	s.work.Go(func() { s.background(run, e, pid, r) })
}

// process waits for the process id of a command in the background: its outputs are open then. It is 0 when the command or its shell ended before, and when the shell has gone
// past it and nothing of it has come to be: there was no process left for it, or no descriptor.
func (r *running) process(body *incarnation) int {
	s := r.exec.shell
	pid, known := r.awaitProcess(body, endGrace)
	if known {
		return pid
	}
	if s.halted(body) {
		body.kill() // else it might come to a command that was answered
	}
	_ = body.barrier(s.life, "")
	pid, _ = r.awaitProcess(body, startLimit)
	return pid
}

// awaitProcess is process for some time. known is false when there was no sign of anything.
func (r *running) awaitProcess(body *incarnation, patience time.Duration) (pid int, known bool) {
	s := r.exec.shell
	limit, cancel := s.awake(s.life, patience)
	defer cancel()
	for {
		if pid, ok := shelldir.FindNumber(r.exec.dir, shelldir.PidName); ok {
			return pid, true
		}
		if _, ok := r.exec.status(); ok {
			return 0, true
		}
		select {
		case <-r.watch.Changed:
		case <-body.ended:
			pid, _ := shelldir.FindNumber(r.exec.dir, shelldir.PidName)
			return pid, true
		case <-limit.Done():
			return 0, s.leaving()
		}
	}
}

// leaveBeside gives back a place beside the queue.
func (s *Shell) leaveBeside() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beside--
}
