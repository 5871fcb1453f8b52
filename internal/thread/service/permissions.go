package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/thread"
)

// Whoever has an effect on the processes of a thread by request of somebody outside asks Permit first, and a connection that types is a Typist. What the server does by itself
// (cleaning, the end of a session, recovery) asks nobody.

// Guards tells whether Permit has anything to decide in a thread. It costs no more than a look into a map.
func (d *Service) Guards(thread string) bool { return d.guard.Guards(thread) }

// Denies tells whether a call would be denied as it is, without telling anybody.
func (d *Service) Denies(thread string, c conversation.Call) bool {
	decision, err := d.guard.Judge(thread, c)
	return err != nil || decision.Decision == conversation.Deny
}

// Permit lets a call go on that the permissions of a thread allow. A thread that is not there is made when the call would make it and is not denied, so that it has the decision in its events.
// "" is of calls that belong to no thread. Errors: conversation.ErrDenied, *conversation.NeedsApproval and those of conversation.Manager.Gate.
func (d *Service) Permit(ctx context.Context, threadID string, c conversation.Call) error {
	if !d.guard.Guards(threadID) {
		return nil
	}
	if threadID == "" {
		return d.permitUntold(threadID, c)
	}
	if !conversation.Begins(c.Tool) || d.Denies(threadID, c) {
		r, err := d.Record(threadID)
		if errors.Is(err, ErrNoRecords) || errors.Is(err, thread.ErrNotFound) {
			return d.permitUntold(threadID, c)
		}
		if err != nil {
			return err
		}
		return r.Gate(threadID, c)
	}
	err := d.WriteRecord(ctx, threadID, func(r *conversation.Manager) error { return r.Gate(threadID, c) })
	if errors.Is(err, ErrNoRecords) {
		return d.permitUntold(threadID, c)
	}
	return err
}

// permitUntold decides where there is nothing to tell the decision to, and nobody who could be asked.
func (d *Service) permitUntold(thread string, c conversation.Call) error {
	decision, err := d.guard.Judge(thread, c)
	if err != nil {
		return err
	}
	return unasked(decision)
}

// unasked is what becomes of a decision where nobody can be asked.
func unasked(d conversation.Decision) error {
	switch d.Decision {
	case conversation.Allow:
		return nil
	case conversation.Ask:
		d.Reason += "; nobody can be asked, because there are no records of this thread"
	}
	return fmt.Errorf("%w: %s", conversation.ErrDenied, d.Reason)
}

// PermitLease is Permit for what is done to a lease: every thread that uses it has to allow it. A lease of this machine is no more than its processes.
func (d *Service) PermitLease(ctx context.Context, id, tool string) error {
	if err := d.usable(); err != nil {
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
		threads = append(threads, l.Thread) // it would be made for the next use
	}
	if len(threads) == 0 {
		threads = []string{""}
	}
	if tool == conversation.ToolLeaseDestroy && l.Provider == thread.Local {
		tool = conversation.ToolKill
	}
	for _, thread := range threads {
		if err := d.Permit(ctx, thread, callOf(tool, leaseCall{l.ID, l.Provider})); err != nil {
			return err
		}
	}
	return nil
}

// leaseCall is what is told of a lease.
type leaseCall struct {
	Lease    string `json:"lease"`
	Provider string `json:"provider"`
}

// PermitEnd is Permit for the end of everything of a thread, its compute at a provider too. Errors: also thread.ErrNotFound.
func (d *Service) PermitEnd(ctx context.Context, threadID string) error {
	if !d.guard.Guards(threadID) {
		return nil
	}
	l, err := d.Thread(ctx, threadID)
	if err != nil {
		return err
	}
	if p := l.Lease.Provider; p != "" && p != thread.Local {
		return d.Permit(ctx, threadID, callOf(conversation.ToolLeaseDestroy, leaseCall{l.Lease.ID, p}))
	}
	return d.Permit(ctx, threadID, callOf(conversation.ToolKill, struct{}{}))
}

// callOf is a call whose arguments are a struct of ours.
func callOf(tool string, args any) conversation.Call {
	b, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("invariant violation: %T has no JSON: %v", args, err))
	}
	return conversation.Call{Tool: tool, Arguments: b}
}

// Permissions are those of a thread. Errors: those of Record.
func (d *Service) Permissions(thread string) (conversation.Permissions, error) {
	r, err := d.Record(thread)
	if err != nil {
		return conversation.Permissions{}, err
	}
	return r.Permissions(thread)
}

// SetPermissions changes those of a thread, which is made when it is not there; nil keeps. Errors: conversation.ErrInvalid, those of Record.
func (d *Service) SetPermissions(ctx context.Context, thread string, mode *string, rules *conversation.Rules) (conversation.Permissions, error) {
	var p conversation.Permissions
	err := d.WriteRecord(ctx, thread, func(r *conversation.Manager) (err error) {
		p, err = r.SetPermissions(thread, mode, rules)
		return err
	})
	return p, err
}

// Authorize says what the permissions of a thread say about a call, tells that in its events and has somebody asked when that is the answer. Only for that a thread is made.
// Errors: those of conversation.Manager.Authorize and of WriteRecord.
func (d *Service) Authorize(ctx context.Context, thread string, c conversation.Call) (conversation.Decision, error) {
	_, err := d.Record(thread)
	if isMissing(err) {
		var rules *conversation.Manager
		if rules, err = d.Record(""); err == nil {
			if d, err := rules.Judged(thread, c); !isMissing(err) {
				return d, err
			}
		}
	}
	if err != nil {
		return conversation.Decision{}, err
	}
	var decision conversation.Decision
	err = d.WriteRecord(ctx, thread, func(r *conversation.Manager) (err error) {
		decision, err = r.Authorize(thread, c)
		return err
	})
	return decision, err
}

// Guard decides by memory alone; see conversation.Guard.
func (d *Service) Guard() *conversation.Guard { return d.guard }
