package keeper

import (
	"errors"
	"fmt"

	"github.com/evertty/evertty/pty/keeper/protocol"
)

// The errors of this package. They come wrapped with what was tried and why it failed; test for them with errors.Is.
var (
	// ErrForeign means that the process on the other end of the socket belongs to another user.
	ErrForeign = protocol.ErrForeign
	// ErrNonsense means that a packet is not one of the protocol, or that a request would be none.
	ErrNonsense = protocol.ErrNonsense
	// ErrTaken means that something of this id is held already.
	ErrTaken = protocol.ErrTaken
	// ErrBusy means that the keeper serves another process, which the message names.
	ErrBusy = errors.New("keeper serves another server")
	// ErrNoKeeper means that there is no keeper and none could be started, or that it went away before it answered.
	ErrNoKeeper = errors.New("no keeper")
	// ErrVersion means that the keeper speaks another version of the protocol.
	ErrVersion = errors.New("keeper speaks another protocol")
	// ErrClosed means that the client was closed.
	ErrClosed = errors.New("client of the keeper is closed")
)

// busyError is ErrBusy with what the keeper said of itself.
type busyError struct {
	server  int    // the process that it serves
	release string // "" from an older keeper
}

func (e *busyError) Error() string { return fmt.Sprintf("%v: process %d", ErrBusy, e.server) }

// Unwrap returns ErrBusy.
func (e *busyError) Unwrap() error { return ErrBusy }
