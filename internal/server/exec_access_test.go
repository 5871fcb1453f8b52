package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/wire"
)

// TestExecAccess: nothing about shells, commands, processes and files answers without
// credentials, with the ticket of a terminal, or to another site's page.
func TestExecAccess(t *testing.T) {
	checkLeaks(t)
	live := startServer(t, auth.ModeToken, t.TempDir())
	c := newContract(t, live)
	token := c.token(t)
	bearer := "Authorization: Bearer " + token
	c.do(t, exchange{method: "POST", target: "/session/dev/pty", body: catBody, status: 201, header: bearer})
	issued := func() (ticket wire.Ticket) {
		decode(t, c.do(t, exchange{method: "POST", target: "/tickets", body: `{"pty":"web","role":"write","uses":2}`,
			status: 201, header: bearer}), &ticket)
		return ticket
	}
	ticket := issued()
	parameters := strings.NewReplacer(":sid", "dev", ":shid", "web", ":cid", "web", ":id", "web")
	n, closed := 0, ""
	for _, r := range routes() {
		if !isExec(r) {
			continue
		}
		n++
		path := parameters.Replace(r.Path)
		if r.Method == http.MethodGet {
			closed = path
		}
		c.do(t, exchange{method: r.Method, target: path, status: http.StatusUnauthorized, code: "UNAUTHORIZED"})
		c.do(t, exchange{method: r.Method, target: path + "?ticket=" + ticket.Ticket, status: http.StatusUnauthorized,
			code: "UNAUTHORIZED"})
		if r.Method != http.MethodGet || r.Stream {
			request, err := http.NewRequest(r.Method, c.url+path, strings.NewReader(`{"command":"true"}`))
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
				t.Errorf("%s %s from another site's page: %d", r.Method, path, reply.StatusCode)
			}
		}
		if r.Method != http.MethodGet && !r.Effect {
			t.Errorf("%s %s needs no role", r.Method, r.Path)
		}
	}
	if n < 40 {
		t.Errorf("only %d routes were tried", n)
	}
	// A ticket that was refused is still good for what it is for. That one may be too old by now.
	ticket = issued()
	for range 3 {
		c.do(t, exchange{method: "GET", target: closed + "?ticket=" + ticket.Ticket, status: http.StatusUnauthorized,
			code: "UNAUTHORIZED"})
	}
	c.do(t, exchange{method: "GET", target: "/pty/web/snapshot?ticket=" + ticket.Ticket, status: 200})
}

// TestAPIVersion: a request for a version that is not spoken has no effect.
func TestAPIVersion(t *testing.T) {
	checkLeaks(t)
	live := startServer(t, auth.ModeNone, t.TempDir())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, test := range []struct {
		method, path, version string
		status                int
	}{
		{"GET", "/version", "", 200}, {"GET", "/version", "1", 200}, {"GET", "/version", "2", 400},
		{"GET", "/pty", "v1", 400},
		{"POST", "/session/dev/pty", "2", 400}, {"GET", "/nowhere", "1", 404}, {"GET", "/nowhere", "0", 400},
	} {
		r, err := http.NewRequest(test.method, live.url+test.path, strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if test.version != "" {
			r.Header.Set("X-Evertty-API", test.version)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != test.status || response.Header.Get("X-Evertty-API") != "1" {
			t.Errorf("%+v: %d, version %q", test, response.StatusCode, response.Header.Get("X-Evertty-API"))
		}
	}
	if list := live.parts.Terminals.List(""); len(list) != 0 {
		t.Errorf("%d terminals were started", len(list))
	}
}
