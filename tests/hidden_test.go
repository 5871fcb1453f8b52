package tests

import (
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// TestSecretsInVariablesAreHidden: lists, infos, states, approvals and what a page is told have *** for them,
// ?secrets=1 the values; programs have the values, also after a restart.
func TestSecretsInVariablesAreHidden(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	const secret = "sesame-4711"
	vars := map[string]any{"API_KEY": secret, "my_token": secret, "Secrets": secret, "PASSWD": secret,
		"credentials": secret, "PLAIN": "word"}
	do := func(method, path string, b body) reply {
		h := map[string]string{"Authorization": s.bearer()}
		text := ""
		if b != nil {
			text, h["Content-Type"] = asJSON(b), "application/json"
		}
		return s.do(request{method, path, text, h})
	}
	hidden := func(r reply) {
		t.Helper()
		if strings.Contains(r.body, secret) || !strings.Contains(r.body, `"API_KEY":"***"`) ||
			!strings.Contains(r.body, `"PLAIN":"word"`) {
			t.Errorf("%s %s: %s", r.request.method, r.request.path, r.body)
		}
	}
	created := do("POST", "/session/hide/pty", body{"env": vars,
		"cmd": []string{"sh", "-c", `echo "it is $API_KEY"; test ! -e again && touch again && exit; exec cat`},
		"cwd": t.TempDir()})
	hidden(created.wants(201))
	var i struct{ ID string }
	created.into(&i)
	s.exit(i.ID)
	hidden(do("POST", "/pty/"+i.ID+"/restart", body{}).wants(200))
	s.await(i.ID, "(?s)it is "+secret+".*it is "+secret)
	s.book.add("hide")
	do("POST", "/session/hide/env", body{"env": vars}).wants(200)
	var terminal struct {
		ID string `json:"terminal_id"`
	}
	eventually(t, "the state of the shell is there", func() bool {
		r := do("GET", "/api/threads/hide/terminals", nil)
		return strings.Contains(r.body, `"kind":"shell"`) && strings.Count(r.body, `"PLAIN":"word"`) > 1
	})
	do("GET", "/api/threads/hide/terminal", nil).wants(200).into(&terminal)
	paths := []string{"/pty", "/session/hide/pty", "/pty/" + i.ID, "/session/hide/pty/" + i.ID,
		"/api/threads/hide/terminal", "/api/threads/hide/terminals",
		"/api/threads/hide/terminals/" + terminal.ID + "/history"}
	do("PUT", "/api/threads/hide/permissions", body{"rules": body{"ask": []body{{"tool": "pty"}}}}).wants(200)
	if r := do("POST", "/session/hide/pty", body{"env": vars, "cmd": []string{"cat"}}); r.status == 423 {
		paths = append(paths, "/api/threads/hide/approvals")
	} else {
		t.Errorf("no approval is needed: %d %s", r.status, r.body)
	}
	for _, path := range paths {
		hidden(do("GET", path, nil).wants(200))
		if r := do("GET", path+"?secrets=1", nil).wants(200); !strings.Contains(r.body, secret) ||
			strings.Contains(r.body, "***") {
			t.Errorf("%s?secrets=1: %s", path, r.body)
		}
		do("GET", path+"?secrets=maybe", nil).wants(400)
	}
	if r := do("GET", "/api/threads/hide/events?format=json", nil).wants(200); strings.Contains(r.body, secret) {
		t.Errorf("events: %s", r.body)
	}
	j, err := s.dialJSON(s.ctx(), "/ws")
	s.must(err)
	_, message, err := j.conn.ReadMessage()
	s.must(err)
	if strings.Contains(string(message), secret) || !strings.Contains(string(message), "***") {
		t.Errorf("a page is told %s", message)
	}
	_ = j.conn.WriteMessage(websocket.CloseMessage, nil)
	_ = j.Close()
	if out := run(t, s.cli("ls", "--json")); strings.Contains(out.stdout, secret) ||
		!strings.Contains(out.stdout, "***") {
		t.Errorf("ls --json: %+v", out)
	}
	if !strings.Contains(string(s.readFile("audit.log")), `"what":"secrets.show"`) {
		t.Error("who asked for secrets is not in the audit log")
	}
}
