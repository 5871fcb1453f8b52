package conversation

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// fields is a JSON object that is read tolerantly, as Loader reads its files: a field of another type
// counts as missing.
type fields map[string]json.RawMessage

// object reads raw when it is an object; else it is nil, which has no fields.
func object(raw json.RawMessage) fields {
	var f fields
	if json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f
}

// IsObject reports whether raw is a JSON object.
func IsObject(raw json.RawMessage) bool { return object(raw) != nil }

// as reads a field of type T; ok is false for null, another type and none.
func as[T any](f fields, key string) (v T, ok bool) {
	raw := f[key]
	if len(raw) == 0 || string(raw) == "null" {
		return v, false
	}
	return v, json.Unmarshal(raw, &v) == nil
}

// text is a string as it was given, or missing when it is blank.
func (f fields) text(key, missing string) string {
	if s, ok := as[string](f, key); ok && !blank(s) {
		return s
	}
	return missing
}

// content is a string as it was given, blank or not.
func (f fields) content(key string) string {
	s, _ := as[string](f, key)
	return s
}

// maybe is a text that may be null; a blank one is.
func (f fields) maybe(key string) *string {
	s, _ := as[string](f, key)
	return unblank(&s)
}

// texts are the strings of a list that are not blank.
func (f fields) texts(key string) []string {
	list := []string{}
	for raw := range f.elements(key) {
		var s *string
		if json.Unmarshal(raw, &s) == nil && s != nil {
			list = append(list, *s)
		}
	}
	return unblanks(list)
}

func (f fields) truth(key string) bool {
	b, _ := as[bool](f, key)
	return b
}

// number is a number as it was written.
func (f fields) number(key string) *json.Number {
	raw := f[key]
	if len(raw) == 0 || !isNumber(raw) {
		return nil
	}
	n := json.Number(raw)
	return &n
}

// count is a whole number from 0, also when it is written as 3.0 or 3e2. Others are 0, and ok is
// false.
func (f fields) count(key string) (n int64, ok bool) {
	raw := f[key]
	if len(raw) == 0 || !isNumber(raw) {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return max(n, 0), n >= 0
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || x < 0 || x != math.Trunc(x) || x > 1<<53 {
		return 0, false
	}
	return int64(x), true
}

// elements yields the elements of a list one by one: many small ones take many times their text
// together.
func (f fields) elements(key string) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		d := json.NewDecoder(bytes.NewReader(f[key]))
		if begin, err := d.Token(); err != nil || begin != json.Delim('[') {
			return
		}
		for d.More() {
			var raw json.RawMessage
			if d.Decode(&raw) != nil || !yield(raw) {
				return
			}
		}
	}
}

// listOf converts the elements of a list that are objects; never nil.
func listOf[T any](f fields, key string, of func(fields) T) []T {
	made := []T{}
	for raw := range f.elements(key) {
		if raw[0] == '{' {
			made = append(made, of(object(raw)))
		}
	}
	return made
}

// others are the fields that are not among known; nil when there are none.
func (f fields) others(known []string) map[string]json.RawMessage {
	var rest map[string]json.RawMessage
	for key, raw := range f {
		if slices.Contains(known, key) {
			continue
		}
		if rest == nil {
			rest = map[string]json.RawMessage{}
		}
		rest[key] = raw
	}
	return rest
}

// each converts every element of a list; never nil.
func each[T, U any](list []T, of func(T) U) []U {
	made := make([]U, len(list))
	for i, v := range list {
		made[i] = of(v)
	}
	return made
}

func isNumber(raw json.RawMessage) bool { return raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9' }

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// unblank is nil for nil and for a blank text.
func unblank(s *string) *string {
	if s == nil || blank(*s) {
		return nil
	}
	return s
}

// unblanks are the texts that are not blank, in a list that is not nil and not the given one.
func unblanks(list []string) []string {
	kept := make([]string, 0, len(list))
	for _, s := range list {
		if !blank(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// marshal is json.Marshal that leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// sorted is the JSON of v with the keys of all objects in it sorted and numbers as they were given.
func sorted(v any) (json.RawMessage, error) {
	b, err := marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	return marshal(tree)
}
