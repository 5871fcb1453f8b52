package openapi

import (
	"fmt"
	"go/format"
	"reflect"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// Client is a method of the Go client for each route that is a function of types. Routes that differ in the beginning
// of the path alone, by the suffix of their names, are one method. clientDir is the folder of package client, whose
// types that embed the type of package wire of the same name are the replies.
func Client(routes []httpapi.Route, clientDir string) (text []byte, err error) {
	defer catch(&err)
	withRaw := readTypes(clientDir).order
	var b strings.Builder
	b.WriteString(
		"// Code generated from the routes of the server by `go generate ./internal/server`. DO NOT EDIT.\n\n" +
			"package client\n\nimport (\n\t\"context\"\n\n\t\"github.com/evertty/evertty/wire\"\n)\n",
	)
	var ids []string
	paths := map[string][]string{}
	byID := map[string]httpapi.Route{}
	for _, r := range routes {
		if r.ByHand || r.RawBody != nil || r.Group == "compat" || r.Group == "foreign" {
			continue
		}
		id := strings.TrimSuffix(strings.TrimSuffix(r.ID, "InSession"), "InShell")
		if byID[id].ID == "" || byID[id].Description == "" {
			byID[id] = r
		}
		if paths[id] == nil {
			ids = append(ids, id)
		}
		paths[id] = append(paths[id], r.Path)
	}
	for _, id := range ids {
		slices.SortStableFunc(paths[id], func(a, b string) int { return strings.Count(b, ":") - strings.Count(a, ":") })
		writeMethod(&b, id, byID[id], paths[id], withRaw)
	}
	return format.Source([]byte(b.String()))
}

// writeMethod writes one method. The paths with the most parameters come first.
func writeMethod(b *strings.Builder, id string, r httpapi.Route, paths, withRaw []string) {
	out := "wire." + reflect.TypeOf(r.Replies[0].JSON[0]).Name()
	if name := strings.TrimPrefix(out, "wire."); slices.Contains(withRaw, name) {
		out = name
	}
	name := strings.ToUpper(id[:1]) + id[1:]
	takes, gives := "in wire."+r.In.Name(), "in"
	if r.In.NumField() == 0 {
		takes, gives = "", "wire.Nothing{}"
	}
	fmt.Fprintf(b, "\n// %s is %s %s: %s.\nfunc (a API) %s(ctx context.Context, %s) (%s, error) {\n", name, r.Method,
		paths[len(paths)-1], strings.ToLower(r.Summary[:1])+r.Summary[1:], name, takes, out)
	fmt.Fprintf(b, "\treturn send[%s](ctx, a, route{%q, %t, []string{%s}}, %s)\n}\n", out, r.Method,
		r.BodyText != "",
		`"`+strings.Join(paths, `", "`)+`"`, gives)
}
