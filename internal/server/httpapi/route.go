// Package httpapi is what all handlers of the server share: typed routes, strict bodies of
// requests, replies, event streams, the one table that turns errors into statuses, and
// the question whether the permissions of a thread allow what a request is about to do.
package httpapi

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/wire"
)

// Route is one line of what the server offers: a function of types of package wire. What binds the request, checks its
// body, encodes the reply, describes the route in OpenAPI and calls it from the client follows from the types.
type Route struct {
	Method string
	Path   string // with :name for a parameter and * for the rest
	ID     string // names the operation in the document and in the client

	Group, Summary, Description string // of the document

	In      reflect.Type // struct of package wire: parameters by the tags path, query and header, else the body
	Replies []Reply      // the first is the usual one
	Refuses []error      // sentinels of ErrorTable that its own work may end with

	Audit    string // what the audit log calls it, or NotAudited; "" only without an effect
	Effect   bool   // needs the role write
	Admin    bool   // of the server itself: not for users who are no administrators
	Stream   bool   // may last: no deadline for the whole
	ByHand   bool   // writes its reply itself
	BodyText string // what the body is for, in the document; "" is a route without one
	RawBody  any    // a value of the body's type in the document, where the route reads the body itself
	MayEmpty bool   // the body may be empty
	Known    bool   // only the parameters of In may be in the query
	Limit    int64  // bytes of the body

	find   func(context.Context, any) error // see Finding
	handle func(Route) echo.HandlerFunc
}

// Reply is what a route answers when all is well.
type Reply struct {
	Name    string // in the document; "" is that of the type
	Status  int
	Text    string   // description; "" is that of the type
	Headers []Header // beside those of every reply
	JSON    []any    // values of the types that the body may have
	Media   []Media  // other bodies

	Events, Commands []wire.EventType // of a stream: what the server and the client send
}

// Header is a header of a reply.
type Header struct {
	Name, Text string
	Schema     string // in JSON
	Required   bool
	Example    string
}

// Media is a body that is not described by a type of package wire.
type Media struct{ Type, Schema, Example string }

// Get is a route without an effect. do gets the bound request; its result is the reply, with status 200.
func Get[In, Out any](id, path, summary string, do func(context.Context, In) (Out, error)) Route {
	return typed(http.MethodGet, id, path, summary, do)
}

// Post is a route with an effect, as are Put, Patch and Delete; see Get.
func Post[In, Out any](id, path, summary string, do func(context.Context, In) (Out, error)) Route {
	return typed(http.MethodPost, id, path, summary, do)
}

// Put is a route that replaces something.
func Put[In, Out any](id, path, summary string, do func(context.Context, In) (Out, error)) Route {
	return typed(http.MethodPut, id, path, summary, do)
}

// Patch is a route that changes parts of something.
func Patch[In, Out any](id, path, summary string, do func(context.Context, In) (Out, error)) Route {
	return typed(http.MethodPatch, id, path, summary, do)
}

// Delete is a route that ends or removes something.
func Delete[In, Out any](id, path, summary string, do func(context.Context, In) (Out, error)) Route {
	return typed(http.MethodDelete, id, path, summary, do)
}

func typed[In, Out any](method, id, path, summary string, do func(context.Context, In) (Out, error)) Route {
	var out Out
	r := newRoute[In](method, id, path, summary, Reply{Status: http.StatusOK, JSON: []any{out}})
	r.handle = bound(func(c echo.Context, r Route, in In) error {
		out, err := do(c.Request().Context(), in)
		if err != nil {
			return err
		}
		return WriteJSON(c, r.Replies[0].Status, out)
	})
	return r
}

// bound makes a handler of a function of a bound request.
func bound[In any](do func(echo.Context, Route, In) error) func(Route) echo.HandlerFunc {
	return func(r Route) echo.HandlerFunc {
		b := binderOf(r)
		return func(c echo.Context) error {
			var in In
			if err := b.bind(c, &in); err != nil {
				return err
			}
			return do(c, r, in)
		}
	}
}

// Hand is a route that writes its reply itself: a stream, a WebSocket, a page, or a body that is not JSON of one type.
// Its request is bound as that of others. With any method but GET it has an effect.
func Hand[In any](method, id, path, summary string, do func(echo.Context, In) error, replies ...Reply) Route {
	r := newRoute[In](method, id, path, summary, replies...)
	r.ByHand = true
	r.handle = bound(func(c echo.Context, _ Route, in In) error { return do(c, in) })
	return r
}

func newRoute[In any](method, id, path, summary string, replies ...Reply) Route {
	return Route{Method: method, ID: id, Path: path, Summary: summary, In: reflect.TypeFor[In](), Replies: replies,
		Effect: method != http.MethodGet, Limit: MaxBody}
}

// Group is routes that the document shows together.
func Group(name string, routes ...Route) []Route {
	for i := range routes {
		routes[i].Group = name
	}
	return routes
}

// Does is the route in the list of routes: its summary and what its query takes.
func (r Route) Does() string {
	sign, does := "; ?", strings.ToLower(r.Summary[:1])+r.Summary[1:]
	for _, f := range reflect.VisibleFields(r.In) {
		if name, ok := f.Tag.Lookup("query"); ok {
			does += sign + name + "="
			sign = "&"
		}
	}
	return does
}

// Handler is what serves the route.
func (r Route) Handler() echo.HandlerFunc { return r.handle(r) }

// Text is the route with a description.
func (r Route) Text(description string) Route {
	r.Description = description
	return r
}

// Body is the route whose input has a body, with what the body is for.
func (r Route) Body(text string) Route {
	r.BodyText = text
	return r
}

// OptionalBody is Body where the body may be empty.
func (r Route) OptionalBody(text string) Route {
	r.BodyText, r.MayEmpty = text, true
	return r
}

// Reads is the route that reads its body itself, which is like v.
func (r Route) Reads(v any, text string) Route {
	r.RawBody, r.BodyText = v, text
	return r
}

// UpTo is the route with another bound of the body, in bytes.
func (r Route) UpTo(limit int64) Route {
	r.Limit = limit
	return r
}

// Status is the route whose reply has another status than 200, and a description of its own.
func (r Route) Status(status int, text string) Route {
	r.Replies[0].Status, r.Replies[0].Text = status, text
	return r
}

// Replying is the route whose reply has a name, a text and headers of its own in the document.
func (r Route) Replying(name, text string, headers ...Header) Route {
	r.Replies[0].Name, r.Replies[0].Text, r.Replies[0].Headers = name, text, headers
	return r
}

// Refusing is the route with sentinels that its work may end with.
func (r Route) Refusing(sentinels ...[]error) Route {
	for _, s := range sentinels {
		r.Refuses = append(r.Refuses, s...)
	}
	return r
}

// NotAudited is the word of routes with an effect that the audit log leaves out: what is typed and what harnesses keep
// is not about who may do what, and the thread's own conversation has it.
const NotAudited = "-"

// Finding is the route r whose refusals begin with find: what its path names is absent before a parameter or the body
// is wrong. Its input has a method Ref.
func Finding[R any](r Route, find func(context.Context, R) error) Route {
	r.find = func(ctx context.Context, in any) error { return find(ctx, in.(interface{ Ref() R }).Ref()) }
	return r
}

// Audited is the route that the audit log has under a word, or NotAudited.
func (r Route) Audited(word string) Route {
	r.Audit = word
	return r
}

// KnownQuery is the route that refuses parameters it does not have: a filter that is misspelt would not filter.
func (r Route) KnownQuery() Route {
	r.Known = true
	return r
}

// AdminOnly is the route of something of the server itself, which users who are no administrators may not see.
func (r Route) AdminOnly() Route {
	r.Admin = true
	return r.Refusing([]error{ErrScope})
}

// ReadOnly is the route without an effect: the role read may use it.
func (r Route) ReadOnly() Route {
	r.Effect = false
	return r
}

// Streams is the route of a request or reply that may last. Its body has BodyTimeout all the same.
func (r Route) Streams() Route {
	r.Stream = true
	return r
}

// echoKey holds the echo.Context in the context of its request.
type echoKey struct{}

// SetEcho makes c what EchoOf returns for the context of its request.
func SetEcho(c echo.Context) {
	r := c.Request()
	c.SetRequest(r.WithContext(context.WithValue(r.Context(), echoKey{}, c)))
}

// EchoOf is the request that the context of a handler belongs to.
func EchoOf(ctx context.Context) echo.Context { return ctx.Value(echoKey{}).(echo.Context) }
