package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
)

// RolledBack is a terminal after a rollback.
type RolledBack struct {
	thread.TerminalReply
	// Applied says what the process learnt: AppliedNow, AppliedQueued or AppliedNext.
	Applied string `json:"applied"`
	// CwdFallback is the directory of the version when it is gone. A shell is in the nearest one
	// above it then, which is Cwd when it has got there.
	CwdFallback string `json:"cwd_fallback,omitempty"`
}

// When a rollback has an effect.
const (
	AppliedNow    = "now"    // the shell is in that directory with that environment
	AppliedQueued = "queued" // it will be, when the commands before are done
	AppliedNext   = "next"   // the next start of the program is there: one that runs cannot be told
)

// rollPatience is how long a rollback waits for the commands before it.
const rollPatience = 2 * time.Second

// RollbackTerminal makes a new version of a terminal's state that equals an old one. A shell gets
// it at its next turn: it goes to the directory, exports and unsets. A program on a PTY is left
// alone, its next start is there. Errors: thread.ErrNotFound (the thread, the terminal, or the
// version is not kept), those of Submit.
func (d *Service) RollbackTerminal(ctx context.Context, threadID, terminalID string,
	version int64) (RolledBack, error) {
	if err := d.current(ctx, threadID); err != nil {
		return RolledBack{}, err
	}
	if err := d.owns(threadID, terminalID); err != nil {
		return RolledBack{}, err
	}
	t, err := d.Manager.Rollback(terminalID, version)
	if err != nil {
		return RolledBack{}, err
	}
	th, err := d.Manager.Thread(threadID)
	if err != nil {
		return RolledBack{}, err
	}
	place, err := d.providerOf(threadID)
	if err != nil {
		return RolledBack{}, err
	}
	reply := RolledBack{TerminalReply: thread.Layers{Thread: th, Terminal: t}.TerminalReply()}
	if _, gone := terminal.StartDir(place, t.State.Cwd); place == "" && gone != "" {
		reply.CwdFallback = t.State.Cwd
	}
	reply.Applied, err = d.applyState(ctx, threadID, terminalID, t.State)
	if s := d.shells.Lookup(threadID, terminalID); s != nil && reply.CwdFallback != "" && reply.Applied == AppliedNow {
		reply.Cwd = s.State().Cwd
	}
	return reply, err
}

func (d *Service) applyState(ctx context.Context, thread, terminalID string, to thread.State) (string, error) {
	s := d.shells.Lookup(thread, terminalID)
	if s == nil {
		return AppliedNext, nil
	}
	if err := d.authorize(s); err != nil {
		return "", err
	}
	limit, cancel := context.WithTimeout(ctx, rollPatience)
	defer cancel()
	submitted, err := s.Roll(limit, to.Cwd, to.Env, to.Unset)
	switch {
	case err == nil:
		return AppliedNow, nil
	case submitted && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return AppliedQueued, nil
	}
	return "", err
}

// unstartedShell is the row of a thread's first shell of which there is none: the thread was made
// before, or its files are gone.
func (d *Service) unstartedShell(threadID string) (thread.Terminal, bool) {
	if d.Manager == nil {
		return thread.Terminal{}, false
	}
	list, err := d.Manager.Terminals(threadID)
	if err != nil {
		return thread.Terminal{}, false // the use that follows tells of trouble
	}
	for _, t := range list {
		taken := d.shells.ByKey(t.ID) != nil
		if t.Kind == thread.Shell && t.Name == t.ID && !taken && terminal.CheckName("shell", t.ID) == nil {
			return t, true
		}
	}
	return thread.Terminal{}, false
}

// restoreState brings a shell that was started for a row to that row's state.
func (d *Service) restoreState(s *registry.Shell, state registry.SavedState) error {
	if len(state.Env) == 0 && len(state.Unset) == 0 {
		return nil // it has begun in the directory
	}
	ctx, cancel := context.WithTimeout(d.ctx, currentPatience)
	defer cancel()
	_, err := s.Roll(ctx, state.Cwd, state.Env, state.Unset)
	if err != nil {
		return fmt.Errorf("bring a shell to its state: %w", err)
	}
	return nil
}

// nextProgram is where the next program of a terminal starts and with which environment: as the row
// says, which a rollback may have changed.
func (d *Service) nextProgram(t *terminal.Terminal) (dir string, env map[string]string) {
	dir, env = t.Cwd(), t.Spec().Env
	if d.Manager == nil || !row(t).recorded.Load() {
		return dir, env
	}
	ctx, cancel := context.WithTimeout(d.ctx, currentPatience)
	defer cancel()
	_ = d.flush(ctx)
	row, err := d.Manager.Terminal(t.ID)
	if err != nil || row.State.Cwd == "" {
		return dir, env
	}
	return row.State.Cwd, maps.Clone(row.State.Env)
}
