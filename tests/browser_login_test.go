package tests

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// neighbour is a web server on another port of the server's address, as a program in a terminal may
// serve: it keeps the cookies that browsers give it, and answers with page.
func neighbour(t *testing.T, page string) (url string, cookies chan string) {
	t.Helper()
	cookies = make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case cookies <- r.Header.Get("Cookie"):
		default:
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, page)
	}))
	t.Cleanup(s.Close)
	return s.URL, cookies
}

// tab opens another tab of the same browser.
func (b *tab) tab() *tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // opens the tab, which ends with this context
		b.t.Fatalf("browser: %v", err)
	}
	return &tab{t: b.t, ctx: ctx, dialogs: b.dialogs}
}

// TestBrowserGivesAnotherPortHalfALogin: a page on another port of 127.0.0.1 gets the cookie, with the
// browser's requests and in its owner's hands, and can run nothing with it.
func TestBrowserGivesAnotherPortHalfALogin(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.shell().ID
	b := browse(t, 1200, 700)
	b.open(s, id)
	attack := fmt.Sprintf(`<script>
		const at = %q, id = %q, done = [];
		const ask = (method, path, body, more) => fetch(at + path, { method, body, credentials: "include", ...more })
			.then((r) => done.push(path + " " + r.type), () => done.push(path + " refused"));
		const socket = (path) => new Promise((over) => {
			const w = new WebSocket(at.replace("http", "ws") + path);
			w.onopen = () => { done.push(path + " opened"); over(); };
			w.onclose = () => { done.push(path + " refused"); over(); };
		});
		const type = JSON.stringify({ data: "touch stolen\n" });
		Promise.all([ask("POST", "/pty/" + id + "/input", type, { mode: "no-cors" }),
			ask("POST", "/session/x/pty", type, { headers: { "Content-Type": "application/json" } }),
			ask("GET", "/pty", undefined, { headers: { "Evertty-Page": "x" } }), ask("GET", "/pty/" + id + "/snapshot"),
			socket("/ws"), socket("/pty/" + id + "/ws")]).then(() => (document.title = done.join(", ")));
	</script>`, s.url, id)
	url, cookies := neighbour(t, attack)
	b.run(chromedp.Navigate(url))
	said := b.sees("the end of the attack", `document.title`, func(s string) bool { return strings.Contains(s, "/ws") })
	if strings.Contains(said, "opened") || strings.Contains(said, "basic") || strings.Contains(said, "cors") {
		t.Errorf("the page of another port did: %s", said)
	}
	cookie := <-cookies
	if !strings.Contains(cookie, "evertty_session_") {
		t.Fatalf("the browser gave the other port %q: nothing was tried", cookie)
	}
	// Its owner is no browser: he sends what headers he likes.
	l := halves{cookie: cookie, page: "x"}
	for _, path := range []string{"/pty", "/pty/" + id + "/snapshot", "/pty/" + id + "/stream", "/version"} {
		s.by(l, "GET", path, "").refused(401, "UNAUTHORIZED")
	}
	s.by(l, "POST", "/pty/"+id+"/input", `{"data":"touch stolen\n"}`).refused(401, "UNAUTHORIZED")
	if text, code := first(s.socketBy(l, "/ws")); text != "" || code != 4401 {
		t.Errorf("a WebSocket with the stolen cookie: %q, %d", text, code)
	}
	if list, err := s.List(s.ctx(), ""); err != nil || len(list) != 1 {
		t.Errorf("there are %d terminals, %v", len(list), err)
	}
	b.run(chromedp.Navigate(s.url + "/"))
	b.state("open")
}

// TestBrowserKeepsItsLogin: security row D9. A reload, a second tab, a kill and a restart of the server, and a page
// that was open meanwhile. The secret leaves the address at once, and the tab's history.
func TestBrowserKeepsItsLogin(t *testing.T) {
	t.Parallel()
	s, id, b := browsed(t, "ready")
	if at := b.eval(`location.href`); strings.Contains(at, "page=") || strings.Contains(at, "ticket=") {
		t.Errorf("the page is at %s", at)
	}
	b.run(chromedp.Reload())
	b.state("open")
	second := b.tab()
	second.run(chromedp.Navigate(s.url + "/#/pty/" + id))
	second.state("open")
	s.how.listen = "127.0.0.1:" + s.port()
	for _, end := range []func(){s.kill, s.stop} {
		end()
		b.state("reconnecting")
		s.again()
		for _, tab := range []*tab{b, second} {
			tab.eval(`dispatchEvent(new Event("online"))`) // it tries now
			tab.state("open")
		}
	}
	b.attach(id)
	b.shows("ready")
	b.keys("still here" + enter)
	s.await(id, "^still here\n^still here$")
}

// TestBrowserWithoutSecret: a page that has the cookie alone, as of a login by an earlier version, says
// how to log in and shows nothing; a login in another tab helps it at once.
func TestBrowserWithoutSecret(t *testing.T) {
	t.Parallel()
	s, id, b := browsed(t, "secret")
	b.eval(`localStorage.clear()`)
	b.run(chromedp.Navigate(s.url + "/?again#/pty/" + id))
	b.state("unauthorized")
	b.sees("how to log in", `document.body.innerText`, func(s string) bool {
		return strings.Contains(s, "Not logged in") && strings.Contains(s, "evertty url")
	})
	if strings.Contains(b.eval(`document.body.innerText + window.evertty.text()`), "secret") {
		t.Error("the page shows a terminal to somebody who is not logged in")
	}
	other := b.tab()
	other.open(s, id)
	b.state("open")
	b.shows("secret")
}

// TestBrowserWithTwoLogins: an open tab takes over the later login of its browser, and ends with it. A link
// with a secret of somebody else ends nothing.
func TestBrowserWithTwoLogins(t *testing.T) {
	t.Parallel()
	s, id, b := browsed(t, "ready")
	b.eval(`window.same = "page"`)
	other := b.tab()
	other.open(s, id)
	stray := b.tab()
	stray.run(chromedp.Navigate(s.url + "/#page=" + s.logIn().page))
	for _, tab := range []*tab{stray, other, b} {
		tab.state("open")
	}
	if at := stray.eval(`location.href`); at != s.url+"/" {
		t.Errorf("the page is at %s", at)
	}
	s.how.listen = "127.0.0.1:" + s.port()
	s.kill()
	s.again()
	for _, tab := range []*tab{stray, other, b} {
		tab.eval(`dispatchEvent(new Event("online"))`)
		tab.state("open")
	}
	b.shows("ready")
	b.has("the same page", `window.same`, "page")
	stray.click(".link-state button")
	for _, tab := range []*tab{stray, other, b} {
		tab.state("unauthorized")
	}
}

// TestBrowserThatKeepsNothing: with a full storage the page says so, and the login lasts as long as it.
func TestBrowserThatKeepsNothing(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.create("sh", "-c", "echo ready; exec cat").ID
	b := browse(t, 1200, 700)
	b.run(chromedp.Navigate(s.url + "/healthz"))
	b.fillStorage()
	b.run(chromedp.Navigate(s.link()))
	b.sees("that nothing is kept", `document.body.innerText`,
		func(s string) bool { return strings.Contains(s, "your browser keeps nothing for this page") })
	b.state("open")
	b.attach(id)
	b.shows("ready")
	b.run(chromedp.Reload())
	b.state("unauthorized")
	b.sees("how to log in", `document.body.innerText`,
		func(s string) bool { return strings.Contains(s, "evertty url") })
}

// TestBrowserShowsItsCookieToThePortsNextOwner: what an open page gives to whoever has the port after its
// server, as docs/operate/security.md says it.
func TestBrowserShowsItsCookieToThePortsNextOwner(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.shell().ID
	b := browse(t, 1200, 700)
	b.open(s, id)
	s.how.listen = "127.0.0.1:" + s.port()
	s.stop()
	l, err := net.Listen("tcp", s.how.listen)
	if err != nil {
		t.Skip("the port has been taken: ", err)
	}
	got := make(chan string, 100)
	next := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case got <- r.Header.Get("Cookie"):
		default:
		}
		http.NotFound(w, r)
	})}
	go func() { _ = next.Serve(l) }()
	b.eval(`dispatchEvent(new Event("online"))`)
	cookie := <-got
	_ = next.Close()
	s.again()
	if text, code := first(s.socketBy(halves{cookie: cookie}, "/ws")); text != "" || code != 4401 {
		t.Errorf("a WebSocket with the stolen cookie: %q, %d", text, code)
	}
	b.eval(`dispatchEvent(new Event("online"))`)
	b.state("open")
}

// TestBrowserLogsOut: the tabs of a login say so, and nothing connects again until somebody logs in; another
// login goes on.
func TestBrowserLogsOut(t *testing.T) {
	t.Parallel()
	s, id, b := browsed(t, "ready")
	other := b.tab()
	other.run(chromedp.Navigate(s.url + "/#/pty/" + id))
	other.state("open")
	l := s.logIn()
	b.click(".link-state button")
	for _, tab := range []*tab{b, other} {
		tab.state("unauthorized")
		tab.sees("that it is logged out", `document.body.innerText`, func(s string) bool {
			return strings.Contains(s, "Logged out") && strings.Contains(s, "evertty url")
		})
	}
	if n := s.info(id).Viewers; n != 0 {
		t.Errorf("%d viewers are left", n)
	}
	s.by(l, "GET", "/pty/"+id, "").wants(200)
	b.open(s, id)
	other.state("open")
	s.says("logout", "--all")
	b.state("unauthorized")
	s.by(l, "GET", "/pty/"+id, "").refused(401, "UNAUTHORIZED")
}
