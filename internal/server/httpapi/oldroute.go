package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// Get is a route that has no effect.
func OldGet(path string, handle echo.HandlerFunc, does string) Route {
	return Route{Method: http.MethodGet, Path: path, old: old{Handle: handle, OldDoes: does}}
}

// Post is a route that has an effect, as are Put, Patch and Delete.
func OldPost(path string, handle echo.HandlerFunc, does string) Route {
	return Route{Method: http.MethodPost, Path: path, Effect: true, old: old{Handle: handle, OldDoes: does}}
}

// Put is a route that replaces something.
func OldPut(path string, handle echo.HandlerFunc, does string) Route {
	return Route{Method: http.MethodPut, Path: path, Effect: true, old: old{Handle: handle, OldDoes: does}}
}

// Patch is a route that changes parts of something.
func OldPatch(path string, handle echo.HandlerFunc, does string) Route {
	return Route{Method: http.MethodPatch, Path: path, Effect: true, old: old{Handle: handle, OldDoes: does}}
}

// Delete is a route that ends or removes something.
func OldDelete(path string, handle echo.HandlerFunc, does string) Route {
	return Route{Method: http.MethodDelete, Path: path, Effect: true, old: old{Handle: handle, OldDoes: does}}
}

// Doc is the route with what the document says first: a name for programs, the group
// and one line.
func (r Route) Doc(id, tag, summary string) Route {
	r.ID, r.Group, r.Summary = id, tag, summary
	return r
}

// Params is the route with parameters of the query or header, by their names in the document.
func (r Route) Params(names string) Route {
	r.Query = names
	return r
}

// Takes is the route with a body that is like v.
func (r Route) Takes(v any, text string) Route {
	r.OldBody, r.BodyText = v, text
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
	r.OldReplies = names
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

// old is a route as it was described before its types said it.
type old struct {
	Handle       echo.HandlerFunc
	OldDoes      string
	Query        string
	OldBody      any
	BodyOptional bool
	OldReplies   string
}
