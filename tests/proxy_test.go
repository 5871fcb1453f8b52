package tests

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/gorilla/websocket"
)

// nginx runs a real nginx with the file of deploy/, in front of a server at port, by plain http on a port of its own.
func nginx(t *testing.T, port string) (host string) {
	t.Helper()
	program := os.Getenv("NGINX")
	if program == "" {
		program = "/usr/sbin/nginx"
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("no nginx: scripts/nginx.sh installs it")
	}
	b, err := os.ReadFile("../deploy/nginx/evertty.conf")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host = l.Addr().String()
	site := strings.ReplaceAll(string(b), "127.0.0.1:3000", "127.0.0.1:"+port)
	site = strings.ReplaceAll(site, "listen 443 ssl", "listen "+host)
	site = regexp.MustCompile(`(?m)^ *(ssl_|server_name).*\n`).ReplaceAllString(site, "")
	dir := t.TempDir()
	config := fmt.Sprintf("daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/log;\nevents {}\nhttp {\n"+
		"access_log off; client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f;\n"+
		"uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;\n%[2]s}\n", dir, site)
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	c := exec.Command(program, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
	c.Stderr = &output{}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	eventually(t, "nginx listens", func() bool {
		conn, err := net.Dial("tcp", host)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return host
}

// TestBrowserBehindNginx: the page, its WebSocket and its login below a path of a real nginx.
func TestBrowserBehindNginx(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token", flags: []string{"--base-path", "/terminals", "--trusted-proxy", "127.0.0.1"}})
	at, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http://127.0.0.1:"), "/")
	if port != "terminals" {
		t.Fatalf("the server says that it is at %s", s.url)
	}
	host := nginx(t, at)
	id := s.create("sh", "-c", "echo behind a proxy; exec cat").ID
	link := s.link()
	if !strings.HasPrefix(link, s.url+"/?ticket=") {
		t.Fatalf("evertty url says %s", link)
	}
	b := browse(t, 1200, 700)
	b.run(chromedp.Navigate(strings.Replace(link, "127.0.0.1:"+at, host, 1)))
	b.state("open")
	b.attach(id)
	b.shows("behind a proxy")
	b.keys("typed through nginx\r")
	b.shows("typed through nginx")
	if where := b.eval(`location.origin + location.pathname`); where != "http://"+host+"/terminals/" {
		t.Errorf("the page is at %s", where)
	}
	header := http.Header{"Authorization": {"Bearer " + s.token()}, "Origin": {"http://" + host}}
	w, _, err := websocket.DefaultDialer.Dial("ws://"+host+"/terminals/pty/"+id+"/ws", header)
	if err != nil {
		t.Fatal(err)
	}
	_, first, err := w.ReadMessage()
	if err != nil || !strings.Contains(string(first), "typed through nginx") {
		t.Errorf("the WebSocket began with %.200q, %v", first, err)
	}
	_ = w.Close()
}

// TestBasePath: what is below it is the server, the path itself leads there, all else is told where the server is. The
// socket of the data directory needs no path.
func TestBasePath(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token", flags: []string{"--base-path", "/a/b/"}})
	at := s.url
	if s.url = strings.TrimSuffix(at, "/a/b"); s.url == at {
		t.Fatalf("the server says that it is at %s", at)
	}
	for path, want := range map[string]string{
		"/a/b/healthz": "200 ", "/a/b": "307 b/", "/a/b?x=1": "307 b/?x=1", "/a/b/": "200 ", "/a/b/nothing": "404 ",
		"/healthz": "404 ", "/": "404 ", "/a": "404 ", "/a/bc/healthz": "404 ", "/pty": "404 ",
		"/a/b/a/b/healthz": "404 ",
		"/a/b/pty/..%2fx":  "404 ",
	} {
		r := s.get(path)
		if got := fmt.Sprintf("%d %s", r.status, r.header.Get("Location")); got != want {
			t.Errorf("GET %s: %s, want %s", path, got, want)
		}
		if r.status == http.StatusNotFound && !strings.HasPrefix(path, "/a/b/") {
			r.refused(http.StatusNotFound, "NOT_FOUND", "below /a/b/")
		}
		if r.header.Get("Content-Security-Policy") == "" {
			t.Errorf("GET %s has no security headers", path)
		}
	}
	s.url = at
	id := s.create("sh", "-c", "env; exec cat").ID
	if list := s.says("ls"); !strings.Contains(list, id) {
		t.Errorf("ls by the socket of the data directory says %s", list)
	}
	if ticket := s.post("/tickets", `{"pty":"`+id+`"}`); !strings.Contains(ticket.body, "/a/b/pty/"+id+"/ws?ticket=") {
		t.Errorf("a ticket says %s", ticket.body)
	}
	s.await(id, "="+regexp.QuoteMeta(at)+"\n")
	for _, wrong := range []string{"x", "/a b", "/../x", "/a//b", "/%41", "http://x/", "/a/./b", "//"} {
		e := run(t, call(t, nil, "serve", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0", "--base-path", wrong))
		e.refuses(t, 2, "base-path", wrong)
	}
}

// forwarded is a request that came through a proxy.
func (s *server) forwarded(method, path, body, client, host string) reply {
	s.t.Helper()
	h := map[string]string{"Authorization": s.bearer(), "X-Forwarded-For": client, "X-Forwarded-Proto": "https",
		"X-Forwarded-Host": host}
	if body != "" {
		h["Content-Type"] = "application/json"
	}
	return s.do(request{method, path, body, h})
}

// TestTrustedProxy: X-Forwarded headers of a trusted proxy count, those of anybody else do not.
func TestTrustedProxy(t *testing.T) {
	t.Parallel()
	const client, host = "203.0.113.9, 198.51.100.7", "term.example.com"
	for _, trusted := range []bool{false, true} {
		flags := []string{"--allowed-host", host}
		if trusted {
			flags = append(flags, "--trusted-proxy", "127.0.0.0/8")
		}
		s := start(t, launch{auth: "token", flags: flags})
		id := s.shell().ID
		r := s.forwarded("POST", "/tickets", `{"pty":"`+id+`"}`, client, host)
		if strings.Contains(r.body, "https://term.example.com/pty/") != trusted {
			t.Errorf("trusted %v: a ticket says %s", trusted, r.body)
		}
		r = s.forwarded("GET", "/pty", "", client, "evil.example.com")
		if (r.status == http.StatusForbidden) != trusted {
			t.Errorf("trusted %v: another host: %d", trusted, r.status)
		}
		s.forwarded("DELETE", "/pty/"+id, "", client, host).wants(http.StatusOK)
		log, err := os.ReadFile(s.file("audit.log"))
		s.must(err)
		if strings.Contains(string(log), `"198.51.100.7:0"`) != trusted || strings.Contains(string(log), "203.0.113.9") {
			t.Errorf("trusted %v: the audit log has %s", trusted, log)
		}
	}
	e := run(t, call(t, nil, "serve", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0", "--trusted-proxy", "nginx"))
	e.refuses(t, 2, "trusted-proxy", "nginx")
}

// TestRequestRate: a client that is too fast is told to wait; others, and the socket of the data directory, are not.
func TestRequestRate(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token", flags: []string{"--request-rate", "2", "--trusted-proxy", "127.0.0.1"}})
	refused := 0
	for range 40 {
		r := s.forwarded("GET", "/pty", "", "198.51.100.7", "")
		if r.status != http.StatusOK {
			refused++
			r.refused(http.StatusTooManyRequests, "LIMIT", "--request-rate")
			if r.header.Get("Retry-After") == "" {
				t.Errorf("the refusal has %v", r.header)
			}
		}
	}
	if refused == 0 || refused == 40 {
		t.Errorf("%d of 40 requests were refused", refused)
	}
	s.forwarded("GET", "/pty", "", "198.51.100.8", "").wants(http.StatusOK)
	for range 12 {
		s.says("ls")
	}
}
