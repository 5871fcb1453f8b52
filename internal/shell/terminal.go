package shell

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// Enroll writes a command down that its caller runs outside of the shell and of its queue: on a terminal of its own. It
// is in the history from now on, and has a log (stdout) and an end like others. The caller calls Begin, Append and
// Finish, and looks at Stopped, Overtime and Done, which Delete closes too. Errors: those of Submit.
func (s *Shell) Enroll(c Command) (*Exec, error) {
	c.TTY = true
	if err := s.complete(&c); err != nil {
		return nil, fmt.Errorf("shell: enroll: %w", err)
	}
	s.submitting.Lock()
	defer s.submitting.Unlock()
	var e *Exec
	err := s.withRoom(func() (err error) {
		e, err = s.enroll(c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("shell: enroll: %w", shelldir.FileError(err))
	}
	s.mu.Lock()
	gone := s.detached()
	if !gone {
		s.all = append(s.all, e)
		s.byID[e.id] = e
		s.active = time.Now()
	}
	s.mu.Unlock()
	if gone {
		_ = os.RemoveAll(e.dir)
		return nil, fmt.Errorf("shell: enroll: %w", ErrDeleted)
	}
	e.notifyChanged()
	return e, nil
}

// Begin says that an enrolled command runs: as which process, on which terminal and in which directory.
func (e *Exec) Begin(pid int, terminal, cwd string) {
	e.markRunning(cwd)
	e.mu.Lock()
	e.entry.Info.PTY, e.entry.Info.PID = terminal, pid
	e.mu.Unlock()
	e.save()
	e.markStarted(pid)
}

// Append adds to the log of an enrolled command. One caller appends at a time.
func (e *Exec) Append(p []byte) { e.outputs[0].Append(p) }

// MarkIncomplete says that the log of an enrolled command misses something.
func (e *Exec) MarkIncomplete() { e.outputs[0].Drop(errors.New("the terminal has not kept it")) }

// Stopped is closed by the first Cancel.
func (e *Exec) Stopped() <-chan struct{} { return e.stop }

// Overtime is closed when the time of the command is over, in which a pause does not count. The function ends the
// watch.
func (e *Exec) Overtime() (<-chan struct{}, func()) { return e.overtime() }

// Finish is the end of an enrolled command: its result, or why there is none.
func (e *Exec) Finish(r Result, problem error) {
	if problem != nil {
		e.end(Failed, nil, problem)
		return
	}
	e.noteTruncated(&r)
	r.Cwd = e.shell.cwdNow()
	e.finishOutputs()
	e.end(r.Status(), &r, nil)
}

// Terminals are the enrolled commands that an earlier server has left running. Their caller goes on with them.
func (s *Shell) Terminals() []*Exec {
	return slices.DeleteFunc(s.Execs(), func(e *Exec) bool { return e.hasEnded() || !e.spec().TTY })
}

// terminal takes over an enrolled command. One that did not come to begin has not run.
func (r *recovery) terminal(e *Exec, begun bool) {
	if !begun {
		e.end(Failed, nil, fmt.Errorf("%w: the server ended before it began", ErrEnded))
		return
	}
	e.begun = true
	close(e.started)
}
