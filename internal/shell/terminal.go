package shell

import (
	"github.com/evertty/evertty/internal/shell/history"
)

// Enroll writes a command down that its caller runs on a terminal of its own, beside the queue. From now on it is in
// the history, and has a log (stdout) and an end like others. The caller calls Begin, Append and Finish, and watches
// Running and Done, which Delete closes too. Errors: as Submit.
//
// Its caller follows it with a loop of its own and not as an execution: the terminal has one output, a journal that the
// log copies, no FIFO, no process of this shell and no state to capture.
func (s *Shell) Enroll(c Command) (*Exec, error) {
	c.TTY = true
	return s.submit(c, "enroll")
}

// Begin notes that an enrolled command runs: its process, terminal and directory.
func (e *Exec) Begin(pid int, terminal, cwd string) {
	e.markStarting(cwd)
	e.change(func(row *history.Entry) { row.Info.PTY, row.Info.PID = terminal, pid })
	e.saveOrLog()
	e.markRunning(pid)
}

// Finish ends an enrolled command with its result, or with the reason why it has none.
func (e *Exec) Finish(r Result, problem error) {
	if problem != nil {
		e.end(Failed, nil, problem)
		return
	}
	e.noteTruncated(&r)
	r.Cwd = e.shell.state.directory()
	e.finish()
	e.end(r.Status(), &r, nil)
}
