package openapi

import (
	"go/ast"
	"reflect"
	"strings"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// field is a field of a struct, or of one that it embeds: a parameter of a request or a member of JSON.
type field struct {
	*ast.Field
	tag      reflect.StructTag
	name, in string // of a parameter; in is "" for a member
	from     string // the embedded type that it comes from, "" for the struct itself
	absent   bool   // the embedded type is a pointer, which may be nil
}

// fields are the fields of a type, none when it is no struct.
func (t *types) fields(of string) (all []field) {
	s, ok := t.named[of].expr.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 {
			star, absent := f.Type.(*ast.StarExpr)
			if absent {
				f = &ast.Field{Type: star.X}
			}
			from := f.Type.(*ast.Ident).Name
			for _, inner := range t.fields(from) {
				inner.from, inner.absent = from, absent
				all = append(all, inner)
			}
			continue
		}
		one := field{Field: f, tag: reflect.StructTag(strings.Trim(f.Tag.Value, "`"))}
		for _, in := range httpapi.ParamPlaces {
			if name, ok := one.tag.Lookup(in); ok {
				one.name, one.in = strings.Replace(name, "*", "file", 1), in
			}
		}
		if one.in != "" || one.tag.Get("json") != "-" {
			all = append(all, one)
		}
	}
	return all
}

// isInput reports whether a type has parameters and no member.
func (t *types) isInput(name string) bool {
	all := t.fields(name)
	for _, f := range all {
		if f.in == "" {
			return false
		}
	}
	return len(all) > 0
}

// bodyOf is the name of the type whose members are the body of an input: its own, or the one that it embeds beside
// parameters.
func (t *types) bodyOf(name string) string {
	body, params := "", false
	for _, f := range t.fields(name) {
		switch {
		case f.in != "":
			params = true
		case f.from == "" || body != "" && body != f.from:
			return name
		default:
			body = f.from
		}
	}
	if !params || body == "" {
		return name
	}
	return body
}

// parameter is a part of a path, a query or the header of requests.
type parameter struct {
	name, in  string
	component string // its name in the document
	limited   bool   // some values of its type are not allowed
	doc       object
}

// params are the parameters that a type has, with those of the types that it embeds.
func (t *types) params(of string) (all []parameter) {
	for _, f := range t.fields(of) {
		if f.in != "" {
			all = append(all, t.param(f))
		}
	}
	return all
}

func (t *types) param(f field) parameter {
	defer within("%s", f.name)
	schema := t.paramSchema(f)
	add := directives(f.Doc)
	if add.get("oneOf") != nil {
		schema = object{}
	}
	schema.setAll(add)
	p := parameter{name: f.name, in: f.in, component: f.tag.Get("param"), doc: object{{"name", f.name}, {"in", f.in}}}
	if p.component == "" {
		p.component = f.name
	}
	if f.in == "path" {
		p.doc.set("required", true)
	}
	p.doc = append(p.doc, member{"description", docText(f.Doc)}, member{"schema", schema})
	if example := f.tag.Get("example"); example != "" {
		p.doc.set("example", example)
	}
	kind, _ := schema.get("type").(string)
	p.limited = kind != "string" || schema.get("enum") != nil
	return p
}

// paramSchema is the schema of a parameter: a switch is 0 or 1.
func (t *types) paramSchema(f field) (s object) {
	expr := f.Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	switch i, _ := expr.(*ast.Ident); {
	case i != nil && i.Name == "bool":
		s = object{{"type", "string"}, {"enum", list{"0", "1", "false", "true"}}, {"default", "0"}}
	case i != nil && i.Name == "uint64":
		s = object{{"type", "integer"}, {"minimum", 0}}
	default:
		s = t.value(expr)
	}
	limit(&s, f.tag)
	return s
}
