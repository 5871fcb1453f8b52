package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// An upgraded connection goes on when the handler of its request has returned: net/http then frees the buffers and the
// stack that it keeps for a handler. What is to be done when a request is over is therefore done by its connection.

const (
	atEndKey   = "evertty.atend"   // a []func()
	lastingKey = "evertty.lasting" // true: Over does nothing
)

// AtEnd has f called when the request is over: by Over when its handler has returned, else by what Last has returned.
func AtEnd(c echo.Context, f func()) {
	list, _ := c.Get(atEndKey).([]func())
	c.Set(atEndKey, append(list, f))
}

// Over ends a request whose handler has returned, unless its connection goes on.
func Over(c echo.Context) {
	if !Lasts(c) {
		callEnds(c.Get(atEndKey))
	}
}

// Last says that the connection of a request goes on behind its handler. The caller calls over when it has ended. own is
// the request without its connection, for what still has to know who asks; c itself is used for others then.
func Last(c echo.Context) (own echo.Context, over func()) {
	r := c.Request()
	own = c.Echo().NewContext(&http.Request{Method: r.Method, URL: r.URL, Header: http.Header{},
		RemoteAddr: r.RemoteAddr}, nil)
	if reach := c.Get(reachKey); reach != nil {
		own.Set(reachKey, reach)
	}
	ends := c.Get(atEndKey)
	c.Set(lastingKey, true)
	return own, func() { callEnds(ends) }
}

// Lasts reports whether Last was called.
func Lasts(c echo.Context) bool { return c.Get(lastingKey) != nil }

func callEnds(list any) {
	ends, _ := list.([]func())
	for i := len(ends) - 1; i >= 0; i-- {
		ends[i]()
	}
}
