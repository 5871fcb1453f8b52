package store

import (
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/thread"
)

const (
	// maxPending bounds the pending approvals of a thread: more is a flood, not a question.
	maxPending = 32
	// maxApprovals is how many approvals of a thread are kept that are neither pending nor valid.
	maxApprovals = 256
	// maxAsked bounds the arguments of a call that a person is asked about, in bytes: they have
	// to read them.
	maxAsked = 256 << 10
)

// approvalRows are the approvals of threads, which are deleted with these.
type approvalRows interface {
	Approval(id string) (permission.Approval, error)
	FindApproval(thread, key string) (permission.Approval, error)      // the newest about a call
	Approvals(thread string, limit int) ([]permission.Approval, error) // the newest first
	PendingApprovals(thread string, since time.Time) (int64, error)
	PutApproval(permission.Approval)
	// TrimApprovals removes the approvals that are over by now, but for the newest keep.
	TrimApprovals(thread string, keep int, now time.Time)
}

// RequestApproval has a person asked about a call whose decision is to ask. It returns nil
// when the call was approved, and consumes the approval. Errors: as Check.
func (ps *Permissions) RequestApproval(thread string, c permission.Call, d permission.Decision) error {
	c, err := c.Canonical()
	if err != nil {
		return err
	}
	if d, err = ps.requestApproval(thread, c, d); err != nil {
		return err
	}
	return permission.Refusal(d)
}

// requestApproval applies the valid approval of a canonical call, or creates one.
func (ps *Permissions) requestApproval(thread string, c permission.Call, ask permission.Decision) (
	d permission.Decision, err error) {
	err = ps.writer.transact(thread, func(t *change) error {
		a, err := t.FindApproval(thread, c.Key())
		if err != nil && !missing(err) {
			return err
		}
		exists := err == nil && a.Valid(t.now)
		if !exists {
			if a, err = t.createApproval(c, ask); err != nil {
				return err
			}
		}
		if d, a = a.Apply(ask, t.now); a.Status == permission.Used {
			t.PutApproval(a)
		}
		if exists && a.Status == permission.Pending {
			return nil // its event exists
		}
		return t.recordDecision(c, d)
	})
	return d, err
}

// createApproval stores a pending approval. Errors: ErrTooLarge, ErrTooMany.
func (c *change) createApproval(call permission.Call, d permission.Decision) (a permission.Approval, err error) {
	if n := len(call.Arguments); n > maxAsked {
		return a, fmt.Errorf("%w: somebody has to approve this, and nobody can read %d bytes; at most %d are allowed",
			conversation.ErrTooLarge, n, maxAsked)
	}
	n, err := c.PendingApprovals(c.thread, c.now.Add(-permission.PendingFor))
	if err != nil {
		return a, err
	}
	if n >= maxPending {
		return a, fmt.Errorf("%w: %d calls of thread %s wait for an approval, which is the most",
			conversation.ErrTooMany, n, c.thread)
	}
	c.TrimApprovals(c.thread, maxApprovals, c.now)
	a = permission.NewApproval(c.thread, call, d.Reason, c.now)
	c.PutApproval(a)
	return a, nil
}

// Approvals returns the newest approvals of a thread, the newest first, at most limit; 0 is
// all that are kept.
func (ps *Permissions) Approvals(thread string, limit int) (list []permission.Approval, err error) {
	now := ps.writer.now()
	err = mapError(ps.writer.store.View(func(tx Tx) error {
		if _, err := tx.Thread(thread); err != nil {
			return err
		}
		if list, err = tx.Approvals(thread, limit); err != nil {
			return err
		}
		for i, a := range list {
			list[i] = a.At(now)
		}
		return nil
	}))
	return list, err
}

// Approval returns an approval of a thread. Errors: thread.ErrNotFound.
func (ps *Permissions) Approval(threadID, id string) (a permission.Approval, err error) {
	now := ps.writer.now()
	err = mapError(ps.writer.store.View(func(tx Tx) error {
		if a, err = tx.Approval(id); err == nil && a.ThreadID != threadID {
			err = fmt.Errorf("approval %.80q of thread %s: %w", id, threadID, thread.ErrNotFound)
		}
		return err
	}))
	return a.At(now), err
}

// Answer decides a pending approval: permission.AnswerApprove allows the identical call once
// within permission.ApprovedFor, permission.AnswerDeny denies it for as long. Errors:
// ErrNotFound, ErrInvalid, ErrDecided.
func (ps *Permissions) Answer(threadID, id, answer string) (a permission.Approval, err error) {
	status := map[string]string{
		permission.AnswerApprove: permission.Approved, permission.AnswerDeny: permission.Denied,
	}[answer]
	if status == "" {
		return a, fmt.Errorf("%w: decision %.80q: %s or %s are allowed", conversation.ErrInvalid, answer,
			permission.AnswerApprove, permission.AnswerDeny)
	}
	err = ps.writer.transact(threadID, func(t *change) error {
		if a, err = t.Approval(id); err != nil {
			return err
		}
		if a.ThreadID != threadID {
			return fmt.Errorf("approval %.80q of thread %s: %w", id, threadID, thread.ErrNotFound)
		}
		if a = a.At(t.now); a.Status != permission.Pending {
			return fmt.Errorf("%w: approval %s is %s", conversation.ErrDecided, id, a.Status)
		}
		a.Status, a.DecidedAt = status, t.now
		t.PutApproval(a)
		a = a.At(t.now)
		return t.emit(ApprovalDecided, thread.Detail{To: status, Source: a.Tool, ApprovalID: id})
	})
	return a, err
}
