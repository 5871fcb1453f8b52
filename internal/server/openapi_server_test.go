package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/internal/thread/sqlite"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/pty/keeper/holder"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/vt"
)

// patience bounds every wait of these tests for a fact.
const patience = time.Minute

// liveServer is a whole server, wired as `evertty serve` does it, on a port of
// its own: real terminals in a real keeper, real files.
type liveServer struct {
	url    string
	dir    string
	auth   *auth.Auth
	parts  *supervisor.Supervisor
	keeper *keeper.Client
	stop   func() // ends it as SIGTERM does, programs go on; more than once is no harm
}

// token is the server's.
func (s *liveServer) token(t *testing.T) string {
	t.Helper()
	token, err := auth.ReadToken(filepath.Join(s.dir, s.auth.TokenFile()))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// keeperIdle is how long a keeper of these tests stays when it holds nothing and no
// server is there: time to connect to it, and little for the check for leaks, which
// waits for its end.
const keeperIdle = 200 * time.Millisecond

// TestMain makes the test binary a keeper when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "keeper" {
		if err := holder.Run(holder.Options{Dir: os.Args[2], Idle: keeperIdle}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// Else a keeper under the race detector takes a second to end.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	os.Exit(withoutProfile(m))
}

// withoutProfile runs the tests with an empty home: their login shells must not wait for what is in a developer's own.
func withoutProfile(m *testing.M) int {
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(home) }()
	_ = os.Setenv("HOME", home)
	return m.Run()
}

// startServer starts a server. What runs in it when the test is over is ended.
func startServer(t *testing.T, mode, dir string) *liveServer {
	t.Helper()
	return startRuled(t, mode, dir, permission.Rules{})
}

// startWithRules is startServer without authentication, with rules for all threads.
func startWithRules(t *testing.T, rules permission.Rules) *liveServer {
	t.Helper()
	return startRuled(t, auth.ModeNone, t.TempDir(), rules)
}

func startRuled(t *testing.T, mode, dir string, rules permission.Rules) *liveServer {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	dataDir, err := datadir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	metrics := metrics.New()
	held, err := keeper.Connect(t.Context(),
		keeper.Config{Dir: dir, Log: log, Command: []string{os.Args[0], "keeper", dir}})
	if err != nil {
		t.Fatal(err)
	}
	records, err := sqlite.Open(filepath.Join(dir, "evertty.db"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := store.OpenFiles(filepath.Join(dir, "threads"), store.DefaultRotateBytes)
	if err != nil {
		t.Fatal(err)
	}
	m, err := supervisor.Start(supervisor.Config{
		Terminals: terminal.Config{Engine: vt.NewEngine, Unicode: vt.Unicode11, Store: dataDir, Keeper: held},
		Threads: service.Config{
			Store: records,
			Conversations: store.Config{Store: records.Conversations(), Files: files,
				Enforcer: permission.NewEnforcer(rules)},
		},
		Log: log, Metrics: metrics})
	if err != nil {
		t.Fatal(err)
	}
	metrics.Registry.MustRegister(m)
	live := &liveServer{dir: dir, parts: m, keeper: held}
	auth, err := auth.New(auth.Config{Mode: mode, DataDir: dir, Listen: "127.0.0.1:0", Log: log, Terminal: live.find})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(Config{Supervisor: m, Metrics: metrics, Auth: auth, Version: "test", Log: log, Dir: dir})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	live.url, live.auth = "http://"+l.Addr().String(), auth
	running := true
	leave := func(end bool) {
		if !running {
			return
		}
		running = false
		s.Close()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if end {
			live.endPrograms(t)
		}
		m.Close()
		if err := records.Close(); err != nil {
			t.Errorf("close the records: %v", err)
		}
		if err := dataDir.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	}
	live.stop = func() { leave(false) }
	t.Cleanup(func() { leave(true) })
	return live
}

func (s *liveServer) find(session, ref string) (string, error) {
	found, err := s.parts.Terminals.Find(session, ref)
	if err != nil {
		return "", err
	}
	return found.ID, nil
}

func (s *liveServer) endPrograms(t *testing.T) {
	t.Helper()
	for _, term := range s.parts.Terminals.List("") {
		if err := s.parts.Terminals.Delete(context.Background(), term, false); err != nil {
			t.Error(err)
		}
	}
	if err := s.parts.Shells.DeleteSession(context.Background(), ""); err != nil {
		t.Error(err)
	}
}

// killKeeper ends the server and then its keeper with SIGKILL, which is what a
// power cut looks like: nobody saw how the programs ended.
func (s *liveServer) killKeeper(t *testing.T) {
	t.Helper()
	pid := s.keeper.PID()
	s.stop()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the keeper is gone", func() bool { return syscall.Kill(pid, 0) != nil })
}

// eventually waits for a fact that nobody tells.
func eventually(t *testing.T, what string, fact func() bool) {
	t.Helper()
	if !polling.Until(patience, fact) {
		stacks := make([]byte, 1<<20)
		t.Fatalf("not in %v: %s\n%s", patience, what, stacks[:runtime.Stack(stacks, true)])
	}
}

// checkLeaks fails the test when goroutines are left after all its cleanups.
func checkLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
	})
}

// exchange is one request and the reply it must get.
type exchange struct {
	method, target string // target is path and query
	body           string // "" sends no Content-Type either
	status         int
	code           string // of an Error
	header         string // one more header, "Name: value"
	// loose says that the document cannot tell the request is wrong: it has the
	// right form and is refused for what it means.
	loose bool
}

// contract checks a server's replies, and its requests, against the document.
type contract struct {
	*liveServer
	doc    *openapi3.T
	client *http.Client
	met    map[string]bool // "GET /pty OK"
	// seen are the events and commands that were seen, by the name of the response.
	seen map[string]map[string]bool
	// types are the types of package wire by the name of their schema.
	types map[string]reflect.Type
}

// wireTypes are the Go types of the inputs, replies, events and commands of all routes, by name.
func wireTypes() map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, r := range routes() {
		all[r.In.Name()] = r.In
		for _, reply := range r.Replies {
			values := slices.Clone(reply.JSON)
			for _, e := range slices.Concat(reply.Events, reply.Commands) {
				values = append(values, e.Value)
			}
			for _, v := range values {
				all[reflect.TypeOf(v).Name()] = reflect.TypeOf(v)
			}
		}
	}
	return all
}

func newContract(t *testing.T, s *liveServer) *contract {
	t.Helper()
	document, err := loadOpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &contract{liveServer: s, doc: document, met: map[string]bool{}, seen: map[string]map[string]bool{},
		types: wireTypes(),
		client: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}}
}

// do sends the request and returns the body of the reply, after checking that it
// is the expected one and that both are as documented.
func (c *contract) do(t *testing.T, e exchange) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request := func() *http.Request {
		r, err := http.NewRequestWithContext(ctx, e.method, c.url+e.target, strings.NewReader(e.body))
		if err != nil {
			t.Fatal(err)
		}
		if e.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		if name, value, ok := strings.Cut(e.header, ": "); ok {
			r.Header.Set(name, value)
		}
		return r
	}
	response, err := c.client.Do(request())
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != e.status || e.code != "" && !bytes.Contains(body, []byte(`"code":"`+e.code+`"`)) {
		t.Errorf("%s %s %.200s: got %d %.300s, want %d %s", e.method, e.target, e.body, response.StatusCode, body,
			e.status, e.code)
		return body
	}
	c.check(t, e, request(), response, body)
	return body
}

// check holds one exchange against the document.
func (c *contract) check(t *testing.T, e exchange, r *http.Request, response *http.Response, body []byte) {
	t.Helper()
	path, values := c.template(r.URL)
	item := c.doc.Paths.Value(path)
	if item == nil || item.GetOperation(e.method) == nil {
		t.Errorf("%s %s is not documented", e.method, e.target)
		return
	}
	operation := item.GetOperation(e.method)
	options := &openapi3filter.Options{IncludeResponseStatus: true,
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
	input := &openapi3filter.RequestValidationInput{Request: r, PathParams: values, Options: options,
		Route: &routers.Route{Spec: c.doc, Path: path, PathItem: item, Method: e.method, Operation: operation}}
	at := "#/paths/" + pointerEscapes.Replace(path) + "/" + strings.ToLower(e.method)
	asked, isJSON := "", false
	if body := operation.RequestBody; body != nil && e.body != "" {
		asked, isJSON = jsonSchema(cmp.Or(body.Ref, at+"/requestBody"), body.Value.Content, r.Header)
	}
	options.ExcludeRequestBody = isJSON // which is looked at by a schema that is compiled once
	err := openapi3filter.ValidateRequest(t.Context(), input)
	if err == nil && isJSON {
		err = fits(asked, []byte(e.body))
	}
	if err != nil && e.status < http.StatusBadRequest {
		t.Errorf("%s %s %.200s: the server takes what the document does not: %v", e.method, e.target, e.body, err)
	}
	if err == nil && e.status == http.StatusBadRequest && !e.loose {
		t.Errorf("%s %s %.200s: the document allows what the server refuses", e.method, e.target, e.body)
	}
	documented, isJSON := "", false
	if reply := operation.Responses.Status(e.status); reply != nil {
		at += "/responses/" + strconv.Itoa(e.status)
		documented, isJSON = jsonSchema(cmp.Or(reply.Ref, at), reply.Value.Content, response.Header)
	}
	replies := *options
	replies.ExcludeResponseBody = isJSON
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: response.StatusCode, Header: response.Header,
		Body: io.NopCloser(bytes.NewReader(body)), Options: &replies})
	if err == nil && isJSON {
		err = fits(documented, body)
	}
	if err != nil {
		t.Errorf("%s %s %d: %v\nthe reply: %.1000s", e.method, e.target, response.StatusCode, err, body)
	}
	if name := c.schemaOf(operation, response); name != "" {
		c.roundTrip(t, name, body)
	}
	key := e.method + " " + path + " " + http.StatusText(response.StatusCode)
	var value any
	if !c.met[key] && isJSON && json.Unmarshal(body, &value) == nil && path != "/openapi.json" { // which is any object
		eachClosed(path, value, func(object map[string]any) {
			object["undocumented"] = 1
			spoilt, _ := json.Marshal(value) // it was JSON before
			delete(object, "undocumented")
			if fits(documented, spoilt) == nil {
				t.Errorf("%s %s %d: a field that is not documented would go by: %.1000s", e.method, e.target,
					response.StatusCode, spoilt)
			}
		})
	}
	c.met[key] = true
}

// jsonSchema is where the document has the schema of a body, of which it says content at a pointer; false when the
// body is not JSON.
func jsonSchema(at string, content openapi3.Content, h http.Header) (pointer string, isJSON bool) {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	if kind != "application/json" || content[kind] == nil {
		return "", false
	}
	return at + "/content/" + pointerEscapes.Replace(kind) + "/schema", true
}

// schemaOf is the name of the schema of a reply, "" when the reply is no JSON or one of several.
func (c *contract) schemaOf(op *openapi3.Operation, response *http.Response) string {
	kind, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	ref := op.Responses.Status(response.StatusCode)
	if ref == nil || kind != "application/json" || ref.Value.Content[kind] == nil {
		return ""
	}
	return strings.TrimPrefix(ref.Value.Content[kind].Schema.Ref, "#/components/schemas/")
}

// keeping are the types of objects that keep fields of others, which no Go type has.
var keeping = []string{"Record", "Timeline"}

// roundTrip wants the type of package wire to hold all of a JSON value: what it decodes is encoded
// to the same value again. Else the Go client would lose what the server says.
func (c *contract) roundTrip(t *testing.T, schema string, body []byte) {
	t.Helper()
	kind := c.types[schema]
	if kind == nil || slices.Contains(keeping, schema) {
		return // there is no type for one of several
	}
	v := reflect.New(kind)
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v.Interface()); err != nil {
		t.Errorf("wire.%s: %v\nthe value: %.1000s", schema, err, body)
		return
	}
	again, err := json.Marshal(v.Interface())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := exactValue(t, again), exactValue(t, body); !reflect.DeepEqual(got, want) {
		t.Errorf("wire.%s holds %.1000s\nof %.1000s", schema, again, body)
	}
}

// exactValue is a JSON value with its numbers as they are written, and without the members that
// are the same to a Go program when they are absent: null, "", false, [] and {}.
func exactValue(t *testing.T, p []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(p))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return withoutEmpty(v)
}

func withoutEmpty(v any) any {
	switch v := v.(type) {
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return at.UTC().String() // the same however many zeros it ends with
		}
	case []any:
		for i := range v {
			v[i] = withoutEmpty(v[i])
		}
	case map[string]any:
		for name, field := range v {
			field = withoutEmpty(field)
			v[name] = field
			switch field := field.(type) {
			case nil:
				delete(v, name)
			case string, bool:
				if field == "" || field == false {
					delete(v, name)
				}
			case []any:
				if len(field) == 0 {
					delete(v, name)
				}
			case map[string]any:
				if len(field) == 0 {
					delete(v, name)
				}
			}
		}
	}
	return v
}

// open are the objects that keep what nobody knows: those that a path replies with, and those under
// a key.
var open = []string{"/api/threads/{id}/record", "/api/threads/{id}/records/{rid}", "timeline", "workflow_timeline",
	"usage", "arguments", "definition_of_done", "of_nobody"}

// eachClosed calls visit for the objects in v, of arrays for the first element's, that have
// documented fields only. name is where v is.
func eachClosed(name string, v any, visit func(object map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		if !slices.Contains(open, name) {
			visit(v)
		}
		for key, field := range v {
			eachClosed(key, field, visit)
		}
	case []any:
		if len(v) > 0 {
			eachClosed(name, v[0], visit)
		}
	}
}

// template finds the documented path of a URL, and its parameters: of several that fit, the one
// with the fewest, as OpenAPI has it.
func (c *contract) template(u *url.URL) (found string, values map[string]string) {
	parts := strings.Split(u.Path, "/")
	found = u.Path
	for path := range c.doc.Paths.Map() {
		names := strings.Split(path, "/")
		here := map[string]string{}
		fits := len(names) == len(parts)
		for i := 0; fits && i < len(names); i++ {
			if strings.HasPrefix(names[i], "{") {
				here[strings.Trim(names[i], "{}")] = parts[i]
			} else {
				fits = names[i] == parts[i]
			}
		}
		if fits && (values == nil || len(here) < len(values)) {
			found, values = path, here
		}
	}
	return found, values
}

// validate holds a JSON value against a schema of the document.
func (c *contract) validate(t *testing.T, schema string, value any) {
	t.Helper()
	ref := c.doc.Components.Schemas[schema]
	if ref == nil {
		t.Fatalf("there is no schema %q", schema)
	}
	body, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := fits("#/components/schemas/"+schema, body); err != nil {
		t.Errorf("%s: %v\nthe value: %.1000v", schema, err, value)
	}
	c.roundTrip(t, schema, body)
}
