package store

import (
	"fmt"
	"strings"
	"sync"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

// permissionRows are the permissions of threads, which are deleted with these.
type permissionRows interface {
	AllPermissions() ([]permission.Permissions, error)
	PutPermissions(permission.Permissions)
}

// Permissions has the permissions and approvals of all threads: it stores them, then enforces them.
// Safe for concurrent use.
type Permissions struct {
	writer   *writer // constant, as enforcer and failed are
	enforcer *permission.Enforcer
	failed   func(error)

	mu sync.Mutex // held over a change of permissions, and taken before every other lock
}

// Enforcer decides in memory, for callers that cannot wait for the Store.
func (ps *Permissions) Enforcer() *permission.Enforcer { return ps.enforcer }

// LoadPermissions reads the permissions of all threads into memory. It runs before anything
// is decided. When it fails the caller has to call Enforcer.FailClosed.
func (ps *Permissions) LoadPermissions() error {
	err := ps.writer.store.View(func(tx Tx) error {
		list, err := tx.AllPermissions()
		for _, p := range list {
			ps.enforcer.Set(p)
		}
		return err
	})
	if err == nil {
		ps.copyPermissions()
	}
	return err
}

// copyPermissions writes the copy of the permissions in memory.
func (ps *Permissions) copyPermissions() {
	if err := ps.enforcer.Save(); err != nil {
		ps.failed(fmt.Errorf("the copy of permissions: %w", err))
	}
}

// Of returns the permissions of a thread. Errors: ErrNotFound.
func (ps *Permissions) Of(thread string) (p permission.Permissions, err error) {
	err = ps.writer.store.View(func(tx Tx) error { _, err := tx.Thread(thread); return err })
	return ps.enforcer.Permissions(thread), mapError(err)
}

// SetPermissions changes the mode and the rules of a thread for later calls; nil keeps. The
// state of the conversation says them too. Errors: ErrInvalid.
func (ps *Permissions) SetPermissions(thread string, mode *string, rules *permission.Rules) (
	permission.Permissions, error) {
	e := ps.enforcer
	return ps.changePermissions(thread, func(c *change, p permission.Permissions) (permission.Permissions, error) {
		p, err := p.With(mode, rules)
		if err != nil {
			return p, err
		}
		s, err := stateOf(c, c.head)
		if err != nil {
			return p, err
		}
		s.PermissionMode, s.PermissionPromptingEnabled = p.Mode, e.Prompting(p)
		s.PermissionRuleCounts = wire.RuleCounts(e.Counts(p))
		return p, c.putState(s)
	})
}

// changePermissions stores what next makes of a thread's permissions, then enforces it.
// Memory holds what was stored last.
func (ps *Permissions) changePermissions(threadID string,
	next func(*change, permission.Permissions) (permission.Permissions, error)) (p permission.Permissions, err error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	err = ps.writer.update(threadID, func(c *change) error {
		if p, err = next(c, ps.enforcer.Permissions(threadID)); err != nil {
			return err
		}
		p.UpdatedAt = stamp(c.now)
		c.PutPermissions(p)
		return c.emit(PermissionsChanged, thread.Detail{To: p.Mode, Reason: fmt.Sprintf(
			"%d rules allow, %d deny, %d ask", len(p.Rules.Allow), len(p.Rules.Deny), len(p.Rules.Ask))})
	})
	if err == nil {
		ps.enforcer.Set(p)
		ps.copyPermissions()
	}
	return p, err
}

// Forget drops the permissions of a deleted thread.
func (ps *Permissions) Forget(thread string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.enforcer.Forget(thread)
	ps.copyPermissions()
}

// Check returns nil when the permissions of a thread allow a call. Where none are set it
// costs nothing. Else every decision is an event of the thread, stored before Check returns.
//
// approved reports that a person has approved it, which this call has used up.
//
// Errors: permission.ErrDenied; *permission.NeedsApproval, then the identical call is allowed
// once when a person has approved it; ErrInvalid; ErrTooMany, ErrTooLarge (no person can be asked).
func (ps *Permissions) Check(thread string, c permission.Call) (approved bool, err error) {
	if !ps.enforcer.Applies(thread) {
		return false, nil
	}
	d, err := ps.Authorize(thread, c)
	if err != nil {
		return false, err
	}
	return d.Decision == permission.Allow && d.ApprovalID != "", permission.Refusal(d)
}

// Authorize is Check for callers that carry out the action themselves: it decides also where
// no permissions are set. It consumes an approval.
func (ps *Permissions) Authorize(thread string, c permission.Call) (permission.Decision, error) {
	c, err := c.Canonical()
	if err != nil {
		return permission.Decision{}, err
	}
	d, err := ps.enforcer.Check(thread, c)
	switch {
	case err != nil || thread == "":
		return d, err
	case d.Decision == permission.Ask:
		return ps.requestApproval(thread, c, d)
	}
	return d, ps.RecordDecision(thread, c, d)
}

// AuthorizeNew is Authorize for a call that creates its thread: the decision is no event,
// because there is no thread yet to have it. Errors: thread.ErrNotFound when a person has to be
// asked, which needs the thread.
func (ps *Permissions) AuthorizeNew(threadID string, c permission.Call) (permission.Decision, error) {
	c, err := c.Canonical()
	if err != nil {
		return permission.Decision{}, err
	}
	d, err := ps.enforcer.Check(threadID, c)
	if err == nil && d.Decision == permission.Ask {
		err = fmt.Errorf("thread %s: %w", threadID, thread.ErrNotFound)
	}
	return d, err
}

// RecordDecision adds a decision to the events of its thread.
func (ps *Permissions) RecordDecision(thread string, c permission.Call, d permission.Decision) error {
	return ps.writer.transact(thread, func(t *change) error { return t.recordDecision(c, d) })
}

func (c *change) recordDecision(call permission.Call, d permission.Decision) error {
	detail := describe(call)
	detail.To, detail.Source, detail.ApprovalID = d.Decision, call.Tool, d.ApprovalID
	detail.Reason = prefix(d.Reason, maxDetail)
	return c.emit(PermissionDecided, detail)
}

// describe returns what an event says of a call: its command or its path. It never says the
// input of a terminal.
func describe(c permission.Call) (d thread.Detail) {
	args, err := c.Object()
	if err != nil {
		return d
	}
	d.TerminalID, _ = args["terminal"].(string)
	for _, key := range []string{"command", "path"} {
		if text, ok := args[key].(string); ok && text != "" {
			d.Command = prefix(text, maxDetail)
			return d
		}
	}
	return d
}

// maxDetail bounds a command, a path or a reason in an event, in bytes.
const maxDetail = 1024

// prefix returns the whole characters among the first n bytes of a text.
func prefix(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return s
}
