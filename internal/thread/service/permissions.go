package service

import (
	"context"
	"errors"
	"slices"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// Permissions decides what may be done with a thread. Every effect that a client requests on the
// processes of a thread passes Check, or is input of a CheckedTerminal. The server's own work
// (sweeps, the end of a session, recovery) passes neither. It has no state of its own.
type Permissions struct {
	conversations *Conversations
	leases        *Leases
	threads       *Threads
	enforcer      *permission.Enforcer
}

// Check returns nil when the permissions of a thread allow an action. A thread that does not
// exist is created when the action would create it and is not denied, so that the decision
// is among its events. The thread "" is for actions that belong to no thread.
//
// Where no permissions are set it costs one look into a map. Errors: permission.ErrDenied,
// *permission.NeedsApproval, any of store.Permissions.Check.
func (ps *Permissions) Check(ctx context.Context, threadID string, a permission.Action) error {
	_, err := ps.CheckApproved(ctx, threadID, a)
	return err
}

// CheckApproved is Check; approved says that a person has approved the action.
func (ps *Permissions) CheckApproved(ctx context.Context, threadID string, a permission.Action) (approved bool,
	err error) {
	if !ps.enforcer.Applies(threadID) {
		return false, nil
	}
	c := a.Call()
	if threadID == "" {
		return false, ps.checkWithoutPerson(threadID, c)
	}
	check := func(m *store.Conversations) error { approved, err = m.Check(threadID, c); return err }
	if !permission.Begins(c.Tool) || ps.denies(threadID, c) {
		var m *store.Conversations
		if m, err = ps.conversations.ReadConversation(threadID); err == nil {
			return approved, check(m)
		}
		if missing(err) {
			return false, ps.checkWithoutPerson(threadID, c)
		}
	} else {
		err = ps.conversations.WriteConversation(ctx, threadID, check)
	}
	if errors.Is(err, ErrNoStore) {
		return false, ps.checkWithoutPerson(threadID, c)
	}
	return approved, err
}

// Denies reports whether an action would be denied. The decision is no event.
func (ps *Permissions) Denies(thread string, a permission.Action) bool {
	return ps.enforcer.Applies(thread) && ps.denies(thread, a.Call())
}

func (ps *Permissions) denies(thread string, c permission.Call) bool {
	decision, err := ps.enforcer.Check(thread, c)
	return err != nil || decision.Decision == permission.Deny
}

// checkWithoutPerson decides where no thread can have the decision among its events.
func (ps *Permissions) checkWithoutPerson(thread string, c permission.Call) error {
	decision, err := ps.enforcer.Check(thread, c)
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
func (ps *Permissions) CheckLease(ctx context.Context, id, tool string) error {
	l, err := ps.leases.lease(id)
	if err != nil {
		return err
	}
	threads, err := ps.leases.threadsOf(id)
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
		if err := ps.Check(ctx, thread, a); err != nil {
			return err
		}
	}
	return nil
}

// CheckEnd is Check for the end of everything of a thread, its compute at a provider too.
// Errors: also thread.ErrNotFound.
func (ps *Permissions) CheckEnd(ctx context.Context, threadID string) error {
	if !ps.enforcer.Applies(threadID) {
		return nil
	}
	l, err := ps.threads.Thread(ctx, threadID)
	if err != nil {
		return err
	}
	a := permission.Action{Tool: permission.ToolKill, Arguments: permission.NoArgs{}}
	if p := l.Lease.Provider; p != "" && p != thread.Local {
		a = permission.Action{Tool: permission.ToolLeaseDestroy,
			Arguments: permission.LeaseArgs{Lease: l.Lease.ID, Provider: p}}
	}
	return ps.Check(ctx, threadID, a)
}

// PermissionsOf returns the permissions of a thread. Errors: any of ReadConversation.
func (ps *Permissions) PermissionsOf(thread string) (permission.Permissions, error) {
	m, err := ps.conversations.ReadConversation(thread)
	if err != nil {
		return permission.Permissions{}, err
	}
	return m.Permissions.Of(thread)
}

// SetPermissions changes the permissions of a thread, which it creates when it does not
// exist; nil keeps. Errors: conversation.ErrInvalid, any of
// WriteConversation.
func (ps *Permissions) SetPermissions(ctx context.Context, thread string, mode *string, rules *permission.Rules) (
	permission.Permissions, error) {
	var p permission.Permissions
	err := ps.conversations.WriteConversation(ctx, thread, func(m *store.Conversations) (err error) {
		p, err = m.SetPermissions(thread, mode, rules)
		return err
	})
	return p, err
}

// Authorize returns the decision about a call of a tool that the client carries out, adds it to the
// thread's events and requests a person's approval when the decision is to ask. Only then it creates
// the thread. Errors: any of store.Permissions.Authorize and of WriteConversation.
func (ps *Permissions) Authorize(ctx context.Context, thread string, c permission.Call) (permission.Decision, error) {
	_, err := ps.conversations.ReadConversation(thread)
	if missing(err) {
		var m *store.Conversations
		if m, err = ps.conversations.ReadConversation(""); err == nil {
			if d, err := m.AuthorizeNew(thread, c); !missing(err) {
				return d, err
			}
		}
	}
	if err != nil {
		return permission.Decision{}, err
	}
	var decision permission.Decision
	err = ps.conversations.WriteConversation(ctx, thread, func(m *store.Conversations) (err error) {
		decision, err = m.Authorize(thread, c)
		return err
	})
	return decision, err
}

// Enforcer returns the enforcer, which decides in memory alone.
func (ps *Permissions) Enforcer() *permission.Enforcer { return ps.enforcer }

// Asked are the threads and terminals with calls that nobody has answered yet. It is empty where the database cannot be
// read: nobody is kept from a list by it.
func (ps *Permissions) Asked() map[permission.Asked]bool {
	asked := map[permission.Asked]bool{}
	_ = ps.threads.store.View(func(tx *sqlite.Tx) error {
		list, err := tx.AskedApprovals(ps.threads.clock.now().Add(-permission.PendingFor))
		for _, a := range list {
			asked[a] = true
		}
		return err
	})
	return asked
}
