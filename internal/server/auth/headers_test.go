package auth

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/server/httpapi"
)

func TestSecurityHeadersOnEveryResponse(t *testing.T) {
	g := newGate(t, Config{})
	want := map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		"Content-Security-Policy": httpapi.ContentPolicy, "Cache-Control": "no-store",
	}
	for _, request := range [][]string{
		{"GET", "/", g.bearer()},                          // 200
		{"GET", "/", "Accept: text/html"},                 // 401 page
		{"GET", "/nope", g.bearer()},                      // 404
		{"PUT", "/pty", g.bearer()},                       // 405
		{"GET", "/pty", "Host: evil.com"},                 // 403
		{"OPTIONS", "/pty", "Origin: http://evil.com"},    // 403
		{"OPTIONS", "/pty", "Origin: " + g.URL},           // 401
		{"OPTIONS", "/pty", g.bearer()},                   // 204
		{"POST", "/tickets", g.bearer(), "Origin: null"},  // 403
		{"POST", "/tickets", g.bearer(), jsonType},        // 400
		{"DELETE", "/pty/x", "Access-Control-Request: x"}, // 401
	} {
		r := g.do(t, nil, request[0], request[1], "", request[2:]...)
		for name, value := range want {
			if got := r.header.Values(name); len(got) != 1 || got[0] != value {
				t.Errorf("%v: %d: %s is %q, want %q", request, r.status, name, got, value)
			}
		}
		for name := range r.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%v: has %s", request, name)
			}
		}
	}
}

func TestRequestIDIsOurs(t *testing.T) {
	g := newGate(t, Config{})
	r := g.do(t, nil, "GET", "/", "", "X-Request-Id: forged")
	if id := r.header.Get("X-Request-Id"); len(id) != 2*httpapi.RequestIDBytes || id == "forged" {
		t.Errorf("request id %q", id)
	}
}

func TestBindOverTheWire(t *testing.T) {
	g := newGate(t, Config{})
	big := strings.Repeat("x", httpapi.MaxBody+1)
	wantCode(t, g.do(t, nil, "POST", "/pty/web/input", big, g.bearer(), jsonType), 413, "TOO_LARGE")
	wantCode(t, g.do(t, nil, "POST", "/pty/web/input", `{"data":"x"}`, g.bearer()), 415, "UNSUPPORTED_MEDIA_TYPE")
	wantCode(t, g.do(t, nil, "POST", "/pty/web/input", `{"data":5}`, g.bearer(), jsonType), 400, "VALIDATION")
	if r := g.do(t, nil, "POST", "/pty/web/input", `{"data":"ls\n"}`, g.bearer(), jsonType); r.body != "ls\n" {
		t.Errorf("got %d %q", r.status, r.body)
	}
}

func TestRefusalDoesNotWaitForTheBody(t *testing.T) {
	g := newGate(t, Config{})
	for _, length := range []string{"Content-Length: 10", "Transfer-Encoding: chunked"} {
		conn, err := net.Dial("tcp", g.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /tickets HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", length)
		if err := conn.SetReadDeadline(time.Now().Add(10 * httpapi.RefusedBodyTimeout)); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 401 ") {
			t.Errorf("%s: %q (%v)", length, got, err)
		}
	}
}
