package openapi

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// TypeScript returns a type for each schema of the wire package, and for each object a constant of
// the same name: the shape by which the page's guard checks a message. wireDir is the folder of the
// package's source.
func TypeScript(wireDir string) (text []byte, err error) {
	defer catch(&err)
	schemas := readTypes(wireDir).schemas()
	var b strings.Builder
	b.WriteString("// Generated from package wire by `go generate ./internal/server`. Do not edit.\n")
	b.WriteString("\nimport type { Shape } from \"./guard\";\n")
	for _, m := range schemas {
		s := m.value.(object)
		b.WriteString("\n" + jsDoc(s, ""))
		if p, ok := s.get("properties").(object); ok {
			fmt.Fprintf(&b, "export interface %s %s\n", m.name, membersOf(s, p))
			fmt.Fprintf(&b, "export const %s: Shape<%[1]s> = %s;\n", m.name, shapes{schemas}.ofObject(s, p))
			continue
		}
		fmt.Fprintf(&b, "export type %s = %s;\n", m.name, tsType(s))
	}
	return []byte(b.String()), nil
}

// jsDoc is the description of a schema as a comment, each line of it.
func jsDoc(s object, indent string) string {
	text, _ := s.get("description").(string)
	if text == "" {
		return ""
	}
	text = strings.ReplaceAll(text, "*/", "* /")
	return indent + "/** " + strings.ReplaceAll(text, "\n", "\n"+indent+" * ") + " */\n"
}

// requiredOf has the names of the properties that are always there.
func requiredOf(s object) map[any]bool {
	required := map[any]bool{}
	names, _ := s.get("required").(list)
	for _, name := range names {
		required[name] = true
	}
	return required
}

// membersOf is the body of an interface. What is not required may be left out.
func membersOf(s, properties object) string {
	required := requiredOf(s)
	var b strings.Builder
	b.WriteString("{\n")
	for _, p := range properties {
		field := p.value.(object)
		mark := "?"
		if required[p.name] {
			mark = ""
		}
		fmt.Fprintf(&b, "%s  %s%s: %s;\n", jsDoc(field, "  "), p.name, mark, tsType(field))
	}
	if s.get("additionalProperties") == true {
		b.WriteString("  [key: string]: unknown;\n")
	}
	b.WriteString("}")
	return b.String()
}

// tsType is the type of a schema. Limits have no types.
func tsType(s object) string {
	if ref, ok := s.get("$ref").(string); ok {
		return ref[strings.LastIndexByte(ref, '/')+1:]
	}
	if v := s.get("const"); v != nil {
		return oneLine(v)
	}
	for _, name := range []string{"enum", "oneOf", "anyOf"} {
		if values, ok := s.get(name).(list); ok && s.get("properties") == nil {
			return union(values)
		}
	}
	switch kind := s.get("type").(type) {
	case list:
		var all list
		for _, one := range kind {
			part := append(object{}, s...)
			part.set("type", one)
			all = append(all, part)
		}
		return union(all)
	case string:
		return tsKind(kind, s)
	}
	return "unknown"
}

// shapes writes the shapes of schemas, in the notation of webui/src/api/guard.ts.
type shapes struct{ schemas object }

// ofObject is the shape of an object with these properties.
func (w shapes) ofObject(s, properties object) string {
	required := requiredOf(s)
	fields := make([]string, 0, len(properties))
	for _, p := range properties {
		shape, missing := w.of(p.value.(object))
		if missing == "" && !required[p.name] {
			missing = "undefined"
		}
		if missing != "" && !strings.HasPrefix(shape, "[") && !strings.HasPrefix(shape, "{") {
			shape = "[" + shape + ", " + missing + "]"
		}
		fields = append(fields, p.name+": "+shape)
	}
	return "{ " + strings.Join(fields, ", ") + " }"
}

// of is the shape of a schema, and "null" for missing where the value may be null.
func (w shapes) of(s object) (shape, missing string) {
	if one, ok := nullable(s); ok {
		shape, _ = w.of(one)
		return shape, "null"
	}
	if ref, ok := s.get("$ref").(string); ok {
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		target, _ := w.schemas.get(name).(object)
		if target.get("properties") != nil {
			return "() => " + name, ""
		}
		return w.of(target)
	}
	switch s.get("type") {
	case "string":
		return `""`, ""
	case "integer", "number":
		return "0", ""
	case "boolean":
		return "false", ""
	case "array":
		items, _ := s.get("items").(object)
		inner, _ := w.of(items)
		return "[" + inner + "]", ""
	case "object":
		values, _ := s.get("additionalProperties").(object)
		inner, _ := w.of(values)
		return `{ "": ` + inner + " }", ""
	}
	return "null", ""
}

// nullable returns the schema of what a value is when it is not null, if it may be null.
func nullable(s object) (object, bool) {
	null := object{{"type", "null"}}
	if either, ok := s.get("anyOf").(list); ok && len(either) == 2 && reflect.DeepEqual(either[1], null) {
		return either[0].(object), true
	}
	kinds, ok := s.get("type").(list)
	if !ok || len(kinds) != 2 || kinds[1] != "null" {
		return nil, false
	}
	one := slices.Clone(s)
	one.set("type", kinds[0])
	return one, true
}

// union is either of several schemas or values.
func union(values list) string {
	var parts []string
	for _, v := range values {
		if s, ok := v.(object); ok {
			parts = append(parts, tsType(s))
		} else {
			parts = append(parts, oneLine(v))
		}
	}
	return strings.Join(parts, " | ")
}

func tsKind(kind string, s object) string {
	switch kind {
	case "integer", "number":
		return "number"
	case "array":
		items, _ := s.get("items").(object)
		inner := tsType(items)
		if strings.Contains(inner, " | ") {
			inner = "(" + inner + ")"
		}
		return inner + "[]"
	case "object":
		values, _ := s.get("additionalProperties").(object)
		return "{ [key: string]: " + tsType(values) + " }" // a type of ours is called Record
	}
	return kind // string, boolean, null
}
