package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

type sampleRef struct {
	Session string `json:"-" path:"sid"`
}

// sample is an input with every kind of parameter and a body.
type sample struct {
	sampleRef
	Flag   bool     `json:"-" query:"flag"`
	Late   bool     `json:"-" query:"late" default:"1"`
	Limit  int      `json:"-" query:"limit" minimum:"1" maximum:"10" default:"5"`
	Lines  int      `json:"-" query:"lines" minimum:"-1" maximum:"9" default:"-1" allowed:"-1 (all), or 0 to 9"`
	Since  *uint64  `json:"-" query:"since"`
	After  *string  `json:"-" query:"after"`
	Format string   `json:"-" query:"format" enum:"ansi,text" default:"ansi"`
	Only   string   `json:"-" query:"only" enum:"first"`
	Inside []string `json:"-" query:"inside" maxItems:"2"`
	From   string   `json:"-" header:"X-From"`
	Name   string   `json:"name"`
}

// call serves one request to a typed route and returns its input and the error.
func call(t *testing.T, query, body string) (in sample, err error) {
	t.Helper()
	r := Post("sample", "/s/:sid", "Sample", func(_ context.Context, got sample) (sample, error) {
		in = got
		return got, nil
	}).OptionalBody("A name.")
	request := httptest.NewRequest(http.MethodPost, "/s/a?"+query, strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-From", "b")
	c := echo.New().NewContext(request, httptest.NewRecorder())
	c.SetParamNames("sid")
	c.SetParamValues("a")
	SetEcho(c)
	err = r.Handler()(c)
	return in, err
}

// TestBindTakesParametersByTheirTags: from path, query and header, with the defaults of absent and empty ones.
func TestBindTakesParametersByTheirTags(t *testing.T) {
	in, err := call(t, "limit=&inside=x&inside=y", `{"name":"n"}`)
	if err != nil || in.Session != "a" || in.From != "b" || in.Name != "n" || in.Flag || !in.Late || in.Limit != 5 ||
		in.Lines != -1 || in.Since != nil || in.After != nil || in.Format != "ansi" || len(in.Inside) != 2 {
		t.Errorf("defaults: %+v, %v", in, err)
	}
	in, err = call(t, "flag=true&late=0&limit=10&lines=0&since=0&after=&format=text&only=first", "")
	if err != nil || !in.Flag || in.Late || in.Limit != 10 || in.Lines != 0 || in.Since == nil || *in.Since != 0 ||
		in.After == nil || *in.After != "" || in.Format != "text" || in.Only != "first" {
		t.Errorf("given: %+v, %v", in, err)
	}
}

// TestBindRefusesParameters: what is given and what is allowed, in a sentence.
func TestBindRefusesParameters(t *testing.T) {
	for query, want := range map[string]string{
		"flag=yes":                   `flag "yes": 0, 1, false or true are allowed`,
		"limit=11":                   `limit "11": 1 to 10 are allowed`,
		"limit=0":                    `limit "0": 1 to 10 are allowed`,
		"limit=1e1":                  `limit "1e1": 1 to 10 are allowed`,
		"limit=99999999999999999999": `limit "99999999999999999999": 1 to 10 are allowed`,
		"lines=-2":                   `lines "-2": -1 (all), or 0 to 9 are allowed`,
		"since=-1":                   `since "-1": a position in the output (a number from 0) is needed`,
		"format=html":                `format "html": ansi or text are allowed`,
		"only=last":                  `only "last": first is allowed`,
		"inside=1&inside=2&inside=3": `inside is there 3 times: at most 2 are allowed`,
	} {
		_, err := call(t, query, "{}")
		if e := ErrorFor(err, nil); err == nil || e.Status != http.StatusBadRequest || e.Message != want {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}
	if _, err := call(t, "", `{"session":"b"}`); err == nil {
		t.Error("a parameter was taken from the body")
	}
}
