package openapi

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// types are the types of the wire package, as its source declares them.
type types struct {
	order []string
	named map[string]declared
	enums map[string]list // the constants of string types
}

type declared struct {
	doc  string
	expr ast.Expr
	add  object // what directives add to the schema

	reply string // what a reply of it says: the directive reply
}

// directive begins a comment line that adds a keyword to a schema: //schema:KEYWORD VALUE, with
// the value in JSON. A line //schema:and TEXT continues the value of the line before. Limits that a
// tag can say are tags; see constraints.
const directive = "//schema:"

// readTypes reads the Go files of a folder.
func readTypes(dir string) (*types, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	t := &types{named: map[string]declared{}, enums: map[string]list{}}
	set := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(set, name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if err := t.declare(d); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return t, nil
}

// declare notes types, and the constants of string types. A struct without tags is no JSON.
func (t *types) declare(d ast.Decl) error {
	g, ok := d.(*ast.GenDecl)
	if !ok {
		return nil
	}
	for _, spec := range g.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if e, ok := s.Type.(*ast.StructType); ok && hasNoTags(e) {
				continue
			}
			doc := s.Doc
			if doc == nil {
				doc = g.Doc
			}
			add, err := directives(doc)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name.Name, err)
			}
			t.order = append(t.order, s.Name.Name)
			d := declared{doc: typeText(doc, s.Name.Name), expr: s.Type}
			for _, m := range add {
				if m.name == "reply" {
					d.reply, _ = m.value.(string)
					continue
				}
				d.add = append(d.add, m)
			}
			t.named[s.Name.Name] = d
		case *ast.ValueSpec:
			kind, ok := s.Type.(*ast.Ident)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, v := range s.Values {
				if _, ok := v.(*ast.BasicLit); !ok {
					continue
				}
				if text, err := strconv.Unquote(v.(*ast.BasicLit).Value); err == nil {
					t.enums[kind.Name] = append(t.enums[kind.Name], text)
				}
			}
		}
	}
	return nil
}

// hasNoTags reports whether the struct begins with a field without a tag.
func hasNoTags(e *ast.StructType) bool {
	f := e.Fields.List
	return len(f) > 0 && len(f[0].Names) > 0 && f[0].Tag == nil
}

// directives are the keywords that a comment adds to a schema.
func directives(doc *ast.CommentGroup) (add object, err error) {
	if doc == nil {
		return nil, nil
	}
	var lines []string
	for _, line := range doc.List {
		if rest, ok := strings.CutPrefix(line.Text, directive+"and "); ok && len(lines) > 0 {
			lines[len(lines)-1] += " " + rest
		} else if rest, ok := strings.CutPrefix(line.Text, directive); ok {
			lines = append(lines, rest)
		}
	}
	for _, line := range lines {
		name, text, _ := strings.Cut(line, " ")
		v, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		add.set(name, v)
	}
	return add, nil
}

// docText is a comment with each paragraph on one line.
func docText(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	var lines []string
	for _, paragraph := range strings.Split(strings.TrimSpace(doc.Text()), "\n\n") {
		lines = append(lines, strings.ReplaceAll(paragraph, "\n", " "))
	}
	return strings.Join(lines, "\n\n")
}

// typeText is the comment of a type without its name: "Exit says how a program ended." is "Says how
// a program ended." in the document, and "Lease is the handle" is "The handle".
func typeText(doc *ast.CommentGroup, name string) string {
	text, ok := strings.CutPrefix(docText(doc), name+" ")
	if !ok {
		return text
	}
	for _, verb := range []string{"is ", "are "} {
		text = strings.TrimPrefix(text, verb)
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// schemas are the schemas of all types, in the order of the source.
func (t *types) schemas() (all object, err error) {
	for _, name := range t.order {
		if t.isInput(name) || t.bodyOf(name) != name {
			continue
		}
		s, err := t.schemaOf(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all.set(name, s)
	}
	return all, nil
}

func (t *types) schemaOf(name string) (object, error) {
	d := t.named[name]
	var s object
	switch e := d.expr.(type) {
	case *ast.StructType:
		properties, required, err := t.fields(e)
		if err != nil {
			return nil, err
		}
		s = object{{"type", "object"}, {"description", d.doc}, {"additionalProperties", false}}
		if len(required) > 0 {
			s.set("required", required)
		}
		s.set("properties", properties)
	case *ast.Ident:
		s = object{{"description", d.doc}}
		if e.Name == "string" {
			s = object{{"type", "string"}, {"description", d.doc}, {"enum", t.enums[name]}}
		}
	default:
		inner, err := t.value(d.expr)
		if err != nil {
			return nil, err
		}
		inner.set("description", d.doc)
		s = inner
	}
	for _, m := range d.add {
		s.set(m.name, m.value)
	}
	return s, nil
}

// fields are the properties of a struct, with those of the structs it embeds.
func (t *types) fields(s *ast.StructType) (properties object, required list, err error) {
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 {
			name := f.Type.(*ast.Ident).Name
			inner, names, err := t.fields(t.named[name].expr.(*ast.StructType))
			if err != nil {
				return nil, nil, err
			}
			properties, required = append(properties, inner...), append(required, names...)
			continue
		}
		tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		optional := options != "" || tag.Get("optional") == "true"
		p, err := t.property(f, tag, optional)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		properties.set(name, p)
		if !optional {
			required = append(required, name)
		}
	}
	return properties, required, nil
}

// property is the schema of a field. A pointer that is always there may be null; one that is
// left out may not, unless the tag nullable says otherwise.
func (t *types) property(f *ast.Field, tag reflect.StructTag, optional bool) (object, error) {
	expr, nullable := f.Type, tag.Get("nullable") == "true"
	if star, ok := expr.(*ast.StarExpr); ok {
		expr, nullable = star.X, nullable || !optional && tag.Get("nullable") != "false"
	}
	p, err := t.value(expr)
	if err != nil {
		return nil, err
	}
	if err := constraints(&p, tag); err != nil {
		return nil, err
	}
	if nullable {
		p = orNull(p)
	}
	if text := docText(f.Doc); text != "" {
		p.set("description", text)
	}
	add, err := directives(f.Doc)
	if err != nil {
		return nil, err
	}
	for _, m := range add {
		p.set(m.name, m.value)
	}
	return p, nil
}

func orNull(p object) object {
	if kind, ok := p.get("type").(string); ok {
		p.set("type", list{kind, "null"})
		return p
	}
	return object{{"anyOf", list{p, object{{"type", "null"}}}}}
}

// constraints adds what the tags of a field say: texts, and numbers, in the words of JSON Schema.
func constraints(p *object, tag reflect.StructTag) error {
	for _, name := range []string{"format", "pattern"} {
		if v, ok := tag.Lookup(name); ok {
			p.set(name, v)
		}
	}
	for _, name := range []string{"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"} {
		if v, ok := tag.Lookup(name); ok {
			p.set(name, json.Number(v))
		}
	}
	if v, ok := tag.Lookup("enum"); ok {
		values := list{}
		for _, one := range strings.Split(v, ",") {
			values = append(values, one)
		}
		p.set("enum", values)
	}
	for _, name := range []string{"const", "default"} {
		v, ok := tag.Lookup(name)
		if !ok {
			continue
		}
		if p.get("type") == "string" || p.get("type") == nil {
			p.set(name, v)
			continue
		}
		value, err := parse(v)
		if err != nil {
			return fmt.Errorf("%s %q: %w", name, v, err)
		}
		p.set(name, value)
	}
	return nil
}

// basic are the schemas of Go's own types. Counts of bytes and numbers of events, which may
// be large and are never negative, are uint64.
var basic = map[string]object{
	"string": {{"type", "string"}}, "bool": {{"type", "boolean"}}, "float64": {{"type", "number"}},
	"int": {{"type", "integer"}}, "int64": {{"type", "integer"}},
	"uint64": {{"type", "integer"}, {"format", "int64"}, {"minimum", 0}}, "any": {},
}

// value is the schema of a type.
func (t *types) value(e ast.Expr) (object, error) {
	switch e := e.(type) {
	case *ast.Ident:
		if s, ok := basic[e.Name]; ok {
			return slices.Clone(s), nil
		}
		if _, ok := t.named[e.Name]; ok {
			return refTo("schemas", e.Name), nil
		}
		return nil, fmt.Errorf("there is no type %s", e.Name)
	case *ast.SelectorExpr:
		switch e.X.(*ast.Ident).Name + "." + e.Sel.Name {
		case "time.Time":
			return object{{"type", "string"}, {"format", "date-time"}}, nil
		case "json.RawMessage":
			return object{}, nil
		case "json.Number":
			return object{{"type", "number"}}, nil
		}
	case *ast.StarExpr:
		p, err := t.value(e.X)
		return orNull(p), err
	case *ast.ArrayType:
		if i, ok := e.Elt.(*ast.Ident); ok && i.Name == "byte" {
			return object{{"type", "string"}, {"contentEncoding", "base64"}}, nil
		}
		return t.container("array", "items", e.Elt)
	case *ast.MapType:
		return t.container("object", "additionalProperties", e.Value)
	}
	return nil, fmt.Errorf("no schema for %T", e)
}

// container is an array or map; of any it says nothing about what is in it.
func (t *types) container(kind, member string, elem ast.Expr) (object, error) {
	inner, err := t.value(elem)
	s := object{{"type", kind}}
	if len(inner) > 0 {
		s.set(member, inner)
	}
	return s, err
}

// refTo is a reference to a component.
func refTo(kind, name string) object {
	return object{{"$ref", "#/components/" + kind + "/" + name}}
}
