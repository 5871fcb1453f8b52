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

// Route is one line of what the server offers. Package openapi makes the document of
// them, in which the path's :name is {name}.
type Route struct {
	Method, Path string
	Handle       echo.HandlerFunc
	Effect       bool // needs the role write
	Stream       bool // goes on for long: no deadline for the whole
	Does         string

	ID, Tag, Summary, Description string // of the operation in the document

	Query        string // names of parameters beside those of the path, with spaces between
	Body         any    // a value of the type that the body has; nil is no body
	BodyText     string
	BodyOptional bool
	Replies      string // names of replies and refusals; those that any request may get are left out
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

// Doc is the route with what the document says first: a name for programs, the group
// and one line.
func (r Route) Doc(id, tag, summary string) Route {
	r.ID, r.Tag, r.Summary = id, tag, summary
	return r
}

// Text is the route with a description.
func (r Route) Text(description string) Route {
	r.Description = description
	return r
}

// Params is the route with parameters of the query or header, by their names in the document.
func (r Route) Params(names string) Route {
	r.Query = names
	return r
}

// Takes is the route with a body that is like v.
func (r Route) Takes(v any, text string) Route {
	r.Body, r.BodyText = v, text
	return r
}

// MayTake is the route with a body that is like v, and may be empty.
func (r Route) MayTake(v any, text string) Route {
	r.BodyOptional = true
	return r.Takes(v, text)
}

// Gives is the route with replies and refusals, by their names in the document. A name
// may follow a status, for a reply that comes with another than its usual one.
func (r Route) Gives(names string) Route {
	r.Replies = names
	return r
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
var bareCalls = []string{"/touch", "/pause", "/resume", "/activate", "/clear", "/drain", "/destroy", "/refresh",
	"/kill-all", "/logout"}

// Bare reports whether the call has no body, though its method may have one.
func (r Route) Bare() bool {
	switch r.Method {
	case http.MethodDelete:
		return !strings.HasPrefix(r.Path, "/api/file/") // which name the file in it
	case http.MethodPost:
		return slices.ContainsFunc(bareCalls, func(end string) bool { return strings.HasSuffix(r.Path, end) })
	}
	return false
}
