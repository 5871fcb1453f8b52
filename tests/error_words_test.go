package tests

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// innards are words of the server's language and database, which say nothing to people.
var innards = regexp.MustCompile(`(?i)^(vt|pty|shell|datadir): |` +
	`json:|unmarshal|\bsql|constraint|strconv|syscall|goroutine|` +
	`\*[a-z]+\.[A-Z]|0x[0-9a-f]{4,}|` +
	`reflect|\bstruct\b|\bGo (value|type)|` +
	`\bu?int(8|16|32|64)\b|\bfloat(32|64)\b|\[\]string|\bmap\[|FOREIGN KEY|\bUNIQUE\b|no such ` +
	`table|\bE(NOENT|ACCES|PERM|INVAL|EXIST)\b|invalid character|context deadline|<nil>|%!|nil pointer|runtime ` +
	`error`)

// schema is as much of a schema as says what a body may be.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	AllOf      []*schema          `json:"allOf"`
	OneOf      []*schema          `json:"oneOf"`
	AnyOf      []*schema          `json:"anyOf"`
	Additional json.RawMessage    `json:"additionalProperties"`
}

// UnmarshalJSON implements json.Unmarshaler. A schema may be true, which says nothing.
func (v *schema) UnmarshalJSON(b []byte) error {
	type plain schema
	if len(b) > 0 && b[0] == '{' {
		return json.Unmarshal(b, (*plain)(v))
	}
	return nil
}

// operation is one method of a path.
type operation struct {
	Parameters []struct {
		Ref  string `json:"$ref"`
		Name string `json:"name"`
		In   string `json:"in"`
	} `json:"parameters"`
	RequestBody struct {
		Ref     string `json:"$ref"`
		Content map[string]struct {
			Schema *schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
}

// misfits are values of which every field refuses all but a few.
var misfits = map[string]any{"string": "zzz", "object": map[string]any{"zzz": map[string]any{}}, "integer": -7}

// description is the server's own, by which it is asked everything that it might refuse.
type description struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas       map[string]*schema         `json:"schemas"`
		Parameters    map[string]json.RawMessage `json:"parameters"`
		RequestBodies map[string]json.RawMessage `json:"requestBodies"`
	} `json:"components"`
}

func (d *description) resolve(v *schema) *schema {
	for v != nil && v.Ref != "" {
		v = d.Components.Schemas[v.Ref[strings.LastIndexByte(v.Ref, '/')+1:]]
	}
	return v
}

// wrong is a body with one mistake, and where it is: the names on the way to it.
type wrong struct {
	body any
	path []string
}

// mistakes are wrong values for everything that a schema has, and names that it has not.
func (d *description) mistakes(v *schema, depth int) (list []wrong) {
	v = d.resolve(v)
	if v == nil || depth > 4 {
		return nil
	}
	for _, part := range slices.Concat(v.AllOf, v.OneOf, v.AnyOf) {
		list = append(list, d.mistakes(part, depth+1)...)
	}
	open := len(v.Additional) > 0 && string(v.Additional) != "false"
	if len(v.Properties) > 0 && !open {
		list = append(list, wrong{map[string]any{"zzz": 1}, []string{"zzz"}})
	}
	for name, p := range v.Properties {
		for kind, value := range misfits {
			if q := d.resolve(p); q != nil && q.Type == kind {
				continue
			}
			list = append(list, wrong{map[string]any{name: value}, []string{name}})
		}
		for _, w := range d.mistakes(p, depth+1) {
			list = append(list, wrong{map[string]any{name: w.body}, append([]string{name}, w.path...)})
		}
	}
	if v.Items != nil {
		for _, w := range d.mistakes(v.Items, depth+1) {
			list = append(list, wrong{[]any{w.body}, w.path})
		}
	}
	return list
}

// TestErrorsAreForPeople: whatever is wrong with a request, the refusal has no word of the server's innards, and of a
// wrong body it says where.
func TestErrorsAreForPeople(t *testing.T) {
	t.Parallel()
	s := start(t, launch{errors: true})
	o := s.thread("t")
	o.run("true")
	pty := s.create("cat")
	s.post("/api/threads", `{"id":"other"}`).wants(201)
	lease := o.lease().LeaseID
	var d description
	s.get("/openapi.json").wants(200).into(&d)
	ids := []string{"nope", "t", pty.ID, lease, "..%2f..", url.PathEscape("a b\"'"), strings.Repeat("x", 300), "%00",
		"latest"}
	for _, id := range []string{"nope", "t", "new", pty.ID, lease} {
		s.book.add(id) // a session that comes into being
	}
	for path, body := range map[string]string{"/keys": `{"keys":["zzz"]}`, "/signal": `{"signal":"zzz"}`} {
		var e struct{ Error string }
		s.post("/pty/"+pty.ID+path, body).wants(400).into(&e)
		if innards.MatchString(e.Error) {
			t.Errorf("%s %s: %s", path, body, e.Error)
		}
	}
	asked, refusals := 0, 0
	ask := func(method, path, body string, names ...string) {
		asked++
		r := s.asked(method, path, body)
		if r.status < 400 {
			return
		}
		refusals++
		var e struct {
			Error   string
			Code    string
			Details map[string]any
		}
		if err := json.Unmarshal([]byte(r.body), &e); err != nil || e.Error == "" || e.Code == "" {
			t.Errorf("%s %s %s: %d %q is not an error as all others", method, path, clip(body), r.status, clip(r.body))
			return
		}
		if word := innards.FindString(e.Error); word != "" {
			t.Errorf("%s %s %s: %d with %q: %s", method, path, clip(body), r.status, word, e.Error)
		}
		if r.status == 500 {
			t.Errorf("%s %s %s: %s", method, path, clip(body), e.Error)
		}
		for _, name := range names {
			if r.status == 400 && len(names) > 1 && !strings.Contains(e.Error, name) && !another.MatchString(e.Error) {
				t.Errorf("%s %s %s: it does not say %q: %s", method, path, clip(body), name, e.Error)
			}
		}
	}
	for path, methods := range d.Paths {
		if endless.MatchString(path) {
			continue
		}
		for method, raw := range methods {
			method = strings.ToUpper(method)
			var op operation
			if method == "PARAMETERS" || json.Unmarshal(raw, &op) != nil {
				continue
			}
			if ref := op.RequestBody.Ref; ref != "" {
				_ = json.Unmarshal(d.Components.RequestBodies[ref[strings.LastIndexByte(ref, '/')+1:]], &op.RequestBody)
			}
			for _, id := range ids {
				ask(method, filled(path, id), "")
			}
			target := filled(path, "new")
			if r := s.asked(method, filled(path, "t"), `{"a":`); method != http.MethodGet && r.status > 0 &&
				r.status < 400 {
				t.Errorf("%s %s takes a body that is not JSON: %d", method, path, r.status)
			}
			ask(method, target, `[1]`)
			ask(method, target, `{"a" 1}`)
			for _, w := range d.mistakes(op.RequestBody.Content["application/json"].Schema, 0) {
				ask(method, filled(path, "t"), asJSON(w.body), w.path...)
			}
			for _, p := range op.Parameters {
				name := p.Name
				if p.Ref != "" {
					_ = json.Unmarshal(d.Components.Parameters[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]], &p)
					name = p.Name
				}
				if p.In != "query" {
					continue
				}
				for _, v := range []string{"zzz", "-1", "%00"} {
					ask(method, filled(path, "t")+"?"+name+"="+v, "")
				}
			}
		}
	}
	ask(http.MethodPost, "/api/threads", `{"id":"x","lease_id":"nope"}`)
	ask(http.MethodPost, "/api/threads", `{"id":"x","policy":{"idle":1}}`, "policy", "idle")
	ask(http.MethodPost, "/api/threads", `{"id":"t"}`)
	ask(http.MethodDelete, "/api/leases/"+lease, "")
	ask(http.MethodPost, "/api/leases", fmt.Sprintf(`{"id":%q}`, lease))
	t.Logf("%d requests, %d refusals", asked, refusals)
	if refusals < 1000 {
		t.Errorf("only %d of %d requests were refused", refusals, asked)
	}
}

// another tells of something else that is wrong with the same body: what is needed is not there.
var another = regexp.MustCompile(`role ".*" of message|"path": a path`)

// endless are streams and what waits, and links, which answer with pages; they have their own tests.
var endless = regexp.MustCompile(`/(stream|ws|wait|events|logs|recording)$|^/ws|^/t/`)

// pathName is a variable part of a path.
var pathName = regexp.MustCompile(`\{[^}]+\}`)

func filled(path, id string) string { return pathName.ReplaceAllLiteralString(path, id) }

// hasty is a client for requests of which nobody knows whether they are answered, or ever end.
var hasty = &http.Client{Timeout: time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 4}}

// asked is a call whose reply may be a stream or never come: then its status is 0.
func (s *server) asked(method, path, body string) reply {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.ctx(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		return reply{}
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := hasty.Do(req)
	if err != nil {
		return reply{}
	}
	defer resp.Body.Close()
	if resp.StatusCode < 400 {
		return reply{status: resp.StatusCode}
	}
	b, _ := io.ReadAll(resp.Body)
	return reply{status: resp.StatusCode, body: string(b)}
}
