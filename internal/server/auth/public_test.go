package auth

import (
	"errors"
	"strings"
	"testing"
)

func TestPublicURL(t *testing.T) {
	for given, want := range map[string]string{
		"":                             "",
		"https://term.example.com":     "https://term.example.com",
		"https://Term.Example.com/":    "https://term.example.com",
		"https://term.example.com:443": "https://term.example.com",
		"https://10.0.0.5:8443":        "https://10.0.0.5:8443",
		"https://[2001:db8::0:1]":      "https://[2001:db8::1]",
		"https://term.example/base/":   "https://term.example/base",
		"https://[2001:db8::1]:8443/":  "https://[2001:db8::1]:8443",
	} {
		if got, err := parsePublicURL(given); err != nil || got.url != want {
			t.Errorf("%q: %q, %v, want %q", given, got.url, err, want)
		}
	}
	for given, why := range map[string]string{
		"http://term.example.com": "not https://HOST", "term.example.com": "not https://HOST",
		"https:term":             "not https",
		"https://u@term.example": "not https://HOST", "https://term.example/?x": "not https://HOST",
		"https://term.example/#x": "not https://HOST", "https://": "not a host", "https://a b": "not https://HOST",
		"https://term.example:0": "not a host", "https://x.": "not a host",
		"https://term.example/a//b": "is not a path", "https://term.example/%41": "is not a path",
	} {
		if _, err := parsePublicURL(given); !errors.Is(err, ErrSetting) || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %s", given, err, why)
		}
	}
}

// TestPublicHostAndOrigin: its name is answered for, its pages are those that came by TLS on its port, and
// other names are as without it.
func TestPublicHostAndOrigin(t *testing.T) {
	g := newGate(t, Config{PublicURL: "https://term.example.com:8443", AllowedHosts: []string{"lan.example"}})
	for _, host := range []string{"term.example.com", "term.example.com:8443", "TERM.example.com", "lan.example"} {
		g.do(t, nil, "GET", "/pty", "", g.bearer(), "Host: "+host).wants(t, 200, host)
	}
	wantCode(t, g.do(t, nil, "GET", "/pty", "", g.bearer(), "Host: other.example.com"), 403, "FORBIDDEN_HOST")
	for origin, ok := range map[string]bool{"https://term.example.com:8443": true, "https://term.example.com": false,
		"http://term.example.com": false, "http://term.example.com:8443": false, "http://term.example.com:80": false,
		"https://lan.example": true, "http://lan.example": true, "https://evil.example:8443": false, g.URL: true,
		"https://term.example.com.evil:8443": false} {
		for _, host := range []string{"term.example.com", "term.example.com:8443"} {
			if origin == g.URL {
				host = strings.TrimPrefix(g.URL, "http://")
			}
			status := g.do(t, nil, "POST", "/tickets", `{"pty":"web"}`, g.bearer(), jsonType, "Host: "+host,
				"Origin: "+origin).status
			if (status == 201) != ok || !ok && status != 403 {
				t.Errorf("Origin %s at %s: %d, allowed %v", origin, host, status, ok)
			}
		}
	}
}

// TestSecureLogin: behind a public URL and with TLS the cookie is for TLS and one host only, every reply says
// that browsers come by TLS, and links lead there.
func TestSecureLogin(t *testing.T) {
	const public = "https://term.example.com"
	for name, config := range map[string]Config{"public": {PublicURL: public}, "tls": {TLS: true}} {
		g := newGate(t, config)
		link, err := g.auth.LoginURL("https://x")
		if err != nil {
			t.Fatal(err)
		}
		at, path, _ := strings.Cut(link, "/?")
		if want := map[string]string{"public": public, "tls": "https://x"}[name]; at != want {
			t.Errorf("%s: the link is %s, want one below %s", name, link, want)
		}
		in := g.do(t, nil, "GET", "/?"+path, "", "X-Forwarded-Proto: http")
		set := in.header.Get("Set-Cookie")
		if !strings.HasPrefix(set, "__Host-evertty_session_") || !strings.Contains(set, "; Secure") ||
			!strings.Contains(set, "; Path=/;") || strings.Contains(set, "Domain") {
			t.Errorf("%s: %d %q", name, in.status, set)
		}
		cookie, _, _ := strings.Cut(set, ";")
		page := pageHeader + ": " + strings.TrimPrefix(in.header.Get("Location"), "/"+pageFragment)
		g.do(t, nil, "GET", "/pty", "", page, "Cookie: "+cookie).wants(t, 200, name)
		plain := strings.TrimPrefix(cookie, hostPrefix) // another port of the host may set this one
		wantCode(t, g.do(t, nil, "GET", "/pty", "", page, "Cookie: "+plain), 401, "UNAUTHORIZED")
		out := g.do(t, nil, "POST", "/logout", "", page, "Cookie: "+cookie)
		if set := out.header.Get("Set-Cookie"); !strings.HasPrefix(set, hostPrefix) || !strings.Contains(set,
			"Secure") {
			t.Errorf("%s: logout: %q", name, set)
		}
		ticket := askTicket(t, g, `{"pty":"web"}`)
		if want := map[string]string{"public": public, "tls": "https://127.0.0.1"}[name]; !strings.HasPrefix(ticket.URL,
			want) {
			t.Errorf("%s: a ticket is for %s, want one below %s", name, ticket.URL, want)
		}
		for _, request := range [][]string{{"GET", "/"}, {"GET", "/pty", "Host: evil.example"}, {"GET", "/absent"},
			{"GET", "/pty", g.bearer()}} {
			r := g.do(t, nil, request[0], request[1], "", request[2:]...)
			if got := r.header.Values("Strict-Transport-Security"); len(got) != 1 || got[0] != "max-age=31536000" {
				t.Errorf("%s: %v: %d %q", name, request, r.status, got)
			}
		}
	}
	r := newGate(t, Config{}).do(t, nil, "GET", "/", "")
	if got := r.header.Get("Strict-Transport-Security"); got != "" {
		t.Errorf("plain http says %q", got)
	}
}
