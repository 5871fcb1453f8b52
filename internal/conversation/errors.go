package conversation

import "errors"

// Sentinels of the package; the api package maps them to status codes. What a Store finds comes as the sentinels of package session.
var (
	ErrNotFound      = errors.New("there is no such record")
	ErrInvalid       = errors.New("invalid value")
	ErrDamaged       = errors.New("a record file cannot be read")
	ErrConflict      = errors.New("exists already")
	ErrTooLarge      = errors.New("too large for a record")
	ErrTooMany       = errors.New("too many for a record")
	ErrDenied        = errors.New("the thread's permissions do not allow this")
	ErrNeedsApproval = errors.New("somebody has to approve this first")
	ErrDecided       = errors.New("this approval has been decided already")
)
