package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
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
// *pty.LineTooLong for a Stdin of which the program would get a part.
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
	t, err := ss.cfg.Terminals.Create(s.Session, spec)
	if err != nil {
		e.Finish(shell.Result{}, err)
		return nil, err
	}
	e.Begin(t.Process().PID(), t.ID, spec.Cwd)
	x := terminalExec{ss, t, e}
	ss.life.Go(func() {
		stop := func() {}
		if c.Stdin != nil {
			stop = x.typeIn(c.Stdin)
		}
		x.run()
		stop()
	})
	return e, nil
}

// resumeTerminalExecs follows the commands on terminals of an earlier server. Input that it had not typed is lost. A
// terminal that it was about to delete, behind the end of its command, is deleted.
func (ss *Shells) resumeTerminalExecs(s *Shell) {
	var left map[string]*terminal.Terminal
	for _, e := range s.Terminals() {
		if shelldir.Closed(e.Done()) {
			if left == nil {
				left = map[string]*terminal.Terminal{}
				for _, t := range ss.cfg.Terminals.List(s.Session) {
					left[t.ID] = t
				}
			}
			if t := left[e.Info().PTY]; t != nil {
				ss.life.Go(terminalExec{ss, t, e}.remove)
			}
			continue
		}
		t, err := ss.cfg.Terminals.Find("", e.Info().PTY)
		if err != nil {
			e.Finish(shell.Result{}, fmt.Errorf("%w: its terminal is gone", shell.ErrEnded))
			continue
		}
		ss.life.Go(terminalExec{ss, t, e}.run)
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
	return wire.CreateTerminal{Cmd: argv, Cwd: dir, Env: env}
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
	done := make(chan struct{})
	go func() {
		defer close(done)
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
	}()
	return func() {
		cancel()
		<-done
	}
}

// run follows the command to its end, records that and deletes the terminal. It returns earlier when the server shuts
// down.
func (x terminalExec) run() {
	ss := x.ss
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		x.copy()
	}()
	r, err := x.await()
	if errors.Is(err, terminal.ErrClosing) {
		<-copied
		return // it runs on, like any terminal
	}
	if err == nil {
		select {
		case <-copied:
		case <-ss.ctx.Done():
			<-copied
			return
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

// await waits for the end of the command, its timeout or its cancellation.
func (x terminalExec) await() (r shell.Result, err error) {
	late, stop := x.e.Overtime()
	defer stop()
	select {
	case <-x.t.Done():
	case <-late:
		r.TimedOut = true
	case <-x.e.Stopped():
		r.Cancelled = true
	case <-x.e.Done(): // its shell was deleted
		r.Cancelled = true
	case <-x.ss.ctx.Done():
		return r, terminal.ErrClosing
	}
	if r.TimedOut || r.Cancelled {
		if err := x.hangUp(); err != nil {
			return r, err
		}
	}
	return r, x.code(&r)
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

// code sets the exit code. Errors: shell.ErrEnded when nobody knows it.
func (x terminalExec) code(r *shell.Result) error {
	exit := x.t.Exit()
	switch {
	case r.TimedOut:
		r.ExitCode = codeTimedOut
	case r.Cancelled:
		r.ExitCode = codeCancelled
	case exit.Code != nil:
		r.ExitCode = *exit.Code
	default:
		return fmt.Errorf("%w: nobody knows how the command ended", shell.ErrEnded)
	}
	return nil
}

// copy copies the terminal's output to the command's log, from the end of the log until the end of the output.
func (x terminalExec) copy() {
	j, err := x.t.Journal()
	if err != nil {
		x.e.MarkIncomplete()
		return
	}
	from := uint64(x.e.Size(shell.Stdout))
	if from < j.Start() {
		x.e.MarkIncomplete()
		return
	}
	reader, err := j.Read(from)
	if err != nil {
		x.e.MarkIncomplete()
		return
	}
	defer reader.Close()
	changed, stop := x.t.Hub().Watch()
	defer stop()
	for {
		over := shelldir.Closed(x.t.Done()) // before the look: then all of it is there
		if !x.copyPage(reader) || over {
			return
		}
		select {
		case <-changed:
		case <-x.t.Done():
		case <-x.ss.ctx.Done():
			return
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
			x.e.MarkIncomplete()
			return false
		case e.Kind == journal.EntryOutput:
			x.e.Append(e.Data)
		}
	}
}
