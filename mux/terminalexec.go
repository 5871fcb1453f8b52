package mux

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"time"

	"github.com/evertty/evertty/shell"
	"github.com/evertty/evertty/snapshot"
)

// TerminalExec is a command on a terminal of its own: `tty:true`.
type TerminalExec struct {
	ID        string // of the terminal, which can be watched like any other while it runs
	PID       int
	ExitCode  int // bash's: 124 after a timeout, 130 after a cancel
	TimedOut  bool
	Cancelled bool
	Output    []byte // the first maxOutput bytes
	Truncated bool
	Cwd       string
}

const (
	// maxTerminalOutput is how much of a terminal's output is returned when the command does not say, in bytes; also
	// the most that is, as the reply is made in memory.
	maxTerminalOutput = 10 << 20
	// terminalGrace is the time from SIGHUP to SIGKILL for a command on a terminal whose time is over: that from SIGINT to SIGKILL of
	// one in a shell.
	terminalGrace = time.Second
	// terminalEnd bounds the wait for what does not react even to SIGKILL, which the disk may hold up.
	terminalEnd   = 10 * time.Second
	codeTimedOut  = 124
	codeCancelled = 130
)

// ExecTerminal runs a command with a terminal as its standard files, in the directory and with the environment of a shell, and waits for its end
// or its timeout (0: the shell's). Its Stdin is typed, and nothing after it; Text is limited to what one argument of a program may have.
// The terminal is deleted then; its screen stays readable as that of any deleted one. When ctx ends the command is ended
// too, but not when the reason is ErrClosing. started, when not nil, is called with the terminal once it runs. The result is good as far as there is one also with an error.
// Errors: those of Create, ErrClosing and the reason of ctx.
func (m *Mux) ExecTerminal(ctx context.Context, s *Shell, c shell.Command, started func(*Terminal)) (TerminalExec, error) {
	if c.Isolated && len(c.Argv) == 0 {
		return TerminalExec{}, wrapf(ErrInvalid, "argv is empty: name a program")
	}
	if err := m.records.admit(s); err != nil {
		return TerminalExec{}, err
	}
	if err := s.settle(ctx); err != nil {
		return TerminalExec{}, err
	}
	t, err := m.Create(s.terminalSpec(c))
	if err != nil {
		return TerminalExec{}, err
	}
	r := TerminalExec{ID: t.ID, PID: t.process.PID(), Cwd: s.State().Cwd}
	if started != nil {
		started(t)
	}
	defer t.typeIn(ctx, c.Stdin)()
	if err = r.await(ctx, t, cmp.Or(c.Timeout, s.Spec().Timeout)); errors.Is(err, ErrClosing) {
		return r, err // it runs on, like any terminal
	}
	later, cancel := context.WithTimeout(context.WithoutCancel(ctx), terminalEnd)
	defer cancel()
	err = errors.Join(err, r.end(later, t))
	var e error
	if r.Output, r.Truncated, e = t.printed(limitOf(c, s)); e != nil {
		err = errors.Join(err, e)
	}
	return r, errors.Join(err, m.Delete(later, t, false))
}

// settle waits until what the last command did to the shell is known, which takes a moment longer than its answer: a change of nothing has its turn after
// that. A command that runs is not waited for, and a shell that has ended is not started.
func (s *Shell) settle(ctx context.Context) error {
	if f := s.Facts(); f.Busy || f.Queued > 0 || f.PID == 0 {
		return nil
	}
	return s.Shell.SetEnv(ctx, nil, nil)
}

// terminalSpec is the terminal for a command. Variables that the shell lacks and every terminal has (PATH, HOME, …) come back. TERM is
// the terminal's own unless the user has set another one in the shell.
func (s *Shell) terminalSpec(c shell.Command) Spec {
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
		dir, _ = living(s.Spec().Place, state.Cwd)
	case !filepath.IsAbs(dir):
		dir = filepath.Join(state.Cwd, dir)
	}
	return Spec{Session: s.Session, Cmd: argv, Cwd: dir, Env: env}
}

// limitOf is how much output of a command is returned, in bytes.
func limitOf(c shell.Command, s *Shell) int64 {
	return min(maxTerminalOutput, cmp.Or(c.MaxOutput, s.Spec().MaxOutput, maxTerminalOutput))
}

// typeIn types p while the program runs and returns a function that ends that. What the program does not read is not missed.
func (t *Terminal) typeIn(ctx context.Context, p []byte) (stop func()) {
	if len(p) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = t.Input(ctx, p)
	}()
	return func() {
		cancel()
		<-done
	}
}

// await waits for the end of the command, of its time or of ctx.
func (r *TerminalExec) await(ctx context.Context, t *Terminal, timeout time.Duration) error {
	var over <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-t.ended:
		return nil
	case <-over:
		r.TimedOut = true
		return nil
	case <-ctx.Done():
		err := context.Cause(ctx)
		r.Cancelled = !errors.Is(err, ErrClosing)
		return err
	case <-t.mux.ctx.Done():
		return ErrClosing
	}
}

// end ends the command if it runs, and sets its code.
func (r *TerminalExec) end(ctx context.Context, t *Terminal) error {
	if r.TimedOut || r.Cancelled {
		grace, cancel := context.WithTimeout(ctx, terminalGrace)
		defer cancel()
		t.hangUp(grace)
		select {
		case <-t.ended:
		case <-ctx.Done():
			return wrapf(ErrTimeout, "process %d does not end", r.PID)
		case <-t.mux.ctx.Done():
			return ErrClosing
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case r.TimedOut:
		r.ExitCode = codeTimedOut
	case r.Cancelled:
		r.ExitCode = codeCancelled
	case t.exit.Code != nil:
		r.ExitCode = *t.exit.Code
	default:
		return wrapf(ErrExited, "nobody knows how the command ended")
	}
	return nil
}

// printed is the output of a terminal that has ended, at most limit bytes, and whether there is more or some of it is missing.
func (t *Terminal) printed(limit int64) (out []byte, truncated bool, err error) {
	j, err := t.Journal()
	if err != nil {
		return nil, false, err
	}
	r, err := j.Read(j.Start())
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	truncated = j.Start() > 0
	for {
		e, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, truncated, nil
		case err != nil:
			return out, truncated, err
		case e.Kind == snapshot.EntryGap:
			truncated = true
		case e.Kind == snapshot.EntryOutput:
			n := min(int64(len(e.Data)), limit-int64(len(out)))
			if out = append(out, e.Data[:n]...); n < int64(len(e.Data)) {
				return out, true, nil
			}
		}
	}
}
