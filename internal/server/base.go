package server

import (
	"context"
	"log/slog"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/mux"
)

// Base is what the handlers of all groups of routes share.
type Base struct {
	Mux     *mux.Mux
	Log     *slog.Logger
	Closing chan struct{} // closed when viewers have to go
}

// contextOf is the request's context, which ends with the server's closing too, and what to call when it is not
// needed any more.
func (s *Base) contextOf(c echo.Context) (context.Context, context.CancelFunc) {
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

// unhurried is the context of work that goes on when the client hangs up: a
// terminal half deleted helps nobody.
func unhurried(c echo.Context) context.Context { return context.WithoutCancel(c.Request().Context()) }

// closed tells whether a channel that only ever gets closed is.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// sessionOf is the session a path names, "" for the paths without one.
func sessionOf(c echo.Context) (string, error) {
	sid := c.Param("sid")
	if c.Path() == "/pty" || sid == "" {
		return "", nil
	}
	return sid, mux.CheckName("session", sid)
}

// success is the reply of calls that have nothing to tell.
type success struct {
	Success bool `json:"success"`
}

var done = success{true}
