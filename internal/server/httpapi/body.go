package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/stream"
)

const (
	// BodyTimeout is how long a request may take to send its body; streams and
	// waits only read it at the beginning.
	BodyTimeout = 60 * time.Second
	// MaxBody bounds a JSON body, in bytes: a paste of a large file fits, and
	// a request cannot make the server hold more.
	MaxBody = 1 << 20
	// maxDrain is how much of a larger body is read and thrown away so that the
	// refusal reaches a client that only reads when it has written, in bytes.
	maxDrain = 8 << 20
	// maxValues bounds the values of a body, of which an object counts objectValues, as they are dear in memory: 16 MiB
	// of messages have fewer when one has 80 bytes.
	maxValues    = 4 << 20
	objectValues = 16
	// maxKeys bounds the keys of one object, which is decoded as a whole: some 300 bytes each.
	maxKeys = 1 << 16
	// maxDepth bounds how deeply arrays and objects may nest; no request of
	// ours needs more than four levels.
	maxDepth = 32
)

// Bind decodes the request's JSON object into *dst, a struct.
//
// It is strict, because input has to arrive as it was meant: the media type is
// application/json (415, also without a body: a foreign page can send every
// type but this one), at most MaxBody bytes (413), one object of known fields,
// each given once and spelled exactly, with values of the right type, and text
// that is Unicode (400 VALIDATION, saying where). On an error *dst is unspecified.
func Bind[T any](c echo.Context, dst *T) error { return BindUpTo(c, dst, MaxBody, false) }

// BindOptional is bind for requests whose body may be empty, which leaves *dst
// as it is.
func BindOptional[T any](c echo.Context, dst *T) error { return BindUpTo(c, dst, MaxBody, true) }

// NoBody refuses a body of a call that has none, but for an empty object: what somebody sends is
// meant to have an effect.
func NoBody(c echo.Context) error {
	if c.Request().ContentLength == 0 {
		return nil
	}
	if c.Request().ContentLength < 0 && len(c.Request().Header.Values(echo.HeaderContentType)) == 0 {
		return nil // a client that did not know whether it had one; nothing is read of it
	}
	return BindOptional(c, &struct{}{})
}

// BindUpTo is bind, or BindOptional, with another bound of the body, in bytes.
func BindUpTo(c echo.Context, dst any, limit int64, optional bool) error {
	if err := CheckMediaType(c.Request()); err != nil {
		return err
	}
	body, err := ReadBody(c, limit)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		if optional {
			return nil
		}
		return BadRequest("the body is empty; a JSON object is needed, with %s", fieldList(fieldNames(dst)))
	}
	return decodeStrict(body, dst)
}

// CheckMediaType refuses everything but one Content-Type of application/json,
// in UTF-8 when a charset is named.
func CheckMediaType(r *http.Request) error {
	given := r.Header.Values(echo.HeaderContentType)
	if len(given) != 1 {
		return errorMediaType(strings.Join(given, ", "))
	}
	media, params, err := mime.ParseMediaType(given[0])
	charset, named := params["charset"]
	if err != nil || media != echo.MIMEApplicationJSON || named && !strings.EqualFold(charset, "utf-8") {
		return errorMediaType(given[0])
	}
	return nil
}

// errorMediaType is 415 for a Content-Type that is not JSON.
func errorMediaType(given string) *Error {
	return NewError(http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE",
		"the request needs the header Content-Type: application/json, not %q", Clip(given))
}

// ReadBody reads a body of at most limit bytes and maxValues values. Errors: 413, for limit through
// *http.MaxBytesError, 400 for one that ends early.
func ReadBody(c echo.Context, limit int64) ([]byte, error) {
	r := c.Request()
	raw := r.Body
	if r.ContentLength > limit+maxDrain {
		c.Response().Header().Set(echo.HeaderConnection, "close")
		return nil, errorTooLarge(limit)
	}
	whole := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), limit)+bytes.MinRead))
	_, err := whole.ReadFrom(http.MaxBytesReader(c.Response().Writer, raw, limit))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		// A client that is still writing when the connection closes never reads
		// why: it may write some more.
		_, _ = io.CopyN(io.Discard, raw, maxDrain)
		return nil, fmt.Errorf("server: read body: %w", err)
	}
	if err != nil {
		return nil, BadRequest("the body ended before it was complete").Because(err)
	}
	return whole.Bytes(), checkValues(whole.Bytes())
}

// checkValues refuses a body of too many values before it is decoded, which takes many times their text.
func checkValues(body []byte) error {
	n := 0
	var keys []int // of the objects around
	for i := 0; i < len(body); i++ {
		switch inside := len(keys) - 1; body[i] {
		case '"':
			i = stringEnd(body, i) - 1
		case '{':
			n += objectValues
			keys = append(keys, 0)
		case '}':
			keys = keys[:max(inside, 0)]
		case ':':
			if inside < 0 {
				break // no JSON
			}
			if keys[inside]++; keys[inside] > maxKeys {
				return NewError(http.StatusRequestEntityTooLarge, "TOO_LARGE",
					"an object of the body has more than %d keys", maxKeys).With("limit", maxKeys)
			}
		case '[', ',':
			n++
		}
	}
	if n <= maxValues {
		return nil
	}
	return NewError(http.StatusRequestEntityTooLarge, "TOO_LARGE",
		"the body has %d values, where an object counts as %d; at most %d are allowed", n, objectValues,
		maxValues).With("limit", maxValues)
}

// decodeStrict decodes body, which is not empty, into the struct dst points to.
func decodeStrict(body []byte, dst any) error {
	if i := stream.InvalidUTF8(body); i >= 0 {
		return BadRequest("the body is not UTF-8 at %s; send bytes that are not text as data_b64", position(body, i))
	}
	var raw json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		return errorSyntax(body, err)
	}
	if body[bytes.IndexFunc(body, notSpace)] != '{' {
		return BadRequest("the body must be a JSON object with %s", fieldList(fieldNames(dst)))
	}
	if err := checkBody(body, fieldNames(dst)); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(dst); err != nil {
		return ErrorDecode(body, dst, err)
	}
	return nil
}

func errorSyntax(body []byte, err error) *Error {
	at := len(body)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = int(syntax.Offset) - 1
	}
	if at >= len(body) || at == len(body)-1 && strings.HasPrefix(err.Error(), "unexpected end") {
		return BadRequest("the body is not JSON at %s: it ends before it is complete", position(body, at))
	}
	r, _ := utf8.DecodeRune(body[at:])
	return BadRequest("the body is not JSON at %s: %q cannot stand there", position(body, at), r)
}

// ErrorDecode explains why valid JSON does not fit the fields of what dst points to.
func ErrorDecode(body []byte, dst any, err error) *Error {
	if path, name, known, found := strange(body, reflect.TypeOf(dst), ""); found {
		return BadRequest("there is no field %q; %s may have %s", Clip(path+name), inWords(path),
			fieldList(known)).With("field", Clip(path+name))
	}
	path, t := misfit(body, reflect.TypeOf(dst), "")
	where := ""
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		where = fmt.Sprintf(", not %s (%s)", Clip(wrong.Value), position(body, int(wrong.Offset)-1))
	}
	return BadRequest("the field %q must be %s%s", Clip(path), kindName(t), where).With("field", Clip(path))
}

// inWords is what a path that ends with a point leads to.
func inWords(path string) string {
	if path == "" {
		return "the body"
	}
	return strconv.Quote(Clip(strings.TrimSuffix(path, ".")))
}

// kindName says in words what JSON value a Go type is decoded from.
func kindName(t reflect.Type) string {
	if t == reflect.TypeFor[json.Number]() {
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

// fieldNames lists the JSON names of the struct dst points to, in order; nil
// when it points to something else, which then may have any field.
func fieldNames(dst any) []string {
	t := reflect.TypeOf(dst).Elem()
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

func notSpace(r rune) bool { return !strings.ContainsRune(" \t\r\n", r) }

// position names the byte at index i of body as a line and a column, both from
// 1; columns count characters.
func position(body []byte, i int) string {
	before := body[:min(max(i, 0), len(body))]
	line := bytes.Count(before, []byte{'\n'}) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}
