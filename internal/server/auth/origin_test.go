package auth

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestParseHostPort(t *testing.T) {
	for given, want := range map[string]hostPort{
		"localhost":         {"localhost", ""},
		"LocalHost:3000":    {"localhost", "3000"},
		"127.0.0.1:80":      {"127.0.0.1", "80"},
		"[::1]":             {"::1", ""},
		"[0:0::1]:3000":     {"::1", "3000"},
		"a_b-c.example:443": {"a_b-c.example", "443"},
	} {
		if got, ok := parseHostPort(given); !ok || got != want {
			t.Errorf("%q: %v, %v; want %v", given, got, ok, want)
		}
	}
	for _, given := range []string{
		"", ":3000", "localhost:", "localhost:0", "localhost:080", "localhost:+80", "localhost:65536", "localhost:http",
		"localhost.", "::1", "[::1", "::1]", "[127.0.0.1]", "[::1%25lo]", "[localhost]", "[]", "a b", "a/b",
		"user@localhost",
		"localhost:80:80", "http://localhost", "localhost#", "ümlaut.example", "\u212aernel", "*", "localhost\x00",
	} {
		if got, ok := parseHostPort(given); ok {
			t.Errorf("%q was read as %v", given, got)
		}
	}
}

func TestHostAllowList(t *testing.T) {
	const loopback, wide, named = "127.0.0.1:3000", "0.0.0.0:3000", "term.lan:3000"
	for _, test := range []struct {
		listen, host string
		ok           bool
	}{
		{loopback, "127.0.0.1:3000", true},
		{loopback, "localhost:3000", true},
		{loopback, "LOCALHOST:3000", true},
		{loopback, "localhost", true},
		{loopback, "localhost:8080", true}, // ssh -L 8080:localhost:3000
		{loopback, "[::1]:3000", true},
		{loopback, "127.9.9.9", true},
		{loopback, "[::ffff:127.0.0.1]:3000", true},
		{loopback, "", false},
		{loopback, "evil.com", false},
		{loopback, "evil.com:3000", false},
		{loopback, "localhost.evil.com", false},
		{loopback, "127.0.0.1.evil.com:3000", false},
		{loopback, "127.0.0.1.nip.io", false},
		{loopback, "xlocalhost", false},
		{loopback, "sub.localhost", false},
		{loopback, "localhost.", false},
		{loopback, "127.1", false},
		{loopback, "2130706433", false},
		{loopback, "0x7f.0.0.1", false},
		{loopback, "0.0.0.0:3000", false},
		{loopback, "192.0.2.7:3000", false},
		{loopback, "evil.com:3000@localhost", false},
		{loopback, "allowed.example", true},
		{loopback, "Allowed.Example:9999", true},
		{loopback, "x.allowed.example", false},
		{loopback, "ported.example:8443", true},
		{loopback, "ported.example", false},
		{loopback, "ported.example:8444", false},
		{loopback, "eighty.example", true},
		{loopback, "[2001:db8::5]", true},
		{wide, "192.0.2.7:3000", true}, // the address of the connection
		{wide, "192.0.2.8:3000", false},
		{wide, "0.0.0.0:3000", true},
		{wide, "evil.com", false},
		{":3000", "192.0.2.7", true},
		{"[::]:3000", "192.0.2.7", true},
		{named, "term.lan:3000", true},
		{named, "TERM.lan", true},
		{named, "192.0.2.7:3000", true}, // one of the addresses of the name
		{named, "192.0.2.8:3000", false},
		{named, "evil.com", false},
		{"unix:///run/evertty.sock", "evil.com", true},
		{"unix:///run/evertty.sock", "", true},
		{loopback + " by the socket of the data directory", "evil.com", true},
	} {
		listen, _, bySocket := strings.Cut(test.listen, " by ")
		h := mustHosts(t, listen)
		r := sampleRequest("GET", test.host)
		switch {
		case bySocket, strings.HasPrefix(listen, "unix:"):
			r = r.WithContext(contextAt(r, &net.UnixAddr{Net: "unix", Name: "/run/evertty.sock"}))
		case listen == loopback: // no connection to another address gets there
			r = r.WithContext(contextAt(r, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3000}))
		}
		if ok := h.checkHost(r) == nil; ok != test.ok {
			t.Errorf("listen %s, Host %q: allowed %v, want %v", test.listen, test.host, ok, test.ok)
		}
	}
}

func mustHosts(t *testing.T, listen string) *hosts {
	t.Helper()
	h, err := newHosts(listen, []string{"allowed.example", "ported.example:8443", "eighty.example:80", "[2001:db8::5]"})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// sampleRequest arrived at 192.0.2.7:3000.
func sampleRequest(method, host string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "/", nil)
	r.Host = host
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return r.WithContext(contextAt(r, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 3000}))
}

func TestOriginMustBeOurs(t *testing.T) {
	h := mustHosts(t, "127.0.0.1:3000")
	for _, test := range []struct {
		host, origin string
		tls, ok      bool
	}{
		{"127.0.0.1:3000", "http://127.0.0.1:3000", false, true},
		{"localhost:3000", "http://localhost:3000", false, true},
		{"LOCALHOST:3000", "http://localhost:3000", false, true},
		{"[::1]:3000", "http://[::1]:3000", false, true},
		{"localhost", "http://localhost", false, true},
		{"localhost:80", "http://localhost", false, true},
		{"localhost:3000", "https://localhost:3000", true, true},
		{"localhost:3000", "https://localhost:3000", false, false},
		{"localhost:3000", "http://localhost:3000", true, false},
		{"localhost:3000", "http://127.0.0.1:3000", false, false}, // another origin for browsers too
		{"127.0.0.1:3000", "null", false, false},
		{"127.0.0.1:3000", "", false, false},
		{"127.0.0.1:3000", "http://evil", false, false},
		{"127.0.0.1:3000", "http://127.0.0.1:3001", false, false},
		{"127.0.0.1:3000", "http://127.0.0.1", false, false},
		{"127.0.0.1:3000", "http://127.0.0.1.evil", false, false},
		{"127.0.0.1:3000", "http://127.0.0.1:3000.evil", false, false},
		{"127.0.0.1:3000", "http://evil:3000", false, false},
		{"localhost:3000", "HTTP://localhost:3000", false, false},
		{"localhost:3000", "http://LOCALHOST:3000", false, false},
		{"localhost:3000", "http://localhost:3000/", false, false},
		{"localhost:3000", "http://localhost:3000, http://evil", false, false},
		{"localhost:3000", "http://localhost:3000 http://evil", false, false},
		{"localhost:3000", "http://user@localhost:3000", false, false},
		{"localhost:3000", "ws://localhost:3000", false, false},
		{"localhost:3000", "file://", false, false},
		{"localhost:3000", "chrome-extension://abcdef", false, false},
		{"localhost:3000", "//localhost:3000", false, false},
		{"localhost:3000", "localhost:3000", false, false},
		{"allowed.example", "https://allowed.example", false, true},     // TLS ends at a proxy
		{"127.0.0.1:3000", "https://allowed.example", false, true},      // which sets its own Host
		{"127.0.0.1:3000", "http://allowed.example", false, true},       // or serves without TLS
		{"allowed.example:9", "https://allowed.example:9", false, true}, // on a port of its own
		{"127.0.0.1:3000", "https://allowed.example:9", false, false},
		{"127.0.0.1:3000", "https://x.allowed.example", false, false},
		{"127.0.0.1:3000", "https://ported.example:8443", false, true},
		{"127.0.0.1:3000", "https://ported.example", false, false},
		{"127.0.0.1:3000", "http://eighty.example", false, true},
		{"127.0.0.1:3000", "https://eighty.example", false, false},
	} {
		for _, method := range []string{"GET", "POST", "OPTIONS"} {
			r := sampleRequest(method, test.host, "Origin: "+test.origin, "Sec-Fetch-Site: same-origin")
			if test.tls {
				r.TLS = &tls.ConnectionState{}
			}
			if ok := h.checkOrigin(r, "/pty") == nil; ok != test.ok {
				t.Errorf("%s Host %s, Origin %q, TLS %v: allowed %v, want %v", method, test.host, test.origin, test.tls,
					ok, test.ok)
			}
		}
	}
	twice := sampleRequest("GET", "localhost:3000", "Origin: http://localhost:3000", "Origin: http://localhost:3000")
	if h.checkOrigin(twice, "/pty") == nil {
		t.Error("two Origin headers were allowed")
	}
}

func TestSecFetchSiteGuardsEffectsAndStreams(t *testing.T) {
	h := mustHosts(t, "127.0.0.1:3000")
	guarded := []*http.Request{
		sampleRequest("POST", "localhost"), sampleRequest("DELETE", "localhost"), sampleRequest("PUT", "localhost"),
		sampleRequest("PATCH", "localhost"), sampleRequest("BREW", "localhost"),
		sampleRequest("GET", "localhost", "Accept: text/event-stream"),
		sampleRequest("GET", "localhost", "Accept: */*", "Accept: Text/Event-Stream;q=1"),
		sampleRequest("GET", "localhost", "Upgrade: websocket"),
		sampleRequest("GET", "localhost", "Upgrade: WebSocket"),
	}
	paths := map[*http.Request]string{}
	for _, path := range []string{"/pty/:id/stream", "/session/:sid/pty/:id/ws", "/ws"} {
		r := sampleRequest("GET", "localhost")
		guarded, paths[r] = append(guarded, r), path
	}
	for site, want := range map[string]bool{
		"": true, "none": true, "same-origin": true,
		"cross-site": false, "same-site": false, "Same-Origin": false, "other": false, "same-origin, cross-site": false,
	} {
		for _, r := range guarded {
			r.Header.Del("Sec-Fetch-Site")
			if site != "" {
				r.Header.Set("Sec-Fetch-Site", site)
			}
			if ok := h.checkOrigin(r, paths[r]) == nil; ok != want {
				t.Errorf("%s %s %v from %q: allowed %v", r.Method, paths[r], r.Header, site, ok)
			}
		}
	}
	link := sampleRequest("GET", "localhost", "Sec-Fetch-Site: cross-site", "Accept: text/html")
	if err := h.checkOrigin(link, "/"); err != nil {
		t.Errorf("a link from another site to the page: %v", err)
	}
}

func TestAllowedHostsAreChecked(t *testing.T) {
	for _, entry := range []string{"", "https://a.example", "*.example", "a.example/", "a.example:0", "::1", "a b"} {
		if _, err := newHosts("127.0.0.1:0", []string{entry}); !errors.Is(err, ErrSetting) ||
			!strings.Contains(err.Error(), "allowed-host") {
			t.Errorf("%q: %v", entry, err)
		}
	}
}

func TestCheckListen(t *testing.T) {
	for _, test := range []struct {
		mode, listen string
		insecure, ok bool
	}{
		{ModeNone, "127.0.0.1:3000", false, true},
		{ModeNone, "127.8.8.8:0", false, true},
		{ModeNone, "localhost:3000", false, true},
		{ModeNone, "[::1]:0", false, true},
		{ModeNone, "unix:///run/x.sock", false, true},
		{ModeNone, "0.0.0.0:0", false, false},
		{ModeNone, ":3000", false, false},
		{ModeNone, "[::]:3000", false, false},
		{ModeNone, "192.0.2.7:3000", false, false},
		{ModeNone, "localhost.evil.com:3000", false, false},
		{ModeNone, "0.0.0.0:0", true, true},
		{ModeToken, "0.0.0.0:3000", false, true},
		{ModeToken, "term.lan:3000", false, true},
		{ModeToken, "3000", false, false},
		{ModeToken, "localhost", false, false},
		{ModeToken, "localhost:http", false, false},
		{ModeToken, "localhost:65536", false, false},
		{ModeToken, "http://localhost:3000", false, false},
		{ModeToken, "unix://relative.sock", false, false},
		{ModeToken, "unix://", true, false},
		{"basic", "127.0.0.1:3000", true, false},
		{"", "127.0.0.1:3000", true, false},
	} {
		err := CheckListen(test.mode, test.listen, test.insecure)
		if ok := err == nil; ok != test.ok || !ok && !errors.Is(err, ErrSetting) {
			t.Errorf("%s %s insecure %v: %v", test.mode, test.listen, test.insecure, err)
		}
	}
}

func FuzzOrigin(f *testing.F) {
	for _, seed := range []string{"http://localhost:3000", "http://evil", "null", "http://[::1]:3000",
		"http://localhost:3000@evil"} {
		f.Add(seed, "localhost:3000")
	}
	h := &hosts{listen: "127.0.0.1"}
	f.Fuzz(func(t *testing.T, origin, host string) {
		r := sampleRequest("POST", host)
		r.Header["Origin"] = []string{origin}
		if h.checkHost(r) == nil && h.checkOrigin(r, "/") == nil {
			want := "http://" + strings.ToLower(host)
			if parsed, ok := parseHostPort(strings.TrimPrefix(origin, "http://")); !ok || !parsed.isLoopback() {
				t.Fatalf("Host %q, Origin %q passed (want %q)", host, origin, want)
			}
		}
	})
}

func contextAt(r *http.Request, local net.Addr) context.Context {
	return context.WithValue(r.Context(), http.LocalAddrContextKey, local)
}
