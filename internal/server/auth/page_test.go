package auth

import (
	"net/http"
	"testing"
	"time"
)

// TestCookieOpensThePage: a browser gives its cookie to every port of the host, so the cookie
// opens what is the same for everybody. Each half of another login, or another half, opens nothing.
func TestCookieOpensThePage(t *testing.T) {
	g := newGate(t, Config{})
	browser, other := g.browser(t), g.browser(t)
	page, otherPage := g.logIn(t, browser), g.logIn(t, other)
	if page == otherPage {
		t.Fatal("two logins have one secret")
	}
	for _, path := range []string{"/", "/assets/x"} {
		for _, method := range []string{"GET"} { // the gate has no HEAD
			if r := g.do(t, browser, method, path, ""); r.status != 200 || r.body != "" && r.body != " " {
				t.Errorf("%s %s by cookie: %d %q, want no grant", method, path, r.status, r.body)
			}
		}
	}
	for _, wrong := range []string{"X-None: 1", pageHeader + ": ", pageHeader + ": x", otherPage, page + "x"} {
		for _, request := range [][2]string{{"GET", "/pty"}, {"OPTIONS", "/pty"}, {"OPTIONS", "/"}, {"POST", "/"},
			{"GET", "/pty/web/snapshot"}, {"GET", "/pty/web/stream"}, {"GET", "/session/s/pty/absent/stream"},
			{"GET", "/openapi.json"}, {"GET", "/metrics"}, {"POST", "/tickets"}, {"GET", "/absent"},
			{"GET", "/pty/web/ws"}} {
			r := g.do(t, browser, request[0], request[1], "", wrong)
			wantCode(t, r, 401, "UNAUTHORIZED")
		}
		upgrade := []string{wrong, "Connection: Upgrade", "Upgrade: websocket", "Origin: " + g.URL}
		for _, path := range []string{"/pty", "/", "/pty/web/stream"} {
			wantCode(t, g.do(t, browser, "GET", path, "", upgrade...), 401, "UNAUTHORIZED")
		}
		if r := g.do(t, browser, "GET", "/healthz", "", wrong); r.body != " " {
			t.Errorf("healthz: %d %q, want no grant", r.status, r.body)
		}
	}
	wantCode(t, g.do(t, nil, "GET", "/pty", "", page), 401, "UNAUTHORIZED")
	for _, path := range []string{"/pty", "/", "/pty/web/snapshot"} {
		if r := g.do(t, browser, "GET", path, "", page); r.body != "write " {
			t.Errorf("%s by both halves: %d %q", path, r.status, r.body)
		}
	}
	// A WebSocket has no grant before its first message, see the tests of the server.
	if r := g.do(t, browser, "GET", "/pty/absent/ws", "", "Connection: Upgrade", "Upgrade: websocket",
		"Origin: "+g.URL); r.status != 200 || r.body != " " {
		t.Errorf("a WebSocket by cookie: %d %q, want no grant", r.status, r.body)
	}
}

// TestSecretIsOfTheLogin: a renewed cookie and a restart keep it, and it is found beside planted cookies.
func TestSecretIsOfTheLogin(t *testing.T) {
	first := newGate(t, Config{})
	browser := first.browser(t)
	page := first.logIn(t, browser)
	first.clock.advance(2 * sessionRefresh)
	if r := first.do(t, browser, "GET", "/", ""); r.header.Get("Set-Cookie") == "" {
		t.Fatal("the cookie was not renewed")
	}
	if r := first.do(t, browser, "GET", "/pty", "", page); r.status != 200 {
		t.Errorf("after the renewal: %d", r.status)
	}
	cookie := browser.Jar.Cookies(mustURL(t, first.URL))[0]
	older := first.browser(t)
	first.logIn(t, older)
	planted := older.Jar.Cookies(mustURL(t, first.URL))[0]
	second := newGate(t, Config{DataDir: first.dir})
	second.clock.advance(2 * sessionRefresh)
	both := "Cookie: " + planted.Name + "=" + planted.Value + "; " + cookie.Name + "=" + cookie.Value
	if r := second.do(t, nil, "GET", "/pty", "", both, page); r.status != http.StatusOK {
		t.Errorf("after a restart, beside another login's cookie: %d %s", r.status, r.body)
	}
}

// TestCookieOfAnEarlierVersion: it was made without a secret for the page, and opens the page, which says
// how to log in.
func TestCookieOfAnEarlierVersion(t *testing.T) {
	g := newGate(t, Config{})
	old := g.auth.sessions.cookie(newLogin(), "", time.Now(), false)
	header := "Cookie: " + old.Name + "=" + old.Value
	if r := g.do(t, nil, "GET", "/", "", header); r.status != 200 {
		t.Errorf("the page: %d", r.status)
	}
	wantCode(t, g.do(t, nil, "GET", "/pty", "", header), 401, "UNAUTHORIZED")
}
