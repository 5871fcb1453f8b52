package tests

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/wire"
)

// randomValues are parts of bodies and paths that somebody may try, beside what is right.
var randomValues = []string{`0`, `-1`, `1e9`, `99999999999999999999`, `2.5`, `null`, `true`, `""`, `"x"`, `[]`, `{}`,
	`[[[[`,
	`"\ud83d"`, "\"\xff\"", `"` + strings.Repeat("a", 5000) + `"`, `{"a":{"b":{}}}`, `"\u0000"`, `["true"]`}

// randomFields are fields of requests. Those with which a request would have effects outside the server are left out.
var randomFields = []string{"cols", "rows", "name", "env", "session", "data", "data_b64", "keys", "timeout_ms", "for",
	"pattern", "since", "signal", "pty", "role", "ttl_s", "uses", "login", "scrollback", "size_policy", "policy",
	"messages",
	"state", "events", "reason", "steer", "limit", "unknown"}

// randomNames stand for ids and names in paths.
var randomNames = []string{"nothere", "..%2f..%2fetc", "%00", "%ff", "a%20b", "default", "%2e%2e", "x", "-", "0",
	strings.Repeat("n", 300)}

// randomRequest makes one request to a route of the server.
func randomRequest(r *rand.Rand, route wire.RouteLine, id string) request {
	parts := strings.Split(route.Path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ":") || p == "*" {
			if parts[i] = id; r.IntN(3) > 0 {
				parts[i] = randomNames[r.IntN(len(randomNames))]
			}
		}
	}
	path := strings.Join(parts, "/")
	if r.IntN(2) == 0 {
		q := url.Values{}
		for range 1 + r.IntN(2) {
			q.Set([]string{"format", "since", "limit", "after", "scrollback", "ticket", "state", "purge",
				"q"}[r.IntN(9)],
				randomValues[r.IntN(len(randomValues))])
		}
		path += "?" + q.Encode()
	}
	method := route.Method
	if r.IntN(10) == 0 {
		method = []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"}[r.IntN(7)]
	}
	body := ""
	if method != "GET" && method != "HEAD" {
		var fields []string
		for range r.IntN(4) {
			name, value := randomFields[r.IntN(len(randomFields))], randomValues[r.IntN(len(randomValues))]
			fields = append(fields, `"`+name+`":`+value)
		}
		body = "{" + strings.Join(fields, ",") + "}"
	}
	return request{method, path, body, map[string]string{"Content-Type": "application/json",
		"Accept": []string{"", "text/html", "text/event-stream"}[r.IntN(3)]}}
}

// TestRandomRequests: every route answers whatever comes, never with 500, and a terminal runs on.
func TestRandomRequests(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--max-ptys-per-session", "3"}})
	keep := s.shell()
	for _, session := range []string{"nothere", "default", "x", "0", "term"} { // a shell of it may be started
		s.book.add(session)
	}
	var list wire.RouteList
	s.get("/").into(&list)
	// What starts shells or threads by the name in the path, ends what others use, or never ends by itself.
	list.Routes = slices.DeleteFunc(list.Routes, func(r wire.RouteLine) bool {
		return strings.Contains(r.Path, "exec") || strings.Contains(r.Path, "/shell") ||
			strings.Contains(r.Path, "/env") ||
			strings.Contains(r.Path, "/api/process") || strings.Contains(r.Path, "/api/file") ||
			strings.Contains(r.Path, "/api/session") || r.Method == "DELETE" && !strings.Contains(r.Path, ":id") ||
			strings.HasSuffix(r.Path, "/kill")
	})
	client := &http.Client{Timeout: patience, CheckRedirect: plain.CheckRedirect}
	defer client.CloseIdleConnections()
	var callers sync.WaitGroup
	for n := range 4 {
		callers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), uint64(times(1, int(time.Now().UnixNano())))))
			for range times(250, 250_000) {
				one := randomRequest(r, list.Routes[r.IntN(len(list.Routes))], "term")
				ctx, cancel := context.WithTimeout(s.ctx(), time.Second) // streams go on
				req, err := http.NewRequestWithContext(ctx, one.method, s.url+one.path, strings.NewReader(one.body))
				if err != nil {
					cancel() // the client refuses to send it
					continue
				}
				for k, v := range one.header {
					req.Header.Set(k, v)
				}
				resp, err := client.Do(req)
				if err == nil && resp.StatusCode == http.StatusInternalServerError {
					t.Errorf("%s %s %s: %d", one.method, one.path, clip(one.body), resp.StatusCode)
				}
				if err == nil {
					_ = resp.Body.Close()
				} else if ctx.Err() == nil {
					t.Errorf("%s %s %s: %v", one.method, one.path, clip(one.body), err)
				}
				cancel()
			}
		})
	}
	callers.Wait()
	s.input(keep.ID, "echo 'still' here\n")
	s.await(keep.ID, "^still here$")
}
