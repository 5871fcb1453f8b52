package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/evertty/evertty/internal/shell"
)

// Command finds a command of any shell of a session, of any session for "". Errors: shell.ErrNotFound.
func (ss *Shells) Command(session, id string) (*shell.Exec, error) {
	_, e, err := ss.command(session, id)
	return e, err
}

func (ss *Shells) command(session, id string) (*Shell, *shell.Exec, error) {
	for _, s := range ss.List(session) {
		if e, err := s.Shell.Command(id); err == nil {
			return s, e, nil
		}
	}
	return nil, nil, fmt.Errorf("%w: %.80q", shell.ErrNotFound, id)
}

// Forget removes a command that has ended, with its text, its output and the terminal that it ran on. It waits for what
// comes late of it, and for the state after it. The records go before what names the command: a server that is killed
// in between is asked again. Errors: shell.ErrUnended also when ctx ends, shell.ErrNotFound, the error of records.
func (ss *Shells) Forget(ctx context.Context, e *shell.Exec, records func() error) error {
	s, _, err := ss.command("", e.ID())
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		more, err = e.Follow(ctx, e.Size(shell.Stdout), e.Size(shell.Stderr))
	}
	if err != nil || s.Settled(ctx) != nil {
		return fmt.Errorf("%w: %s", shell.ErrUnended, e.ID())
	}
	if t, err := ss.cfg.Terminals.Find("", e.Info().PTY); err == nil {
		if err := ss.cfg.Terminals.Delete(ctx, t, true); err != nil {
			return err
		}
	}
	if err := records(); err != nil {
		return err
	}
	return s.Shell.Forget(e)
}

// MaxListed bounds the commands taken from one shell, which keeps fewer.
const MaxListed = 1 << 16

// Commands returns the commands of all shells of a session, of all sessions for "", in the order of submission: the
// newest limit (all for 0) before the command with the id before, none when that does not exist.
func (ss *Shells) Commands(session string, limit int, before string) []shell.Info {
	if limit <= 0 || limit > MaxListed {
		limit = MaxListed
	}
	list := ss.List(session)
	if before == "" {
		return merge(list, limit, func(s *Shell) []shell.Info { return s.Shell.Commands(limit, "") })
	}
	owner, e, err := ss.command(session, before)
	if err != nil {
		return nil
	}
	last := e.Info()
	return merge(list, limit, func(s *Shell) []shell.Info {
		if s == owner {
			return s.Shell.Commands(limit, before)
		}
		return slices.DeleteFunc(s.Shell.Commands(MaxListed, ""), func(i shell.Info) bool {
			return bySubmission(i, last) >= 0
		})
	})
}

// merge merges the ordered lists of several shells, and returns the newest limit.
func merge(list []*Shell, limit int, of func(*Shell) []shell.Info) []shell.Info {
	var all []shell.Info
	for _, s := range list {
		all = append(all, of(s)...)
	}
	slices.SortStableFunc(all, bySubmission)
	return all[max(0, len(all)-limit):]
}

// bySubmission compares commands; two of one shell at one time keep their order.
func bySubmission(a, b shell.Info) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Shell, b.Shell))
}
