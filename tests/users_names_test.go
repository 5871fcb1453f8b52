package tests

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// naming says which parameters of queries and headers, by their names in openapi.json, may name what is another user's.
var naming = map[string]bool{"reference": true, "session": true, "name": true, "label": true, "listAfter": true,
	"threadsAfter": true, "leasesAfter": true, "before": true, "record": true, "ofTerminal": true, "ticketPTY": true,
	"sessionHeader": true, "login": true,
	"inside": false, // where the client itself is, among what it sees

	"afterSeq": false, "bookAfter": false, "allLogins": false, "allTickets": false, "archived": false, "follow": false,
	"eventsFormat": false, "format": false, "recordFormat": false, "recordingFormat": false, "wire": false,
	"from": false, "history": false, "late": false, "approvalsLimit": false, "eventsLimit": false, "hooksLimit": false,
	"leasesLimit": false, "limit": false, "listLimit": false, "pageLimit": false, "threadsLimit": false,
	"nested": false, "newest": false, "ofProvider": false, "purge": false, "purgeCommand": false, "reveal": false,
	"viewerRows": false, "viewerCols": false, "scrollback": false, "secrets": false, "eventsSince": false,
	"since": false, "state": false, "approvalsStatus": false, "stderrFrom": false, "stdoutFrom": false, "tty": false,
	"usage": false, "client": false, "key": false, "viewerName": false, "streamHistory": false, "foreignCols": false,
	"foreignRows": false, "foreignLines": false, "stdin": false, "stdout": false,
	"as": false, // a viewer of the terminal that the path names
}

// inBodies are the fields of requests that may name what is another user's, with the test that has it.
var inBodies = map[string]string{
	"sessionId": "TestAnotherUserOnEveryRoute", "lease_id": "TestAnotherUserInBodies",
	"pty": "TestAnotherUserInBodies", "session_id": "TestAnotherUserInBodies",
	"session": "TestSharesOfUsers",
	"id":      "of what is to be made", "thread_id": "in a record, where it is only kept",
	"command_id": "in a record, where it is only kept", "tool_call_id": "in a record, where it is only kept",
}

// reference is what fields are called that name something.
var reference = regexp.MustCompile(`"((?:\w+_)?(?:id|pty|session|thread|lease|terminal|shell|record)|\w+Id)": \{`)

// apiDocument is openapi.json.
type apiDocument struct {
	Paths      map[string]map[string]json.RawMessage
	Components map[string]map[string]json.RawMessage
}

// bodyOf is the text about the body of an operation, with all that it refers to.
func (d *apiDocument) bodyOf(t testing.TB, operation json.RawMessage) string {
	t.Helper()
	var o struct{ RequestBody json.RawMessage }
	if err := json.Unmarshal(operation, &o); err != nil {
		t.Fatal(err)
	}
	text, done := string(o.RequestBody), map[string]bool{}
	for more := true; more; {
		more = false
		for _, ref := range regexp.MustCompile(`"#/components/(\w+)/(\w+)"`).FindAllStringSubmatch(text, -1) {
			if !done[ref[0]] {
				done[ref[0]], more = true, true
				text += string(d.Components[ref[1]][ref[2]])
			}
		}
	}
	return text
}

// parametersOf are the names of the parameters of an operation, with where they are and what they are called there.
func (d *apiDocument) parametersOf(t testing.TB, operation json.RawMessage) map[string]struct{ In, Name string } {
	t.Helper()
	var o struct {
		Parameters []struct {
			Ref      string `json:"$ref"`
			In, Name string
		}
	}
	if err := json.Unmarshal(operation, &o); err != nil {
		t.Fatal(err)
	}
	all := map[string]struct{ In, Name string }{}
	for _, p := range o.Parameters {
		key, found := p.Name, struct{ In, Name string }{p.In, p.Name}
		if p.Ref != "" {
			key = p.Ref[strings.LastIndex(p.Ref, "/")+1:]
			if err := json.Unmarshal(d.Components["parameters"][key], &found); err != nil {
				t.Fatal(err)
			}
		}
		if found.In != "path" {
			all[key] = found
		}
	}
	return all
}

// TestAnotherUserInParameters: what bob names of alice in a query or a header is answered as what is nowhere, and no
// parameter nor field of a body is new without somebody who has said whether it names something.
func TestAnotherUserInParameters(t *testing.T) {
	t.Parallel()
	s, _ := startUsers(t, launch{}, "alice", "bob")
	f := s.things()
	before, own := s.state(f), maps.Clone(f.nowhere)
	own["pty"], own["thread"], own["compat"] = s.cat("bob", "work", "own"), "work", "default"
	s.as("bob", http.MethodPost, "/api/threads/work/messages", `{"role":"user","content":"x"}`).wants(201)
	var d apiDocument
	s.get("/openapi.json").wants(200).into(&d)
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for method, operation := range d.Paths[path] {
			if method == "parameters" {
				continue
			}
			body := d.bodyOf(t, operation)
			for _, field := range reference.FindAllStringSubmatch(body, -1) {
				if inBodies[field[1]] == "" {
					t.Errorf("%s %s: does %q of the body name what is a user's? Say it in inBodies", method, path,
						field[1])
				}
			}
			for key, p := range d.parametersOf(t, operation) {
				names, known := naming[key]
				if !known {
					t.Errorf("%s %s: does the parameter %s name what is a user's? Say it in naming", method, path, key)
				}
				if names {
					s.walkParameter(strings.ToUpper(method), path, p.In, p.Name, body != "", f, own)
				}
			}
		}
	}
	if after := s.state(f); after != before {
		t.Errorf("bob has changed things of alice: before\n%s\nafter\n%s", before, after)
	}
}

// walkParameter asks a route for what is bob's own with a parameter that names what is alice's, and what is nowhere.
func (s *server) walkParameter(method, path, in, name string, hasBody bool, f foreign, own map[string]string) {
	s.t.Helper()
	target := pathParameter.ReplaceAllStringFunc(path, func(p string) string {
		if kind := kindOf(s.t, path, p[1:len(p)-1]); kind == "session" {
			return "work"
		} else if kind == "asset" || kind == "provider" {
			return "none"
		} else {
			return own[kind]
		}
	})
	ask := func(value string) (int, string) {
		header := map[string]string{"Authorization": "Bearer " + userToken("bob")}
		body, at := "", target
		if hasBody {
			body, header["Content-Type"] = walkBody(path), "application/json"
		}
		if in == "header" {
			header[name] = value
		} else {
			at += "?" + name + "=" + url.QueryEscape(value)
		}
		return s.walk(method, at, body, header)
	}
	for kind, id := range f.theirs {
		status, text := ask(id)
		if strings.Contains(text, mark) || strings.Contains(text, "alice@") {
			s.t.Errorf("%s %s?%s=%s shows bob %.2000s", method, target, name, id, text)
		}
		if kind == "thread" || kind == "compat" { // bob has it too
			continue
		}
		other, otherText := ask(f.nowhere[kind])
		text = strings.ReplaceAll(text, id, f.nowhere[kind])
		if status != other || other >= 400 && text != otherText {
			s.t.Errorf("%s %s?%s=%s: %d %s\nbut for what is nowhere: %d %s", method, target, name, id, status, text, other,
				otherText)
		}
	}
}

// TestAnotherUserInBodies: what bob names of alice in a body is nowhere for him. A record with the id of one of hers
// gets another id.
func TestAnotherUserInBodies(t *testing.T) {
	t.Parallel()
	s, _ := startUsers(t, launch{}, "alice", "bob")
	f := s.things()
	before := s.state(f)
	for _, ids := range []map[string]string{f.theirs, f.nowhere} {
		s.as("bob", http.MethodPost, "/tickets", asJSON(object{"pty": ids["pty"]})).wants(404)
		s.as("bob", http.MethodPost, "/api/threads", asJSON(object{"lease_id": ids["lease"]})).wants(404)
	}
	for _, name := range []string{"alice@work", "bob@work", "@work", "alice@"} {
		for path, body := range map[string]string{"/api/threads": asJSON(object{"id": name}),
			"/api/leases": asJSON(object{"id": name}), "/api/session/create": asJSON(object{"id": name}),
			"/api/execute":              asJSON(object{"command": "true", "sessionId": name}),
			"/session/work/pty":         asJSON(object{"name": name, "cmd": []string{"cat"}}),
			"/session/" + name + "/pty": `{"cmd":["cat"]}`, "/session/" + name + "/exec": `{"command":"true"}`} {
			s.as("bob", http.MethodPost, path, body).wants(400)
		}
	}
	record := s.as("alice", http.MethodGet, "/api/threads/work/record", "").wants(200).body
	record = strings.ReplaceAll(record, mark, "of bob")
	s.as("bob", http.MethodPost, "/api/threads", `{"id":"work"}`).wants(201)
	for range 2 {
		var head struct {
			SessionID string `json:"session_id"`
		}
		s.as("bob", http.MethodPut, "/api/threads/work/record", record).wants(200).into(&head)
		if head.SessionID == "" || head.SessionID == f.theirs["record"] {
			t.Errorf("the record of bob is %q", head.SessionID)
		}
	}
	if after := s.state(f); after != before {
		t.Errorf("bob has changed things of alice: before\n%s\nafter\n%s", before, after)
	}
}

// TestAnotherUserOnThePage: a page of bob lists what is his, and cannot watch what is alice's.
func TestAnotherUserOnThePage(t *testing.T) {
	t.Parallel()
	s, _ := startUsers(t, launch{}, "alice", "bob")
	theirs, own := s.cat("alice", "work", mark), s.cat("bob", "work", "own")
	page, err := s.dialWith(s.ctx(), &websocket.Dialer{}, "/ws",
		http.Header{"Authorization": {"Bearer " + userToken("bob")}})
	s.must(err)
	defer page.Close()
	until := func(enough func(seen string) bool) (seen string) {
		for !enough(seen) {
			_, b, err := page.read()
			s.must(err)
			seen += string(b) + "\n"
		}
		return seen
	}
	for _, id := range []string{theirs, mark, "alice@work/" + mark, own} {
		s.must(page.send(object{"type": "attach", "pty": id}))
	}
	seen := until(func(seen string) bool {
		return strings.Count(seen, `"code":"NOT_FOUND"`) == 3 && strings.Contains(seen, `"event":"snapshot"`)
	})
	if strings.Count(seen, `"ptyID"`) != 1 {
		t.Errorf("bob's page lists %s", seen)
	}
	s.cat("alice", "work", "another"+mark)
	s.cat("bob", "work", "later")
	seen = until(func(seen string) bool { return strings.Contains(seen, `"later"`) })
	if strings.Contains(seen, mark) || strings.Contains(seen, "alice") {
		t.Errorf("bob's page shows what alice starts: %s", seen)
	}
}

// TestPublicMetricsForUsers: what everybody may see without a token, a user may see with theirs.
func TestPublicMetricsForUsers(t *testing.T) {
	t.Parallel()
	s, _ := startUsers(t, launch{flags: []string{"--metrics-public"}}, "alice", "root admin = true")
	s.do(request{http.MethodGet, "/metrics", "", nil}).wants(200)
	s.as("alice", http.MethodGet, "/metrics", "").wants(200)
	s.as("root", http.MethodGet, "/metrics", "").wants(200)
}
