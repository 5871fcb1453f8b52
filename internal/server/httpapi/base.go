package httpapi

import (
	"context"
	"log/slog"

	"github.com/labstack/echo/v4"

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
// Errors: those of service.Service.Check.
func (s *Base) Check(c echo.Context, thread, tool string, args any) error {
	return s.Threads.Check(c.Request().Context(), thread, permission.Action{Tool: tool, Arguments: args})
}

// ContextOf is the request's context, which ends with the server's closing too, and what to call
// when it is not needed any more.
func (s *Base) ContextOf(c echo.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(c.Request().Context())
	go func() {
		select {
		case <-s.Closing:
		case <-ctx.Done():
		}
		cancel()
	}()
	return ctx, cancel
}

// Unhurried is the context of work that goes on when the client hangs up: a
// terminal half deleted helps nobody.
func Unhurried(c echo.Context) context.Context { return context.WithoutCancel(c.Request().Context()) }

// Closed reports whether a channel that only ever gets closed is.
func Closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// SessionOf is the session a path names, "" for the paths without one.
func SessionOf(c echo.Context) (string, error) {
	sid := c.Param("sid")
	if c.Path() == "/pty" || sid == "" {
		return "", nil
	}
	return sid, terminal.CheckName("session", sid)
}

// Done is the reply of calls that have nothing to tell.
var Done = wire.Done{Success: true}
