package httpapi

import (
	"context"
	"log/slog"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/wire"
)

// Base is what the handlers of all groups of routes share.
type Base struct {
	*supervisor.Supervisor
	Log     *slog.Logger
	Closing chan struct{} // closed when viewers have to go
}

// Check asks the permissions of a thread about what a request is about to do. The
// thread "" is for actions that belong to no thread.
//
// Every handler with an effect on the processes or files of a thread calls it before the
// effect, and after all validation of the request, because it consumes an approval.
// Errors: those of service.Permissions.Check.
func (s *Base) Check(ctx context.Context, thread, tool string, args any) error {
	return s.Threads.Check(ctx, thread, permission.Action{Tool: tool, Arguments: args})
}

// WhileOpen is a request's context that ends with the server's closing too, then with this cause, and what to call when
// it is not needed any more.
func (s *Base) WhileOpen(ctx context.Context, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-s.Closing:
			cancel(cause)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// Closed reports whether a channel that only ever gets closed is.
func Closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// CheckSession checks the name of a session that a path names; "" is a path without one.
func CheckSession(ref wire.SessionRef) error {
	if owner.IsSpace(ref.Session) {
		return nil
	}
	return terminal.CheckSession(ref.Session)
}

// Done is the reply of calls that have nothing to tell.
var Done = wire.Done{Success: true}
