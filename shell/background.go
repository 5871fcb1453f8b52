package shell

import (
	"errors"
	"fmt"
)

// launchBackground starts a command beside the queue and goes on when it runs.
func (s *Shell) launchBackground(b revived, e *Exec) {
	home, cwd, ok := s.place(b.incarnation, e)
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
		e.mu.Lock()
		e.record.Info.PID = pid
		e.mu.Unlock()
		e.save()
	}
	s.work.Go(func() { s.background(run, e, pid, r) })
}

// process waits for the process id of a command in the background: its outputs are open then. It is 0 when the command or its shell ended before.
func (r *running) process(body *incarnation) int {
	for {
		if pid, ok := numbered(r.exec.dir, pidName); ok {
			return pid
		}
		if _, ok := r.exec.status(); ok {
			return 0
		}
		select {
		case <-r.watch.changed:
		case <-body.ended:
			pid, _ := numbered(r.exec.dir, pidName)
			return pid
		case <-r.exec.shell.life.Done():
			return 0
		}
	}
}

// leaveBeside gives back a place beside the queue.
func (s *Shell) leaveBeside() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beside--
}
