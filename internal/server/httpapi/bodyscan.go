package httpapi

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/evertty/evertty/stream"
)

// bodyScan walks a body that is known to be valid JSON and UTF-8 and finds what
// encoding/json would pass over in silence: a field given twice (the last one
// wins there), a field in another spelling (letter case is ignored there), half
// a surrogate pair (it becomes U+FFFD there) and deep nesting.
type bodyScan struct {
	body   []byte
	fields []string // names the outermost object may have; nil: any
	open   []container
}

// container is an array or object that is open at the current byte.
type container struct {
	names map[string]bool // names seen so far; nil in an array
	isKey bool            // the next string is a name
}

// checkBody reports the first thing in body that decoding would hide.
func checkBody(body []byte, fields []string) error {
	s := bodyScan{body: body, fields: fields}
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[':
			if len(s.open) == maxDepth {
				return BadRequest("the body nests deeper than %d levels at %s", maxDepth, position(body, i))
			}
			s.push(body[i] == '{')
		case '}', ']':
			s.open = s.open[:len(s.open)-1]
		case ',':
			top := &s.open[len(s.open)-1]
			top.isKey = top.names != nil
		case '"':
			end := stringEnd(body, i)
			if err := s.text(i, end); err != nil {
				return err
			}
			i = end - 1
		}
	}
	return nil
}

func (s *bodyScan) push(object bool) {
	if !object {
		s.open = append(s.open, container{})
		return
	}
	s.open = append(s.open, container{names: map[string]bool{}, isKey: true})
}

// text checks the string body[start:end], quotes included.
func (s *bodyScan) text(start, end int) error {
	quoted := s.body[start:end]
	if i := stream.LoneSurrogate(quoted); i >= 0 {
		return BadRequest("the text has half a surrogate pair at %s, which is no character; send bytes that are not "+
			"text as data_b64",
			position(s.body, start+i))
	}
	if len(s.open) == 0 || !s.open[len(s.open)-1].isKey {
		return nil
	}
	top := &s.open[len(s.open)-1]
	top.isKey = false
	name := unquote(quoted)
	if len(s.open) == 1 && s.fields != nil && !slices.Contains(s.fields, name) {
		return BadRequest("there is no field %q (%s); the body may have %s", Clip(name), position(s.body, start),
			fieldList(s.fields)).
			With("field", Clip(name))
	}
	if top.names[name] {
		return BadRequest("the field %q is given twice (%s)", Clip(name), position(s.body, start)).With("field",
			Clip(name))
	}
	top.names[name] = true
	return nil
}

// stringEnd returns the index after the string that begins at body[start].
func stringEnd(body []byte, start int) int {
	for i := start + 1; i < len(body); i++ {
		switch body[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(body)
}

func unquote(quoted []byte) string {
	if !bytes.ContainsRune(quoted, '\\') {
		return string(quoted[1 : len(quoted)-1])
	}
	var name string
	if json.Unmarshal(quoted, &name) != nil {
		return string(quoted)
	}
	return name
}
