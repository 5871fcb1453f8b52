package openapi

import (
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// operation is what the document says about a route of types.
func (g *generator) operation(r httpapi.Route) (object, error) {
	op := object{{"tags", list{r.Group}}, {"operationId", r.ID}, {"summary", r.Summary}}
	if r.ID == "" || r.Summary == "" || !slices.ContainsFunc(tags, func(t [2]string) bool { return t[0] == r.Group }) {
		return nil, fmt.Errorf("it has the name %q, the summary %q and the group %q", r.ID, r.Summary, r.Group)
	}
	if r.Description != "" {
		op.set("description", r.Description)
	}
	in, err := g.types.params(r.In.Name())
	if err != nil {
		return nil, err
	}
	var params list
	limited := false
	for _, p := range in {
		if p.in == "path" {
			continue
		}
		limited = limited || p.limited
		if err := g.use(p); err != nil {
			return nil, err
		}
		params = append(params, refTo("parameters", p.component()))
	}
	if params != nil {
		op.set("parameters", params)
	}
	if s := securityOf(r); s != nil {
		op.set("security", s)
	}
	if body := g.bodyOf(r); body != "" {
		op.set("requestBody", object{{"description", r.BodyText}, {"required", !r.MayEmpty},
			{"content", object{{"application/json", object{{"schema", refTo("schemas", body)}}}}}})
	}
	responses, err := g.responsesOf(r, limited)
	op.set("responses", responses)
	return op, err
}

// use adds a parameter to the document. One that is there already has to be the same.
func (g *generator) use(p parameter) error {
	if is, ok := g.params[p.component()]; ok && !reflect.DeepEqual(is, p) {
		return fmt.Errorf("two parameters are called %s in the document: give one the tag param", p.component())
	} else if !ok {
		g.order = append(g.order, p.component())
	}
	g.params[p.component()] = p
	return nil
}

// bodyOf is the schema of a route's body, "" without one.
func (g *generator) bodyOf(r httpapi.Route) string {
	switch {
	case r.BodyText == "":
		return ""
	case r.RawBody != nil:
		return typeName(r.RawBody)
	case g.types.isInput(r.In.Name()):
		return "Nothing"
	}
	return g.types.bodyOf(r.In.Name())
}

// bodyOf is the name of the type whose members are the body of an input: its own, or the one that it embeds beside
// parameters.
func (t *types) bodyOf(name string) string {
	s, ok := t.named[name].expr.(*ast.StructType)
	if params, err := t.params(name); !ok || err != nil || len(params) == 0 {
		return name
	}
	body := ""
	for _, f := range s.Fields.List {
		if len(f.Names) > 0 {
			if p, err := t.param(f); err != nil || p.name == "" {
				return name
			}
		} else if inner := f.Type.(*ast.Ident).Name; !t.isInput(inner) {
			body += inner
		}
	}
	if _, ok := t.named[body]; !ok {
		return name
	}
	return body
}

// responsesOf are the responses of a route by status.
func (g *generator) responsesOf(r httpapi.Route, limited bool) (o object, err error) {
	names := map[int]string{}
	for _, reply := range r.Replies {
		names[reply.Status] = g.replyTo(reply, r.ByHand)
	}
	refusals, err := g.refusalsOf(r, limited)
	if err != nil {
		return nil, err
	}
	maps.Copy(names, refusals)
	for _, status := range slices.Sorted(maps.Keys(names)) {
		o.set(fmt.Sprint(status), refTo("responses", names[status]))
	}
	return o, nil
}

// replyTo is the name of a reply in the document.
func (g *generator) replyTo(reply httpapi.Reply, byHand bool) string {
	name, text := reply.Name, reply.Text
	if len(reply.JSON) > 0 && name == "" {
		name = typeName(reply.JSON[0])
		if text == "" {
			text = g.types.named[name].reply
		}
		switch reply.Status {
		case http.StatusCreated:
			name += "Created"
		case http.StatusAccepted:
			name += "Accepted"
		}
	}
	r := response{
		name:       name,
		status:     reply.Status,
		text:       text,
		json:       reply.JSON,
		compressed: !byHand,
		events:     eventsOf(reply.Events),
		commands:   eventsOf(reply.Commands),
	}
	for _, h := range reply.Headers {
		r.headers = append(r.headers, header{name: h.Name, text: h.Text, schema: h.Schema, required: h.Required})
	}
	for _, m := range reply.Media {
		r.other = append(r.other, content{m.Type, m.Schema, m.Example})
	}
	g.responses[name] = r
	if !slices.Contains(g.given, name) {
		g.given = append(g.given, name)
	}
	return name
}

func eventsOf(all []wire.EventType) (list []event) {
	for _, e := range all {
		list = append(list, event{e.Name, e.Value})
	}
	return list
}

// refusalsOf are the refusals of a route, as names by status: those of its sentinels, and those that follow from its
// types. limited says that a parameter may have a value that is not allowed.
func (g *generator) refusalsOf(r httpapi.Route, limited bool) (map[int]string, error) {
	codes := map[int][]string{}
	add := func(status int, code string) {
		if !slices.Contains(codes[status], code) {
			codes[status] = append(codes[status], code)
		}
	}
	if limited || r.BodyText != "" || r.Method != http.MethodGet || strings.Contains(r.Path, ":sid") {
		add(http.StatusBadRequest, "VALIDATION")
	}
	if r.Method != http.MethodGet {
		add(http.StatusRequestEntityTooLarge, "TOO_LARGE")
		add(http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE")
	}
	for _, sentinel := range r.Refuses {
		row, ok := httpapi.RowOf(sentinel)
		if !ok {
			return nil, fmt.Errorf("%v is not in the table of errors", sentinel)
		}
		add(row.Status, row.Code)
	}
	names := map[int]string{}
	for status, list := range codes {
		if status == http.StatusForbidden {
			list = append(list, "FORBIDDEN_HOST", "FORBIDDEN_ORIGIN", "READ_ONLY", "DENIED") // anybody may get them
		}
		names[status] = g.refusalWith(r, status, list)
	}
	for _, name := range implied {
		if isOpen(r) && (name == "Unauthorized" || name == "TooMany") {
			continue
		}
		if status := g.responses[name].status; names[status] == "" {
			names[status] = name
		}
	}
	return names, nil
}

// refusalWith is the name of the refusal with exactly these codes: one that is described for a sentinel of the route,
// else for all. One that nobody has described has the texts of its codes.
func (g *generator) refusalWith(r httpapi.Route, status int, codes []string) string {
	found := ""
	for _, row := range refusals {
		if row.status != status || !sameWords(strings.Fields(row.codes), codes) ||
			row.limit != 0 && row.limit != r.Limit {
			continue
		}
		for _, err := range row.of {
			if slices.Contains(r.Refuses, err) {
				return row.name
			}
		}
		if row.of == nil && (found == "" || row.limit == r.Limit) {
			found = row.name
		}
	}
	if found != "" {
		return found
	}
	row := g.composed(status, codes)
	g.responses[row.name] = row
	if !slices.Contains(g.given, row.name) {
		g.given = append(g.given, row.name)
	}
	return row.name
}

// composed is a refusal with the texts of its codes.
func (g *generator) composed(status int, codes []string) response {
	row := response{name: "Refused", status: status, codes: strings.Join(codes, " ")}
	for _, code := range codes {
		for part := range strings.SplitSeq(strings.ToLower(code), "_") {
			row.name += strings.ToUpper(part[:1]) + part[1:]
		}
		text := code + "."
		for _, one := range slices.Backward(refusals) {
			if s := one.about(code); one.status == status && s != "" {
				text = s
				if strings.HasPrefix(one.example, code+": ") {
					row.example, row.details = one.example, one.details
				}
			}
		}
		row.text = strings.TrimSpace(row.text + " " + text)
	}
	return row
}

// about is what the text of a refusal says about one of its codes, "" when it does not.
func (r response) about(code string) string {
	at := strings.Index(" "+r.text, " "+code+": ")
	if at < 0 {
		return ""
	}
	text := r.text[at:]
	for other := range strings.FieldsSeq(r.codes) {
		if end := strings.Index(text, " "+other+": "); end > 0 {
			text = text[:end]
		}
	}
	return text
}

func sameWords(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// isInput reports whether a type has parameters and no member of a body of its own.
func (t *types) isInput(name string) bool {
	d, ok := t.named[name].expr.(*ast.StructType)
	if !ok {
		return false
	}
	properties, _, err := t.fields(d)
	params, wrong := t.params(name)
	return errors.Join(err, wrong) == nil && len(properties) == 0 && len(params) > 0
}

// params are the parameters that a type has, with those of the types that it embeds.
func (t *types) params(name string) (all []parameter, err error) {
	d, ok := t.named[name].expr.(*ast.StructType)
	if !ok {
		return nil, nil
	}
	for _, f := range d.Fields.List {
		if len(f.Names) == 0 {
			inner, err := t.params(f.Type.(*ast.Ident).Name)
			if err != nil {
				return nil, err
			}
			all = append(all, inner...)
			continue
		}
		p, err := t.param(f)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", name, f.Names[0].Name, err)
		}
		if p.name != "" {
			all = append(all, p)
		}
	}
	return all, nil
}

// param is the parameter that a field is, without a name for a field of the body.
func (t *types) param(f *ast.Field) (p parameter, err error) {
	if f.Tag == nil {
		return p, nil
	}
	tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
	for _, in := range httpapi.ParamPlaces {
		if name, ok := tag.Lookup(in); ok {
			p.name, p.in = name, in
		}
	}
	if p.name == "" {
		return p, nil
	}
	if p.name == "*" {
		p.name = "file"
	}
	schema, err := t.paramSchema(f, tag)
	if err != nil {
		return p, err
	}
	add, err := directives(f.Doc)
	if err != nil {
		return p, err
	}
	if one := add.get("oneOf"); one != nil {
		schema = object{}
	}
	for _, m := range add {
		schema.set(m.name, m.value)
	}
	p.as, p.text, p.example = tag.Get("param"), docText(f.Doc), tag.Get("example")
	kind, _ := schema.get("type").(string)
	p.limited = kind != "string" || schema.get("enum") != nil
	p.schema, err = oneLine(schema)
	return p, err
}

// paramSchema is the schema of a parameter: a switch is 0 or 1.
func (t *types) paramSchema(f *ast.Field, tag reflect.StructTag) (object, error) {
	expr := f.Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if i, ok := expr.(*ast.Ident); ok && i.Name == "bool" {
		otherwise := "0"
		if v := tag.Get("default"); v != "" {
			otherwise = v
		}
		return object{{"type", "string"}, {"enum", list{"0", "1", "false", "true"}}, {"default", otherwise}}, nil
	}
	s, err := t.value(expr)
	if err != nil {
		return nil, err
	}
	if i, ok := expr.(*ast.Ident); ok && i.Name == "uint64" {
		s = object{{"type", "integer"}, {"minimum", 0}}
	}
	return s, constraints(&s, tag)
}
