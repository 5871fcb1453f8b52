package auth

import (
	"errors"
	"net/http"
	"testing"
)

func TestParseProxies(t *testing.T) {
	p, err := parseProxies([]string{"10.0.0.0/8", "192.0.2.7", "fd00::1/64", "unix"})
	if err != nil {
		t.Fatal(err)
	}
	for remote, want := range map[string]bool{"10.1.2.3:99": true, "11.0.0.1:99": false, "192.0.2.7:1": true,
		"192.0.2.8:1": false, "[fd00::9]:1": true, "[fd01::9]:1": false, "[::ffff:10.1.2.3]:1": true, "": true, "@": true,
		"nonsense": false} {
		if got := p.trusts(remote); got != want {
			t.Errorf("%q is trusted: %v", remote, got)
		}
	}
	for _, wrong := range []string{"", "nginx", "10.0.0.0/33", "10.0.0", "::ffff:10.0.0.0/104", "10.0.0.1:80"} {
		if _, err := parseProxies([]string{wrong}); !errors.Is(err, ErrSetting) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// TestForward: what the nearest untrusted address wrote counts, and nothing before it.
func TestForward(t *testing.T) {
	p, err := parseProxies([]string{"127.0.0.1", "10.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, remote string
		header       http.Header
		from, scheme string
		host         string
	}{
		{"a stranger", "192.0.2.1:5", http.Header{"X-Forwarded-For": {"1.2.3.4"}, "X-Forwarded-Proto": {"https"},
			"X-Forwarded-Host": {"x"}}, "192.0.2.1:5", "http", "own"},
		{"one hop", "127.0.0.1:5", http.Header{"X-Forwarded-For": {"1.2.3.4"}, "X-Forwarded-Proto": {"https"},
			"X-Forwarded-Host": {"Term.Example"}}, "1.2.3.4:0", "https", "term.example"},
		{"a forged hop before", "127.0.0.1:5", http.Header{"X-Forwarded-For": {"9.9.9.9, 1.2.3.4"},
			"X-Forwarded-Proto": {"https,http"}, "X-Forwarded-Host": {"evil, fine"}}, "1.2.3.4:0", "http", "fine"},
		{"two proxies, two lines", "127.0.0.1:5", http.Header{"X-Forwarded-For": {"9.9.9.9", "1.2.3.4, 10.0.0.9"},
			"X-Forwarded-Proto": {"wss"}}, "1.2.3.4:0", "https", "own"},
		{"only proxies", "127.0.0.1:5", http.Header{"X-Forwarded-For": {"10.0.0.8,10.0.0.9"}}, "10.0.0.8:0", "http", "own"},
		{"rubbish", "127.0.0.1:5", http.Header{"X-Forwarded-For": {"1.2.3.4, ; rm -rf"}, "X-Forwarded-Proto": {"gopher"}},
			"127.0.0.1:5", "http", "own"},
		{"with ports", "127.0.0.1:5", http.Header{"X-Forwarded-For": {"[2001:db8::1]:99, 10.0.0.9:7"}},
			"[2001:db8::1]:0", "http", "own"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: c.header, Host: "own"}
		p.forward(r)
		if r.RemoteAddr != c.from || schemeOf(r) != c.scheme || r.Host != c.host {
			t.Errorf("%s: from %s by %s for %s", c.name, r.RemoteAddr, schemeOf(r), r.Host)
		}
	}
}
