package tests

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/wire"
)

// halves are a login's: the cookie, and the secret of its page.
type halves struct{ cookie, page string }

// logIn logs a browser in.
func (s *server) logIn() halves {
	s.t.Helper()
	t, err := s.Ticket(s.ctx(), wire.TicketRequest{Login: true})
	s.must(err)
	in := s.with("GET", "/?ticket="+t.Ticket, "").wants(303)
	page, ok := strings.CutPrefix(in.header.Get("Location"), "/#page=")
	if !ok {
		s.t.Fatalf("the login leads to %q", in.header.Get("Location"))
	}
	cookie, _, _ := strings.Cut(in.header.Get("Set-Cookie"), ";")
	return halves{cookie, page}
}

// by is a request of a page.
func (s *server) by(l halves, method, path, body string) reply {
	s.t.Helper()
	return s.with(method, path, body, "Cookie", l.cookie, "Evertty-Page", l.page, "Origin", s.url)
}

// socketBy opens a WebSocket with the cookie; nobody has said yet who the page is.
func (s *server) socketBy(l halves, path string) *websocket.Conn {
	s.t.Helper()
	h := http.Header{"Cookie": {l.cookie}, "Origin": {s.url}}
	target := "ws" + strings.TrimPrefix(s.url, "http") + path
	conn, _, err := websocket.DefaultDialer.Dial(target, h) //nolint:bodyclose // an upgraded response has no body
	s.must(err)
	s.t.Cleanup(func() { _ = conn.Close() })
	s.must(conn.SetReadDeadline(time.Now().Add(patience)))
	return conn
}

// first is what a socket brings first: a message, or the code that it closes with.
func first(conn *websocket.Conn) (text string, code int) {
	_, p, err := conn.ReadMessage()
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return "", closed.Code
	}
	return string(p), 0
}

func authOf(page string) string {
	b, _ := json.Marshal(wire.CommandAuth{Type: "auth", Page: page}) // a text
	return string(b)
}

// TestCookieAloneOpensThePageOnly: security row D8. It walks all routes with a browser's cookie, as the owner of
// another port of the host gets it, and with the page's secret alone.
func TestCookieAloneOpensThePageOnly(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.shell().ID
	l, other := s.logIn(), s.logIn()
	s.with("GET", "/pty", "").refused(401, "UNAUTHORIZED") // opens the file of refusals
	before := s.inventory()
	for _, path := range []string{"/", "/favicon.svg"} {
		for _, method := range []string{"GET", "HEAD"} {
			s.with(method, path, "", "Cookie", l.cookie, "Accept", "text/html").wants(200)
		}
	}
	for _, p := range append(paths(id), paths("nothere")...) {
		method, path := p[0], p[1]
		switch path {
		case "/", "/healthz", "/readyz", "/assets/x.js", "/favicon.svg": // open, or opened by the cookie
			continue
		}
		body := ""
		if method == "POST" {
			body = "{}"
		}
		s.with(method, path, body, "Cookie", l.cookie, "Origin", s.url).refused(401, "UNAUTHORIZED")
		s.with(method, path, body, "Cookie", l.cookie, "Evertty-Page", other.page).refused(401, "UNAUTHORIZED")
		s.with(method, path, body, "Evertty-Page", l.page).refused(401, "UNAUTHORIZED")
	}
	s.sameAs(before)
	s.by(l, "POST", "/pty/"+id+"/input", `{"data":"echo 'by' page\n"}`).wants(200)
	s.await(id, "^by page$")
}

// TestWebSocketByCookieShowsThePagesSecret: security row D10. Nothing is told before the first message has it, not
// even whether a terminal exists.
func TestWebSocketByCookieShowsThePagesSecret(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.shell().ID
	l, other := s.logIn(), s.logIn()
	for _, path := range []string{"/ws", "/pty/" + id + "/ws", "/pty/nothere/ws",
		"/session/test/pty/nothere/ws?format=x"} {
		for _, message := range []string{authOf(""), authOf(other.page), authOf(l.page + "x"), `{"type":"auth"}`, "x",
			`{"type":"ping"}`, `{"type":"attach","pty":"` + id + `"}`, authOf(strings.Repeat("x", 5<<10)),
			authOf(strings.Repeat("x", 1<<20))} {
			conn := s.socketBy(l, path)
			s.must(conn.WriteMessage(websocket.TextMessage, []byte(message)))
			if text, code := first(conn); text != "" || code != wire.CloseUnauthorized {
				t.Errorf("%s, %.80s: it says %q and closes with %d", path, message, text, code)
			}
		}
	}
	began, conn := time.Now(), s.socketBy(l, "/pty/"+id+"/ws")
	if text, code := first(conn); text != "" || code != wire.CloseUnauthorized || time.Since(began) < 5*time.Second {
		t.Errorf("a silent page: %q, %d, after %v", text, code, time.Since(began))
	}
	for path, want := range map[string]string{"/ws": `"event":"list"`, "/pty/" + id + "/ws": `"event":"snapshot"`,
		"/pty/nothere/ws": `"code":"NOT_FOUND"`, "/pty/" + id + "/ws?format=x": `"code":"VALIDATION"`} {
		conn := s.socketBy(l, path)
		s.must(conn.WriteMessage(websocket.TextMessage, []byte(authOf(l.page))))
		if text, code := first(conn); !strings.Contains(text, want) {
			t.Errorf("%s: %q, %d, want %s", path, text, code, want)
		}
		if strings.Contains(want, "code") {
			if text, code := first(conn); code != websocket.ClosePolicyViolation {
				t.Errorf("%s: behind the error %q, %d", path, text, code)
			}
		}
	}
	conn = s.socketBy(l, "/pty/"+id+"/ws?format=binary")
	s.must(conn.WriteMessage(websocket.BinaryMessage, []byte("\x03"+authOf(l.page))))
	s.must(conn.WriteMessage(websocket.BinaryMessage, []byte("\x00echo 'by' socket\n")))
	s.await(id, "^by socket$")
}
