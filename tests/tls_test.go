package tests

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// certificate makes a key and a certificate of its own for 127.0.0.1, as files, and who trusts it.
func certificate(t *testing.T) (cert, key string, trust *x509.CertPool) {
	t.Helper()
	return certificateFor(t, 24*time.Hour)
}

// certificateFor is certificate of one that is valid for so long.
func certificateFor(t *testing.T, valid time.Duration) (cert, key string, trust *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(valid),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cert, key = write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret)
	trust = x509.NewCertPool()
	b, err := os.ReadFile(cert)
	if err != nil || !trust.AppendCertsFromPEM(b) {
		t.Fatal("the certificate cannot be read: ", err)
	}
	return cert, key, trust
}

// startAt starts a server whose printed link is not for the tests; server.json says where it listens. It has no client.
func startAt(t *testing.T, flags ...string) *server {
	t.Helper()
	s := &server{t: t, book: &book{}, mark: "tls-" + rand.Text(), how: launch{auth: "token",
		dir: filepath.Join(t.TempDir(), "data"), flags: flags}}
	t.Cleanup(s.finish)
	s.begin(s.serveFlags())
	eventually(t, "the server is ready", func() bool {
		return !s.running() || strings.Contains(s.stdout.String(),
			"\n")
	})
	place, err := client.Find(s.how.dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.stderr)
	}
	s.url = place.URL
	return s
}

// startTLS starts a server with a certificate; ask trusts it.
func startTLS(t *testing.T) (s *server, ask *http.Client) {
	t.Helper()
	cert, key, trust := certificate(t)
	s = startAt(t, "--tls-cert", cert, "--tls-key", key)
	if line := s.stdout.String(); !strings.HasPrefix(line, "listening on "+s.url) ||
		!strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Errorf("it is at %s, and said %q", s.url, line)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}}
	t.Cleanup(transport.CloseIdleConnections)
	return s, &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// asks sends a request with the token.
func (s *server) asks(ask *http.Client, method, path, body string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, s.url+path, strings.NewReader(body))
	s.must(err)
	token, err := os.ReadFile(s.file("token"))
	s.must(err)
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	r.Header.Set("Content-Type", "application/json")
	resp, err := ask.Do(r)
	s.must(err)
	b, err := io.ReadAll(resp.Body)
	s.must(err)
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(b))
	return resp
}

// TestServeTLS: security row 30. https alone, from TLS 1.2 on, with what browsers need to stay there.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	s, ask := startTLS(t)
	resp := s.asks(ask, "GET", "/version", "")
	if resp.StatusCode != 200 || resp.ProtoMajor != 1 ||
		resp.Header.Get("Strict-Transport-Security") != "max-age=31536000" {
		t.Errorf("%s %s %v", resp.Proto, resp.Status, resp.Header)
	}
	if r, err := http.Get("http" + strings.TrimPrefix(s.url, "https") + "/healthz"); err == nil {
		_ = r.Body.Close()
		if r.StatusCode != 400 {
			t.Errorf("plain http gets %s", r.Status)
		}
	}
	old := ask.Transport.(*http.Transport).TLSClientConfig.Clone()
	old.MaxVersion = tls.VersionTLS11
	if conn, err := tls.Dial("tcp", strings.TrimPrefix(s.url, "https://"), old); err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 is spoken")
	}
	in, err := ask.Get(s.link())
	s.must(err)
	_ = in.Body.Close()
	page, ok := strings.CutPrefix(in.Header.Get("Location"), "/#page=")
	cookie, rest, _ := strings.Cut(in.Header.Get("Set-Cookie"), ";")
	if !ok || !strings.HasPrefix(cookie, "__Host-evertty_session_") || !strings.Contains(rest, "Secure") {
		t.Fatalf("the login gives %s %v", in.Status, in.Header)
	}
	dialer := websocket.Dialer{TLSClientConfig: ask.Transport.(*http.Transport).TLSClientConfig}
	conn, _, err := dialer.Dial("wss"+strings.TrimPrefix(s.url, "https")+"/ws", //nolint:bodyclose // upgraded
		http.Header{"Cookie": {cookie}, "Origin": {s.url}})
	s.must(err)
	defer conn.Close()
	s.must(conn.SetReadDeadline(time.Now().Add(patience)))
	s.must(conn.WriteMessage(websocket.TextMessage, []byte(authOf(page))))
	if text, code := first(conn); !strings.Contains(text, `"list"`) {
		t.Errorf("the page's socket says %q, %d", text, code)
	}
}

// TestBrowserByTLS: a real browser logs in by https and shows a terminal.
func TestBrowserByTLS(t *testing.T) {
	t.Parallel()
	s, ask := startTLS(t)
	var made, ticket struct{ ID, URL string }
	s.must(json.NewDecoder(s.asks(ask, "POST", "/session/test/pty",
		`{"cmd":["sh","-c","echo ready; exec cat"]}`).Body).Decode(&made))
	t.Cleanup(func() { s.asks(ask, "DELETE", "/pty/"+made.ID, "") })
	b := browse(t, 1000, 700, chromedp.Flag("ignore-certificate-errors", true))
	s.must(json.NewDecoder(s.asks(ask, "POST", "/tickets", `{"login":true}`).Body).Decode(&ticket))
	b.run(chromedp.Navigate(ticket.URL))
	b.state("open")
	b.attach(made.ID)
	b.shows("ready")
	b.run(chromedp.Reload())
	b.state("open")
}

// TestPublicURL: security rows 30, D12, D13, D14 behind a proxy: what a browser is told, and which names and origins
// are ours.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	s := startAt(t, "--public-url", "https://term.example.com")
	var err error
	s.Client, err = client.New(s.url, s.token())
	s.must(err)
	if link := s.says("url"); !strings.HasPrefix(link, "https://term.example.com/?ticket=") {
		t.Errorf("evertty url says %s", link)
	}
	host := "term.example.com"
	r := s.with("POST", "/session/x/pty", `{"cmd":["true"]}`, "Host", host, "Origin", "https://"+host,
		"Authorization", s.bearer(), "X-Forwarded-Proto", "http", "X-Forwarded-Host", "evil.example").wants(201)
	if got := r.header.Get("Strict-Transport-Security"); got != "max-age=31536000" {
		t.Errorf("Strict-Transport-Security: %q", got)
	}
	for _, origin := range []string{"http://" + host, "https://" + host + ":8443", "null"} {
		s.with("POST", "/session/x/pty", `{"cmd":["true"]}`, "Host", host, "Origin", origin, "Authorization",
			s.bearer()).refused(403, "FORBIDDEN_ORIGIN")
	}
	s.with("GET", "/pty", "", "Host", "other.example.com", "X-Forwarded-Host", host, "Authorization",
		s.bearer()).refused(403, "FORBIDDEN_HOST")
	s.with("GET", "/pty", "", "Host", host, "Origin", "http://"+host, "Authorization", s.bearer()).
		refused(403, "FORBIDDEN_ORIGIN")
	l := s.logIn()
	k, err := s.Ticket(s.ctx(), wire.TicketRequest{Login: true})
	s.must(err)
	set := s.with("GET", "/?ticket="+k.Ticket, "").wants(303).header.Get("Set-Cookie")
	for _, part := range []string{"; Secure", "; HttpOnly", "; SameSite=Strict", "; Path=/"} {
		if !strings.Contains(set+";", part+";") || !strings.HasPrefix(set, "__Host-evertty_session_") ||
			strings.Contains(set, "Domain") {
			t.Errorf("the cookie is %s", set)
		}
	}
	s.with("GET", "/pty", "", "Host", host, "Origin", "https://"+host, "Cookie", l.cookie, "Evertty-Page",
		l.page).wants(200)

	below := startAt(t, "--public-url", "https://"+host+"/base", "--base-path", "/base")
	ticket, found := strings.CutPrefix(strings.TrimSpace(below.says("url")), "https://term.example.com/base/")
	if !found {
		t.Errorf("below a path evertty url says %s", ticket)
	}
	set = below.with("GET", "/"+ticket, "", "Host", host).wants(303).header.Get("Set-Cookie")
	if !strings.HasPrefix(set, "__Host-evertty_session_") || !strings.Contains(set, "; Path=/;") {
		t.Errorf("below a path the cookie is %s", set)
	}
}

// TestTLSFlagsAreChecked: wrong usage, in words.
func TestTLSFlagsAreChecked(t *testing.T) {
	t.Parallel()
	cert, key, _ := certificate(t)
	_, other, _ := certificate(t)
	open := filepath.Join(t.TempDir(), "open.pem")
	b, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604} {
		if err := os.WriteFile(open, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(open, mode); err != nil {
			t.Fatal(err)
		}
		run(t, call(t, nil, "serve", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(t.TempDir(), "d"),
			"--tls-cert", cert, "--tls-key", open)).refuses(t, 2, open, "chmod 600")
	}
	for _, wrong := range []struct {
		flags []string
		words []string
	}{
		{[]string{"--tls-cert", cert}, []string{"tls-key", "both"}},
		{[]string{"--tls-key", key}, []string{"tls-cert", "both"}},
		{[]string{"--tls-cert", cert, "--tls-key", key + "x"}, []string{"tls-key", "no such file"}},
		{[]string{"--tls-cert", cert + "x", "--tls-key", key}, []string{"tls-cert", "no such file"}},
		{[]string{"--tls-cert", cert, "--tls-key", other}, []string{"tls-cert", "match"}},
		{[]string{"--tls-cert", key, "--tls-key", key}, []string{"tls-cert"}},
		{[]string{"--public-url", "http://term.example.com"}, []string{"public-url", "https://HOST"}},
		{[]string{"--public-url", "https://term.example.com/a//b"}, []string{"public-url", `"/a//b"`}},
	} {
		run(t, call(t, nil, append([]string{"serve", "--listen", "127.0.0.1:0", "--data-dir",
			filepath.Join(t.TempDir(), "d")}, wrong.flags...)...)).refuses(t, 2, wrong.words...)
	}
}
