package tests

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// walkTime is how long a reply may take that a foreign user gets: longer than any refusal on a busy machine, and the
// length of the test only when one is let into a stream.
const walkTime = 30 * time.Second

// foreign are the ids of a user's things, and ids that are nowhere.
type foreign struct{ theirs, nowhere map[string]string }

// mark is in everything that alice has; nobody else may see it.
const mark = "alices-secret"

// things makes something of each kind for alice.
func (s *server) things() foreign {
	s.t.Helper()
	post := func(path, body string, into any) {
		s.as("alice", http.MethodPost, path, body).into(into)
	}
	var terminal, shell, share struct{ ID string }
	var command struct {
		CommandID string `json:"command_id"`
		Approval  string `json:"approval_id"`
	}
	var th struct {
		ThreadID string `json:"thread_id"`
		LeaseID  string `json:"lease_id"`
	}
	cmd := []string{"sh", "-c", "echo " + mark + "; exec cat"}
	post("/session/work/pty", asJSON(object{"name": "named", "cmd": cmd}), &terminal)
	post("/shares", asJSON(object{"pty": terminal.ID, "name": mark}), &share)
	post("/session/work/shell", `{"id":"sh1"}`, &shell)
	post("/session/work/shell/sh1/exec", `{"command":"echo `+mark+`; sleep 1000","background":true}`, &command)
	post("/api/threads", `{"id":"asked"}`, &th)
	post("/api/threads/work/messages", `{"role":"user","content":"`+mark+`"}`, &struct{}{})
	s.as("alice", http.MethodPut, "/api/threads/asked/permissions", `{"mode":"prompt"}`).wants(200)
	id := command.CommandID
	s.as("alice", http.MethodPost, "/api/session/create", `{"id":"work2"}`).wants(200)
	for _, session := range []string{"alice@work", "alice@work2", "bob@work", "bob@default"} {
		s.book.add(session)
	}
	eventually(s.t, "the command of alice prints", func() bool {
		return strings.Contains(s.as("alice", http.MethodGet, "/session/work/commands", "").body, `"stdout_bytes":14`)
	})
	s.as("alice", http.MethodPost, "/session/asked/exec", `{"command":"rm `+mark+`"}`).into(&command)
	var lease struct {
		LeaseID string `json:"lease_id"`
	}
	s.as("alice", http.MethodGet, "/api/threads/work/lease", "").wants(200).into(&lease)
	var record struct {
		Records []struct {
			SessionID string `json:"session_id"`
		}
	}
	s.as("alice", http.MethodGet, "/api/threads/work/records", "").wants(200).into(&record)
	f := foreign{theirs: map[string]string{"pty": terminal.ID, "process": id, "command": id, "thread": "work",
		"lease": lease.LeaseID, "compat": "work", "approval": command.Approval, "row": terminal.ID,
		"record": record.Records[0].SessionID, "shell": "sh1", "share": share.ID}}
	f.nowhere = map[string]string{}
	for kind, id := range f.theirs {
		if id == "" {
			s.t.Fatalf("alice has no %s", kind)
		}
		f.nowhere[kind] = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return 'a' + (r-'a'+7)%26
			}
			return r
		}, id)
	}
	f.nowhere["lease"], f.nowhere["share"] = "lease-000000000000", "NOWHERE"
	return f
}

// kindOf is what a parameter of a path names.
func kindOf(t testing.TB, path, name string) string {
	t.Helper()
	kind := map[string]string{"sid": "session", "shid": "shell", "cid": "command", "tid": "row", "aid": "approval",
		"rid": "record", "provider": "provider", "file": "asset", "share": "share", "secret": "asset",
		"vid": "asset", "name": "asset", "ns": "asset", "pod": "asset"}[name]
	for begin, of := range map[string]string{"/pty/": "pty", "/session/": "pty", "/api/session/": "compat",
		"/api/process/": "process", "/api/threads/": "thread", "/api/leases/": "lease", "/api/sandbox/": "lease",
		"/compat/": "pty"} {
		if name == "id" && strings.HasPrefix(path, begin) {
			kind = of
		}
	}
	if kind == "" {
		t.Fatalf("%s: whose is {%s}? Say it in kindOf, and check that another user's is not found", path, name)
	}
	return kind
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// walkBodies are bodies that are right but for whose they are about, by what the path ends with.
var walkBodies = map[string]string{"resize": `{"cols":90,"rows":30}`, "signal": `{"signal":"KILL"}`,
	"input": `{"data":"x"}`, "control": `{"action":"unlock"}`,
	"keys": `{"keys":["Enter"]}`, "paste": `{"data":"x"}`, "wait": `{"for":"exit","timeout_ms":1000}`,
	"exec": `{"command":"true"}`, "stream": `{"command":"true"}`, "env": `{"env":{"A":"1"}}`,
	"rollback": `{"version":0}`, "approvals": `{"decision":"approve"}`, "policy": `{"idle_seconds":60}`,
	"authorize": `{"tool":"exec"}`, "permissions": `{"mode":"allow"}`, "messages": `{"role":"user","content":"x"}`}

// walkBody is the body of a request.
func walkBody(path string) string {
	words := strings.Split(path, "/")
	for _, word := range slices.Backward(words) {
		if !strings.HasPrefix(word, "{") && walkBodies[word] != "" {
			return walkBodies[word]
		}
	}
	return `{}`
}

// walk sends one request as bob, and returns its status and body.
func (s *server) walk(method, path, body string, header map[string]string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx(), walkTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	s.must(err)
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := plain.Do(req)
	if err != nil {
		s.t.Errorf("%s %s: %v", method, path, err)
		return 0, ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		s.t.Errorf("%s %s: %d %.200q: %v", method, path, resp.StatusCode, b, err)
	}
	return resp.StatusCode, string(b)
}

// TestAnotherUserOnEveryRoute: security row 29. Whatever bob does with the ids of alice's things is answered as for an
// id that is nowhere, and changes nothing of hers. The routes are those of openapi.json.
func TestAnotherUserOnEveryRoute(t *testing.T) {
	t.Parallel()
	s, _ := startUsers(t, launch{}, "alice", "bob")
	f := s.things()
	before := s.state(f)
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	s.get("/openapi.json").wants(200).into(&document)
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for method, operation := range document.Paths[path] {
			if method != "parameters" {
				s.walkRoute(strings.ToUpper(method), path, strings.Contains(string(operation), `"requestBody"`), f)
			}
		}
	}
	for path, body := range map[string]string{"/api/execute": `{"command":"true"}`, "/api/env/set": `{"env":{"A":"1"}}`,
		"/api/process/start": `{"command":"true"}`} {
		h := map[string]string{"X-Session-Id": "work2", "Authorization": "Bearer " + userToken("bob"),
			"Content-Type": "application/json"}
		if status, body := s.walk(http.MethodPost, path, body, h); status != 404 {
			t.Errorf("%s with a session of alice: %d %s", path, status, body)
		}
	}
	var sessions struct{ Sessions []struct{ ID string } }
	s.as("bob", http.MethodGet, "/api/session/list", "").wants(200).into(&sessions)
	for _, session := range sessions.Sessions {
		s.book.add("bob@" + session.ID)
	}
	if after := s.state(f); after != before {
		t.Errorf("bob has changed things of alice: before\n%s\nafter\n%s", before, after)
	}
}

// walkRoute asks a route for alice's things and for those that are nowhere.
func (s *server) walkRoute(method, path string, hasBody bool, f foreign) {
	s.t.Helper()
	header := map[string]string{"Authorization": "Bearer " + userToken("bob")}
	body := ""
	if hasBody {
		body, header["Content-Type"] = walkBody(path), "application/json"
	}
	if strings.HasSuffix(path, "/ws") || strings.HasPrefix(path, "/compat/") && !strings.Contains(path, "/api/terminals") {
		maps.Copy(header, map[string]string{"Connection": "Upgrade", "Upgrade": "websocket",
			"Sec-WebSocket-Version": "13",
			"Sec-WebSocket-Key":     "AAAAAAAAAAAAAAAAAAAAAA=="})
	}
	must404 := false
	fill := func(ids map[string]string) string {
		return pathParameter.ReplaceAllStringFunc(path, func(p string) string {
			switch kind := kindOf(s.t, path, p[1:len(p)-1]); kind {
			case "session":
				return "work"
			case "asset", "provider":
				return "none"
			case "thread", "compat": // what is called so is made by who first uses it
				return ids[kind]
			default:
				must404 = true
				return ids[kind]
			}
		})
	}
	if path == "/ws" { // a page: it lists what bob has
		return
	}
	theirs, nowhere := fill(f.theirs), fill(f.nowhere)
	status, text := s.walk(method, theirs, body, header)
	if strings.Contains(text, mark) || strings.Contains(text, "alice@") {
		s.t.Errorf("%s %s shows bob %.2000s", method, theirs, text)
	}
	if theirs == nowhere {
		return
	}
	if must404 && status != http.StatusNotFound {
		s.t.Errorf("%s %s with alice's ids: %d %s", method, theirs, status, text)
	}
	other, otherText := s.walk(method, nowhere, body, header)
	if other >= 400 {
		for kind, id := range f.theirs {
			text = strings.ReplaceAll(text, id, f.nowhere[kind])
		}
	}
	made := regexp.MustCompile(`lease-[0-9a-f]{12}`) // of bob's own thread
	text, otherText = made.ReplaceAllString(text, "lease"), made.ReplaceAllString(otherText, "lease")
	if status != other || other >= 400 && text != otherText {
		s.t.Errorf("%s %s: %d %s\nbut for ids that are nowhere: %d %s", method, theirs, status, text, other, otherText)
	}
}

// state is what alice sees of her things, without what changes by itself.
func (s *server) state(f foreign) string {
	s.t.Helper()
	text := ""
	for _, path := range []string{"/pty", "/pty/" + f.theirs["pty"] + "/snapshot?format=text", "/session/work/shell",
		"/session/work/commands", "/api/threads/work", "/api/threads/asked", "/api/threads/asked/approvals",
		"/api/threads/asked/permissions", "/api/threads/work/messages", "/api/threads/work/records", "/api/leases",
		"/api/threads/work/events?format=json"} {
		text += path + " " + s.as("alice", http.MethodGet, path, "").wants(200).body
	}
	moving := `"(last_activity_at|last_output_at|updated_at|memory_bytes|journal_bytes|duration_ms)":`
	return regexp.MustCompile(moving+`("[^"]*"|\d+|null)`).ReplaceAllString(text, "")
}
