// Package httpapi is what all handlers of the server share: routes, strict bodies of
// requests, replies, event streams, the one table that turns errors into statuses, and
// the question whether the permissions of a thread allow what a request is about to do.
package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// Route is one line of what the server offers.
type Route struct {
	Method, Path string
	Handle       echo.HandlerFunc
	Effect       bool // needs the role write
	Stream       bool // goes on for long: no deadline for the whole
	Does         string
}

// Get is a route that has no effect.
func Get(path string, handle echo.HandlerFunc, does string) Route {
	return Route{Method: http.MethodGet, Path: path, Handle: handle, Does: does}
}

// Post is a route that has an effect, as are Put, Patch and Delete.
func Post(path string, handle echo.HandlerFunc, does string) Route {
	return Route{Method: http.MethodPost, Path: path, Handle: handle, Effect: true, Does: does}
}

// Put is a route that replaces something.
func Put(path string, handle echo.HandlerFunc, does string) Route {
	return Route{Method: http.MethodPut, Path: path, Handle: handle, Effect: true, Does: does}
}

// Patch is a route that changes parts of something.
func Patch(path string, handle echo.HandlerFunc, does string) Route {
	return Route{Method: http.MethodPatch, Path: path, Handle: handle, Effect: true, Does: does}
}

// Delete is a route that ends or removes something.
func Delete(path string, handle echo.HandlerFunc, does string) Route {
	return Route{Method: http.MethodDelete, Path: path, Handle: handle, Effect: true, Does: does}
}

// ReadOnly is the route without an effect: the role read may use it.
func (r Route) ReadOnly() Route {
	r.Effect = false
	return r
}

// Streams is the route of a request or reply that may last.
func (r Route) Streams() Route {
	r.Stream = true
	return r
}

// bareCalls end the paths of calls that have no body.
var bareCalls = []string{"/touch", "/pause", "/resume", "/activate", "/clear", "/drain", "/destroy", "/refresh", "/kill-all"}

// Bare tells whether the call has no body, though its method may have one.
func (r Route) Bare() bool {
	switch r.Method {
	case http.MethodDelete:
		return !strings.HasPrefix(r.Path, "/api/file/") // which name the file in it
	case http.MethodPost:
		return slices.ContainsFunc(bareCalls, func(end string) bool { return strings.HasSuffix(r.Path, end) })
	}
	return false
}
