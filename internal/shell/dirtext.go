package shell

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// exact is a text of any bytes in JSON: a string when it is UTF-8, which JSON's strings are, else {"b64":…}.
type exact string

// MarshalJSON is that of json.Marshaler.
func (e exact) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(e)) {
		return json.Marshal(string(e))
	}
	return json.Marshal(map[string]string{"b64": base64.StdEncoding.EncodeToString([]byte(e))})
}

// UnmarshalJSON is that of json.Unmarshaler.
func (e *exact) UnmarshalJSON(text []byte) error {
	if !bytes.HasPrefix(text, []byte("{")) {
		return json.Unmarshal(text, (*string)(e))
	}
	var raw struct {
		B64 []byte `json:"b64"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	*e = exact(raw.B64)
	return nil
}

// exacts and texts convert lists.
func exacts(list []string) []exact {
	var out []exact
	for _, s := range list {
		out = append(out, exact(s))
	}
	return out
}

func texts(list []exact) []string {
	var out []string
	for _, e := range list {
		out = append(out, string(e))
	}
	return out
}

// environ is an environment as a list of name and value: names need not be UTF-8 either.
func environ(env map[string]string) [][2]exact {
	var out [][2]exact
	for name, value := range env {
		out = append(out, [2]exact{exact(name), exact(value)})
	}
	return out
}

// environOf is the environment of a list, nil of none.
func environOf(list [][2]exact) map[string]string {
	if list == nil {
		return nil
	}
	env := map[string]string{}
	for _, pair := range list {
		env[string(pair[0])] = string(pair[1])
	}
	return env
}
