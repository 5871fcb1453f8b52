package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// wants fails unless the reply has the status.
func (r reply) wants(t testing.TB, status int, what string) {
	t.Helper()
	if r.status != status {
		t.Errorf("%s: %d %s, want %d", what, r.status, r.body, status)
	}
}

// TestLogoutEndsOneLogin: the one that asks, for this server and the next, renewed cookies included.
func TestLogoutEndsOneLogin(t *testing.T) {
	g := newGate(t, Config{})
	one, two := g.browser(t), g.browser(t)
	first, second := g.logIn(t, one), g.logIn(t, two)
	u := mustURL(t, g.URL)
	kept := one.Jar.Cookies(u)[0]
	g.clock.advance(2 * sessionRefresh)
	g.do(t, one, "GET", "/pty", "", first).wants(t, 200, "before")
	renewed := one.Jar.Cookies(u)[0]
	if renewed.Value == kept.Value {
		t.Fatal("the cookie was not renewed")
	}
	wantCode(t, g.do(t, one, "POST", "/logout", ""), 401, "UNAUTHORIZED") // the cookie alone
	r := g.do(t, one, "POST", "/logout", "", first)
	if set := r.header.Get("Set-Cookie"); r.status != 200 || !strings.HasPrefix(set, kept.Name+"=;") ||
		!strings.Contains(set, "Max-Age=0") {
		t.Errorf("logout: %d %q", r.status, set)
	}
	next := newGate(t, Config{DataDir: g.dir})
	next.clock.advance(2 * sessionRefresh)
	for _, server := range []*gate{g, next} {
		for _, c := range []*http.Cookie{kept, renewed} {
			header := "Cookie: " + c.Name + "=" + c.Value
			wantCode(t, server.do(t, nil, "GET", "/pty", "", header, first), 401, "UNAUTHORIZED")
			wantCode(t, server.do(t, nil, "GET", "/", "", header), 401, "UNAUTHORIZED")
		}
	}
	g.do(t, two, "GET", "/pty", "", second).wants(t, 200, "another login")
	g.do(t, nil, "GET", "/pty", "", g.bearer()).wants(t, 200, "the token")
}

// TestLogoutWithAWrongClock: a login stays ended also when the clock was far behind at its logout, or far
// ahead at a later one.
func TestLogoutWithAWrongClock(t *testing.T) {
	for _, wrong := range []time.Duration{-sessionLife, 2 * sessionLife} {
		g := newGate(t, Config{})
		one := g.browser(t)
		page, cookie := g.logIn(t, one), one.Jar.Cookies(mustURL(t, g.URL))[0]
		logOut := func() { g.do(t, one, "POST", "/logout", "", page).wants(t, 200, "logout") }
		if wrong > 0 {
			logOut()
		}
		g.clock.advance(wrong)
		if wrong > 0 {
			one = g.browser(t)
			page = g.logIn(t, one)
		}
		logOut()
		g.clock.advance(-wrong)
		g.refusesLogin(t, cookie, page)
		next := newGate(t, Config{DataDir: g.dir})
		next.refusesLogin(t, cookie, page)
	}
}

// manyEnded are as many as there may be.
func manyEnded(dir string, now time.Time) *endedLogins {
	e := &endedLogins{dir: dir, Ended: map[string]time.Time{}}
	for range maxEnded {
		e.Ended[endedKey(newLogin())] = now.Add(sessionLife).UTC()
	}
	return e
}

func (g *gate) refusesLogin(t testing.TB, cookie *http.Cookie, page string) {
	t.Helper()
	header := "Cookie: " + cookie.Name + "=" + cookie.Value
	wantCode(t, g.do(t, nil, "GET", "/", "", header), 401, "UNAUTHORIZED")
	wantCode(t, g.do(t, nil, "GET", "/pty", "", header, page), 401, "UNAUTHORIZED")
}

// TestTooManyLogouts: the one that does not fit ends all logins and tickets, and what they have opened.
func TestTooManyLogouts(t *testing.T) {
	g := newGate(t, Config{})
	one, two := g.browser(t), g.browser(t)
	first, second := g.logIn(t, one), g.logIn(t, two)
	ticket := askTicket(t, g, `{"pty":"web","ttl_s":3600,"uses":9}`).Ticket
	g.auth.sessions.ended = manyEnded(g.dir, g.clock.Now())
	g.do(t, one, "POST", "/logout", "", first).wants(t, 200, "logout")
	later := askTicket(t, g, `{"pty":"web","ttl_s":3600,"uses":9}`).Ticket
	for _, server := range []*gate{g, newGate(t, Config{DataDir: g.dir})} {
		wantCode(t, server.do(t, two, "GET", "/pty", "", second), 401, "UNAUTHORIZED")
		wantCode(t, server.do(t, nil, "GET", "/pty/web/snapshot?ticket="+ticket, ""), 401, "UNAUTHORIZED")
		server.do(t, nil, "GET", "/pty/web/snapshot?ticket="+later, "").wants(t, 200, "a later ticket")
	}
}

// TestLogoutOfAll: every login and every ticket, for this server and the next.
func TestLogoutOfAll(t *testing.T) {
	g := newGate(t, Config{})
	one := g.browser(t)
	first := g.logIn(t, one)
	cookie := one.Jar.Cookies(mustURL(t, g.URL))[0]
	header := "Cookie: " + cookie.Name + "=" + cookie.Value
	ticket := askTicket(t, g, `{"pty":"web","ttl_s":3600,"uses":9}`).Ticket
	link := strings.TrimPrefix(askTicket(t, g, `{"login":true}`).URL, g.URL)
	wantCode(t, g.do(t, nil, "POST", "/logout", "", g.bearer()), 400, "VALIDATION")
	wantCode(t, g.do(t, nil, "POST", "/logout?all=x", "", g.bearer()), 400, "VALIDATION")
	g.do(t, one, "GET", "/pty", "", first).wants(t, 200, "before")
	g.do(t, nil, "POST", "/logout?all=1", "", g.bearer()).wants(t, 200, "logout of all")
	for _, server := range []*gate{g, newGate(t, Config{DataDir: g.dir})} {
		wantCode(t, server.do(t, nil, "GET", "/pty", "", header, first), 401, "UNAUTHORIZED")
		for _, path := range []string{link, "/pty/web/snapshot?ticket=" + ticket} {
			wantCode(t, server.do(t, nil, "GET", path, ""), 401, "UNAUTHORIZED")
		}
		again := server.browser(t)
		server.do(t, again, "GET", "/pty", "", server.logIn(t, again)).wants(t, 200, "a new login")
		later := askTicket(t, server, `{"pty":"web","ttl_s":3600}`).Ticket
		server.do(t, nil, "GET", "/pty/web/snapshot?ticket="+later, "").wants(t, 200, "a new ticket")
	}
}

// TestNobodyIsAdmittedAfterALogoutOfAll: requests that are checked while all are logged out either find
// that, or are ended by it.
func TestNobodyIsAdmittedAfterALogoutOfAll(t *testing.T) {
	g := newGate(t, Config{})
	for range 50 {
		browser := g.browser(t)
		page := g.logIn(t, browser)
		cookie := browser.Jar.Cookies(mustURL(t, g.URL))[0]
		ticket := askTicket(t, g, `{"pty":"web","ttl_s":3600,"uses":99}`).Ticket
		var group sync.WaitGroup
		out, missed := make(chan struct{}), make(chan string, 8)
		for i := range 8 {
			group.Go(func() {
				r := sampleRequest("GET", "localhost")
				c := echo.New().NewContext(r, nil)
				c.SetPath("/pty/:id/stream")
				c.SetParamNames("id")
				c.SetParamValues("web")
				var err error
				if i%2 == 0 {
					r.AddCookie(cookie)
					r.Header.Set("Evertty-Page", strings.TrimPrefix(page, "Evertty-Page: "))
					_, err = g.auth.grantOfSession(c)
				} else {
					r.URL.RawQuery = "ticket=" + ticket
					_, err = g.auth.grantOfTicket(c, c.QueryParam("ticket"))
				}
				<-out
				if err == nil && !errors.Is(context.Cause(c.Request().Context()), httpapi.ErrEnded) {
					missed <- c.Request().URL.String()
				}
				g.auth.leave(c)
			})
		}
		g.do(t, nil, "POST", "/logout?all=1", "", g.bearer()).wants(t, 200, "logout of all")
		close(out)
		group.Wait()
		if len(missed) > 0 {
			t.Fatalf("let in, and not ended: %s", <-missed)
		}
	}
	if n := len(g.auth.opened.all); n != 0 {
		t.Errorf("%d requests are not forgotten", n)
	}
}

// TestLogoutBetweenCheckAndEntry: the moment that the test above seldom meets, for one login and for all.
func TestLogoutBetweenCheckAndEntry(t *testing.T) {
	g := newGate(t, Config{})
	for _, query := range []string{"", "?all=1"} {
		browser := g.browser(t)
		page := g.logIn(t, browser)
		r := sampleRequest("GET", "localhost")
		r.AddCookie(browser.Jar.Cookies(mustURL(t, g.URL))[0])
		r.Header.Set("Evertty-Page", strings.TrimPrefix(page, "Evertty-Page: "))
		l, ok := g.auth.sessions.find(r, r.Header.Get(pageHeader), g.clock.Now())
		if !ok || !l.page {
			t.Fatal("the login is not found")
		}
		g.do(t, browser, "POST", "/logout"+query, "", page).wants(t, 200, "logout"+query)
		c := echo.New().NewContext(r, nil)
		if g.auth.admit(c, l) {
			t.Errorf("logout%s: a request that was checked before it is admitted behind it", query)
		}
		g.auth.leave(c)
	}
}

// TestFileOfLogouts: a damaged file, which may have named any login, ends them all; nothing grows for ever.
func TestFileOfLogouts(t *testing.T) {
	for name, content := range map[string]string{"empty": "", "torn": `{"format":1,"epoch":"x","en`,
		"of a later version": `{"format":2}`, "large": strings.Repeat(" ", maxEndedFile+1)} {
		g := newGate(t, Config{})
		browser := g.browser(t)
		page := g.logIn(t, browser)
		cookie := browser.Jar.Cookies(mustURL(t, g.URL))[0]
		if err := os.WriteFile(filepath.Join(g.dir, endedFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		next := newGate(t, Config{DataDir: g.dir})
		header := "Cookie: " + cookie.Name + "=" + cookie.Value
		wantCode(t, next.do(t, nil, "GET", "/pty", "", header, page), 401, "UNAUTHORIZED")
		if !strings.Contains(next.log.String(), "is damaged") {
			t.Errorf("%s: the log says nothing: %s", name, next.log)
		}
		again := next.browser(t)
		next.do(t, again, "GET", "/pty", "", next.logIn(t, again)).wants(t, 200, name+": a new login")
	}
	now, dir := time.Now(), t.TempDir()
	e := manyEnded(dir, now)
	if later := e.with(newLogin(), now.Add(sessionLife)); later == nil || len(later.Ended) != 1 {
		t.Errorf("logouts of cookies that have expired keep their room: %v", later)
	}
	if err := e.write(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, endedFile)); err != nil || info.Size() > maxEndedFile ||
		info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if again := loadEnded(dir, slog.Default()); len(again.Ended) != maxEnded {
		t.Errorf("%d logouts were read", len(again.Ended))
	}
	if e = e.with(newLogin(), now); e != nil {
		t.Errorf("one more: %d logouts, epoch %q", len(e.Ended), e.Epoch)
	}
}

// TestEndTickets: those of one terminal, or all, on disk too; only who may do everything may end them.
func TestEndTickets(t *testing.T) {
	g := newGate(t, Config{})
	opens := func(server *gate, path, ticket string) bool {
		return server.do(t, nil, "GET", path+"/snapshot?ticket="+ticket, "").status == 200
	}
	web := askTicket(t, g, `{"pty":"web","ttl_s":3600,"uses":99}`).Ticket
	beta := askTicket(t, g, `{"pty":"beta-0000002","ttl_s":3600,"uses":99}`).Ticket
	for _, query := range []string{"", "?pty=web&all=1", "?all=no", "?all=0"} {
		wantCode(t, g.do(t, nil, "DELETE", "/tickets"+query, "", g.bearer()), 400, "VALIDATION")
	}
	wantCode(t, g.do(t, nil, "DELETE", "/tickets?pty=absent", "", g.bearer()), 404, "NOT_FOUND")
	wantCode(t, g.do(t, nil, "DELETE", "/tickets?all=1&ticket="+web, ""), 401, "UNAUTHORIZED")
	if !opens(g, "/pty/web", web) || !opens(g, "/pty/beta-0000002", beta) {
		t.Fatal("refused before")
	}
	g.do(t, nil, "DELETE", "/tickets?pty=web", "", g.bearer()).wants(t, 200, "tickets of web")
	for _, server := range []*gate{g, newGate(t, Config{DataDir: g.dir})} {
		if opens(server, "/pty/web", web) || !opens(server, "/pty/beta-0000002", beta) {
			t.Error("the wrong tickets ended")
		}
	}
	g.do(t, nil, "DELETE", "/tickets?all=1", "", g.bearer()).wants(t, 200, "all tickets")
	g.do(t, nil, "DELETE", "/tickets?all=1", "", g.bearer()).wants(t, 200, "none")
	for _, server := range []*gate{g, newGate(t, Config{DataDir: g.dir})} {
		if opens(server, "/pty/beta-0000002", beta) {
			t.Error("a ticket did not end")
		}
	}
}

// TestTicketsEndWhileOthersAreIssued: both at once, as the race detector sees it; no ticket outlives the last end.
func TestTicketsEndWhileOthersAreIssued(t *testing.T) {
	g := newGate(t, Config{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				askTicket(t, g, `{"pty":"web","ttl_s":3600,"uses":99}`)
			}
		})
		all.Go(func() {
			for range 10 {
				g.auth.tickets.end("")
			}
		})
	}
	all.Wait()
	if g.auth.tickets.end(""); len(g.auth.tickets.live) != 0 {
		t.Errorf("%d tickets are left", len(g.auth.tickets.live))
	}
}

// TestEndedTicketsEndWhatTheyOpened: requests that a ticket of the terminal has opened, and no login's.
func TestEndedTicketsEndWhatTheyOpened(t *testing.T) {
	g := newGate(t, Config{})
	open := func(pty string, by *login) *opened {
		c := echo.New().NewContext(httptest.NewRequest("GET", "/", nil), httptest.NewRecorder())
		t.Cleanup(func() { g.auth.leave(c) })
		return g.auth.enter(c, &opened{pty: pty, login: by})
	}
	web, beta, of := open("alpha-0000001", nil), open("beta-0000002", nil), open("beta-0000002", &login{id: newLogin()})
	ended := func() string { return fmt.Sprint(web.ctx.Err() != nil, beta.ctx.Err() != nil, of.ctx.Err() != nil) }
	g.do(t, nil, "DELETE", "/tickets?pty=beta-0000002", "", g.bearer()).wants(t, 200, "tickets of beta")
	if got := ended(); got != "false true false" {
		t.Errorf("ended are web, beta and the login's: %s", got)
	}
	g.do(t, nil, "DELETE", "/tickets?all=1", "", g.bearer()).wants(t, 200, "all tickets")
	if got := ended(); got != "true true false" {
		t.Errorf("ended are web, beta and the login's: %s", got)
	}
	if !strings.Contains(g.log.String(), "viewers=1") {
		t.Errorf("the log does not count them: %s", g.log)
	}
}

// TestLogoutWithoutLogins: --auth none has tickets only.
func TestLogoutWithoutLogins(t *testing.T) {
	g := newGate(t, Config{Mode: ModeNone})
	r := g.do(t, nil, "POST", "/tickets", `{"pty":"web","role":"read","ttl_s":3600}`, jsonType)
	_, ticket, _ := strings.Cut(r.body, `"ticket":"`)
	ticket, _, _ = strings.Cut(ticket, `"`)
	wantCode(t, g.do(t, nil, "POST", "/logout", ""), 400, "VALIDATION")
	r = g.do(t, nil, "POST", "/logout?all=1", "")
	r.wants(t, 200, "logout of all")
	if r.header.Get("Set-Cookie") != "" {
		t.Errorf("a cookie: %v", r.header)
	}
	wantCode(t, g.do(t, nil, "GET", "/pty/web/snapshot?ticket="+ticket, ""), 401, "UNAUTHORIZED")
}
