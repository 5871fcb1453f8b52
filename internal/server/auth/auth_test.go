package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// TestEveryRouteIsClosed walks all routes, and some that do not exist, with
// every method and every kind of wrong credential.
func TestEveryRouteIsClosed(t *testing.T) {
	g := newGate(t, Config{})
	paths := []string{"/", "/pty", "/metrics", "/openapi.json", "/assets/app.js", "/tickets", "/absent",
		"/pty/web/absent", "/%2e%2e/token",
		"/pty/alpha-000001", "/pty/absent-00000/snapshot", "/session/s/pty/web/ws", "/session/s/pty/absent/stream",
		"/pty/web/snapshot"}
	for name, header := range map[string]string{
		"nothing": "X-Nothing: 1", "wrong token": "Authorization: Bearer " + strings.Repeat("x", 43),
		"empty": "Authorization: Bearer ", "prefix": "Authorization: Bearer " + g.token[:42],
		"longer": g.bearer() + "x",
		"basic":  "Authorization: Basic " + g.token, "bare": "Authorization: " + g.token,
		"cookie": "Cookie: " + g.auth.sessions.name + "=" + g.token,
	} {
		bodies := map[string]bool{}
		for _, path := range paths {
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
				r := g.do(t, nil, method, path+"?token="+g.token+"&ticket="+g.token, `{"data":"x"}`, header, jsonType)
				if r.status != 401 || !strings.HasPrefix(r.header.Get("WWW-Authenticate"), "Bearer") {
					t.Errorf("%s: %s %s: %d %s", name, method, path, r.status, r.body)
				}
				if !strings.Contains(path, "pty/") {
					continue
				}
				bodies[method+r.body] = true
			}
			if r := g.do(t, nil, "HEAD", path, "", header); r.status != 401 || r.body != "" {
				t.Errorf("%s: HEAD %s: %d", name, path, r.status)
			}
		}
		// GET has two: with a ticket on a route that takes one, and elsewhere.
		if len(bodies) > 7 {
			t.Errorf("%s: replies tell terminals apart: %v", name, bodies)
		}
	}
	if log := g.log.String(); strings.Contains(log, g.token) || !strings.Contains(log, "level=WARN msg=refused") {
		t.Errorf("log: %s", log)
	}
}

func TestOpenPaths(t *testing.T) {
	g := newGate(t, Config{})
	for _, path := range openPaths {
		if r := g.do(t, nil, "GET", path, ""); r.status != 200 || r.body != " " {
			t.Errorf("%s: %d %q, want no grant", path, r.status, r.body)
		}
		if r := g.do(t, nil, "GET", path, "", "Authorization: Bearer wrong"); r.status != 200 || r.body != " " {
			t.Errorf("%s with a wrong token: %d %q", path, r.status, r.body)
		}
		if r := g.do(t, nil, "GET", path, "", g.bearer()); r.body != "write " {
			t.Errorf("%s with the token: %d %q", path, r.status, r.body)
		}
		wantCode(t, g.do(t, nil, "GET", path, "", "Host: evil.com"), 403, "FORBIDDEN_HOST")
		if r := g.do(t, nil, "GET", path+"/..%2fpty", ""); r.status != 401 {
			t.Errorf("%s/..: %d", path, r.status)
		}
	}
}

func TestBearerToken(t *testing.T) {
	g := newGate(t, Config{})
	for _, scheme := range []string{"Bearer ", "bearer ", "BEARER  "} {
		if r := g.do(t, nil, "GET", "/pty", "", "Authorization: "+scheme+g.token); r.status != 200 ||
			r.body != "write " {
			t.Errorf("%q: %d %q", scheme, r.status, r.body)
		}
	}
	wantCode(t, g.do(t, nil, "GET", "/absent", "", g.bearer()), 404, "NOT_FOUND")
	browser := g.browser(t)
	page := g.logIn(t, browser)
	wantCode(t, g.do(t, browser, "GET", "/pty", "", page, "Authorization: Bearer wrong"), 401, "UNAUTHORIZED")
}

func TestForeignHostsAndOriginsOverTheWire(t *testing.T) {
	for _, mode := range []string{ModeToken, ModeNone} {
		g := newGate(t, Config{Mode: mode})
		port := g.URL[strings.LastIndexByte(g.URL, ':'):]
		for _, host := range []string{"evil.com", "127.0.0.1.evil.com" + port, "evil.com" + port} {
			wantCode(t, g.do(t, nil, "GET", "/pty", "", g.bearer(), "Host: "+host), 403, "FORBIDDEN_HOST")
		}
		for _, host := range []string{"[::1]" + port, "localhost" + port} {
			if r := g.do(t, nil, "GET", "/pty", "", g.bearer(), "Host: "+host); r.status != 200 {
				t.Errorf("%s: Host %s: %d", mode, host, r.status)
			}
		}
		upgrade := []string{g.bearer(), "Connection: Upgrade", "Upgrade: websocket"}
		for _, origin := range []string{"http://evil", "null", "http://127.0.0.1:1", "http://127.0.0.1.evil",
			strings.ToUpper(g.URL)} {
			header := "Origin: " + origin
			wantCode(t, g.do(t, nil, "GET", "/pty/web/ws", "", append(upgrade, header)...), 403, "FORBIDDEN_ORIGIN")
			wantCode(t, g.do(t, nil, "GET", "/pty/web/stream", "", g.bearer(), header), 403, "FORBIDDEN_ORIGIN")
			wantCode(t, g.do(t, nil, "POST", "/pty/web/input", `{"data":"x"}`, g.bearer(), jsonType, header), 403,
				"FORBIDDEN_ORIGIN")
			wantCode(t, g.do(t, nil, "DELETE", "/pty/web", "", g.bearer(), header), 403, "FORBIDDEN_ORIGIN")
			wantCode(t, g.do(t, nil, "OPTIONS", "/pty", "", header, "Access-Control-Request-Method: POST"), 403,
				"FORBIDDEN_ORIGIN")
		}
		if r := g.do(t, nil, "GET", "/pty/web/ws", "", append(upgrade, "Origin: "+g.URL)...); r.status != 200 {
			t.Errorf("%s: same origin: %d %s", mode, r.status, r.body)
		}
		if r := g.do(t, nil, "GET", "/pty/web/ws", "", upgrade...); r.status != 200 {
			t.Errorf("%s: a program's WebSocket: %d %s", mode, r.status, r.body)
		}
		wantCode(t, g.do(t, nil, "GET", "/pty/web/ws", "", append(upgrade, "Sec-Fetch-Site: cross-site")...), 403,
			"FORBIDDEN_ORIGIN")
	}
}

func TestLoginTicketBecomesCookie(t *testing.T) {
	g := newGate(t, Config{})
	browser, stranger := g.browser(t), g.browser(t)
	link, err := g.auth.LoginURL(g.URL)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(link, g.URL)
	for _, method := range []string{"HEAD", "POST"} { // previews and forms must not use it up
		if r := g.do(t, stranger, method, path, ""); r.status != 401 {
			t.Errorf("%s login: %d", method, r.status)
		}
	}
	secret := strings.TrimPrefix(path, "/?ticket=")
	if r := g.do(t, stranger, "GET", "/pty/web/ws?ticket="+secret, ""); r.status != 401 {
		t.Errorf("a login ticket opened a terminal: %d", r.status)
	}
	r := g.do(t, browser, "GET", path, "")
	cookie := r.header.Get("Set-Cookie")
	half, ok := strings.CutPrefix(r.header.Get("Location"), "/#page=")
	if r.status != 303 || !ok || !strings.Contains(cookie, "HttpOnly") || strings.Contains(cookie, half) ||
		!strings.Contains(cookie, "SameSite=Strict") {
		t.Fatalf("login: %d %v", r.status, r.header)
	}
	page := "Evertty-Page: " + half
	if r := g.do(t, browser, "GET", "/pty", "", page); r.status != 200 || r.body != "write " {
		t.Errorf("with both halves: %d %s", r.status, r.body)
	}
	if r := g.do(t, browser, "GET", path, ""); r.status != 303 || r.header.Get("Location") != "/" {
		t.Errorf("who is logged in opens the link again: %d to %q", r.status, r.header.Get("Location"))
	}
	wantCode(t, g.do(t, stranger, "GET", path, ""), 401, "UNAUTHORIZED")
	if len(stranger.Jar.Cookies(mustURL(t, g.URL))) != 0 {
		t.Error("a stranger got a cookie")
	}
	if log := g.log.String(); strings.Contains(log, secret) || !strings.Contains(log, "ticket=REDACTED") ||
		!strings.Contains(log, "logged in") {
		t.Errorf("log: %s", log)
	}
}

func mustURL(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestLoginFromAnotherSitesLink(t *testing.T) {
	g := newGate(t, Config{})
	link, err := g.auth.LoginURL("")
	if err != nil {
		t.Fatal(err)
	}
	r := g.do(t, nil, "GET", link, "", "Sec-Fetch-Site: cross-site")
	if r.status != 200 || r.header.Get("Set-Cookie") == "" || !strings.Contains(r.body, `content="0;url=/#page=`) {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
}

func TestLoginTicketExpires(t *testing.T) {
	g := newGate(t, Config{})
	link, err := g.auth.LoginURL("")
	if err != nil {
		t.Fatal(err)
	}
	g.clock.advance(ticketTTL)
	wantCode(t, g.do(t, nil, "GET", link, ""), 401, "UNAUTHORIZED")
}

func TestBrowserIsToldHowToLogIn(t *testing.T) {
	g := newGate(t, Config{})
	r := g.do(t, nil, "GET", "/", "", "Accept: text/html,application/xhtml+xml,*/*;q=0.8")
	if r.status != 401 || !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") ||
		!strings.Contains(r.body, "evertty url") ||
		strings.Contains(r.body, "<script") {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
	wantCode(t, g.do(t, nil, "GET", "/", "", "Accept: application/json"), 401, "UNAUTHORIZED")
}

func TestSessionOutlivesTheServerButNotTheToken(t *testing.T) {
	first := newGate(t, Config{})
	browser := first.browser(t)
	page := first.logIn(t, browser)
	cookie := browser.Jar.Cookies(mustURL(t, first.URL))[0]
	header := "Cookie: " + cookie.Name + "=" + cookie.Value
	first.Close()

	second := newGate(t, Config{DataDir: first.dir})
	if r := second.do(t, nil, "GET", "/pty", "", header, page); r.status != 200 {
		t.Errorf("after a restart: %d", r.status)
	}
	if err := os.Remove(filepath.Join(first.dir, tokenFile)); err != nil {
		t.Fatal(err)
	}
	third := newGate(t, Config{DataDir: first.dir})
	wantCode(t, third.do(t, nil, "GET", "/pty", "", header, page), 401, "UNAUTHORIZED")
}

func TestSessionSlides(t *testing.T) {
	g := newGate(t, Config{})
	browser := g.browser(t)
	page := g.logIn(t, browser)
	if r := g.do(t, browser, "GET", "/pty", "", page); r.header.Get("Set-Cookie") != "" {
		t.Error("a fresh session was renewed")
	}
	for range 3 {
		g.clock.advance(sessionLife - time.Hour)
		if r := g.do(t, browser, "GET", "/pty", "", page); r.status != 200 || r.header.Get("Set-Cookie") == "" {
			t.Fatalf("after a long time: %d %v", r.status, r.header)
		}
	}
	g.clock.advance(sessionLife)
	if r := g.do(t, browser, "GET", "/pty", "", page); r.status != 401 {
		t.Errorf("after the end: %d", r.status)
	}
}

func TestSessionNeedsOriginForWebSocket(t *testing.T) {
	g := newGate(t, Config{})
	browser := g.browser(t)
	page := g.logIn(t, browser)
	wantCode(t, g.do(t, browser, "GET", "/pty/web/ws", "", page, "Connection: Upgrade", "Upgrade: websocket"), 403,
		"FORBIDDEN_ORIGIN")
	if r := g.do(t, browser, "GET", "/pty/web/ws", "", "Connection: Upgrade", "Upgrade: websocket",
		page, "Origin: "+g.URL); r.status != 200 {
		t.Errorf("same origin: %d", r.status)
	}
	if r := g.do(t, browser, "GET", "/pty/web/stream", "", page); r.status != 200 { // fetch sends no Origin to its own
		t.Errorf("stream: %d", r.status)
	}
}

// askTicket posts body to /tickets with the token.
func askTicket(t testing.TB, g *gate, body string) wire.Ticket {
	t.Helper()
	r := g.do(t, nil, "POST", "/tickets", body, g.bearer(), jsonType)
	var got wire.Ticket
	if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.status != 201 {
		t.Fatalf("%s: %d %s (%v)", body, r.status, r.body, err)
	}
	return got
}

func TestTicketOpensOneTerminal(t *testing.T) {
	g := newGate(t, Config{})
	got := askTicket(t, g, `{"pty":"web","role":"read","uses":6}`)
	if want := g.URL + "/pty/alpha-000001/ws?ticket=" + got.Ticket; got.URL != want ||
		!got.ExpiresAt.Equal(g.clock.Now().Add(ticketTTL)) ||
		got.ExpiresAt.Location() != time.UTC {
		t.Errorf("reply %+v, want the URL %s", got, want)
	}
	query := "?ticket=" + got.Ticket
	for _, test := range []struct{ method, path string }{
		{"GET", "/pty/beta-0000002/ws"}, {"GET", "/session/other/pty/web/ws"}, {"GET", "/pty/absent/ws"},
		{"GET", "/pty/web/recording"},
		{"GET", "/pty"}, {"GET", "/metrics"}, {"GET", "/pty/web%2fws"}, {"POST", "/pty/web/input"},
		{"DELETE", "/pty/alpha-000001"},
		{"HEAD", "/pty/web/ws"}, {"POST", "/tickets"}, {"GET", "/"},
	} {
		if r := g.do(t, nil, test.method, test.path+query, `{"data":"x"}`, jsonType); r.status != 401 {
			t.Errorf("%s %s: %d %s", test.method, test.path, r.status, r.body)
		}
	}
	for _, path := range []string{"/pty/web/ws", "/pty/alpha-000001/stream", "/pty/web/snapshot",
		"/session/s/pty/web/ws", "/session/s/pty/alpha-000001/stream", "/session/s/pty/web/snapshot"} {
		if r := g.do(t, nil, "GET", path+query, ""); r.status != 200 || r.body != "read alpha-000001" {
			t.Errorf("%s: %d %q", path, r.status, r.body)
		}
	}
	wantCode(t, g.do(t, nil, "GET", "/pty/web/ws"+query, ""), 401, "UNAUTHORIZED")
	if log := g.log.String(); strings.Contains(log, got.Ticket) || !strings.Contains(log, "ticket issued") {
		t.Errorf("log: %s", log)
	}
}

func TestTicketIsStrongerThanTheCookieAndEndsInTime(t *testing.T) {
	g := newGate(t, Config{})
	browser := g.browser(t)
	page := g.logIn(t, browser)
	got := askTicket(t, g, `{"pty":"beta-0000002","role":"read","ttl_s":60,"uses":2}`)
	path := "/pty/beta-0000002/stream?ticket=" + got.Ticket
	if r := g.do(t, browser, "GET", path, "", page); r.body != "read beta-0000002" {
		t.Errorf("%d %q", r.status, r.body)
	}
	g.clock.advance(time.Minute)
	wantCode(t, g.do(t, browser, "GET", path, "", page), 401, "UNAUTHORIZED")
	write := askTicket(t, g, `{"pty":"web","role":"write","ttl_s":86400}`)
	if r := g.do(t, nil, "GET", "/pty/web/ws?ticket="+write.Ticket, ""); r.body != "write alpha-000001" {
		t.Errorf("%d %q", r.status, r.body)
	}
}

func TestTicketsOfBrowsersNameTheirOrigin(t *testing.T) {
	g := newGate(t, Config{AllowedHosts: []string{"term.example"}})
	r := g.do(t, nil, "POST", "/tickets", `{"login":true}`, g.bearer(), jsonType, "Origin: https://term.example")
	if !strings.Contains(r.body, `"url":"https://term.example/?ticket=`) {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestLoginTicketFromTheAPI(t *testing.T) {
	g := newGate(t, Config{})
	got := askTicket(t, g, `{"login":true}`)
	browser := g.browser(t)
	r := g.do(t, browser, "GET", strings.TrimPrefix(got.URL, g.URL), "")
	if r.status != 303 {
		t.Errorf("%d %s", r.status, r.body)
	}
	page := "Evertty-Page: " + strings.TrimPrefix(r.header.Get("Location"), "/#page=")
	if r := g.do(t, browser, "POST", "/tickets", `{"pty":"web"}`, jsonType, page); r.status != 201 {
		t.Errorf("a browser asks for a ticket: %d %s", r.status, r.body)
	}
}

func TestTicketRequestsAreChecked(t *testing.T) {
	g := newGate(t, Config{})
	for body, want := range map[string]string{
		`{}`:                           `\"pty\" must name`,
		`{"login":false}`:              `\"pty\" must name`,
		`{"pty":"web","role":"admin"}`: `read or write, not \"admin\"`,
		`{"pty":"web","ttl_s":0}`:      "1 to 86400",
		`{"pty":"web","ttl_s":86401}`:  "1 to 86400",
		`{"pty":"web","ttl_s":9223372036854775807}`: "1 to 86400",
		`{"pty":"web","uses":0}`:                    "1 to 1000",
		`{"pty":"web","uses":1001}`:                 "1 to 1000",
		`{"pty":"web","uses":"1"}`:                  "whole number",
		`{"login":true,"pty":"web"}`:                "no other field",
		`{"login":true,"ttl_s":3600}`:               "no other field",
		`{"terminal":"web"}`:                        "no field",
		``:                                          "empty",
	} {
		r := g.do(t, nil, "POST", "/tickets", body, g.bearer(), jsonType)
		wantCode(t, r, 400, "VALIDATION")
		if !strings.Contains(r.body, want) {
			t.Errorf("%s: %s, want %s", body, r.body, want)
		}
	}
	wantCode(t, g.do(t, nil, "POST", "/tickets", `{"pty":"absent"}`, g.bearer(), jsonType), 404, "NOT_FOUND")
	wantCode(t, g.do(t, nil, "POST", "/tickets", `{"pty":"web"}`, g.bearer()), 415, "UNSUPPORTED_MEDIA_TYPE")
	if len(g.auth.tickets.live) != 0 {
		t.Errorf("%d tickets were made", len(g.auth.tickets.live))
	}
}

func TestWrongCredentialsAreLimited(t *testing.T) {
	g := newGate(t, Config{})
	for i := range failureBurst {
		if r := g.do(t, nil, "GET", "/pty", "", "Authorization: Bearer guess"); r.status != 401 {
			t.Fatalf("guess %d: %d", i, r.status)
		}
	}
	r := g.do(t, nil, "GET", "/pty", "", "Authorization: Bearer guess")
	wantCode(t, r, 429, "LIMIT")
	if r.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", r.header.Get("Retry-After"))
	}
	wantCode(t, g.do(t, nil, "GET", "/pty/web/ws?ticket=guess", ""), 429, "LIMIT")
	if r := g.do(t, nil, "GET", "/pty", "", g.bearer()); r.status != 200 {
		t.Errorf("the right token is locked out: %d", r.status)
	}
	g.logIn(t, g.browser(t))
	wantCode(t, g.do(t, nil, "GET", "/pty", ""), 401, "UNAUTHORIZED")
	g.clock.advance(time.Second)
	wantCode(t, g.do(t, nil, "GET", "/pty", "", "Authorization: Bearer guess"), 401, "UNAUTHORIZED")
	if lines := strings.Count(g.log.String(), "refused"); lines > auditBurst+2*auditRate {
		t.Errorf("%d log lines", lines)
	}
}

func TestModeNoneGrantsEverything(t *testing.T) {
	g := newGate(t, Config{Mode: ModeNone})
	if r := g.do(t, nil, "GET", "/pty", "", "Authorization: Bearer any"); r.body != "write " {
		t.Errorf("%d %q", r.status, r.body)
	}
	if _, err := os.Stat(filepath.Join(g.dir, tokenFile)); err == nil {
		t.Error("a token was made")
	}
	if link, err := g.auth.LoginURL(g.URL); err != nil || link != g.URL+"/" {
		t.Errorf("login URL %q (%v)", link, err)
	}
	if r := g.do(t, nil, "GET", "/?ticket=old", ""); r.status != 303 || r.header.Get("Set-Cookie") != "" {
		t.Errorf("an old login link: %d", r.status)
	}
	r := g.do(t, nil, "POST", "/tickets", `{"pty":"web","role":"read"}`, jsonType)
	var got wire.Ticket
	if err := json.Unmarshal([]byte(r.body), &got); err != nil {
		t.Fatal(err)
	}
	path := "/pty/web/ws?ticket=" + got.Ticket
	if r := g.do(t, nil, "GET", path, ""); r.body != "read alpha-000001" {
		t.Errorf("a read ticket gave %q", r.body)
	}
	if r := g.do(t, nil, "GET", path, ""); r.status != 401 {
		t.Errorf("the same again: %d", r.status)
	}
	r = g.do(t, nil, "POST", "/tickets", `{"pty":"web","role":"read"}`, jsonType)
	if err := json.Unmarshal([]byte(r.body), &got); err != nil {
		t.Fatal(err)
	}
	later := newGate(t, Config{Mode: ModeNone, DataDir: g.dir})
	if r := later.do(t, nil, "GET", "/pty/web/ws?ticket="+got.Ticket, ""); r.body != "read alpha-000001" {
		t.Errorf("after a restart a read ticket gave %q", r.body)
	}
}

func TestNewAuthRefusesSettings(t *testing.T) {
	dir := t.TempDir()
	for _, config := range []Config{
		{Mode: "basic", Listen: "127.0.0.1:0", DataDir: dir},
		{Mode: ModeToken, Listen: "nowhere", DataDir: dir},
		{Mode: ModeToken, Listen: "127.0.0.1:0", DataDir: dir, AllowedHosts: []string{"http://x"}},
	} {
		if auth, err := New(config); auth != nil || !errors.Is(err, ErrSetting) {
			t.Errorf("%+v: %v, %v", config, auth, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, tokenFile), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if auth, err := New(Config{Mode: ModeToken, Listen: "127.0.0.1:0", DataDir: dir}); auth != nil ||
		!errors.Is(err, ErrTokenFile) {
		t.Errorf("bad token file: %v, %v", auth, err)
	}
}

func TestRequireHelpers(t *testing.T) {
	for _, test := range []struct {
		grant           Grant
		write, terminal bool
	}{
		{Grant{}, false, false},
		{Grant{Role: Read}, false, true},
		{Grant{Role: Write}, true, true},
		{Grant{Role: Read, PTY: "alpha"}, false, true},
		{Grant{Role: Write, PTY: "beta"}, true, false},
		{Grant{PTY: "alpha"}, false, false},
		{Grant{Role: Read, Session: "one"}, false, true},
		{Grant{Role: Write, Session: "two"}, true, false},
		{Grant{Role: Read, Session: "one", PTY: "beta"}, false, false},
	} {
		c := echo.New().NewContext(sampleRequest("GET", "localhost"), nil)
		c.Set(grantKey, test.grant)
		httpapi.SetEcho(c)
		ctx := c.Request().Context()
		if err := RequireWrite(ctx); (err == nil) != test.write || err != nil && !errors.Is(err, httpapi.ErrReadOnly) {
			t.Errorf("%v: write: %v", test.grant, err)
		}
		if err := RequireTerminal(ctx, "one", "alpha"); (err == nil) != test.terminal || err != nil &&
			!errors.Is(err, httpapi.ErrWrongTerminal) {
			t.Errorf("%v: terminal: %v", test.grant, err)
		}
	}
}

func TestRedactURL(t *testing.T) {
	for given, want := range map[string]string{
		"/pty/x/ws?ticket=S3CRET":                           "/pty/x/ws?ticket=REDACTED",
		"/?a=1&ticket=S3CRET&b=2":                           "/?a=1&ticket=REDACTED&b=2",
		"/?%74icket=S3CRET":                                 "/?%74icket=REDACTED",
		"/?TICKET=S3CRET;token=S3CRET":                      "/?TICKET=REDACTED&token=REDACTED",
		"/?ticket=%S3CRET&x":                                "/?ticket=REDACTED&x",
		"/?tic%ket=S3CRET":                                  "/?tic%ket=REDACTED",
		"/?access_token=S3CRET=S3CRET":                      "/?access_token=REDACTED",
		"/t/S3CRET/ws":                                      "/t/REDACTED",
		"/pty?format=ansi&since=4":                          "/pty?format=ansi&since=4",
		"/pty/a%0Ab":                                        "/pty/a%0Ab",
		"/" + strings.Repeat("x", httpapi.ClipLength) + "?": "/" + strings.Repeat("x", httpapi.ClipLength-1) + "…",
	} {
		path, query, _ := strings.Cut(given, "?")
		u := mustURL(t, path)
		u.RawQuery = query
		if got := httpapi.RedactURL(u); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

func TestManyClientsAtOnce(t *testing.T) {
	g := newGate(t, Config{})
	got := askTicket(t, g, `{"pty":"web","role":"read","uses":20}`)
	var streams atomic.Int32
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			if r := g.do(t, nil, "GET", "/pty/web/stream?ticket="+got.Ticket, ""); r.status == http.StatusOK {
				streams.Add(1)
			}
			browser := g.browser(t)
			link, err := g.auth.LoginURL("")
			if err != nil {
				t.Error(err)
				return
			}
			in := g.do(t, browser, "GET", link, "")
			if in.status != 303 {
				t.Errorf("login %d: %d", i, in.status)
			}
			page := "Evertty-Page: " + strings.TrimPrefix(in.header.Get("Location"), "/#page=")
			if r := g.do(t, browser, "GET", "/pty", "", page); r.status != 200 {
				t.Errorf("client %d: %d", i, r.status)
			}
			g.do(t, nil, "GET", fmt.Sprintf("/pty?n=%d", i), "", "Authorization: Bearer no")
			if n := g.auth.opened.end(func(o *opened) bool { return o.pty == "beta-0000002" }); n != 0 {
				t.Errorf("%d requests for a terminal that nobody opened were ended", n)
			}
		})
	}
	group.Wait()
	if streams.Load() != 20 {
		t.Errorf("the ticket opened %d streams", streams.Load())
	}
}
