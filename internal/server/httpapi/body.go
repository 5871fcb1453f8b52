package httpapi

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"
	"github.com/labstack/echo/v4"
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
	// maxValues bounds the values of a body; an object counts objectValues, for the memory that it takes. 16 MiB of
	// messages have fewer when each has 80 bytes.
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

// BindOptional is Bind for requests whose body may be empty, which leaves *dst as it is. Where *dst has no fields, one
// without a body needs no media type either: there is nothing to mistake, and the check of Origin keeps foreign pages
// out.
func BindOptional[T any](c echo.Context, dst *T) error { return BindUpTo(c, dst, MaxBody, true) }

// NoBody refuses every body but none and an empty object: a client means what it sends to have an effect.
func NoBody(c echo.Context) error {
	if c.Request().ContentLength == 0 {
		return nil
	}
	if c.Request().ContentLength < 0 && len(c.Request().Header.Values(echo.HeaderContentType)) == 0 {
		return nil // a client that did not know whether it had one; nothing is read of it
	}
	return BindOptional(c, &struct{}{})
}

// BindUpTo is Bind, or BindOptional, with another bound of the body, in bytes.
func BindUpTo(c echo.Context, dst any, limit int64, optional bool) error {
	r := c.Request()
	typed := len(r.Header.Values(echo.HeaderContentType)) > 0
	if optional && !typed && r.ContentLength == 0 && len(fieldNames(dst)) == 0 {
		return nil
	}
	if err := CheckMediaType(r); err != nil {
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
				return ErrorTooLarge(maxKeys, "an object of the body has more than %d keys", maxKeys)
			}
		case '[', ',':
			n++
		}
	}
	if n <= maxValues {
		return nil
	}
	return ErrorTooLarge(maxValues, "the body has %d values, where an object counts as %d; at most %d are allowed", n,
		objectValues, maxValues)
}

// strict decodes as encoding/json does, but demands Unicode, and names that the struct has, exactly and once.
var strict = json.JoinOptions(v1.DefaultOptionsV1(), v1.ReportErrorsWithLegacySemantics(false),
	json.MatchCaseInsensitiveNames(false), json.RejectUnknownMembers(true),
	jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false),
	json.WithUnmarshalers(json.UnmarshalFromFunc(decodeNumber)))

// decodeNumber keeps a number as it is written, as encoding/json does.
func decodeNumber(d *jsontext.Decoder, n *stdjson.Number) error {
	v, err := d.ReadValue()
	if err == nil && stdjson.Unmarshal(v, n) != nil {
		return &json.SemanticError{JSONKind: v.Kind()}
	}
	return err
}

// decodeStrict decodes body, which is not empty, into the struct dst points to.
func decodeStrict(body []byte, dst any) error { return decode(body, dst, strict) }

// Fits decodes body, JSON text, into the struct dst points to, as Bind does, but for unknown fields, which it skips.
func Fits(body []byte, dst any) error {
	return decode(body, dst, json.JoinOptions(strict, json.RejectUnknownMembers(false)))
}

func decode(body []byte, dst any, options json.Options) error {
	if i := tooDeep(body); i >= 0 {
		return BadRequest("the body nests deeper than %d levels at %s", maxDepth, position(body, i))
	}
	err := json.Unmarshal(body, dst, options)
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return errorSyntax(body, syntax)
	}
	if bytes.TrimLeft(body, " \t\r\n")[0] != '{' {
		return BadRequest("the body must be a JSON object with %s", fieldList(fieldNames(dst)))
	}
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		return errorFit(body, dst, wrong)
	}
	return err
}

// tooDeep is the index of the bracket that opens one level more than maxDepth, or -1.
func tooDeep(body []byte) int {
	depth := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			i = stringEnd(body, i) - 1
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
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
