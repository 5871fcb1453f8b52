package openapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	gotypes "go/types"
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
	add  object // what directives add to the schema, and as "reply" what a reply of it says
}

// directive begins a comment line that adds a keyword to a schema: //schema:KEYWORD VALUE, with
// the value in JSON. A line //schema:and TEXT continues the value of the line before. Limits that a
// tag can say are tags; see limits.
const directive = "//schema:"

// readTypes reads the Go files of a folder.
func readTypes(dir string) *types {
	t := &types{named: map[string]declared{}, enums: map[string]list{}}
	set := token.NewFileSet()
	for _, name := range must(filepath.Glob(filepath.Join(dir, "*.go"))) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, d := range must(parser.ParseFile(set, name, nil, parser.ParseComments)).Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				t.declare(g)
			}
		}
	}
	return t
}

// declare notes types, and the constants of string types. A struct without tags is no JSON.
func (t *types) declare(g *ast.GenDecl) {
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
			t.order = append(t.order, s.Name.Name)
			t.named[s.Name.Name] = declared{typeText(doc, s.Name.Name), s.Type, directives(doc)}
		case *ast.ValueSpec:
			kind, ok := s.Type.(*ast.Ident)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, v := range s.Values {
				if v, ok := v.(*ast.BasicLit); ok && v.Kind == token.STRING {
					t.enums[kind.Name] = append(t.enums[kind.Name], must(strconv.Unquote(v.Value)))
				}
			}
		}
	}
}

// hasNoTags reports whether the struct begins with a field without a tag.
func hasNoTags(e *ast.StructType) bool {
	f := e.Fields.List
	return len(f) > 0 && len(f[0].Names) > 0 && f[0].Tag == nil
}

// directives are the keywords that a comment adds to a schema.
func directives(doc *ast.CommentGroup) (add object) {
	if doc == nil {
		return nil
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
		if name == "ref" {
			name = "$ref" // package go/ast knows no directive with a $
		}
		add.set(name, parse(text))
	}
	return add
}

// docText is a comment with each paragraph on one line.
func docText(doc *ast.CommentGroup) string {
	paragraphs := strings.Split(strings.TrimSpace(doc.Text()), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
	}
	return strings.Join(paragraphs, "\n\n")
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
func (t *types) schemas() (all object) {
	for _, name := range t.order {
		if !t.isInput(name) && t.bodyOf(name) == name {
			all.set(name, t.schemaOf(name))
		}
	}
	return all
}

func (t *types) schemaOf(name string) (s object) {
	defer within("%s", name)
	d := t.named[name]
	switch e := d.expr.(type) {
	case *ast.StructType:
		properties, required := t.properties(name)
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
		if d.add.get("oneOf") == nil { // else it has a JSON of its own
			s = t.value(d.expr)
		}
		s.set("description", d.doc)
	}
	s.setAll(slices.DeleteFunc(slices.Clone(d.add), func(m member) bool { return m.name == "reply" }))
	return s
}

// properties are the members of a struct, and the names of those that are always there.
func (t *types) properties(of string) (properties object, required list) {
	for _, f := range t.fields(of) {
		if f.in != "" {
			continue
		}
		name, options, _ := strings.Cut(f.tag.Get("json"), ",")
		optional := options != "" || f.tag.Get("optional") == "true"
		properties.set(name, t.property(f, optional))
		if !optional && !f.absent {
			required = append(required, name)
		}
	}
	return properties, required
}

// property is the schema of a field. A pointer that is always there may be null; one that is
// left out may not, unless the tag nullable says otherwise.
func (t *types) property(f field, optional bool) object {
	expr, nullable := f.Type, f.tag.Get("nullable") == "true"
	if star, ok := expr.(*ast.StarExpr); ok {
		expr, nullable = star.X, nullable || !optional && f.tag.Get("nullable") != "false"
	}
	p := t.value(expr)
	limit(&p, f.tag)
	if nullable {
		p = orNull(p)
	}
	if text := docText(f.Doc); text != "" {
		p.set("description", text)
	}
	p.setAll(directives(f.Doc))
	return p
}

func orNull(p object) object {
	if kind, ok := p.get("type").(string); ok {
		p.set("type", list{kind, "null"})
		return p
	}
	return object{{"anyOf", list{p, object{{"type", "null"}}}}}
}

// limits are the tags of a field that are words of JSON Schema.
var limits = []string{"format", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
	"enum", "const", "default"}

// limit adds what the tags of a field say.
func limit(p *object, tag reflect.StructTag) {
	kind := p.get("type")
	isText := kind == "string" || kind == nil
	for _, name := range limits {
		text, ok := tag.Lookup(name)
		switch {
		case !ok:
		case name == "enum":
			values := list{}
			for one := range strings.SplitSeq(text, ",") {
				values = append(values, one)
			}
			p.set(name, values)
		case name == "format", name == "pattern", isText && (name == "const" || name == "default"):
			p.set(name, text)
		default:
			p.set(name, parse(text))
		}
	}
}

// basic are the schemas of Go's own types. Counts of bytes and numbers of events, which may
// be large and are never negative, are uint64.
var basic = map[string]object{
	"string": {{"type", "string"}}, "bool": {{"type", "boolean"}}, "float64": {{"type", "number"}},
	"int": {{"type", "integer"}}, "int64": {{"type", "integer"}},
	"uint64": {{"type", "integer"}, {"format", "int64"}, {"minimum", 0}}, "any": {},
	"time.Time": {{"type", "string"}, {"format", "date-time"}}, "json.RawMessage": {},
	"json.Number": {{"type", "number"}}, "[]byte": {{"type", "string"}, {"contentEncoding", "base64"}},
}

// value is the schema of a type.
func (t *types) value(e ast.Expr) object {
	name := gotypes.ExprString(e)
	if s, ok := basic[name]; ok {
		return slices.Clone(s)
	}
	switch e := e.(type) {
	case *ast.Ident:
		if _, ok := t.named[name]; ok {
			return refTo("schemas", name)
		}
	case *ast.StarExpr:
		return orNull(t.value(e.X))
	case *ast.ArrayType:
		return t.container("array", "items", e.Elt)
	case *ast.MapType:
		return t.container("object", "additionalProperties", e.Value)
	}
	fail("no schema for %T %s", e, name)
	return nil
}

// container is an array or map; of any it says nothing about what is in it.
func (t *types) container(kind, member string, elem ast.Expr) object {
	s := object{{"type", kind}}
	if inner := t.value(elem); len(inner) > 0 {
		s.set(member, inner)
	}
	return s
}
