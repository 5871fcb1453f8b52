package httpapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
)

// misfit finds the value that cannot be decoded into a type: the path to it, as policy.idle_seconds
// or messages[2].role, and the type that is wanted there.
func misfit(raw json.RawMessage, t reflect.Type, path string) (string, reflect.Type) {
	t = pointed(t)
	for name, part := range parts(raw, t) {
		if json.Unmarshal(part.raw, reflect.New(part.t).Interface()) != nil {
			return misfit(part.raw, part.t, pathTo(path, name))
		}
	}
	return path, t
}

// strange finds a field that a type does not have: the path to the object it is in, with the point
// before its name, the name, and the names that are known there.
func strange(raw json.RawMessage, t reflect.Type, path string) (in, name string, known []string, found bool) {
	t = pointed(t)
	var fields map[string]json.RawMessage
	if t.Kind() == reflect.Struct && !decodesItself(t) && json.Unmarshal(raw, &fields) == nil {
		known = fieldNames(reflect.New(t).Interface())
		for name := range fields {
			if !slices.Contains(known, name) {
				if path != "" {
					path += "."
				}
				return path, name, known, true
			}
		}
	}
	for name, part := range parts(raw, t) {
		if in, name, known, found = strange(part.raw, part.t, pathTo(path, name)); found {
			return in, name, known, true
		}
	}
	return "", "", nil, false
}

func pointed(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// decodesItself reports whether a type has a decoding of its own, which is not looked into.
func decodesItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

// part is a value inside another one, with the type that it is decoded into.
type part struct {
	raw json.RawMessage
	t   reflect.Type
}

// parts are what an object, an array or a map consists of, by name or by [index]; nothing of
// another value.
func parts(raw json.RawMessage, t reflect.Type) map[string]part {
	list := map[string]part{}
	if decodesItself(t) {
		return list
	}
	switch t.Kind() {
	case reflect.Struct:
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(raw, &fields) // no object has no parts
		for name, of := range jsonFields(t) {
			if v, given := fields[name]; given {
				list[name] = part{v, of}
			}
		}
	case reflect.Map:
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(raw, &fields)
		for name, v := range fields {
			list[name] = part{v, t.Elem()}
		}
	case reflect.Slice, reflect.Array:
		var items []json.RawMessage
		_ = json.Unmarshal(raw, &items)
		for i, v := range items {
			list["["+strconv.Itoa(i)+"]"] = part{v, t.Elem()}
		}
	}
	return list
}

func pathTo(path, name string) string {
	if path == "" || name[:1] == "[" {
		return path + name
	}
	return path + "." + name
}
