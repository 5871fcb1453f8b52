// Package openapi makes the OpenAPI 3.1 document of the HTTP API: paths and statuses from the
// routes of the server, schemas from the types of package wire, whose comments are the
// descriptions. The texts that belong to no single route or type are here.
package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// parameter is a part of a path, a query or the header of requests.
type parameter struct {
	name, in string
	as       string // its name in the document; "" is its own
	text     string
	schema   string // in JSON
	example  string
	limited  bool // some values of its type are not allowed
}

// response is what one or more routes answer.
type response struct {
	name       string
	status     int
	text       string
	headers    []header
	json       []any  // values like the body; several are alternatives
	compressed bool   // when it is large and the client likes it; see httpapi.WriteJSON
	codes      string // of a refusal, with spaces between
	example    string // of a refusal: CODE: sentence
	details    wire.ErrorDetails
	of         []error // sentinels of a route for which it is; nil is all
	limit      int64   // bytes of the body of a route for which it is; 0 is all
	other      []content
	events     []event // of a stream
	// commands are what the client may send on a WebSocket.
	commands []event
}

type header struct {
	name, text, schema string
	required           bool
	example            string
}

// compressed is the header of replies that may be large.
var compressed = header{name: "Content-Encoding", schema: `{"type": "string", "enum": ["zstd", "gzip"]}`,
	text: "`zstd` or `gzip`, the one Accept-Encoding prefers, when the reply has 1400 bytes or more; absent otherwise."}

// content is a body that is not described by a type.
type content struct{ media, schema, example string }

// event is a message on a stream or WebSocket and a value like it. An event without a name
// stands for all.
type event struct {
	name string
	like any
}

// implied are the refusals that any route may answer with; a route that names another response
// for the status has that.
var implied = []string{"Unauthorized", "Forbidden", "TooMany", "Failed"}

// Document is the document of routes. wireDir is the folder of package wire's source, and
// version that of the API.
func Document(routes []httpapi.Route, wireDir string, version int) ([]byte, error) {
	t, err := readTypes(wireDir)
	if err != nil {
		return nil, err
	}
	schemas, err := t.schemas()
	if err != nil {
		return nil, err
	}
	g := generator{types: t, responses: map[string]response{}, params: map[string]parameter{}}
	for _, r := range refusals {
		if g.responses[r.name].name != "" {
			return nil, fmt.Errorf("response %s is there twice", r.name)
		}
		g.responses[r.name] = r
	}
	paths, err := g.paths(routes)
	if err != nil {
		return nil, err
	}
	components, err := g.components(schemas)
	if err != nil {
		return nil, err
	}
	var groups list
	for _, tag := range tags {
		groups = append(groups, object{{"name", tag[0]}, {"description", tag[1]}})
	}
	doc := object{
		{"openapi", "3.1.0"},
		{"info", object{{"title", title}, {"version", fmt.Sprint(version)}, {"summary", summary},
			{"description", description}, {"license", object{{"name", "MIT"}, {"identifier", "MIT"}}}}},
		{"servers", list{object{{"url", "/"}, {"description", "The server this document comes from."}}}},
		{"security", list{asks("bearer"), login}},
		{"tags", groups},
		{"paths", paths},
		{"x-any-request", g.byStatus(strings.Fields(anyRequest))},
		{"components", components},
	}
	var w writer
	if err := w.value(doc, 0, 0); err != nil {
		return nil, err
	}
	w.WriteByte('\n')
	return w.Bytes(), nil
}

// asks is a security requirement; without a name it asks for nothing.
func asks(scheme string) object {
	if scheme == "" {
		return object{}
	}
	return object{{scheme, list{}}}
}

// generator collects what the routes refer to.
type generator struct {
	types     *types
	responses map[string]response
	given     []string // names of responses, in the order of the routes
	params    map[string]parameter
	order     []string // names of parameters, likewise
}

func (p parameter) component() string {
	if p.as != "" {
		return p.as
	}
	return p.name
}

// paths are the operations by path, in the order of the routes.
func (g *generator) paths(routes []httpapi.Route) (all object, err error) {
	for _, r := range routes {
		path, params, err := g.path(r)
		if err != nil {
			return nil, err
		}
		item, _ := all.get(path).(object)
		if item == nil && len(params) > 0 {
			item.set("parameters", params)
		}
		op, err := g.operation(r)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
		}
		item.set(strings.ToLower(r.Method), op)
		all.set(path, item)
	}
	return all, nil
}

// path is a route's path as OpenAPI writes it, {id} for :id, with its parameters.
func (g *generator) path(route httpapi.Route) (path string, params list, err error) {
	parts := strings.Split(route.Path, "/")
	for i, part := range parts {
		name, ok := strings.CutPrefix(part, ":")
		if part == "*" {
			name, ok = "file", true
		}
		if !ok {
			continue
		}
		parts[i] = "{" + name + "}"
		p, err := g.pathParam(name, route)
		if err != nil {
			return "", nil, err
		}
		params = append(params, refTo("parameters", p.component()))
	}
	return strings.Join(parts, "/"), params, nil
}

// pathParam is the parameter of a route's path.
func (g *generator) pathParam(name string, r httpapi.Route) (parameter, error) {
	in, err := g.types.params(r.In.Name())
	if err != nil {
		return parameter{}, err
	}
	for _, p := range in {
		if p.in == "path" && p.name == name {
			return p, g.use(p)
		}
	}
	return parameter{}, fmt.Errorf("%s %s: %s has no field for :%s", r.Method, r.Path, r.In, name)
}

// login is a browser's: both halves are needed.
var login = object{{"cookie", list{}}, {"page", list{}}}

// securityOf is who may call a route, where that is not as everywhere.
func securityOf(r httpapi.Route) list {
	bearer, cookie := asks("bearer"), login
	switch {
	case isOpen(r):
		return list{asks(""), bearer, cookie}
	case r.Path == "/metrics" || r.Path == "/":
		return list{bearer, cookie, asks("")}
	case strings.HasPrefix(r.Path, "/api/webhooks/:"):
		return list{bearer, cookie, asks("webhook")}
	case strings.HasSuffix(r.Path, "/pty/:id/stream"), strings.HasSuffix(r.Path, "/pty/:id/ws"),
		strings.HasSuffix(r.Path, "/pty/:id/snapshot"):
		return list{bearer, cookie, asks("ticket")}
	}
	return nil
}

// isOpen reports whether a route asks for nothing.
func isOpen(r httpapi.Route) bool { return r.Path == "/healthz" || r.Path == "/readyz" }

// byStatus are references to responses by their usual statuses.
func (g *generator) byStatus(names []string) (o object) {
	for _, name := range names {
		o.set(fmt.Sprint(g.responses[name].status), refTo("responses", name))
	}
	return o
}

// Types are the Go types of the inputs, replies, events and commands of routes, by name.
func Types(routes []httpapi.Route) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, r := range routes {
		all[r.In.Name()] = r.In
		for _, reply := range r.Replies {
			for _, v := range reply.JSON {
				all[typeName(v)] = reflect.TypeOf(v)
			}
			for _, e := range slices.Concat(reply.Events, reply.Commands) {
				all[typeName(e.Value)] = reflect.TypeOf(e.Value)
			}
		}
	}
	return all
}

// typeName is the name of a value's type.
func typeName(v any) string { return reflect.TypeOf(v).Name() }

// components are the parts that paths refer to.
func (g *generator) components(schemas object) (object, error) {
	var params, responses object
	for _, name := range g.order {
		p := g.params[name]
		o, err := p.object()
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.name, err)
		}
		params.set(p.component(), o)
	}
	rows := refusals
	for _, name := range g.given {
		rows = append(rows, g.responses[name])
	}
	for _, r := range rows {
		o, err := r.object()
		if err != nil {
			return nil, fmt.Errorf("response %s: %w", r.name, err)
		}
		responses.set(r.name, o)
	}
	schemes, err := parse(credentials)
	if err != nil {
		return nil, err
	}
	coding, err := compressed.object()
	return object{{"parameters", params}, {"headers", object{{compressed.name, coding}}}, {"responses", responses},
			{"securitySchemes", schemes}, {"schemas", schemas}},
		err
}

func (p parameter) object() (object, error) {
	schema, err := parse(p.schema)
	o := object{{"name", p.name}, {"in", p.in}}
	if p.in == "path" {
		o.set("required", true)
	}
	o = append(o, member{"description", p.text}, member{"schema", schema})
	if p.example != "" {
		o.set("example", p.example)
	}
	return o, err
}

func (h header) object() (object, error) {
	schema, err := parse(h.schema)
	o := object{{"description", h.text}}
	if h.required {
		o.set("required", true)
	}
	o.set("schema", schema)
	if h.example != "" {
		o.set("example", h.example)
	}
	return o, err
}

func (r response) object() (object, error) {
	o := object{{"description", r.text}}
	var headers, bodies object
	for _, h := range r.headers {
		one, err := h.object()
		if err != nil {
			return nil, err
		}
		headers.set(h.name, one)
	}
	if r.compressed {
		headers.set(compressed.name, refTo("headers", compressed.name))
	}
	if headers != nil {
		o.set("headers", headers)
	}
	body, err := r.body()
	if err != nil {
		return nil, err
	}
	if body != nil {
		bodies.set("application/json", body)
	}
	for _, c := range r.other {
		one, err := c.object()
		if err != nil {
			return nil, err
		}
		bodies.set(c.media, one)
	}
	if bodies != nil {
		o.set("content", bodies)
	}
	setEvents(&o, "events", r.events)
	setEvents(&o, "commands", r.commands)
	return o, nil
}

// body is the JSON that the response has, nil for none.
func (r response) body() (object, error) {
	if r.codes != "" {
		var codes list
		for _, code := range strings.Fields(r.codes) {
			if http.StatusText(r.status) == "" {
				return nil, fmt.Errorf("status %d", r.status)
			}
			codes = append(codes, code)
		}
		schema := refTo("schemas", "Error")
		schema.set("properties", object{{"code", object{{"enum", codes}}}})
		code, sentence, _ := strings.Cut(r.example, ": ")
		text, err := json.Marshal(wire.Error{
			Error: sentence, Code: code, Details: r.details, ApprovalID: r.details.ApprovalID})
		if err != nil {
			return nil, err
		}
		example, err := parse(string(text))
		return object{{"schema", schema}, {"example", example}}, err
	}
	switch len(r.json) {
	case 0:
		return nil, nil
	case 1:
		return object{{"schema", refTo("schemas", typeName(r.json[0]))}}, nil
	}
	var any list
	for _, v := range r.json {
		any = append(any, refTo("schemas", typeName(v)))
	}
	return object{{"schema", object{{"oneOf", any}}}}, nil
}

func (c content) object() (object, error) {
	o := object{}
	if c.schema != "" {
		schema, err := parse(c.schema)
		if err != nil {
			return nil, err
		}
		o.set("schema", schema)
	}
	if c.example != "" {
		o.set("example", c.example)
	}
	return o, nil
}

// setEvents adds the events or commands of a stream: x-events by name, x-event for all.
func setEvents(o *object, kind string, list []event) {
	if len(list) == 0 {
		return
	}
	if list[0].name == "" {
		o.set("x-"+strings.TrimSuffix(kind, "s"), refTo("schemas", typeName(list[0].like)))
		return
	}
	var all object
	for _, e := range list {
		all.set(e.name, refTo("schemas", typeName(e.like)))
	}
	o.set("x-"+kind, all)
}
