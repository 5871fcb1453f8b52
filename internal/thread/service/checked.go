package service

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/stream"
)

// CheckedTerminal is a terminal as one connection uses it: it checks the permissions of the
// thread, in memory, before every input. The thread's events get each kind of decision once.
//
// Where the permissions ask, a person approves input to this terminal. The connection that
// asks first after that may type for permission.ApprovedFor.
type CheckedTerminal struct {
	permissions *Permissions
	*terminal.Terminal
	mu            sync.Mutex      // a leaf
	recorded      map[string]bool // decisions that the thread's events have
	approvedUntil time.Time
}

var _ stream.Terminal = (*CheckedTerminal)(nil)

// Checked returns the terminal for a new connection.
func (ps *Permissions) Checked(t *terminal.Terminal) *CheckedTerminal {
	return &CheckedTerminal{permissions: ps, Terminal: t, recorded: map[string]bool{}}
}

// Input is Terminal.Input after the checks. Errors: also permission.ErrDenied,
// *permission.NeedsApproval.
func (t *CheckedTerminal) Input(ctx context.Context, by *stream.Subscription, p []byte) error {
	err := t.check(ctx, permission.ToolInput, func() permission.InputArgs { return permission.NewInputArgs(t.ID, p) })
	if err == nil {
		err = t.MayType(by)
	}
	if err == nil {
		_, err = t.Terminal.Input(ctx, p)
	}
	return err
}

// TryInput is Terminal.TryInput; false where permissions apply, and where the viewer may not type.
func (t *CheckedTerminal) TryInput(by *stream.Subscription, p []byte, failed func(error)) (ok bool) {
	return !t.permissions.enforcer.Applies(t.Thread()) && t.MayType(by) == nil && t.Terminal.TryInput(p, failed)
}

// Keys is Terminal.Keys after the checks.
func (t *CheckedTerminal) Keys(ctx context.Context, by *stream.Subscription, names []string) error {
	err := t.check(ctx, permission.ToolKeys, func() permission.InputArgs {
		return permission.InputArgs{Terminal: t.ID, Keys: names}
	})
	if err == nil {
		err = t.MayType(by)
	}
	if err == nil {
		_, err = t.Terminal.Keys(ctx, names)
	}
	return err
}

// Paste is Terminal.Paste after the checks.
func (t *CheckedTerminal) Paste(ctx context.Context, by *stream.Subscription, text string) error {
	err := t.check(ctx, permission.ToolPaste, func() permission.InputArgs {
		return permission.InputArgs{Terminal: t.ID, Data: text}
	})
	if err == nil {
		err = t.MayType(by)
	}
	if err == nil {
		_, err = t.Terminal.Paste(ctx, text)
	}
	return err
}

// RequestSize is Terminal.RequestSize after the check. A connection that may not resize requests no
// size, as any viewer that only looks.
func (t *CheckedTerminal) RequestSize(sub *stream.Subscription, cols, rows int) error {
	if e := t.permissions.enforcer; e.Applies(t.Thread()) {
		a := permission.Action{Tool: permission.ToolResize,
			Arguments: permission.ResizeArgs{Terminal: t.ID, Cols: cols, Rows: rows}}
		d, err := e.Check(t.Thread(), a.Call())
		if err != nil || d.Decision == permission.Deny || d.Decision == permission.Ask && !t.approved() {
			return nil //nolint:nilerr // no person has asked for the size
		}
	}
	return t.Terminal.RequestSize(sub, cols, rows)
}

// approved reports whether a person has approved that this connection types.
func (t *CheckedTerminal) approved() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Now().Before(t.approvedUntil)
}

// check asks the permissions about one message. args is called where any apply.
func (t *CheckedTerminal) check(ctx context.Context, tool string, args func() permission.InputArgs) error {
	e := t.permissions.enforcer
	if !e.Applies(t.Thread()) {
		return nil
	}
	if !t.Running() {
		return t.ExitError()
	}
	d, err := e.Check(t.Thread(), permission.Action{Tool: tool, Arguments: args()}.Call())
	switch {
	case err != nil:
		return err
	case d.Decision == permission.Ask && t.approved():
		return nil
	case d.Decision == permission.Ask:
		return t.requestApproval(ctx, d)
	}
	if err := t.record(ctx, d); err != nil {
		return err
	}
	return permission.Refusal(d)
}

// call returns the call that is approved and recorded. It has no input: what a person types
// may be a password.
func (t *CheckedTerminal) call() permission.Call {
	return permission.Action{Tool: permission.ToolInput, Arguments: permission.InputArgs{Terminal: t.ID}}.Call()
}

func (t *CheckedTerminal) requestApproval(ctx context.Context, d permission.Decision) error {
	err := t.permissions.conversations.WriteConversation(ctx, t.Thread(), func(m *store.Conversations) error {
		return m.RequestApproval(t.Thread(), t.call(), d)
	})
	if errors.Is(err, ErrNoStore) {
		return decideWithoutPerson(d)
	}
	if err == nil {
		t.mu.Lock()
		t.approvedUntil = time.Now().Add(permission.ApprovedFor)
		t.mu.Unlock()
	}
	return err
}

// record adds a decision to the thread's events unless this connection did it before.
func (t *CheckedTerminal) record(ctx context.Context, d permission.Decision) error {
	t.mu.Lock()
	done := t.recorded[d.Decision]
	t.recorded[d.Decision] = true
	t.mu.Unlock()
	if done {
		return nil
	}
	err := t.permissions.conversations.ChangeConversation(ctx, t.Thread(), func(m *store.Conversations) error {
		return m.RecordDecision(t.Thread(), t.call(), d)
	})
	if errors.Is(err, ErrNoStore) || errors.Is(err, thread.ErrNotFound) {
		return nil
	}
	if err != nil {
		t.mu.Lock()
		delete(t.recorded, d.Decision)
		t.mu.Unlock()
	}
	return err
}
