package permission

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/evertty/evertty/wire"
)

// Approval is a call that a person is asked about. It holds the whole call, so that the person sees
// everything that they approve.
type Approval struct {
	wire.Approval        // ExpiresAt is of a pending or answered one, see Expires; Hidden is not stored
	Key           string // Call.Key of the call
}

// Asked is whose call somebody is asked about: a thread's, and of a terminal when the call names one.
type Asked struct{ Thread, Terminal string }

// Wire is what clients see.
func (a Approval) Wire() wire.Approval { return a.Approval }

// Statuses of an approval. Expired is never stored: the times say it.
const (
	Pending  = "pending"
	Approved = "approved"
	Denied   = "denied"
	Used     = "used" // approved, and the call was allowed
	Expired  = "expired"
)

// Answers to an approval.
const (
	AnswerApprove = "approve"
	AnswerDeny    = "deny"
)

const (
	// ApprovedFor is how long an answer is valid for the identical call.
	ApprovedFor = 10 * time.Minute
	// PendingFor is how long an approval waits for an answer.
	PendingFor = 24 * time.Hour
)

// NewApproval returns a pending approval of a canonical call.
func NewApproval(thread string, c Call, reason string, now time.Time) Approval {
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	return Approval{Key: c.Key(), Approval: wire.Approval{ID: "apr_" + hex.EncodeToString(id[:]), ThreadID: thread,
		Tool: c.Tool, Arguments: c.Arguments, Reason: reason, Status: Pending, CreatedAt: now}}
}

// At returns the approval with its status and ExpiresAt as of now. A denial stays denied.
func (a Approval) At(now time.Time) Approval {
	if a.ExpiresAt = a.Expires(); !a.ExpiresAt.IsZero() && !now.Before(a.ExpiresAt) && a.Status != Denied {
		a.Status = Expired
	}
	return a
}

// Expires returns when a pending approval or its answer becomes invalid. It is zero for
// an approval that is used.
func (a Approval) Expires() time.Time {
	switch a.Status {
	case Pending:
		return a.CreatedAt.Add(PendingFor)
	case Approved, Denied:
		return a.DecidedAt.Add(ApprovedFor)
	}
	return time.Time{}
}

// Valid reports whether the approval still speaks for an identical call.
func (a Approval) Valid(now time.Time) bool { return now.Before(a.Expires()) }

// Apply returns a decision to ask after the answer of a valid approval. An approved one is Used by it,
// and has to be stored; a pending one changes nothing.
func (a Approval) Apply(d Decision, now time.Time) (decided Decision, next Approval) {
	d.ApprovalID = a.ID
	switch a.Status {
	case Denied:
		d.Decision, d.Reason = Deny, "somebody was asked and said no: "+d.Reason
	case Approved:
		d.Decision, d.Reason = Allow, "somebody has approved it: "+d.Reason
		a.Status, a.UsedAt = Used, now
	}
	return d, a
}
