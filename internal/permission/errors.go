package permission

import (
	"errors"
	"fmt"
)

// Sentinels of the package; the server maps them to status codes.
var (
	ErrInvalid       = errors.New("invalid value")
	ErrDamaged       = errors.New("the copy of the permissions cannot be read")
	ErrDenied        = errors.New("the thread's permissions do not allow this")
	ErrNeedsApproval = errors.New("somebody has to approve this first")
)

// NeedsApproval is the error of a call that has to be approved first. It wraps ErrNeedsApproval.
type NeedsApproval struct {
	ID     string // of the approval
	Reason string
}

// Error implements error.
func (e *NeedsApproval) Error() string {
	return fmt.Sprintf("%s (approval %s): %s", ErrNeedsApproval, e.ID, e.Reason)
}

// Unwrap returns ErrNeedsApproval.
func (e *NeedsApproval) Unwrap() error { return ErrNeedsApproval }

// Refusal returns nil for a decision to allow, else *NeedsApproval or ErrDenied.
func Refusal(d Decision) error {
	switch d.Decision {
	case Allow:
		return nil
	case Ask:
		return &NeedsApproval{d.ApprovalID, d.Reason}
	}
	return fmt.Errorf("%w: %s", ErrDenied, d.Reason)
}
