package httpapi

import (
	"context"
	"log/slog"

	"github.com/labstack/echo/v4"

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

// ContextOf is the request's context, which ends with the server's closing too, and what to call when it is not
// needed any more.
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

// Closed tells whether a channel that only ever gets closed is.
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
