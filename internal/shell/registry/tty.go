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
	"github.com/evertty/evertty/internal/terminal"
)

const (
	// terminalGrace is the time from SIGHUP to SIGKILL for a command on a terminal whose time is over: that from SIGINT
	// to SIGKILL of one in a shell.
	terminalGrace = time.Second
	// terminalEnd bounds the wait for what does not react even to SIGKILL, which the disk may hold up.
	terminalEnd   = 10 * time.Second
	codeTimedOut  = 124
	codeCancelled = 130
)

// ExecTTY starts a command with a terminal as its standard files, in the directory and with the environment of a shell:
// `tty:true`. Its Stdin is typed, and the end of file after it unless Stdin is nil; Text is limited to what one
// argument of a program may have. The command is one of the shell's history, with what the terminal printed as its
// stdout; nothing that it does to its directory and variables is the shell's. It goes on under the next server. When it
// has ended and its log has everything, the terminal is removed with its files. Errors: those of Create and of
// shell.Enroll.
func (m *Registry) ExecTTY(ctx context.Context, s *Shell, c shell.Command) (*shell.Exec, error) {
	if c.Isolated && len(c.Argv) == 0 {
		return nil, fmt.Errorf("%w: argv is empty: name a program", terminal.ErrInvalid)
	}
	if err := m.cfg.Hooks.Admit(s); err != nil {
		return nil, err
	}
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	e, err := s.Enroll(c)
	if err != nil {
		return nil, err
	}
	spec := s.terminalSpec(c)
	t, err := m.cfg.Terminals.Create(spec)
	if err != nil {
		e.Finish(shell.Result{}, err)
		return nil, err
	}
	e.Begin(t.Process().PID(), t.ID, spec.Cwd)
	x := terminalExec{m, t, e}
	m.life.Go(func() {
		stop := func() {}
		if c.Stdin != nil {
			stop = x.typeIn(c.Stdin)
		}
		x.run()
		stop()
	})
	return e, nil
}

// resumeTerminalExecs goes on with the commands on terminals that an earlier server has left. What it had not typed is
// not typed.
func (m *Registry) resumeTerminalExecs(s *Shell) {
	for _, e := range s.Terminals() {
		t, err := m.cfg.Terminals.Find("", e.Info().PTY)
		if err != nil {
			e.Finish(shell.Result{}, fmt.Errorf("%w: its terminal is gone", shell.ErrEnded))
			continue
		}
		m.life.Go(terminalExec{m, t, e}.run)
	}
}

// settle waits until what the last command did to the shell is known, which takes a moment longer than its answer: a
// change of nothing has its turn after that. A command that runs is not waited for, and a shell that has ended is not
// started.
func (s *Shell) settle(ctx context.Context) error {
	if f := s.Stats(); f.Busy || f.Queued > 0 || f.PID == 0 {
		return nil
	}
	return s.Shell.SetEnv(ctx, nil, nil)
}

// terminalSpec is the terminal for a command. Variables that the shell lacks and every terminal has (PATH, HOME, …)
// come back. TERM is the terminal's own unless the user has set another one in the shell.
func (s *Shell) terminalSpec(c shell.Command) terminal.Spec {
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
	case dir == "":
		dir, _ = terminal.StartDir(s.Spec().Provider, state.Cwd)
	case !filepath.IsAbs(dir):
		dir = filepath.Join(state.Cwd, dir)
	}
	return terminal.Spec{Session: s.Session, Cmd: argv, Cwd: dir, Env: env}
}

// terminalExec is a command with the terminal that it runs on.
type terminalExec struct {
	m *Registry
	t *terminal.Terminal
	e *shell.Exec
}

// typeIn types p and the end of file while the program runs and returns a function that ends that. What the program
// does not read is not missed.
func (x terminalExec) typeIn(p []byte) (stop func()) {
	ctx, cancel := context.WithCancel(x.m.ctx)
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

// run follows the command to its end, writes that down and removes the terminal. It returns before that when the server
// leaves.
func (x terminalExec) run() {
	m := x.m
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
		case <-m.ctx.Done():
			<-copied
			return
		}
	}
	x.e.Finish(r, err)
	ctx, cancel := context.WithTimeout(m.ctx, terminalEnd)
	defer cancel()
	if err := m.cfg.Terminals.Delete(ctx, x.t, true); err != nil && m.ctx.Err() == nil {
		m.cfg.Log.Warn("the terminal of a command remains", "id", x.t.ID, "command", x.e.ID(), "error", err)
	}
}

// await waits for the end of the command or of its time, and for somebody who wants its end.
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
	case <-x.m.ctx.Done():
		return r, terminal.ErrClosing
	}
	if r.TimedOut || r.Cancelled {
		if err := x.hangUp(); err != nil {
			return r, err
		}
	}
	return r, x.code(&r)
}

// HangUp ends the command.
func (x terminalExec) hangUp() error {
	m := x.m
	ctx, cancel := context.WithTimeout(m.ctx, terminalEnd)
	defer cancel()
	grace, stop := context.WithTimeout(ctx, terminalGrace)
	defer stop()
	x.t.HangUp(grace)
	select {
	case <-x.t.Done():
		return nil
	case <-m.ctx.Done():
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

// copy moves what the terminal prints into the command's log, from where an earlier server has come to, until its end.
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
		over := isClosed(x.t.Done()) // before the look: then all of it is there
		if !x.page(reader) || over {
			return
		}
		select {
		case <-changed:
		case <-x.t.Done():
		case <-x.m.ctx.Done():
			return
		}
	}
}

// page copies what the journal has now. It is false when the rest cannot be read.
func (x terminalExec) page(reader *journal.Reader) bool {
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

// isClosed tells whether a channel that only ever gets closed is.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
