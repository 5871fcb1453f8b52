package shelldir

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"
)

// bytesText is the form in JSON of a text that is not UTF-8, which strings in JSON are.
type bytesText struct {
	B64 []byte `json:"b64"`
}

// options of Marshal and Unmarshal.
var options = json.JoinOptions(
	json.FormatNilSliceAsNull(true), v1.FormatDurationAsNano(true), jsontext.EscapeForHTML(true),
	jsontext.EscapeForJS(true),
	json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(func(e *jsontext.Encoder, s string) error {
			if utf8.ValidString(s) {
				return json.SkipFunc
			}
			return json.MarshalEncode(e, bytesText{[]byte(s)})
		}),
		json.MarshalToFunc(func(e *jsontext.Encoder, env map[string]string) error {
			var pairs [][2]string
			for name, value := range env {
				pairs = append(pairs, [2]string{name, value})
			}
			return json.MarshalEncode(e, pairs)
		}))),
	json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(func(d *jsontext.Decoder, s *string) error {
			if d.PeekKind() != '{' {
				return json.SkipFunc
			}
			var text bytesText
			err := json.UnmarshalDecode(d, &text)
			*s = string(text.B64)
			return err
		}),
		json.UnmarshalFromFunc(func(d *jsontext.Decoder, env *map[string]string) error {
			var pairs [][2]string
			if err := json.UnmarshalDecode(d, &pairs); err != nil || pairs == nil {
				return err
			}
			*env = map[string]string{}
			for _, pair := range pairs {
				(*env)[pair[0]] = pair[1]
			}
			return nil
		}))))

// Marshal is a value as JSON. A text that is not UTF-8 is {"b64":…}. Variables are a list of names
// and values: names need not be UTF-8 either.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, options) }

// Unmarshal reads what Marshal wrote.
func Unmarshal(b []byte, v any) error { return json.Unmarshal(b, v, options) }
