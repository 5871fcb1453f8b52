package conversation

import (
	"errors"

	"github.com/evertty/evertty/internal/permission"
)

// Sentinels of the package; the server maps them to status codes. What a Store finds comes as the
// sentinels of package thread.
var (
	ErrNotFound = errors.New("there is no such record")
	ErrInvalid  = permission.ErrInvalid // one sentinel for both packages: callers need not know which has refused
	ErrDamaged  = errors.New("a record file cannot be read")
	ErrConflict = errors.New("exists already")
	ErrTooLarge = errors.New("too large for a record")
	ErrTooMany  = errors.New("too many for a record")
	ErrUnseen   = errors.New("the call has values that nobody has looked at yet")
	ErrDecided  = errors.New("this approval has been decided already")
)
