package server

import (
	"strings"
	"testing"
)

func TestSecurityHeadersOnEveryResponse(t *testing.T) {
	g := newGate(t, AuthConfig{})
	want := map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		"Content-Security-Policy": contentPolicy, "Cache-Control": "no-store",
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
	g := newGate(t, AuthConfig{})
	r := g.do(t, nil, "GET", "/", "", "X-Request-Id: forged")
	if id := r.header.Get("X-Request-Id"); len(id) != 2*requestIDBytes || id == "forged" {
		t.Errorf("request id %q", id)
	}
}
