package mux

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/evertty/evertty/record"
	"github.com/evertty/evertty/session"
)

// Whoever has an effect on the processes of a thread by request of somebody outside asks Permit first, and a connection that types is a Typist. What the server does by itself
// (cleaning, the end of a session, recovery) asks nobody.

// Guards tells whether Permit has anything to decide in a thread. It costs no more than a look into a map.
func (m *Mux) Guards(thread string) bool { return m.guard.Guards(thread) }

// Denies tells whether a call would be denied as it is, without telling anybody.
func (m *Mux) Denies(thread string, c record.Call) bool {
	d, err := m.guard.Judge(thread, c)
	return err != nil || d.Decision == record.Deny
}

// Permit lets a call go on that the permissions of a thread allow. A thread that is not there is made when the call would make it and is not denied, so that it has the decision in its events.
// "" is of calls that belong to no thread. Errors: record.ErrDenied, *record.NeedsApproval and those of record.Manager.Gate.
func (m *Mux) Permit(ctx context.Context, thread string, c record.Call) error {
	if !m.guard.Guards(thread) {
		return nil
	}
	if thread == "" {
		return m.permitUntold(thread, c)
	}
	if !record.Begins(c.Tool) || m.Denies(thread, c) {
		r, err := m.Record(thread)
		if errors.Is(err, ErrNoRecords) || errors.Is(err, session.ErrNotFound) {
			return m.permitUntold(thread, c)
		}
		if err != nil {
			return err
		}
		return r.Gate(thread, c)
	}
	err := m.WriteRecord(ctx, thread, func(r *record.Manager) error { return r.Gate(thread, c) })
	if errors.Is(err, ErrNoRecords) {
		return m.permitUntold(thread, c)
	}
	return err
}

// permitUntold decides where there is nothing to tell the decision to, and nobody who could be asked.
func (m *Mux) permitUntold(thread string, c record.Call) error {
	d, err := m.guard.Judge(thread, c)
	if err != nil {
		return err
	}
	return unasked(d)
}

// unasked is what becomes of a decision where nobody can be asked.
func unasked(d record.Decision) error {
	switch d.Decision {
	case record.Allow:
		return nil
	case record.Ask:
		d.Reason += "; nobody can be asked, because there are no records of this thread"
	}
	return fmt.Errorf("%w: %s", record.ErrDenied, d.Reason)
}

// PermitLease is Permit for what is done to a lease: every thread that uses it has to allow it. A lease of this machine is no more than its processes.
func (m *Mux) PermitLease(ctx context.Context, id, tool string) error {
	d, err := m.durable()
	if err != nil {
		return err
	}
	l, err := d.Manager.Lease(id)
	if err != nil {
		return err
	}
	threads, err := d.LeaseThreads(id)
	if err != nil {
		return err
	}
	if l.Thread != "" && !slices.Contains(threads, l.Thread) {
		threads = append(threads, l.Thread) // it would be made for the next use
	}
	if len(threads) == 0 {
		threads = []string{""}
	}
	if tool == record.ToolLeaseDestroy && l.Provider == session.Local {
		tool = record.ToolKill
	}
	for _, thread := range threads {
		if err := m.Permit(ctx, thread, callOf(tool, leaseCall{l.ID, l.Provider})); err != nil {
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

// PermitEnd is Permit for the end of everything of a thread, its compute at a provider too. Errors: also session.ErrNotFound.
func (m *Mux) PermitEnd(ctx context.Context, thread string) error {
	if !m.guard.Guards(thread) {
		return nil
	}
	l, err := m.Thread(ctx, thread)
	if err != nil {
		return err
	}
	if p := l.Lease.Provider; p != "" && p != session.Local {
		return m.Permit(ctx, thread, callOf(record.ToolLeaseDestroy, leaseCall{l.Lease.ID, p}))
	}
	return m.Permit(ctx, thread, callOf(record.ToolKill, struct{}{}))
}

// callOf is a call whose arguments are a struct of ours.
func callOf(tool string, args any) record.Call {
	b, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("invariant violation: %T has no JSON: %v", args, err))
	}
	return record.Call{Tool: tool, Arguments: b}
}

// Permissions are those of a thread. Errors: those of Record.
func (m *Mux) Permissions(thread string) (record.Permissions, error) {
	r, err := m.Record(thread)
	if err != nil {
		return record.Permissions{}, err
	}
	return r.Permissions(thread)
}

// SetPermissions changes those of a thread, which is made when it is not there; nil keeps. Errors: record.ErrInvalid, those of Record.
func (m *Mux) SetPermissions(ctx context.Context, thread string, mode *string, rules *record.Rules) (record.Permissions, error) {
	var p record.Permissions
	err := m.WriteRecord(ctx, thread, func(r *record.Manager) (err error) {
		p, err = r.SetPermissions(thread, mode, rules)
		return err
	})
	return p, err
}

// Authorize says what the permissions of a thread say about a call, tells that in its events and has somebody asked when that is the answer. Only for that a thread is made.
// Errors: those of record.Manager.Authorize and of WriteRecord.
func (m *Mux) Authorize(ctx context.Context, thread string, c record.Call) (record.Decision, error) {
	_, err := m.Record(thread)
	if isMissing(err) {
		var rules *record.Manager
		if rules, err = m.Record(""); err == nil {
			if d, err := rules.Judged(thread, c); !isMissing(err) {
				return d, err
			}
		}
	}
	if err != nil {
		return record.Decision{}, err
	}
	var d record.Decision
	err = m.WriteRecord(ctx, thread, func(r *record.Manager) (err error) {
		d, err = r.Authorize(thread, c)
		return err
	})
	return d, err
}

// Guard decides by memory alone; see record.Guard.
func (m *Mux) Guard() *record.Guard { return m.guard }
