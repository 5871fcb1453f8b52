package httpapi

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// binder fills the input of a route: fields with the tag path, query or header from there, the others from the body.
type binder struct {
	Route
	params []param
}

// param is a field that is not of the body.
type param struct {
	name, in string // in: path, query or header
	index    []int
	tag      reflect.StructTag
}

// ParamPlaces are the tags that say where a parameter is.
var ParamPlaces = []string{"path", "query", "header"}

func binderOf(r Route) *binder {
	b := &binder{Route: r}
	for _, f := range reflect.VisibleFields(r.In) {
		for _, in := range ParamPlaces {
			if name, ok := f.Tag.Lookup(in); ok {
				b.params = append(b.params, param{name: name, in: in, index: f.Index, tag: f.Tag})
			}
		}
	}
	return b
}

// bind fills *in. Errors: of Finding, of BindUpTo, and 400 for a parameter that the tags of its field do not allow.
func (b *binder) bind(c echo.Context, in any) error {
	err := b.fill(c, in)
	if err != nil && b.find != nil {
		return cmp.Or(b.find(c.Request().Context(), in), err)
	}
	return err
}

func (b *binder) fill(c echo.Context, in any) error {
	v := reflect.ValueOf(in).Elem()
	var query url.Values
	if c.Request().URL.RawQuery != "" {
		query = c.QueryParams()
	}
	var err error
	if b.Known {
		err = b.checkKnown(query)
	}
	for _, p := range b.params { // all of them, because find needs what the path names
		if e := p.set(v.FieldByIndex(p.index), p.values(c, query)); err == nil {
			err = e
		}
	}
	if e := own(c, in, false); err == nil {
		err = e
	}
	switch {
	case err != nil:
		return err
	case b.BodyText != "" && b.RawBody == nil:
		if err := b.bindBody(c, in); err != nil {
			return err
		}
		return own(c, in, true)
	case b.BodyText == "" && b.Method != http.MethodGet:
		return NoBody(c)
	}
	return nil
}

// checkKnown refuses a query with a parameter that the route does not have.
func (b *binder) checkKnown(query url.Values) error {
	names := []string{}
	for _, p := range b.params {
		if p.in == "query" {
			names = append(names, p.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(names, name) {
			return BadRequest("there is no parameter %q; the query may have any of: %s", Clip(name),
				strings.Join(names, ", ")).WithField(Clip(name))
		}
	}
	return nil
}

// bindBody reads the body, which has BodyTimeout to arrive, also where the work behind it may last.
func (b *binder) bindBody(c echo.Context, in any) error {
	if !b.Stream {
		return BindUpTo(c, in, b.Limit, b.MayEmpty)
	}
	control := http.NewResponseController(c.Response())
	_ = control.SetReadDeadline(time.Now().Add(BodyTimeout)) // not every writer has deadlines
	if err := BindUpTo(c, in, b.Limit, b.MayEmpty); err != nil {
		return err
	}
	_ = control.SetReadDeadline(time.Time{})
	return nil
}

// values are the parameter's values in a request, nil when it is absent.
func (p param) values(c echo.Context, query url.Values) []string {
	switch p.in {
	case "query":
		return query[p.name]
	case "header":
		return c.Request().Header.Values(p.name)
	}
	if v := c.Param(p.name); v != "" {
		return []string{v}
	}
	return nil
}

// set sets a field. Of an empty parameter the tag default counts, or else the zero value, as of an absent one; a
// *string tells the two apart.
func (p param) set(field reflect.Value, values []string) error {
	if field.Kind() == reflect.Slice {
		if limit := p.number("maxItems", math.MaxInt); len(values) > int(limit) {
			return BadRequest("%s is there %d times: at most %d are allowed", p.name, len(values), limit).
				WithField(p.name)
		}
		field.Set(reflect.ValueOf(values))
		return nil
	}
	text := p.tag.Get("default")
	if len(values) > 0 && values[0] != "" {
		text = values[0]
	}
	if field.Kind() == reflect.Pointer &&
		(text != "" || len(values) > 0 && field.Type().Elem().Kind() == reflect.String) {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	if text == "" {
		return nil
	}
	return p.parse(field, text)
}

// parse sets a field that is no list from the text of a parameter.
func (p param) parse(field reflect.Value, text string) error {
	switch field.Kind() {
	case reflect.Bool:
		if !slices.Contains([]string{"0", "1", "false", "true"}, text) {
			return p.refuse(text, "0, 1, false or true")
		}
		field.SetBool(text == "1" || text == "true")
	case reflect.Int, reflect.Int64:
		low, high := p.number("minimum", math.MinInt64), p.number("maximum", math.MaxInt64)
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < low || n > high {
			return p.refuse(text, fmt.Sprintf("%d to %d", low, high))
		}
		field.SetInt(n)
	case reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return BadRequest("%s %q: a position in the output (a number from 0) is needed", p.name, Clip(text)).
				WithField(p.name)
		}
		field.SetUint(n)
	case reflect.String:
		if allowed, ok := p.tag.Lookup("enum"); ok && !slices.Contains(strings.Split(allowed, ","), text) {
			return p.refuse(text, inSentence(strings.Split(allowed, ",")))
		}
		field.SetString(text)
	default:
		panic("httpapi: no parameter can be of type " + field.Type().String())
	}
	return nil
}

// refuse is 400 with what is allowed: the tag allowed, or in words.
func (p param) refuse(text, words string) error {
	if say, ok := p.tag.Lookup("allowed"); ok {
		words = say
	}
	verb := "are"
	if !strings.Contains(words, " ") {
		verb = "is"
	}
	return BadRequest("%s %q: %s %s allowed", p.name, Clip(text), words, verb).WithField(p.name)
}

// number is a limit of the field's tag.
func (p param) number(tag string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(p.tag.Get(tag), 10, 64); err == nil {
		return n
	}
	return otherwise
}

// inSentence is "a, b or c".
func inSentence(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
