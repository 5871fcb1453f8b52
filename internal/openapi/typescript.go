package openapi

import (
	"fmt"
	"strings"
)

// TypeScript is a type for each schema of the wire package, for the web page. wireDir is the
// folder of its source.
func TypeScript(wireDir string) ([]byte, error) {
	t, err := readTypes(wireDir)
	if err != nil {
		return nil, err
	}
	schemas, err := t.schemas()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("// Generated from package wire by `go generate ./internal/server`. Do not edit.\n")
	for _, m := range schemas {
		s := m.value.(object)
		b.WriteString("\n" + jsDoc(s, ""))
		if p, ok := s.get("properties").(object); ok {
			fmt.Fprintf(&b, "export interface %s %s\n", m.name, membersOf(s, p))
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

// membersOf is the body of an interface. What is not required may be left out.
func membersOf(s, properties object) string {
	required := map[any]bool{}
	names, _ := s.get("required").(list)
	for _, name := range names {
		required[name] = true
	}
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
		return literal(v)
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

// union is either of several schemas or values.
func union(values list) string {
	var parts []string
	for _, v := range values {
		if s, ok := v.(object); ok {
			parts = append(parts, tsType(s))
		} else {
			parts = append(parts, literal(v))
		}
	}
	return strings.Join(parts, " | ")
}

func literal(v any) string {
	text, err := oneLine(v)
	if err != nil {
		return "unknown"
	}
	return text
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
