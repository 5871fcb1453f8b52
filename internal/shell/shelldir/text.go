package shelldir

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// Text is a text of any bytes in JSON: a string when it is UTF-8, which JSON's strings are, else {"b64":…}.
type Text string

// MarshalJSON is that of json.Marshaler.
func (e Text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(e)) {
		return json.Marshal(string(e))
	}
	return json.Marshal(map[string]string{"b64": base64.StdEncoding.EncodeToString([]byte(e))})
}

// UnmarshalJSON is that of json.Unmarshaler.
func (e *Text) UnmarshalJSON(text []byte) error {
	if !bytes.HasPrefix(text, []byte("{")) {
		return json.Unmarshal(text, (*string)(e))
	}
	var raw struct {
		B64 []byte `json:"b64"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	*e = Text(raw.B64)
	return nil
}

// Texts and texts convert lists.
func Texts(list []string) []Text {
	var out []Text
	for _, s := range list {
		out = append(out, Text(s))
	}
	return out
}

// Strings is the list that Texts has made texts of.
func Strings(list []Text) []string {
	var out []string
	for _, e := range list {
		out = append(out, string(e))
	}
	return out
}

// Pairs is an environment as a list of name and value: names need not be UTF-8 either.
func Pairs(env map[string]string) [][2]Text {
	var out [][2]Text
	for name, value := range env {
		out = append(out, [2]Text{Text(name), Text(value)})
	}
	return out
}

// PairsMap is the environment of a list, nil of none.
func PairsMap(list [][2]Text) map[string]string {
	if list == nil {
		return nil
	}
	env := map[string]string{}
	for _, pair := range list {
		env[string(pair[0])] = string(pair[1])
	}
	return env
}
