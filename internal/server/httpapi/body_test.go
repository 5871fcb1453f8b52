package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

type bodySample struct {
	Name  string            `json:"name"`
	Cols  int               `json:"cols"`
	Flag  bool              `json:"flag"`
	Cmd   []string          `json:"cmd"`
	Env   map[string]string `json:"env"`
	Raw   []byte            `json:"raw"`
	Seq   *uint64           `json:"seq"`
	Inner struct {
		Deep int `json:"deep"`
	} `json:"inner"`
	hidden string
	Never  string `json:"-"`
}

// bindText runs bind on a request with body.
func bindText(body io.Reader, dst any, optional bool, contentType ...string) error {
	r := httptest.NewRequest(http.MethodPost, "/", body)
	r.Header["Content-Type"] = contentType
	return BindUpTo(echo.New().NewContext(r, httptest.NewRecorder()), dst, MaxBody, optional)
}

func TestBindRefuses(t *testing.T) {
	deep := `{"name":"a","env":` + strings.Repeat(`{"x":`, maxDepth) + `1` + strings.Repeat(`}`, maxDepth+1)
	for _, test := range []struct{ name, body, want string }{
		{"empty", "", "the body is empty"},
		{"blank", " \n", "the body is empty"},
		{"not JSON", "name=x", "not JSON at line 1, column 2"},
		{"malformed later", "{\n  \"name\": x}", "not JSON at line 2, column 11"},
		{"columns count characters", `{"name":"äöü" x}`, "line 1, column 15"},
		{"cut", `{"name":"x"`, "not JSON at line 1, column 11: it ends before"},
		{"single quotes", `{'name':1}`, "column 2"},
		{"trailing garbage", `{"name":"x"} x`, "line 1, column 14"},
		{"second value", `{"name":"x"}{"name":"y"}`, "line 1, column 13"},
		{"array", `[{"name":"x"}]`, "must be a JSON object"},
		{"text", `"name"`, "must be a JSON object"},
		{"null", `null`, "must be a JSON object with any of: name, cols, flag, cmd, env, raw, seq, inner"},
		{"unknown field", `{"name":"x","colz":1}`, `no field "colz" (line 1, column 13)`},
		{"field in other case", `{"Name":"x"}`, `no field "Name"`},
		{"unexported field", `{"hidden":"x"}`, `no field "hidden"`},
		{"excluded field", `{"Never":"x"}`, `no field "Never"`},
		{"unknown inner field", `{"inner":{"shallow":1}}`, `there is no field "inner.shallow"`},
		{"twice", `{"name":"x","name":"y"}`, `"name" is given twice (line 1, column 13)`},
		{"twice, one escaped", `{"name":"x","n\u0061me":"y"}`, `"name" is given twice`},
		{"twice inside", `{"env":{"A":"1","A":"2"}}`, `"A" is given twice`},
		{"text for number", `{"cols":"80"}`, `"cols" must be a whole number, not string (line 1, column`},
		{"fraction", `{"cols":1.5}`, `"cols" must be a whole number, not number 1.5`},
		{"huge", `{"cols":99999999999999999999}`, `"cols" must be a whole number`},
		{"negative unsigned", `{"seq":-1}`, `"seq" must be a whole number that is not negative`},
		{"number for text", `{"name":5}`, `"name" must be a string, not number`},
		{"text for bool", `{"flag":"true"}`, `"flag" must be true or false`},
		{"text for array", `{"cmd":"ls"}`, `"cmd" must be an array, not string`},
		{"number in array", `{"cmd":["ls",1]}`, `must be a string, not number`},
		{"array for object", `{"env":[]}`, `"env" must be an object, not array`},
		{"inner type", `{"inner":{"deep":"x"}}`, `"inner.deep" must be a whole number`},
		{"not base64", `{"raw":"%%"}`, `"raw" must be a string in base64`},
		{"deep", deep, "nests deeper than 32 levels"},
		{"invalid UTF-8", "{\"name\":\"a\xff\"}", "not UTF-8 at line 1, column 11"},
		{"half surrogate", `{"name":"ok\ud83d"}`, "half a surrogate pair at line 1, column 12"},
		{"half surrogate before text", `{"name":"\ud83dabcdef"}`, "half a surrogate pair"},
		{"low surrogate first", `{"name":"\ude00\ud83d"}`, "half a surrogate pair"},
		{"half surrogate in a name", `{"env":{"\udc00":"x"}}`, "half a surrogate pair"},
		{"byte order mark", "\ufeff{}", "not JSON at line 1, column 1"},
	} {
		var dst bodySample
		err := bindText(strings.NewReader(test.body), &dst, false, "application/json")
		refusal, ok := errors.AsType[*Error](err)
		if !ok || refusal.Status != 400 || refusal.Code != "VALIDATION" ||
			!strings.Contains(refusal.Message, test.want) {
			t.Errorf("%s: %v, want 400 with %q", test.name, err, test.want)
		}
	}
}

func TestBindAccepts(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                      "",
		" {\"name\" : \"x\"}\r\n": "x",
		`{"name":"\\ud83d \" \u0041 \ud83d\ude00"}`: `\ud83d " A 😀`,
		`{"name":"` + "\ufffd" + `"}`:               "\ufffd",
		`{"env":{"a":"1","A":"2"},"name":"[{"}`:     "[{",
		`{"cmd":["a","a"],"name":"\u0000"}`:         "\x00",
		`{"name":null}`:                             "",
	} {
		var dst bodySample
		if err := bindText(strings.NewReader(body), &dst, false, "application/json; charset=UTF-8"); err != nil ||
			dst.Name != want {
			t.Errorf("%s: %q, %v; want %q", body, dst.Name, err, want)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header.Set("Content-Type", "application/json")
	dst := bodySample{Cols: 80}
	if err := BindOptional(echo.New().NewContext(r, httptest.NewRecorder()), &dst); err != nil || dst.Cols != 80 {
		t.Errorf("optional and empty: %v, %v", dst, err)
	}
	dst.hidden = ""
}

func TestBindMediaType(t *testing.T) {
	for _, test := range []struct {
		given []string
		ok    bool
	}{
		{[]string{"application/json"}, true},
		{[]string{"Application/JSON; charset=utf-8"}, true},
		{nil, false},
		{[]string{""}, false},
		{[]string{"text/plain"}, false},
		{[]string{"application/x-www-form-urlencoded"}, false},
		{[]string{"multipart/form-data; boundary=x"}, false},
		{[]string{"application/json; charset=utf-16"}, false},
		{[]string{"application/jsonp"}, false},
		{[]string{"text/plain; application/json"}, false},
		{[]string{"text/plain", "application/json"}, false},
		{[]string{"application/json", "text/plain"}, false},
	} {
		for _, body := range []string{"{}", ""} {
			var dst bodySample
			err := bindText(strings.NewReader(body), &dst, true, test.given...)
			refusal, _ := errors.AsType[*Error](err)
			if ok := err == nil; ok != test.ok || !ok && refusal.Status != 415 {
				t.Errorf("%q with body %q: %v", test.given, body, err)
			}
		}
	}
}

// endless is a body that never ends; it counts what was taken from it.
type endless struct{ taken int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.taken += len(p)
	return len(p), nil
}

func TestBindBoundsTheBody(t *testing.T) {
	exact := `{"name":"` + strings.Repeat("x", MaxBody-len(`{"name":""}`)) + `"}`
	var dst bodySample
	if err := bindText(strings.NewReader(exact), &dst, false, "application/json"); err != nil {
		t.Errorf("%d bytes: %v", len(exact), err)
	}
	declared := &endless{}
	r := httptest.NewRequest(http.MethodPost, "/", declared)
	r.Header.Set("Content-Type", "application/json")
	r.ContentLength = MaxBody + maxDrain + 1
	refusal, _ := errors.AsType[*Error](Bind(echo.New().NewContext(r, httptest.NewRecorder()), &dst))
	if refusal == nil || refusal.Status != 413 || declared.taken != 0 {
		t.Errorf("declared length: %v after %d bytes", refusal, declared.taken)
	}
	chunked := &endless{}
	err := bindText(chunked, &dst, false, "application/json")
	if _, ok := errors.AsType[*http.MaxBytesError](err); !ok || chunked.taken > 2*MaxBody+maxDrain {
		t.Errorf("endless: %v after %d bytes", err, chunked.taken)
	}
}

// FuzzBind: nothing panics, every refusal is a 400, and what is accepted means
// the same to a decoder that is not strict.
func FuzzBind(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"name":"\ud83d\ude00","cols":3}`, `{"name":"\ud83d"}`, `{"env":{"a":"b","a":""}}`, `{"cmd":["\\",""]}`,
		`{"inner":{"deep":1}}`, `[[[[`, `{"name":"\"}`, "{\"name\":\"\xff\"}", `{"a":{"b":[{"c":"d"}]}}`,
		`{"\u006eame":""}`, `nul`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var got bodySample
		if len(body) == 0 {
			return
		}
		if err := decodeStrict(body, &got); err != nil {
			if refusal, ok := errors.AsType[*Error](err); !ok || refusal.Status != 400 {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		var loose map[string]json.RawMessage
		var again bodySample
		if err := errors.Join(json.Unmarshal(body, &loose), json.Unmarshal(body, &again)); err != nil {
			t.Fatalf("accepted %q, but %v", body, err)
		}
		for name := range loose {
			if !slices.Contains(fieldNames(&got), name) {
				t.Fatalf("accepted the field %q", name)
			}
		}
		if strings.Count(got.Name, "\ufffd") > strings.Count(string(body),
			"\ufffd")+strings.Count(strings.ToLower(string(body)), `\ufffd`) {
			t.Fatalf("text was replaced: %q from %q", got.Name, body)
		}
	})
}
