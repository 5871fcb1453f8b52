package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// openTimeout bounds how long a command waits for its thread: for a provider to resume it, for the
// processes of an old session to end.
const openTimeout = 60 * time.Second

// hooks implements the hooks of terminals and shells: it opens their threads before they start, run
// and take input, and has the recorder write what happens. Without a database it does nothing. Its
// state is in the Data of terminals and shells, which is atomic.
type hooks struct {
	*database
	*parts
	lifecycle *lifecycle
	activity  *activity
	recorder  *recorder
	remote    *remote
	pauses    *pauses
	rules     *permission.Enforcer
	doors     doors
}

// terminalRow is the Data of a terminal.
type terminalRow struct {
	recorded atomic.Bool             // it has a row
	began    atomic.Bool             // the row was made with the process
	noted    atomic.Pointer[string]  // the directory that the row got last
	exported atomic.Pointer[exports] // the exports of its shell that the row got last
	charged  atomic.Uint64           // how much of Printed is charged, in bytes
}

func row(t *terminal.Terminal) *terminalRow { return t.Data.(*terminalRow) }

// liveShellRow is the Data of a shell.
type liveShellRow struct {
	recorded atomic.Bool            // it has a row
	charged  atomic.Int64           // how much of Printed is charged, in bytes
	instance atomic.Pointer[string] // of the last command at a provider; nil before the first of this server
}

func shellRow(s *registry.Shell) *liveShellRow { return s.Data.(*liveShellRow) }

// TerminalHooks returns the hooks by which threads follow terminals.
func (h *hooks) TerminalHooks() terminal.Hooks {
	return terminal.Hooks{
		NewData:     func(*terminal.Terminal) any { return &terminalRow{} },
		Enter:       h.doors.enter,
		Provider:    h.remote.terminalProvider,
		Program:     h.remote.program,
		DropProgram: h.remote.dropProgram,
		Authorize:   h.authorizeInput,
		MayType:     h.mayType,
		Paused:      h.pauses.isFrozen,
		Next:        h.nextProgram,
		MayRestore:  h.mayRestore,
		HideSecrets: thread.HideSecrets,
		Moved:       h.recorder.noteCwd,
		Exited:      h.recorder.noteExit,
		Removed: func(t *terminal.Terminal) {
			h.recorder.note(func(c *change) error { return c.removed(t.ID) })
		},
	}
}

// ShellHooks returns the hooks by which threads follow shells.
func (h *hooks) ShellHooks() registry.Hooks {
	return registry.Hooks{
		NewData:        func(*registry.Shell) any { return &liveShellRow{} },
		Enter:          h.doors.enter,
		Provider:       h.remote.providerName,
		SavedState:     h.savedState,
		Started:        h.shellStarted,
		Admit:          h.authorizeCommand,
		Paused:         h.pauses.isFrozen,
		ProcessChanged: h.shellChanged,
		Changed:        h.recorder.commandChanged,
		Ended:          h.activity.chargeShell,
		Removed:        func(key string) { h.recorder.note(func(c *change) error { return c.removed(key) }) },
	}
}

// openThread opens a thread for a terminal or shell at a provider, "" for this machine. Database
// errors never block a terminal: they are reported by Threads.Problems, and err is nil. Errors, of
// package thread: ErrDeleting, ErrProvider, ErrNoProvider, ErrConflict, ErrInvalid, ErrUnsupported
// (the thread is at another provider); ctx.Err().
func (h *hooks) openThread(ctx context.Context, threadID string, u thread.Use, at string) (thread.Layers, error) {
	leave, err := h.doors.enter(threadID)
	if err != nil {
		return thread.Layers{}, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	l, err := h.lifecycle.open(ctx, threadID, u)
	if errors.Is(err, thread.ErrConflict) && u.Name != "" {
		u.Name = "" // a shell and a terminal may have the same name, rows not
		l, err = h.lifecycle.open(ctx, threadID, u)
	}
	if err != nil {
		if ctx.Err() != nil || isRefusal(err) || at != "" || errors.Is(err, thread.ErrProvider) ||
			errors.Is(err, thread.ErrNoProvider) {
			return l, err
		}
		h.recorder.failed(err)
		return l, nil
	}
	if at = cmp.Or(at, thread.Local); l.Lease.Provider != at {
		err = fmt.Errorf("%w: thread %s is at %s, not at %s", thread.ErrUnsupported, threadID, l.Lease.Provider, at)
	}
	return l, err
}

// openShell opens the thread of a shell and writes the shell's row.
func (h *hooks) openShell(ctx context.Context, s *registry.Shell) (thread.Layers, error) {
	use := thread.Use{Kind: thread.Shell, Terminal: s.Key, Name: s.ID, Cwd: terminal.Absolute(s.Stats().Cwd)}
	return h.openThread(ctx, s.Session, use, s.Spec().Provider)
}

// openTerminal opens the thread of a terminal and writes the terminal's row, with its process.
func (h *hooks) openTerminal(ctx context.Context, t *terminal.Terminal) (thread.Layers, error) {
	spec := t.Spec()
	use := thread.Use{Kind: thread.PTY, Terminal: t.ID, New: !row(t).recorded.Load(), Name: spec.Name, Cmd: spec.Cmd,
		Cols: *spec.Cols, Rows: *spec.Rows, Cwd: terminal.Absolute(t.Cwd()), Env: spec.Env}
	if use.New {
		use.Process = h.recorder.processOf(t)
	}
	l, err := h.openThread(ctx, t.Thread(), use, spec.Provider)
	if err == nil && l.NewTerminal && use.Process != nil {
		row(t).noted.Store(&l.Terminal.State.Cwd) // another one than use.Cwd where a row was lost
		h.recorder.began(t)
	}
	return l, err
}

// authorizeCommand lets a command begin in a shell. In an active session it reads only memory.
// Errors: thread.ErrBudget, any of openThread.
func (h *hooks) authorizeCommand(s *registry.Shell) error {
	if !h.isOpen() {
		return nil
	}
	err := thread.ErrExpired
	if shellRow(s).recorded.Load() && !h.pauses.isFrozen(s.Session) {
		err = h.database.authorizeCommand(s.Session)
	}
	if errors.Is(err, thread.ErrExpired) {
		if _, err := h.openShell(h.ctx, s); err != nil {
			return err
		}
		h.recorder.recordShell(s)
		err = h.database.authorizeCommand(s.Session)
	}
	if errors.Is(err, thread.ErrBudget) {
		h.activity.wake.Set()
		return err
	}
	return nil // a session without time ends again at once; its command runs
}

// authorizeInput is called before input. It resumes a paused thread and begins a new session when
// the old one is over; in an active session it reads only memory. Errors: any of openThread.
func (h *hooks) authorizeInput(ctx context.Context, t *terminal.Terminal) error {
	if h.mayType(t) {
		return nil
	}
	return h.recordTerminal(ctx, t)
}

// mayType notes input to an active session and reports whether it is one.
func (h *hooks) mayType(t *terminal.Terminal) bool {
	return !h.isOpen() ||
		row(t).recorded.Load() && !h.pauses.isFrozen(t.Thread()) && h.touchInput(t.Thread()) == nil
}

// recordTerminal opens the thread of a terminal, writes the terminal's row and has its process noted.
func (h *hooks) recordTerminal(ctx context.Context, t *terminal.Terminal) error {
	_, err := h.openTerminal(ctx, t)
	if err == nil {
		h.recorder.recordTerminal(t)
	}
	return err
}

// shellStarted writes the row of a shell that has started, or brings the shell to the state of the
// row that it was started for.
func (h *hooks) shellStarted(s *registry.Shell, kept registry.SavedState) error {
	if !h.isOpen() {
		return nil
	}
	if _, err := h.openShell(h.life.Opening(), s); err != nil {
		return err
	}
	err := h.restoreState(s, kept)
	h.recorder.recordShell(s)
	return err
}

// shellChanged records a change of a shell's process.
func (h *hooks) shellChanged(s *registry.Shell, e shell.ProcessEvent) {
	if !shellRow(s).recorded.Load() {
		return // recordShell and reconcile note it
	}
	switch e.Kind {
	case shell.ProcessStarted:
		h.recorder.noteBegin(s.Key, e.Process)
	case shell.ProcessEnded:
		end := runtimeEnd{code: &e.ExitCode}
		if e.ExitCode < 0 {
			end = runtimeEnd{lost: true}
		}
		h.recorder.note(func(c *change) error { return c.ended(s.Key, end) })
	case shell.StateCaptured:
		h.recorder.noteState(s)
	}
}

// savedState returns the state of a thread's first shell of which there is only the row: the thread
// was made before the shell, or the shell's files are gone. Errors of the database give the zero
// one: openThread reports them.
func (h *hooks) savedState(threadID string) registry.SavedState {
	list, _ := readOf(h.database, threadID, func(tx *sqlite.Tx) ([]thread.Terminal, error) {
		return tx.TerminalsOfKind(threadID, thread.Shell)
	})
	for _, t := range list {
		taken := h.shells.ByKey(t.ID) != nil
		if t.Name == t.ID && !taken && terminal.CheckName("shell", t.ID) == nil {
			return registry.SavedState{Key: t.ID, Cwd: t.State.Cwd, Env: t.State.Env, Unset: t.State.Unset}
		}
	}
	return registry.SavedState{}
}

// restoreState brings a shell that was started for a row to that row's state.
func (h *hooks) restoreState(s *registry.Shell, state registry.SavedState) error {
	if len(state.Env) == 0 && len(state.Unset) == 0 {
		return nil // it has begun in the directory
	}
	ctx, cancel := context.WithTimeout(h.ctx, currentTimeout)
	defer cancel()
	if _, err := s.Roll(ctx, state.Cwd, state.Env, state.Unset); err != nil {
		return fmt.Errorf("bring a shell to its state: %w", err)
	}
	return nil
}

// mayRestore asks the permissions about a command that starts by itself after a crash, when no person can be asked.
// Errors: permission.ErrDenied.
func (h *hooks) mayRestore(t *terminal.Terminal, cmd []string) error {
	if h.rules == nil || !h.rules.Applies(t.Thread()) {
		return nil
	}
	args := permission.TerminalArgs{Terminal: t.ID, Command: permission.ShellWords(cmd), Directory: t.Cwd()}
	d, err := h.rules.Check(t.Thread(), permission.Action{Tool: permission.ToolRestart, Arguments: args}.Call())
	if err != nil {
		return err
	}
	if d.Decision == permission.Ask {
		d.Decision, d.Reason = permission.Deny, d.Reason+" asks first, and nobody asks after a crash"
	}
	return permission.Refusal(d)
}

// nextProgram returns the directory and the environment of the next program of a terminal: the
// row's, which a rollback may have changed.
func (h *hooks) nextProgram(t *terminal.Terminal) (dir string, env map[string]string) {
	dir, env = t.Cwd(), t.Spec().Env
	if !h.isOpen() || !row(t).recorded.Load() {
		return dir, env
	}
	ctx, cancel := context.WithTimeout(h.ctx, currentTimeout)
	defer cancel()
	_ = h.recorder.flush(ctx)
	row, err := h.terminal(t.ID)
	if err != nil || row.State.Cwd == "" {
		return dir, env
	}
	return row.State.Cwd, maps.Clone(row.State.Env)
}
