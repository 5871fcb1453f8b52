package client

import (
	"context"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// API has a method for each route of the server that is a function of types: the request with everything that is in
// its path, query and body, and the reply. The other methods of Client are shorter forms of the most used ones.
type API struct{ connection *connection }

// API is the client by routes.
func (c *connection) API() API { return API{c} }

// route is how a request is sent.
type route struct {
	method string
	body   bool     // the fields that are no parameters are the body
	paths  []string // those with the most parameters first: the first counts whose parameters are all given
}

// send sends the request in and returns the reply. A parameter that is zero is left to the server.
func send[Out any](ctx context.Context, a API, r route, in any) (out Out, err error) {
	target, err := a.connection.target(in, r.paths...)
	if err != nil {
		return out, err
	}
	var body any
	if r.body {
		body = in
	}
	err = a.connection.call(ctx, r.method, target, body, &out)
	return out, err
}

// target is the URL of the first path whose parameters the request in gives all, with its query.
func (c *connection) target(in any, paths ...string) (string, error) {
	given := map[string]string{}
	query := url.Values{}
	v := reflect.ValueOf(in)
	for _, f := range reflect.VisibleFields(v.Type()) {
		field := v.FieldByIndex(f.Index)
		if name, ok := f.Tag.Lookup("path"); ok {
			given[name] = field.String()
		}
		if name, ok := f.Tag.Lookup("query"); ok && !field.IsZero() {
			addParam(query, name, field)
		}
	}
	for _, path := range paths {
		parts := strings.Split(path, "/")
		for i, part := range parts {
			if name, ok := strings.CutPrefix(part, ":"); ok {
				parts[i] = given[name]
			}
		}
		if !slices.Contains(parts[1:], "") {
			return c.at(query, parts[1:]...), nil
		}
	}
	return "", fmt.Errorf("client: %s: a name in the path is missing", paths[len(paths)-1])
}

// addParam adds a parameter of the query.
func addParam(query url.Values, name string, field reflect.Value) {
	if field.Kind() == reflect.Pointer {
		field = field.Elem()
	}
	switch field.Kind() {
	case reflect.Slice:
		for i := range field.Len() {
			query.Add(name, field.Index(i).String())
		}
	case reflect.Bool:
		query.Set(name, map[bool]string{true: "1", false: "0"}[field.Bool()])
	default:
		query.Set(name, fmt.Sprint(field.Interface()))
	}
}
