package conversation

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Approval is a call that somebody was asked about. The call is told as a whole: nobody shall approve what they cannot see.
type Approval struct {
	ID        string          `json:"id"`
	Thread    string          `json:"thread_id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Reason    string          `json:"reason"`
	Status    string          `json:"status"`
	CreatedAt time.Time       `json:"created_at"`
	DecidedAt time.Time       `json:"decided_at,omitzero"`
	UsedAt    time.Time       `json:"used_at,omitzero"`
	ExpiresAt time.Time       `json:"expires_at,omitzero"` // of one that waits or is approved, and how long one that is denied stays so

	Key string `json:"-"` // of the call
}

// What has become of an approval. Expired is never written down: the times say it.
const (
	Pending  = "pending"
	Approved = "approved"
	Denied   = "denied"
	Used     = "used" // approved, and the call has been let through
	Expired  = "expired"
)

// ApprovalStatuses are all that an approval may have.
func ApprovalStatuses() []string { return []string{Pending, Approved, Denied, Used, Expired} }

// Answers to an approval.
const (
	AnswerApprove = "approve"
	AnswerDeny    = "deny"
)

const (
	// ApprovedFor is how long an answer is for the identical call.
	ApprovedFor = 10 * time.Minute
	// PendingFor is how long a question waits for an answer.
	PendingFor = 24 * time.Hour
	// maxPending bounds the questions of a thread that wait: more is no question any more but a flood.
	maxPending = 32
	// maxApprovals is how many approvals of a thread are kept that are neither open nor of use.
	maxApprovals = 256
	// maxAsked bounds the arguments of a call that somebody can be asked about, in bytes: a person has to read them.
	maxAsked = 256 << 10
)

// approvalRows are the approvals of threads, which are deleted with these.
type approvalRows interface {
	Approval(id string) (Approval, error)
	FindApproval(thread, key string) (Approval, error)      // the newest about a call
	Approvals(thread string, limit int) ([]Approval, error) // the newest first
	PendingApprovals(thread string, since time.Time) (int, error)
	PutApproval(Approval) error
	// TrimApprovals removes what is over by now of all but the newest keep.
	TrimApprovals(thread string, keep int, now time.Time) error
}

// now is the approval with the status that it has at a time.
func (a Approval) now(t time.Time) Approval {
	if a.ExpiresAt = a.expires(); !a.ExpiresAt.IsZero() && !t.Before(a.ExpiresAt) && a.Status != Denied {
		a.Status = Expired
	}
	return a
}

// expires is when the approval is of no use any more, zero when it is of none already.
func (a Approval) expires() time.Time {
	switch a.Status {
	case Pending:
		return a.CreatedAt.Add(PendingFor)
	case Approved, Denied:
		return a.DecidedAt.Add(ApprovedFor)
	}
	return time.Time{}
}

// stands tells whether the answer to an identical call is known.
func (a Approval) stands(t time.Time) bool { return t.Before(a.expires()) }

func newApprovalID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return "apr_" + hex.EncodeToString(b[:])
}
