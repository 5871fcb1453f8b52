package service

import (
	"context"
	"errors"
	"slices"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/thread"
)

// Every effect that somebody outside requests on the processes of a thread passes Check, or
// is input of a CheckedTerminal. The server's own work (maintenance, the end of a session,
// recovery) passes neither.

// Check returns nil when the permissions of a thread allow an action. A thread that does not
// exist is created when the action would create it and is not denied, so that the decision
// is among its events. The thread "" is for actions that belong to no thread.
//
// Where no permissions are set it costs one look into a map. Errors: permission.ErrDenied,
// *permission.NeedsApproval and those of conversation.Manager.Check.
func (d *Service) Check(ctx context.Context, threadID string, a permission.Action) error {
	_, err := d.CheckApproved(ctx, threadID, a)
	return err
}

// CheckApproved is Check that tells whether somebody has approved the action.
func (d *Service) CheckApproved(ctx context.Context, threadID string, a permission.Action) (approved bool, err error) {
	if !d.enforcer.Applies(threadID) {
		return false, nil
	}
	c := a.Call()
	if threadID == "" {
		return false, d.checkWithoutPerson(threadID, c)
	}
	check := func(m *store.Manager) error { approved, err = m.Check(threadID, c); return err }
	if !permission.Begins(c.Tool) || d.denies(threadID, c) {
		var m *store.Manager
		if m, err = d.Conversations(threadID); err == nil {
			return approved, check(m)
		}
		if isMissing(err) {
			return false, d.checkWithoutPerson(threadID, c)
		}
	} else {
		err = d.WriteConversation(ctx, threadID, check)
	}
	if errors.Is(err, ErrNoStore) {
		return false, d.checkWithoutPerson(threadID, c)
	}
	return approved, err
}

// Denies reports whether an action would be denied. The decision is no event.
func (d *Service) Denies(thread string, a permission.Action) bool {
	return d.enforcer.Applies(thread) && d.denies(thread, a.Call())
}

func (d *Service) denies(thread string, c permission.Call) bool {
	decision, err := d.enforcer.Check(thread, c)
	return err != nil || decision.Decision == permission.Deny
}

// checkWithoutPerson decides where no thread can have the decision among its events.
func (d *Service) checkWithoutPerson(thread string, c permission.Call) error {
	decision, err := d.enforcer.Check(thread, c)
	if err != nil {
		return err
	}
	return decideWithoutPerson(decision)
}

// decideWithoutPerson denies what a person would have to approve.
func decideWithoutPerson(d permission.Decision) error {
	if d.Decision == permission.Ask {
		d.Decision = permission.Deny
		d.Reason += "; nobody can be asked, because there are no records of this thread"
	}
	return permission.Refusal(d)
}

// CheckLease is Check for actions on a lease: every thread that uses it has to allow them.
// The end of a local lease is the end of its processes.
func (d *Service) CheckLease(ctx context.Context, id, tool string) error {
	if err := d.available(); err != nil {
		return err
	}
	l, err := d.Manager.Lease(id)
	if err != nil {
		return err
	}
	threads, err := d.Manager.LeaseThreads(id)
	if err != nil {
		return err
	}
	if l.Thread != "" && !slices.Contains(threads, l.Thread) {
		threads = append(threads, l.Thread) // its next use creates it
	}
	if len(threads) == 0 {
		threads = []string{""}
	}
	if tool == permission.ToolLeaseDestroy && l.Provider == thread.Local {
		tool = permission.ToolKill
	}
	a := permission.Action{Tool: tool, Arguments: permission.LeaseArgs{Lease: l.ID, Provider: l.Provider}}
	for _, thread := range threads {
		if err := d.Check(ctx, thread, a); err != nil {
			return err
		}
	}
	return nil
}

// CheckEnd is Check for the end of everything of a thread, its compute at a provider too.
// Errors: also thread.ErrNotFound.
func (d *Service) CheckEnd(ctx context.Context, threadID string) error {
	if !d.enforcer.Applies(threadID) {
		return nil
	}
	l, err := d.Thread(ctx, threadID)
	if err != nil {
		return err
	}
	a := permission.Action{Tool: permission.ToolKill, Arguments: permission.NoArgs{}}
	if p := l.Lease.Provider; p != "" && p != thread.Local {
		a = permission.Action{Tool: permission.ToolLeaseDestroy,
			Arguments: permission.LeaseArgs{Lease: l.Lease.ID, Provider: p}}
	}
	return d.Check(ctx, threadID, a)
}

// Permissions returns the permissions of a thread. Errors: those of Record.
func (d *Service) Permissions(thread string) (permission.Permissions, error) {
	m, err := d.Conversations(thread)
	if err != nil {
		return permission.Permissions{}, err
	}
	return m.Permissions(thread)
}

// SetPermissions changes the permissions of a thread, which it creates when it does not
// exist; nil keeps. Errors: conversation.ErrInvalid, those of Record.
func (d *Service) SetPermissions(ctx context.Context, thread string, mode *string, rules *permission.Rules) (
	permission.Permissions, error) {
	var p permission.Permissions
	err := d.WriteConversation(ctx, thread, func(m *store.Manager) (err error) {
		p, err = m.SetPermissions(thread, mode, rules)
		return err
	})
	return p, err
}

// Authorize returns the decision about a call of a tool that somebody else carries out, adds
// it to the thread's events and has a person asked when that is the answer. Only then it
// creates the thread. Errors: those of conversation.Manager.Authorize and of WriteConversation.
func (d *Service) Authorize(ctx context.Context, thread string, c permission.Call) (permission.Decision, error) {
	_, err := d.Conversations(thread)
	if isMissing(err) {
		var m *store.Manager
		if m, err = d.Conversations(""); err == nil {
			if d, err := m.AuthorizeNew(thread, c); !isMissing(err) {
				return d, err
			}
		}
	}
	if err != nil {
		return permission.Decision{}, err
	}
	var decision permission.Decision
	err = d.WriteConversation(ctx, thread, func(m *store.Manager) (err error) {
		decision, err = m.Authorize(thread, c)
		return err
	})
	return decision, err
}

// Enforcer decides in memory alone; see conversation.Manager.Enforcer.
func (d *Service) Enforcer() *permission.Enforcer { return d.enforcer }
