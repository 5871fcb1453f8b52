package protocol

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// The errors of both sides. They come wrapped with what was tried and why it failed; test for them with errors.Is.
var (
	// ErrForeign means that the process on the other end of the socket belongs to another user.
	ErrForeign = errors.New("peer is another user's process")
	// ErrNonsense means that a packet is not one of the protocol.
	ErrNonsense = errors.New("not a packet of the protocol")
	// ErrTaken means that something of this id is held already.
	ErrTaken = errors.New("id is taken")
)

// kinds are the errors that keep their identity across the socket, by their name in packets. Names are never changed.
var kinds = map[string]error{
	"no_command":  proc.ErrNoCommand,
	"bad_arg":     proc.ErrBadArg,
	"unsupported": proc.ErrUnsupported,
	"taken":       ErrTaken,
	"nonsense":    ErrNonsense,
}

// Failure is an error on its way through the socket.
type Failure struct {
	Kind  string `json:"kind,omitempty"`  // a key of kinds
	Errno int    `json:"errno,omitempty"` // of the system call that failed
	Text  string `json:"text"`
}

// FailureOf packs err.
func FailureOf(err error) *Failure {
	f := &Failure{Text: fmt.Sprintf("%.*s", maxText, err.Error())}
	for kind, known := range kinds {
		if errors.Is(err, known) {
			f.Kind = kind
		}
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		f.Errno = int(errno)
	}
	return f
}

// Error is the text of the error that was packed.
func (f *Failure) Error() string { return f.Text }

// Unwrap gives the sentinel and the error number back.
func (f *Failure) Unwrap() []error {
	var list []error
	if known, ok := kinds[f.Kind]; ok {
		list = append(list, known)
	}
	if f.Errno != 0 {
		list = append(list, unix.Errno(f.Errno))
	}
	return list
}
