package openapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/server/httpapi"
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
	if i := slices.IndexFunc(*o, func(m member) bool { return m.name == name }); i >= 0 {
		(*o)[i].value = value
		return
	}
	*o = append(*o, member{name, value})
}

// setAll sets all members of another object.
func (o *object) setAll(others object) {
	for _, m := range others {
		o.set(m.name, m.value)
	}
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
func (w *writer) value(v any, indent, column int) {
	members, open, end := partsOf(v)
	if one := oneLine(v); len(members) == 0 || column+utf8.RuneCountInString(one) <= textWidth {
		w.WriteString(one)
		return
	}
	w.WriteString(open)
	for i, m := range members {
		if i > 0 {
			w.WriteByte(',')
		}
		head := strings.Repeat("  ", indent+1) + m.key()
		w.WriteString("\n" + head)
		w.value(m.value, indent+1, len(head)+len(","))
	}
	w.WriteString("\n" + strings.Repeat("  ", indent) + end)
}

// partsOf are the members of an object, or of an array, where they have no names. Of anything else open is "".
func partsOf(v any) (members object, open, end string) {
	switch v := v.(type) {
	case object:
		return v, "{", "}"
	case list:
		for _, item := range v {
			members = append(members, member{value: item})
		}
		return members, "[", "]"
	}
	return nil, "", ""
}

// key is what stands before the value.
func (m member) key() string {
	if m.name == "" {
		return ""
	}
	return oneLine(m.name) + ": "
}

// oneLine is v with one space after each colon and comma.
func oneLine(v any) string {
	members, open, end := partsOf(v)
	if open == "" {
		return string(must(httpapi.Encode(v)))
	}
	parts := make([]string, 0, len(members))
	for _, m := range members {
		parts = append(parts, m.key()+oneLine(m.value))
	}
	return open + strings.Join(parts, ", ") + end
}

// parse reads JSON text into objects and lists.
func parse(text string) any {
	defer within("%s", text)
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return parseValue(d)
}

func parseValue(d *json.Decoder) any {
	switch token := must(d.Token()); token {
	case json.Delim('{'):
		var o object
		for d.More() {
			name := must(d.Token()).(string)
			o.set(name, parseValue(d))
		}
		must(d.Token())
		return o
	case json.Delim('['):
		l := list{}
		for d.More() {
			l = append(l, parseValue(d))
		}
		must(d.Token())
		return l
	default:
		return token
	}
}

// refTo is a reference to a component.
func refTo(kind, name string) object { return object{{"$ref", "#/components/" + kind + "/" + name}} }
