package openapi

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any // what encoding/json takes, or an object or list
}

// list is a JSON array.
type list []any

// set adds a member, or replaces the one of that name.
func (o *object) set(name string, value any) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{name, value})
}

// get is the member of that name, nil without one.
func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// textWidth is the column up to which a value stays on one line.
const textWidth = 100

// writer writes JSON that a person can review: what fits on a line is on one, the rest
// is indented by two spaces.
type writer struct{ bytes.Buffer }

// value writes v; column is where it begins in its line.
func (w *writer) value(v any, indent, column int) error {
	one, err := oneLine(v)
	if err != nil {
		return err
	}
	members, open, end := partsOf(v)
	if members == nil || column+utf8.RuneCountInString(one) <= textWidth {
		w.WriteString(one)
		return nil
	}
	w.WriteString(open)
	for i, m := range members {
		head := strings.Repeat("  ", indent+1)
		if open == "{" {
			name, err := oneLine(m.name)
			if err != nil {
				return err
			}
			head += name + ": "
		}
		if i > 0 {
			w.WriteByte(',')
		}
		w.WriteString("\n" + head)
		if err := w.value(m.value, indent+1, len(head)+len(",")); err != nil {
			return err
		}
	}
	w.WriteString("\n" + strings.Repeat("  ", indent) + end)
	return nil
}

// partsOf are the members of an object or array, nil of anything else and of an empty one.
func partsOf(v any) (members []member, open, end string) {
	switch v := v.(type) {
	case object:
		return v, "{", "}"
	case list:
		for _, item := range v {
			members = append(members, member{value: item})
		}
	}
	return members, "[", "]"
}

// oneLine is v with one space after each colon and comma.
func oneLine(v any) (string, error) {
	members, open, end := partsOf(v)
	switch v.(type) {
	case object, list:
		if _, ok := v.(object); ok {
			open, end = "{", "}"
		}
		parts := make([]string, 0, len(members))
		for _, m := range members {
			text, err := oneLine(m.value)
			if err != nil {
				return "", err
			}
			if open == "{" {
				name, err := oneLine(m.name)
				if err != nil {
					return "", err
				}
				text = name + ": " + text
			}
			parts = append(parts, text)
		}
		return open + strings.Join(parts, ", ") + end, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// parse reads JSON text into objects and lists.
func parse(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return parseValue(d)
}

func parseValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	var o object
	l := list{}
	for d.More() {
		if open == '[' {
			v, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			l = append(l, v)
			continue
		}
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseValue(d)
		if err != nil {
			return nil, err
		}
		o.set(name.(string), v)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if open == '[' {
		return l, nil
	}
	return o, nil
}
