// Package openapi makes the OpenAPI 3.1 document of the HTTP API: paths and statuses from the
// routes of the server, schemas from the types of package wire, whose comments are the
// descriptions. The texts that belong to no single route or type are here.
package openapi

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// generator collects the components that the routes refer to.
type generator struct {
	types     *types
	params    object
	responses object
}

// compressed is the header of replies that may be large.
var compressed = httpapi.Header{Name: "Content-Encoding", Schema: `{"type": "string", "enum": ["zstd", "gzip"]}`,
	Text: "`zstd` or `gzip`, the one Accept-Encoding prefers, when the reply has 1400 bytes or more; absent otherwise."}

// Document is the document of routes. wireDir is the folder of package wire's source, and
// version that of the API.
func Document(routes []httpapi.Route, wireDir string, version int) (doc []byte, err error) {
	defer catch(&err)
	g := generator{types: readTypes(wireDir)}
	var always object
	for _, r := range refusals {
		if g.responses.get(r.name) != nil {
			fail("response %s is there twice", r.name)
		}
		g.responses.set(r.name, r.object())
		if slices.Contains(anyRequest, r.name) {
			always.set(fmt.Sprint(r.status), refTo("responses", r.name))
		}
	}
	var groups list
	for _, tag := range tags {
		groups = append(groups, object{{"name", tag[0]}, {"description", tag[1]}})
	}
	paths := g.paths(routes)
	var w writer
	w.value(object{
		{"openapi", "3.1.0"},
		{"info", object{{"title", title}, {"version", fmt.Sprint(version)}, {"summary", summary},
			{"description", description}, {"license", object{{"name", "MIT"}, {"identifier", "MIT"}}}}},
		{"servers", list{object{{"url", "/"}, {"description", "The server this document comes from."}}}},
		{"security", list{asks("bearer"), login}},
		{"tags", groups},
		{"paths", paths},
		{"x-any-request", always},
		{"components", object{{"parameters", g.params},
			{"headers", object{{compressed.Name, headerObject(compressed)}}}, {"responses", g.responses},
			{"securitySchemes", parse(credentials)}, {"schemas", g.types.schemas()}}},
	}, 0, 0)
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
		strings.HasSuffix(r.Path, "/pty/:id/snapshot"),
		r.Group == "foreign" && r.Method == "GET":
		return list{bearer, cookie, asks("ticket")}
	}
	return nil
}

// isOpen reports whether a route asks for nothing.
func isOpen(r httpapi.Route) bool { return r.Path == "/healthz" || r.Path == "/readyz" }

// paths are the operations by path, in the order of the routes.
func (g *generator) paths(routes []httpapi.Route) (all object) {
	for _, r := range routes {
		path, params := g.path(r)
		item, _ := all.get(path).(object)
		if item == nil && len(params) > 0 {
			item.set("parameters", params)
		}
		item.set(strings.ToLower(r.Method), g.operation(r))
		all.set(path, item)
	}
	return all
}

// path is a route's path as OpenAPI writes it, {id} for :id, with its parameters.
func (g *generator) path(r httpapi.Route) (path string, params list) {
	in := g.types.params(r.In.Name())
	parts := strings.Split(r.Path, "/")
	for i, part := range parts {
		name, ok := strings.CutPrefix(strings.Replace(part, "*", ":file", 1), ":")
		if !ok {
			continue
		}
		at := slices.IndexFunc(in, func(p parameter) bool { return p.in == "path" && p.name == name })
		if at < 0 {
			fail("%s %s: %s has no field for :%s", r.Method, r.Path, r.In, name)
		}
		parts[i] = "{" + name + "}"
		params = append(params, g.use(in[at]))
	}
	return strings.Join(parts, "/"), params
}

// use adds a parameter to the document, and refers to it. One that is there already has to be the same.
func (g *generator) use(p parameter) object {
	if is := g.params.get(p.component); is != nil && !reflect.DeepEqual(is, p.doc) {
		fail("two parameters are called %s in the document: give one the tag param", p.component)
	}
	g.params.set(p.component, p.doc)
	return refTo("parameters", p.component)
}

func headerObject(h httpapi.Header) object {
	o := object{{"description", h.Text}}
	if h.Required {
		o.set("required", true)
	}
	o.set("schema", parse(h.Schema))
	if h.Example != "" {
		o.set("example", h.Example)
	}
	return o
}

// responseObject is a reply with its headers and bodies. The JSON one is of a schema and has an example, or is nil.
func responseObject(text string, headers, json object, media []httpapi.Media) object {
	o := object{{"description", text}}
	if headers != nil {
		o.set("headers", headers)
	}
	var bodies object
	if json != nil {
		bodies.set("application/json", json)
	}
	for _, m := range media {
		body := object{}
		if m.Schema != "" {
			body.set("schema", parse(m.Schema))
		}
		if m.Example != "" {
			body.set("example", m.Example)
		}
		bodies.set(m.Type, body)
	}
	if bodies != nil {
		o.set("content", bodies)
	}
	return o
}

func headersOf(all []httpapi.Header) (headers object) {
	for _, h := range all {
		headers.set(h.Name, headerObject(h))
	}
	return headers
}

// object is a refusal in the document.
func (r refusal) object() object {
	var codes list
	for _, code := range strings.Fields(r.codes) {
		codes = append(codes, code)
	}
	schema := refTo("schemas", "Error")
	schema.set("properties", object{{"code", object{{"enum", codes}}}})
	code, sentence, _ := strings.Cut(r.example, ": ")
	example := must(httpapi.Encode(
		wire.Error{Error: sentence, Code: code, Details: r.details, ApprovalID: r.details.ApprovalID}))
	return responseObject(r.text, headersOf(r.headers),
		object{{"schema", schema}, {"example", parse(string(example))}}, r.media)
}

// replyObject is a reply in the document.
func replyObject(r httpapi.Reply, text string, mayCompress bool) object {
	headers := headersOf(r.Headers)
	if mayCompress {
		headers.set(compressed.Name, refTo("headers", compressed.Name))
	}
	var either list
	for _, v := range r.JSON {
		either = append(either, refTo("schemas", typeName(v)))
	}
	var json object
	switch len(either) {
	case 0:
	case 1:
		json = object{{"schema", either[0]}}
	default:
		json = object{{"schema", object{{"oneOf", either}}}}
	}
	o := responseObject(text, headers, json, r.Media)
	setEvents(&o, "events", r.Events)
	setEvents(&o, "commands", r.Commands)
	return o
}

// setEvents adds the events or commands of a stream: x-events by name, x-event for all.
func setEvents(o *object, kind string, events []wire.EventType) {
	var all object
	for _, e := range events {
		ref := refTo("schemas", typeName(e.Value))
		if e.Name == "" {
			o.set("x-"+strings.TrimSuffix(kind, "s"), ref)
			return
		}
		all.set(e.Name, ref)
	}
	if all != nil {
		o.set("x-"+kind, all)
	}
}

// typeName is the name of a value's type.
func typeName(v any) string { return reflect.TypeOf(v).Name() }
