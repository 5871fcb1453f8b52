package httpapi

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/evertty/evertty/stream"

	"github.com/evertty/evertty/wire"
)

// errorSyntax explains why body is not strict JSON.
func errorSyntax(body []byte, err *jsontext.SyntacticError) *Error {
	at := min(int(err.ByteOffset), len(body)-1)
	where := position(body, at)
	r, size := utf8.DecodeRune(body[at:])
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		name := Clip(err.JSONPointer.LastToken())
		return BadRequest("the field %q is given twice (%s)", name, where).WithField(name)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return BadRequest("the body is not JSON at %s: it ends before it is complete", where)
	case r == utf8.RuneError && size == 1:
		return BadRequest("the body is not UTF-8 at %s; send bytes that are not text as data_b64", where)
	case stream.LoneSurrogate(body[at:]) == 0:
		return BadRequest("the text has half a surrogate pair at %s, which is no character; send bytes that are not "+
			"text as data_b64", where)
	}
	return BadRequest("the body is not JSON at %s: %q cannot stand there", where, r)
}

// errorFit explains why valid JSON does not fit the fields of what dst points to.
func errorFit(body []byte, dst any, err *json.SemanticError) *Error {
	path := Clip(pathOf(err.JSONPointer, reflect.TypeOf(dst)))
	at := int(err.ByteOffset)
	if errors.Is(err, json.ErrUnknownName) {
		object, where := "the body", " ("+position(body, at)+")"
		if in := pathOf(err.JSONPointer.Parent(), reflect.TypeOf(dst)); in != "" {
			object, where = strconv.Quote(Clip(in)), ""
		}
		return BadRequest("there is no field %q%s; %s may have %s", path, where, object,
			fieldList(namesOf(err.GoType))).WithField(path)
	}
	if wrong, ok := errors.AsType[*wire.RestoreError](err); ok {
		return BadRequest("the field %q: %v", path, wrong).WithField(path)
	}
	given, value := "", err.JSONValue
	if err.Err == nil || value != nil {
		if kind := err.JSONKind; value == nil && kind != '{' && kind != '[' {
			value, _ = jsontext.NewDecoder(bytes.NewReader(body[at:])).ReadValue()
		}
		given = fmt.Sprintf(", not %s (%s)", Clip(givenName(err)), position(body, at+max(len(value)-1, 0)))
	}
	return BadRequest("the field %q must be %s%s", path, kindName(err.GoType), given).WithField(path)
}

// pathOf writes a JSON pointer into a value of type t as policy.idle_seconds or messages[2].role.
func pathOf(pointer jsontext.Pointer, t reflect.Type) string {
	path := ""
	for name := range pointer.Tokens() {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Slice, reflect.Array:
			path, t = path+"["+name+"]", t.Elem()
			continue
		case reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			for field, of := range jsonFields(t) {
				if field == name {
					t = of
				}
			}
		}
		path += "." + name
	}
	return strings.TrimPrefix(path, ".")
}

// givenName says in words which JSON value does not fit.
func givenName(err *json.SemanticError) string {
	switch err.JSONKind {
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "bool"
	case '0':
		return strings.TrimSuffix("number "+string(err.JSONValue), " ")
	}
	return err.JSONKind.String()
}

// kindName says in words what JSON value a Go type is decoded from.
func kindName(t reflect.Type) string {
	if t == reflect.TypeFor[stdjson.Number]() {
		return "a number"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a string in base64"
		}
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Pointer:
		return kindName(t.Elem())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number that is not negative"
	}
	return "a whole number"
}

// fieldNames lists the JSON names of the struct dst points to, in order; nil when it points to something else.
func fieldNames(dst any) []string { return namesOf(reflect.TypeOf(dst).Elem()) }

func namesOf(t reflect.Type) []string {
	if t.Kind() != reflect.Struct {
		return nil
	}
	names := []string{}
	for name := range jsonFields(t) {
		names = append(names, name)
	}
	return names
}

// jsonFields yields the fields of a struct by their names in JSON.
func jsonFields(t reflect.Type) iter.Seq2[string, reflect.Type] {
	return func(yield func(string, reflect.Type) bool) {
		for _, field := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !field.IsExported() || name == "-" || field.Anonymous && name == "" {
				continue
			}
			if name == "" {
				name = field.Name
			}
			if !yield(name, field.Type) {
				return
			}
		}
	}
}

func fieldList(names []string) string {
	if len(names) == 0 {
		return "no fields"
	}
	return "any of: " + strings.Join(names, ", ")
}

// position names the byte at index i of body as a line and a column, both from
// 1; columns count characters.
func position(body []byte, i int) string {
	before := body[:min(max(i, 0), len(body))]
	line := bytes.Count(before, []byte{'\n'}) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}
