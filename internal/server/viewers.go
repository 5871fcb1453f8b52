package server

import (
	"fmt"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/terminal"
)

// MaxViewers bounds the streams, WebSockets and waits that are connected to a server: well above what file descriptors
// and two cores allow.
const MaxViewers = 100_000

// viewers counts the connections that last: streams, WebSockets, waits and followers. A stream that a command has
// opened for its own output is not one of them. It is safe for concurrent use.
type viewers struct {
	most   int                   // constant, as mostOf
	mostOf func(user string) int // of a user; nil, and 0, are no bound of their own
	mu     sync.Mutex
	all    int
	of     map[string]int // of users who are no administrators
}

// count is the handler of a route, which counts while it serves a viewer. Errors: terminal.ErrLimit.
func (v *viewers) count(r httpapi.Route, handle echo.HandlerFunc) echo.HandlerFunc {
	if !r.Stream || r.Effect {
		return handle
	}
	return func(c echo.Context) error {
		if !watches(c, r) {
			return handle(c)
		}
		leave, err := v.enter(httpapi.UserOf(c.Request().Context()))
		if err != nil {
			return err
		}
		httpapi.AtEnd(c, leave)
		return handle(c)
	}
}

// watches reports whether a request of a route that may last does last. One for the events or the output until now ends
// by itself.
func watches(c echo.Context, r httpapi.Route) bool {
	if httpapi.IsHead(c) {
		return false
	}
	switch {
	case strings.HasSuffix(r.Path, "/logs"), strings.HasSuffix(r.Path, "/recording"):
		follow := c.QueryParam("follow")
		return follow == "1" || follow == "true"
	case strings.HasSuffix(r.Path, "/ws"):
		return auth.IsUpgrade(c.Request())
	case strings.HasSuffix(r.Path, "/events"):
		return httpapi.WantsEvents(c, c.QueryParam("format"))
	}
	return true
}

// enter counts one more of a user, "" for an administrator. The caller calls leave when it has gone.
func (v *viewers) enter(user string) (leave func(), err error) {
	most := 0
	if user != "" && v.mostOf != nil {
		most = v.mostOf(user)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.all >= v.most {
		return nil, fmt.Errorf("%w: %d viewers are connected, the most that this server takes (max_viewers); close "+
			"one, or try again later", terminal.ErrLimit, v.most)
	}
	if n := v.of[user]; most > 0 && n >= most {
		return nil, fmt.Errorf("%w: you have %d viewers, the most that you may have (max_viewers of the user); "+
			"close one", terminal.ErrLimit, n)
	}
	v.all++
	v.of[user]++
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.all--
		if v.of[user]--; v.of[user] == 0 {
			delete(v.of, user)
		}
	}, nil
}
