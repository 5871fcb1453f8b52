package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

// TestThreadsAreAsDocumented drives a real server through every route of threads, leases and
// webhooks, and holds requests, replies and events against the document.
func TestThreadsAreAsDocumented(t *testing.T) {
	if testing.Short() {
		t.Skip("drives every route of a server")
	}
	checkLeaks(t)
	c := newContract(t, startServer(t, auth.ModeNone, t.TempDir()))
	c.visitThread(t)
	c.visitThreadTerminals(t)
	c.visitThreadEvents(t)
	c.visitThreadLife(t)
	c.visitRecord(t)
	c.visitPermissions(t)
	c.visitLeases(t)
	c.visitWebhooks(t)
	c.do(t, exchange{method: "DELETE", target: "/api/threads/dev", status: 200})
	c.do(t, exchange{method: "DELETE", target: "/api/threads/dev", status: 404, code: "NOT_FOUND"})
	for _, r := range routes() {
		key := r.Method + " " + templateOf(r.Path)
		if isDurable(r) && !c.met[key+" OK"] && !c.met[key+" Created"] && !c.met[key+" Accepted"] {
			t.Errorf("%s was never seen to succeed", key)
		}
	}
}

func (c *contract) visitThread(t *testing.T) {
	for _, e := range []exchange{
		{method: "GET", target: "/api/threads", status: 200},
		{method: "POST", target: "/api/threads",
			body:   `{"id":"dev","sandbox":"local","policy":{"idle_seconds":900,"budget":{"commands":100000}}}`,
			status: 201},
		{method: "POST", target: "/api/threads", body: `{"id":"dev"}`, status: 409, code: "ALREADY_EXISTS"},
		{method: "POST", target: "/api/threads", header: "Content-Type: application/json", status: 201},
		{method: "POST", target: "/api/threads", body: `{"id":"a/b"}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/api/threads", body: `{"nope":1}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/api/threads", body: `{"policy":{"idle_seconds":-1}}`, status: 400,
			code: "VALIDATION"},
		{method: "POST", target: "/api/threads", body: `{"policy":{"budget":{"bytes":-1}}}`, status: 400,
			code: "VALIDATION"},
		{method: "POST", target: "/api/threads", body: `{"sandbox":"nowhere"}`, status: 400, code: "VALIDATION",
			loose: true},
		{method: "POST", target: "/api/threads", body: `{"lease_id":"absent"}`, status: 404, code: "NOT_FOUND"},
		{method: "POST", target: "/api/threads", status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
		{method: "GET", target: "/api/threads?limit=1", status: 200},
		{method: "GET", target: "/api/threads?limit=0", status: 400, code: "VALIDATION"},
		{method: "GET", target: "/api/threads/dev", status: 200},
		{method: "GET", target: "/api/threads/dev/session", status: 200},
		{method: "GET", target: "/api/threads/dev/terminal", status: 200},
		{method: "GET", target: "/api/threads/dev/lease", status: 200},
		{method: "POST", target: "/api/threads/dev/touch", status: 200},
		{method: "PATCH", target: "/api/threads/dev/policy", body: `{"max_seconds":3600}`, status: 200},
		{method: "PATCH", target: "/api/threads/dev/policy", body: `{"max_seconds":"1"}`, status: 400,
			code: "VALIDATION"},
		{method: "PATCH", target: "/api/threads/absent/policy", body: `{"max_seconds":1}`, status: 404,
			code: "NOT_FOUND"},
		{method: "POST", target: "/session/dev/exec", body: `{"command":"export A=1; cd /tmp"}`, status: 200},
		{method: "GET", target: "/api/threads/dev/commands", status: 200},
		{method: "GET", target: "/api/threads/dev/commands?limit=x", status: 400, code: "VALIDATION"},
	} {
		c.do(t, e)
	}
	for _, path := range []string{"", "/session", "/terminal", "/lease", "/terminals", "/commands", "/events"} {
		c.do(t, exchange{method: "GET", target: "/api/threads/absent" + path, status: 404, code: "NOT_FOUND"})
	}
	for _, path := range []string{"/touch", "/pause", "/resume", "/sandbox/pause", "/sandbox/resume",
		"/terminals/x/activate"} {
		c.do(t, exchange{method: "POST", target: "/api/threads/absent" + path, status: 404, code: "NOT_FOUND"})
	}
	c.do(t, exchange{method: "DELETE", target: "/api/threads/absent/sandbox", status: 404, code: "NOT_FOUND"})
	var one wire.Thread
	decode(t, c.do(t, exchange{method: "GET", target: "/api/threads/dev", status: 200}), &one)
	if one.Policy.IdleSeconds != 900 || one.Policy.MaxSeconds != 3600 || one.Policy.Budget.Commands != 100000 {
		t.Errorf("what was not given of a policy has changed: %+v", one.Policy)
	}
}

func (c *contract) visitThreadTerminals(t *testing.T) {
	var list wire.ThreadTerminals
	decode(t, c.do(t, exchange{method: "GET", target: "/api/threads/dev/terminals", status: 200}), &list)
	if len(list.Terminals) == 0 {
		t.Fatal("there is no terminal")
	}
	base := "/api/threads/dev/terminals/"
	own := base + list.Terminals[0].TerminalID
	for _, e := range []exchange{
		{method: "POST", target: own + "/activate", status: 200},
		{method: "GET", target: own + "/history", status: 200},
		{method: "GET", target: base + "absent/history", status: 404, code: "NOT_FOUND"},
		{method: "POST", target: own + "/rollback", body: `{"version":0}`, status: 200},
		{method: "POST", target: own + "/rollback", body: `{"version":1000}`, status: 404, code: "NOT_FOUND"},
		{method: "POST", target: own + "/rollback", body: `{"version":-1}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: own + "/rollback", body: `{}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: base + "absent/rollback", body: `{"version":0}`, status: 404, code: "NOT_FOUND"},
	} {
		c.do(t, e)
	}
}

func (c *contract) visitThreadEvents(t *testing.T) {
	const target = "/api/threads/dev/events"
	for _, e := range []exchange{
		{target: target + "?format=json&limit=2", status: 200},
		{target: target, header: "Accept: application/json", status: 200},
		{target: target + "?since=-1", status: 400, code: "VALIDATION"},
		{target: target + "?format=xml", status: 400, code: "VALIDATION"},
		{target: target + "?format=json&limit=1001", status: 400, code: "VALIDATION"},
		{target: target, header: "Sec-Fetch-Site: cross-site", status: 403, code: "FORBIDDEN_ORIGIN"},
	} {
		e.method = "GET"
		c.do(t, e)
	}
	w := c.openExec(t, "GET", target, "", "ThreadEvents")
	for i := 1; ; i++ {
		kind, value := w.next()
		c.validate(t, "ThreadEvent", value)
		if fields := value.(map[string]any); fields["type"] != kind || fields["seq"] != float64(i) {
			t.Errorf("event %d is %s with %v", i, kind, value)
		}
		if kind == thread.CommandFinished {
			break
		}
	}
	c.do(t, exchange{method: "POST", target: "/api/threads", body: `{"id":"short"}`, status: 201})
	gone := c.openExec(t, "GET", "/api/threads/short/events?since=1", "", "ThreadEvents")
	c.do(t, exchange{method: "DELETE", target: "/api/threads/short", status: 200})
	for kind := ""; kind != thread.ThreadDeleted; {
		kind, _ = gone.next()
	}
}

func (c *contract) visitThreadLife(t *testing.T) {
	for _, path := range []string{"", "/sandbox"} {
		for _, do := range []string{"/pause", "/pause", "/resume", "/resume"} {
			c.do(t, exchange{method: "POST", target: "/api/threads/dev" + path + do, status: 200})
		}
	}
	c.do(t, exchange{method: "DELETE", target: "/api/threads/dev/sandbox", status: 200})
	c.do(t, exchange{method: "POST", target: "/api/threads/dev/pause", status: 409, code: "ILLEGAL_TRANSITION"})
	c.do(t, exchange{method: "POST", target: "/api/threads/dev/touch", status: 409, code: "SESSION_EXPIRED"})
	c.do(t, exchange{method: "GET", target: "/api/threads/dev/session", status: 200}) // it tells why it is over
	c.do(t, exchange{method: "POST", target: "/session/dev/exec", body: `{"command":"true"}`, status: 200})
}

func (c *contract) visitLeases(t *testing.T) {
	var of wire.Lease
	decode(t, c.do(t, exchange{method: "GET", target: "/api/threads/dev/lease", status: 200}), &of)
	for _, e := range []exchange{
		{method: "GET", target: "/api/leases", status: 200},
		{method: "GET", target: "/api/leases?provider=local", status: 200},
		{method: "POST", target: "/api/leases", body: `{"id":"shared","provider_name":"local","config":{"a":1}}`,
			status: 201},
		{method: "POST", target: "/api/leases", body: `{"id":"shared"}`, status: 409, code: "ALREADY_EXISTS"},
		{method: "POST", target: "/api/leases", header: "Content-Type: application/json", status: 201},
		{method: "POST", target: "/api/leases", body: `{"config":[]}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/api/leases", body: `{"provider_name":"nowhere"}`, status: 400, code: "VALIDATION",
			loose: true},
		{method: "GET", target: "/api/leases/shared", status: 200},
		{method: "GET", target: "/api/leases/absent", status: 404, code: "NOT_FOUND"},
		{method: "POST", target: "/api/leases/shared/pause", status: 409, code: "ILLEGAL_TRANSITION"},
		{method: "POST", target: "/api/leases/shared/resume", status: 409, code: "ILLEGAL_TRANSITION"},
		{method: "GET", target: "/api/leases/shared/events", status: 200},
		{method: "GET", target: "/api/leases/shared/events?after=x", status: 400, code: "VALIDATION"},
		{method: "GET", target: "/api/leases/absent/events", status: 404, code: "NOT_FOUND"},
		{method: "GET", target: "/api/leases/absent/metrics", status: 404, code: "NOT_FOUND"},
		{method: "DELETE", target: "/api/leases/shared", status: 200},
		{method: "DELETE", target: "/api/leases/shared", status: 404, code: "NOT_FOUND"},
		{method: "DELETE", target: "/api/leases/" + of.LeaseID, status: 409, code: "IN_USE"},
		{method: "GET", target: "/api/sandbox/types", status: 200},
		{method: "GET", target: "/api/sandbox/sessions", status: 200},
	} {
		c.do(t, e)
	}
	for _, path := range []string{"/api/leases/", "/api/sandbox/sessions/"} {
		c.do(t, exchange{method: "GET", target: path + of.LeaseID + "/metrics", status: 200})
		for _, do := range []string{"/pause", "/resume"} {
			c.do(t, exchange{method: "POST", target: path + of.LeaseID + do, status: 200})
			c.do(t, exchange{method: "POST", target: path + "absent" + do, status: 404, code: "NOT_FOUND"})
		}
	}
	c.do(t, exchange{method: "POST", target: "/api/leases/" + of.LeaseID + "/refresh", status: 200})
	c.do(t, exchange{method: "GET", target: "/api/leases/" + of.LeaseID + "/events?limit=3", status: 200})
	c.do(t, exchange{method: "DELETE", target: "/api/sandbox/sessions/" + of.LeaseID, status: 200})
	c.do(t, exchange{method: "POST", target: "/api/leases/" + of.LeaseID + "/destroy", status: 200})
	c.do(t, exchange{method: "POST", target: "/session/dev/exec", body: `{"command":"true"}`, status: 200})
}

func (c *contract) visitWebhooks(t *testing.T) {
	var of wire.Lease
	decode(t, c.do(t, exchange{method: "GET", target: "/api/threads/dev/lease", status: 200}), &of)
	if of.Instance == nil {
		t.Fatal("the lease has no instance")
	}
	body := fmt.Sprintf(`{"type":"sandbox.state.updated","data":{"instance_id":%q,"state":"running"}}`,
		of.Instance.InstanceID)
	for _, test := range []struct {
		provider, body string
		matched        bool
	}{{"local", body, true}, {"e2b", body, false}, {"local", `{"id":"absent","event":"sandbox.lifecycle.killed"}`,
		false}, {"local", `{}`, false}} {
		var reply wire.Matched
		decode(t, c.do(t, exchange{method: "POST", target: "/api/webhooks/" + test.provider, body: test.body,
			status: 202}), &reply)
		if reply.Matched != test.matched {
			t.Errorf("%s %s: matched %v", test.provider, test.body, reply.Matched)
		}
	}
	for _, e := range []exchange{
		{method: "POST", target: "/api/webhooks/local", body: `[]`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/api/webhooks/local", body: `{`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/api/webhooks/a%20b", body: `{}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: "/api/webhooks/local", status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
		{method: "GET", target: "/api/webhooks/events", status: 200},
		{method: "GET", target: "/api/webhooks/events?limit=0", status: 400, code: "VALIDATION"},
	} {
		c.do(t, e)
	}
}

// TestThreadAccess: nothing of threads answers without credentials, with the ticket of a terminal,
// or to another site's page; what has an effect needs the role write.
func TestThreadAccess(t *testing.T) {
	if testing.Short() {
		t.Skip("drives every route of a server")
	}
	checkLeaks(t)
	c := newContract(t, startServer(t, auth.ModeToken, t.TempDir()))
	token := c.token(t)
	bearer := "Authorization: Bearer " + token
	c.do(t, exchange{method: "POST", target: "/session/dev/pty", body: catBody, status: 201, header: bearer})
	var ticket wire.Ticket
	decode(t, c.do(t, exchange{method: "POST", target: "/tickets", body: `{"pty":"web","role":"write","uses":2}`,
		status: 201, header: bearer}), &ticket)
	parameters := strings.NewReplacer(":id", "dev", ":tid", "web", ":rid", "x", ":provider", "local")
	n := 0
	for _, r := range routes() {
		if !isDurable(r) {
			continue
		}
		n++
		path := parameters.Replace(r.Path)
		c.do(t, exchange{method: r.Method, target: path, status: http.StatusUnauthorized, code: "UNAUTHORIZED"})
		c.do(t, exchange{method: r.Method, target: path + "?ticket=" + ticket.Ticket, status: http.StatusUnauthorized,
			code: "UNAUTHORIZED"})
		if r.Method != http.MethodGet && !r.Effect && r.Path != auth.WebhookPath {
			t.Errorf("%s %s needs no role", r.Method, r.Path)
		}
		if r.Method != http.MethodGet {
			c.foreign(t, r.Method, path, token)
		}
	}
	if n < 35 {
		t.Errorf("only %d routes were tried", n)
	}
}

// foreign sends a request as a page of another site would.
func (c *contract) foreign(t *testing.T, method, path, token string) {
	t.Helper()
	request, err := http.NewRequest(method, c.url+path, strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	reply, err := c.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _ = reply.Body.Close(); reply.StatusCode != http.StatusForbidden {
		t.Errorf("%s %s from another site's page: %d", method, path, reply.StatusCode)
	}
}

// TestWebhookSecret: with a secret providers need no other credentials, and nobody passes without
// it.
func TestWebhookSecret(t *testing.T) {
	checkLeaks(t)
	live := startServer(t, auth.ModeToken, t.TempDir())
	secret := auth.DigestOf("the secret")
	live.auth.Webhooks = &secret
	token := live.token(t)
	c := newContract(t, live)
	for _, e := range []exchange{
		{method: "POST", header: "X-Webhook-Secret: the secret", status: 202},
		{method: "POST", header: "X-Webhook-Secret: the secre", status: 401, code: "UNAUTHORIZED"},
		{method: "POST", header: "X-Webhook-Secret: ", status: 401, code: "UNAUTHORIZED"},
		{method: "POST", header: "Authorization: Bearer " + token, status: 401, code: "UNAUTHORIZED"},
		{method: "POST", status: 401, code: "UNAUTHORIZED"},
	} {
		e.target, e.body = "/api/webhooks/e2b", `{"sandboxId":"x"}`
		c.do(t, e)
	}
	c.do(t, exchange{method: "GET", target: "/api/webhooks/events", header: "X-Webhook-Secret: the secret", status: 401,
		code: "UNAUTHORIZED"})
	c.do(t, exchange{method: "GET", target: "/api/threads", header: "X-Webhook-Secret: the secret", status: 401,
		code: "UNAUTHORIZED"})
}
