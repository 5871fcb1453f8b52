package shell

import (
	"errors"
	"fmt"
	"slices"
)

// Enroll writes a command down that its caller runs on a terminal of its own, beside the queue. From now on it is in
// the history, and has a log (stdout) and an end like others. The caller calls Begin, Append and Finish, and watches
// Stopped, Overtime and Done, which Delete closes too. Errors: as Submit.
//
// Its caller follows it with a loop of its own and not as an execution: the terminal has one output, a journal that the
// log copies, no FIFO, no process of this shell and no state to capture.
func (s *Shell) Enroll(c Command) (*Exec, error) {
	c.TTY = true
	e, err := s.accept(c)
	if err != nil {
		return nil, fmt.Errorf("shell: enroll: %w", err)
	}
	e.notifyChanged()
	return e, nil
}

// Begin notes that an enrolled command runs: its process, terminal and directory.
func (e *Exec) Begin(pid int, terminal, cwd string) {
	e.markStarting(cwd)
	e.mu.Lock()
	e.entry.Info.PTY, e.entry.Info.PID = terminal, pid
	e.mu.Unlock()
	e.save()
	e.markRunning(pid)
}

// Append adds to the log of an enrolled command. One caller appends at a time.
func (e *Exec) Append(p []byte) { e.outputs[0].Append(p) }

// MarkIncomplete notes that the log of an enrolled command is not complete.
func (e *Exec) MarkIncomplete() { e.outputs[0].Drop(errors.New("the terminal has not kept it")) }

// Stopped is closed by the first Cancel.
func (e *Exec) Stopped() <-chan struct{} { return e.stop }

// Overtime is closed at the command's timeout, in which pauses do not count. The function ends the watch.
func (e *Exec) Overtime() (<-chan struct{}, func()) { return e.overtime() }

// Finish ends an enrolled command with its result, or with the reason why it has none.
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

// Terminals are the enrolled commands. After a restart of the server their caller goes on with those that run.
func (s *Shell) Terminals() []*Exec {
	return slices.DeleteFunc(s.Execs(), func(e *Exec) bool { return !e.spec().TTY })
}

// terminal takes over an enrolled command. One that had not begun fails: it has not run.
func (r *recovery) terminal(e *Exec, begun bool) {
	if !begun {
		e.end(Failed, nil, fmt.Errorf("%w: the server ended before it began", ErrEnded))
		return
	}
}
