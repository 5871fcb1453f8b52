package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/wire"
)

const (
	// terminalGrace is the time from SIGHUP to SIGKILL for a command on a terminal after its timeout, as from SIGINT
	// to SIGKILL in a shell.
	terminalGrace = time.Second
	// terminalEnd bounds the wait for a process that does not react to SIGKILL, because of a slow disk for example.
	terminalEnd   = 10 * time.Second
	codeTimedOut  = 124
	codeCancelled = 130
)

// CheckTTY refuses a command that ExecTTY would refuse whatever the shell. Errors: terminal.ErrInvalid,
// *pty.LineTooLong for a Stdin that the program would get in part.
func CheckTTY(c shell.Command) error {
	if c.Isolated && len(c.Argv) == 0 {
		return fmt.Errorf("%w: argv is empty: name a program", terminal.ErrInvalid)
	}
	return pty.CheckFreshLine(c.Stdin)
}

// ExecTTY runs a command on a terminal of its own, in the directory and with the environment of a shell: `tty:true`.
// Its Stdin is typed, and end of file after it unless Stdin is nil. Text may be as long as one argument of a program.
// The command is in the shell's history, with the terminal's output as stdout; changes of its directory and variables
// do not reach the shell. It continues under the next server. After its end, when its log is complete, the terminal
// is deleted: it is on no list, and its screen stays readable by id for a day. Errors: as CheckTTY,
// Create and of shell.Enroll.
func (ss *Shells) ExecTTY(ctx context.Context, s *Shell, c shell.Command) (*shell.Exec, error) {
	if err := CheckTTY(c); err != nil {
		return nil, err
	}
	if err := ss.cfg.Hooks.Admit(s); err != nil {
		return nil, err
	}
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	if c.Within != "" && s.Directory(c.Cwd) != c.Within {
		return nil, shell.ErrMoved
	}
	e, err := s.Enroll(c)
	if err != nil {
		return nil, err
	}
	spec := s.terminalSpec(c)
	t, err := ss.cfg.Terminals.CreateFor(s.Session, spec, s.execOf(e), s.Spec().Sandbox)
	if err != nil {
		e.Finish(shell.Result{}, err)
		return nil, err
	}
	e.Begin(t.Process().PID(), t.ID, spec.Cwd)
	ss.life.Go(func() { terminalExec{ss, t, e}.run(c.Stdin) })
	return e, nil
}

// execOf is what the terminal of a command has in its own record, which no program of the shell can write from a
// sandbox: an id in the files of the shell may be any terminal's.
func (s *Shell) execOf(e *shell.Exec) string { return s.Key + "/" + e.ID() }

// resumeTerminalExecs follows the commands on terminals of an earlier server. Input that it had not typed is lost. A
// terminal that it was about to delete, behind the end of its command, is deleted.
func (ss *Shells) resumeTerminalExecs(s *Shell) {
	all := s.Terminals()
	if len(all) == 0 {
		return
	}
	left := ss.cfg.Terminals.List(s.Session)
	for _, e := range all {
		id := e.Info().PTY
		if shelldir.Closed(e.Done()) {
			for _, t := range left {
				if t.ID == id && t.Spec().Exec == s.execOf(e) {
					ss.life.Go(terminalExec{ss, t, e}.remove)
				}
			}
			continue
		}
		t, err := ss.cfg.Terminals.Find(s.Session, id)
		if err != nil || t.Spec().Exec != s.execOf(e) {
			e.Finish(shell.Result{}, fmt.Errorf("%w: its terminal is gone", shell.ErrEnded))
			continue
		}
		ss.life.Go(func() { terminalExec{ss, t, e}.run(nil) })
	}
}

// settle waits until the state after the last command is known, a moment after its answer, by an empty change in its
// turn. It neither waits for a running command nor starts a shell that has ended.
func (s *Shell) settle(ctx context.Context) error {
	if f := s.Stats(); f.Busy || f.Queued > 0 || f.PID == 0 {
		return nil
	}
	return s.Shell.SetEnv(ctx, nil, nil)
}

// terminalSpec is the terminal of a command. It has the variables of every terminal (PATH, HOME, …) even if the shell
// has unset them. TERM is the terminal's own unless the user has set it in the shell.
func (s *Shell) terminalSpec(c shell.Command) wire.CreateTerminal {
	state := s.State()
	env := map[string]string{}
	maps.Copy(env, state.Env)
	if _, chosen := state.Delta["TERM"]; !chosen {
		delete(env, "TERM")
	}
	maps.Copy(env, c.Env)
	argv := []string{"bash", "-c", c.Text}
	if c.Isolated {
		argv = c.Argv
	}
	dir := c.Cwd
	switch {
	case c.Within != "":
		dir = c.Within
	case dir == "":
		dir, _ = terminal.StartDir(s.Spec().Provider, state.Cwd)
	case !filepath.IsAbs(dir):
		dir = filepath.Join(state.Cwd, dir)
	}
	return wire.CreateTerminal{Cmd: argv, Cwd: dir, Env: env, Sandbox: s.Sandbox()}
}

// terminalExec is a command with the terminal that it runs on.
type terminalExec struct {
	ss *Shells
	t  *terminal.Terminal
	e  *shell.Exec
}

// typeIn types p and end of file while the program runs, and returns a function that stops it. Unread input is
// dropped.
func (x terminalExec) typeIn(p []byte) (stop func()) {
	ctx, cancel := context.WithCancel(x.ss.ctx)
	var typing sync.WaitGroup
	typing.Go(func() {
		if len(p) > 0 {
			if _, err := x.t.Input(ctx, p); err != nil {
				return
			}
		}
		// At the beginning of a line the character ends the file, elsewhere it only hands the line out (termios(3)
		// VEOF).
		if eof, ok := x.t.Process().Master().EOFChar(); ok {
			end := []byte{eof}
			if len(p) > 0 && p[len(p)-1] != '\n' {
				end = append(end, eof)
			}
			_, _ = x.t.Input(ctx, end)
		}
	})
	return func() {
		cancel()
		typing.Wait()
	}
}

// run types stdin unless it is nil, follows the command to its end, records that and deletes the terminal. It returns
// earlier when the server shuts down.
func (x terminalExec) run(stdin []byte) {
	if stdin != nil {
		defer x.typeIn(stdin)()
	}
	var copying sync.WaitGroup
	copying.Go(x.copy)
	r, err := x.await()
	if err == nil || errors.Is(err, terminal.ErrClosing) {
		copying.Wait()
		if x.ss.ctx.Err() != nil {
			return // it runs on, like any terminal
		}
	}
	x.e.Finish(r, err)
	x.remove()
}

// remove deletes the terminal.
func (x terminalExec) remove() {
	ss := x.ss
	ctx, cancel := context.WithTimeout(ss.ctx, terminalEnd)
	defer cancel()
	if err := ss.cfg.Terminals.Delete(ctx, x.t, false); err != nil && ss.ctx.Err() == nil {
		ss.cfg.Log.Warn("the terminal of a command remains", "id", x.t.ID, "command", x.e.ID(), "error", err)
	}
}

// await waits for the end of the command, its timeout or its cancellation. Errors: shell.ErrEnded when the exit
// code is unknown, terminal.ErrClosing, terminal.ErrTimeout.
func (x terminalExec) await() (r shell.Result, err error) {
	ctx, stop := x.e.Running()
	defer stop()
	select {
	case <-x.t.Done():
		code := x.t.Exit().Code
		if code == nil {
			return r, fmt.Errorf("%w: nobody knows how the command ended", shell.ErrEnded)
		}
		return shell.Result{ExitCode: *code}, nil
	case <-x.ss.ctx.Done():
		return r, terminal.ErrClosing
	case <-ctx.Done():
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, shell.ErrTimedOut):
		return shell.Result{ExitCode: codeTimedOut, TimedOut: true}, x.hangUp()
	case errors.Is(cause, shell.ErrDeleted):
		<-x.e.Done() // Delete gives it its end
	}
	return shell.Result{ExitCode: codeCancelled, Cancelled: true}, x.hangUp()
}

// hangUp ends the command.
func (x terminalExec) hangUp() error {
	ss := x.ss
	ctx, cancel := context.WithTimeout(ss.ctx, terminalEnd)
	defer cancel()
	grace, stop := context.WithTimeout(ctx, terminalGrace)
	defer stop()
	x.t.HangUp(grace)
	select {
	case <-x.t.Done():
		return nil
	case <-ss.ctx.Done():
		return terminal.ErrClosing
	case <-ctx.Done():
		return fmt.Errorf("%w: process %d does not end", terminal.ErrTimeout, x.e.Info().PID)
	}
}

// copy copies the terminal's output to the command's log, from the end of the log until the end of the output.
func (x terminalExec) copy() {
	if !x.copyAll() {
		x.e.MarkIncomplete()
	}
}

// copyAll is copy, and reports whether it could read everything, or was to leave it to the next server.
func (x terminalExec) copyAll() bool {
	j, err := x.t.Journal()
	from := uint64(x.e.Size(shell.Stdout))
	if err != nil || from < j.Start() {
		return false
	}
	reader, err := j.Read(from)
	if err != nil {
		return false
	}
	defer reader.Close()
	changed, stop := x.t.Hub().Watch()
	defer stop()
	for {
		over := shelldir.Closed(x.t.Done()) // before the look: then all of it is there
		if whole := x.copyPage(reader); over || !whole {
			return whole
		}
		select {
		case <-changed:
		case <-x.t.Done():
		case <-x.ss.ctx.Done():
			return true
		}
	}
}

// copyPage copies the journal up to its end. It is false when the rest cannot be read.
func (x terminalExec) copyPage(reader *journal.Reader) bool {
	for {
		e, err := reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			return true
		case err != nil, e.Kind == journal.EntryGap:
			return false
		case e.Kind == journal.EntryOutput:
			x.e.Append(e.Data)
		}
	}
}
