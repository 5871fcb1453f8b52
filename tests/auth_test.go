package tests

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// guarded starts a server that asks for the token, which is the default.
func guarded(t *testing.T, more ...string) *server {
	t.Helper()
	return start(t, launch{auth: "token", flags: append([]string{"--log-level", "debug"}, more...)})
}

// with is a request without credentials but these headers, given as pairs.
func (s *server) with(method, path, body string, pairs ...string) reply {
	s.t.Helper()
	h := map[string]string{}
	if body != "" {
		h["Content-Type"] = "application/json"
	}
	for i := 0; i < len(pairs); i += 2 {
		h[pairs[i]] = pairs[i+1]
	}
	return s.do(request{method, path, body, h})
}

// paths are all routes with the id of a terminal filled in.
func paths(id string) [][2]string {
	var list [][2]string
	for _, r := range contractRoutes() {
		method, path, _ := strings.Cut(r, " ")
		list = append(list, [2]string{method, strings.NewReplacer(":sid", "test", ":id", id).Replace(path)})
	}
	return append(list, [2]string{"GET", "/ws"}, [2]string{"GET", "/nothere"}, [2]string{"GET", "/assets/x.js"})
}

// TestEveryRouteAsksForTheToken: security row 5. Without it all are the same, so
// nobody learns which ids exist.
func TestEveryRouteAsksForTheToken(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.shell().ID
	for _, p := range append(paths(id), paths("nothere")...) {
		method, path := p[0], p[1]
		body := ""
		if method == "POST" {
			body = "{}"
		}
		if path == "/healthz" || path == "/readyz" { // they say that the server lives, and no more
			if b := strings.TrimSpace(s.with(method, path, "").wants(200).body); b != `{"status":"ok"}` {
				t.Errorf("%s says %s to a stranger", path, b)
			}
			continue
		}
		for _, wrong := range []string{"", "Bearer wrong", "Bearer ", "Bearer " + s.token() + "x", "Basic " + s.token(),
			s.token()} {
			s.with(method, path, body, "Authorization", wrong).refused(401, "UNAUTHORIZED")
		}
		for _, query := range []string{"token=" + s.token(), "ticket=" + s.token(), "access_token=" + s.token()} {
			if r := s.with(method, path+"?"+query, body); r.status != 401 {
				t.Errorf("%s %s with the token in the URL: %d", method, path, r.status)
			}
		}
	}
	if r := s.with("GET", "/pty", ""); !strings.HasPrefix(r.header.Get("WWW-Authenticate"), "Bearer") {
		t.Errorf("WWW-Authenticate: %q", r.header.Get("WWW-Authenticate"))
	}
	if list, err := s.List(s.ctx(), ""); err != nil || len(list) != 1 {
		t.Errorf("after strangers' requests there are %d terminals, %v", len(list), err)
	}
	s.get("/pty/" + id).wants(200)
	s.watch(sse, id).close()
	s.watch(wsBinary, id).close()
	page := s.with("GET", "/", "", "Accept", "text/html").wants(401)
	if !strings.Contains(page.body, "evertty url") || strings.Contains(page.body, id) {
		t.Errorf("a browser is told %s", page.body)
	}
}

// loginPath is the path of a new login link.
func (s *server) loginPath() string {
	s.t.Helper()
	var made struct{ URL string }
	out := run(s.t, call(s.t, nil, "url", "--json", "--data-dir", s.how.dir))
	s.must(json.Unmarshal([]byte(out.stdout), &made))
	if !regexp.MustCompile(`^` + regexp.QuoteMeta(s.url) + `/\?ticket=[\w-]{22,}$`).MatchString(made.URL) {
		s.t.Fatalf("evertty url says %s", made.URL)
	}
	return strings.TrimPrefix(made.URL, s.url)
}

// TestLoginTicketAndCookie: security row 6. A link works once; the login that it
// gives, a cookie and the secret of its page, outlives the server.
func TestLoginTicketAndCookie(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.shell().ID
	path := s.loginPath()
	in := s.with("GET", path, "").wants(303)
	set := in.header.Get("Set-Cookie")
	page, ok := strings.CutPrefix(in.header.Get("Location"), "/#page=")
	if !ok || !strings.Contains(set, "HttpOnly") ||
		!strings.Contains(set, "SameSite=Strict") || !strings.Contains(set, "Path=/") {
		t.Errorf("%d to %q with %q", in.status, in.header.Get("Location"), set)
	}
	cookie, _, _ := strings.Cut(set, ";")
	l := halves{cookie, page}
	s.with("GET", path, "").refused(401, "UNAUTHORIZED")
	s.by(l, "GET", "/pty/"+id, "").wants(200)
	s.by(halves{cookie + "x", page}, "GET", "/pty/"+id, "").refused(401, "UNAUTHORIZED")
	s.by(l, "POST", "/pty/"+id+"/input", `{"data":"echo 'by' cookie\n"}`).wants(200)
	s.await(id, "^by cookie$")
	// A cookie comes along with every page's request, so a WebSocket needs to say whose it is.
	dial := func(origin string) error {
		h := http.Header{"Cookie": {cookie}}
		if origin != "" {
			h.Set("Origin", origin)
		}
		conn, err := s.dialWith(s.ctx(), &websocket.Dialer{}, "/ws", h)
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	if err := dial(s.url); err != nil {
		t.Errorf("our own page: %v", err)
	}
	for _, origin := range []string{"", "null", "http://evil.example"} {
		if err := dial(origin); err == nil || !strings.HasPrefix(err.Error(), "403") {
			t.Errorf("a WebSocket with the cookie and Origin %q: %v", origin, err)
		}
	}
	s.kill()
	s.again()
	s.by(l, "GET", "/pty/"+id, "").wants(200)
	s.stop()
	s.again()
	s.by(l, "GET", "/pty/"+id, "").wants(200)
	s.with("GET", s.loginPath(), "").wants(303)
}

// TestTicketsOfATerminal: security rows 22, D11. A ticket opens one terminal, in its role, as often as it says.
func TestTicketsOfATerminal(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id, other := s.shell().ID, s.shell().ID
	ticket := func(r wire.TicketRequest) string {
		t.Helper()
		k, err := s.Ticket(s.ctx(), r)
		s.must(err)
		if left := time.Until(k.ExpiresAt); left <= 0 || left > 24*time.Hour {
			t.Errorf("it expires in %v", left)
		}
		return k.Ticket
	}
	open := func(id, ticket string) (*viewer, error) {
		conn, err := s.dialWith(s.ctx(), &websocket.Dialer{}, "/pty/"+id+"/ws?ticket="+ticket, nil)
		return &viewer{t: t, kind: wsJSON, events: conn}, err
	}
	refused := func(what, id, ticket string) {
		t.Helper()
		if v, err := open(id, ticket); err == nil || !strings.HasPrefix(err.Error(), "401") {
			v.close()
			t.Errorf("%s: %v", what, err)
		}
	}
	read := ticket(wire.TicketRequest{PTY: id, Role: "read"})
	refused("a ticket of another terminal", other, read)
	v, err := open(id, read)
	s.must(err)
	defer v.close()
	refused("a used ticket", id, read)
	for _, m := range []map[string]any{
		{"type": "input", "data": "echo 'typed' by reader\r"}, {"type": "input", "data_b64": "eA=="},
		{"type": "keys", "keys": []string{"x"}}, {"type": "paste", "data": "x"},
	} {
		v.last = client.Event{}
		s.must(v.events.(*jsonSocket).send(m))
		v.until("the refusal", func() bool { return v.last.Kind == client.KindError })
		if v.last.Err.Code != "READ_ONLY" {
			t.Errorf("%v: %+v", m, v.last.Err)
		}
	}
	s.must(v.events.(*jsonSocket).send(map[string]any{"type": "resize", "cols": 33, "rows": 33}))
	s.must(v.events.(*jsonSocket).send(map[string]any{"type": "ping"}))
	v.until("pong", func() bool { return v.last.Kind == "pong" })
	write := ticket(wire.TicketRequest{PTY: id, Role: "write", Uses: new(2)})
	for n := range 2 {
		w, err := open(id, write)
		s.must(err)
		s.must(w.events.(*jsonSocket).send(map[string]any{"type": "input",
			"data": fmt.Sprintf("echo 'typed' by writer %d\r", n)}))
		v.sees(fmt.Sprintf("\ntyped by writer %d\n", n))
		w.close()
	}
	refused("a ticket used twice of two", id, write)
	if text := s.text(id); strings.Contains(text, "reader") || s.info(id).Cols != 80 {
		t.Errorf("the reader acted: %d columns\n%s", s.info(id).Cols, text)
	}
	// Nothing but looking: no other route, no other method.
	for _, path := range []string{"/pty/" + id, "/pty", "/metrics", "/pty/" + other + "/snapshot",
		"/session/test/pty/" + other + "/stream"} {
		s.with("GET", path+"?ticket="+ticket(wire.TicketRequest{PTY: id, Role: "write"}), "").refused(401,
			"UNAUTHORIZED")
	}
	k := ticket(wire.TicketRequest{PTY: id, Role: "write"})
	s.with("POST", "/pty/"+id+"/input?ticket="+k, `{"data":"x"}`).refused(401, "UNAUTHORIZED")
	s.with("GET", "/?ticket="+k, "").wants(401)
	s.with("GET", "/pty/"+id+"/snapshot?ticket="+k, "").wants(200)
	for _, bad := range []string{`{}`, `{"pty":"nothere"}`, `{"pty":"` + id + `","role":"admin"}`,
		`{"pty":"` + id + `","ttl_s":0}`, `{"pty":"` + id + `","uses":0}`, `{"pty":"` + id + `","ttl_s":100000000}`} {
		if r := s.post("/tickets", bad); r.status != 400 && r.status != 404 {
			t.Errorf("%s: %d %s", bad, r.status, r.body)
		}
	}
	// It ends with its time.
	short := ticket(wire.TicketRequest{PTY: id, TTLS: new(1), Uses: new(1000)})
	eventually(t, "the ticket expires", func() bool {
		return s.with("GET", "/pty/"+id+"/snapshot?ticket="+short, "").status == 401
	})
}

// TestOtherSitesPages: security rows 1 to 4, in both modes.
func TestOtherSitesPages(t *testing.T) {
	t.Parallel()
	for _, auth := range []string{"none", "token"} {
		s := start(t, launch{auth: auth})
		id := s.shell().ID
		port := s.port()
		bearer := s.bearer()
		s.with("GET", "/pty", "", "Host", "evil.com").refused(403, "FORBIDDEN_HOST") // opens the file of refusals
		before := s.inventory()
		for _, host := range []string{"localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port, "LocalHost:" + port} {
			s.with("GET", "/pty", "", "Host", host, "Authorization", bearer).wants(200)
		}
		for _, host := range []string{"evil.com", "evil.com:" + port, "127.0.0.1.evil.com:" + port,
			"localhost.evil.com", "evil.com:127.0.0.1", "0.0.0.0.nip.io"} {
			for _, path := range []string{"/pty", "/", "/healthz", "/pty/" + id + "/snapshot", "/pty/" + id + "/stream",
				"/nothere"} {
				s.with("GET", path, "", "Host", host, "Authorization", bearer).refused(403, "FORBIDDEN_HOST", host)
			}
		}
		for _, origin := range []string{"http://evil", "null", "http://127.0.0.1:1", "http://127.0.0.1.evil:" + port,
			"https://127.0.0.1:" + port, "HTTP://127.0.0.1:" + port,
			"http://127.0.0.1:" + port + ".evil", "http://localhost:" + port, "file://"} {
			for _, path := range []string{"/pty/" + id + "/ws", "/session/test/pty/" + id + "/ws", "/ws"} {
				h := http.Header{"Origin": {origin}, "Authorization": {bearer}}
				conn, err := s.dialWith(s.ctx(), &websocket.Dialer{}, path, h)
				if err == nil {
					_ = conn.Close()
				}
				if err == nil || !strings.HasPrefix(err.Error(), "403") {
					t.Errorf("%s, %s, Origin %s: %v", auth, path, origin, err)
				}
			}
			s.with("GET", "/pty/"+id+"/stream", "", "Origin", origin, "Authorization", bearer).refused(403,
				"FORBIDDEN_ORIGIN")
			s.with("POST", "/session/x/pty", "{}", "Origin", origin, "Authorization", bearer).refused(403,
				"FORBIDDEN_ORIGIN")
			s.with("DELETE", "/pty/"+id, "", "Origin", origin, "Authorization", bearer).refused(403, "FORBIDDEN_ORIGIN")
		}
		for _, site := range []string{"cross-site", "same-site"} {
			s.with("POST", "/session/x/pty", "{}", "Sec-Fetch-Site", site, "Authorization", bearer).refused(403,
				"FORBIDDEN_ORIGIN")
			s.with("GET", "/pty/"+id+"/stream", "", "Sec-Fetch-Site", site, "Authorization", bearer).refused(403,
				"FORBIDDEN_ORIGIN")
		}
		for _, media := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""} {
			s.with("POST", "/session/x/pty", "{}", "Content-Type", media, "Authorization", bearer).refused(415,
				"UNSUPPORTED_MEDIA_TYPE")
		}
		preflight := s.with("OPTIONS", "/session/x/pty", "", "Origin", "http://evil", "Access-Control-Request-Method",
			"POST")
		for name := range preflight.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("a preflight gets %s: %s", name, preflight.header.Get(name))
			}
		}
		conn, err := s.dialWith(s.ctx(), &websocket.Dialer{}, "/pty/"+id+"/ws",
			http.Header{"Origin": {s.url}, "Authorization": {bearer}})
		s.must(err)
		_ = conn.Close()
		if after := s.inventory(); after != before {
			t.Errorf("%s: before %s, after %s", auth, before, after)
		}
	}
}

// TestAllowedHost: a name that a proxy serves is ours when we are told so.
func TestAllowedHost(t *testing.T) {
	t.Parallel()
	s := guarded(t, "--allowed-host", "term.example.com")
	s.with("GET", "/pty", "", "Host", "term.example.com", "Authorization", s.bearer()).wants(200)
	s.with("POST", "/session/x/pty", `{"cmd":["true"]}`, "Host", "term.example.com", "Origin",
		"https://term.example.com", "Authorization", s.bearer()).wants(201)
	s.with("GET", "/pty", "", "Host", "other.example.com", "Authorization", s.bearer()).refused(403, "FORBIDDEN_HOST")
}

// TestSecurityHeaders: security row 8, on every kind of reply.
func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.shell().ID
	for _, r := range []reply{
		s.with("GET", "/", "", "Accept", "text/html", "Authorization", s.bearer()),
		s.with("GET", "/", "", "Accept", "text/html"), s.get("/pty"), s.get("/nothere"),
		s.get("/pty/" + id + "/snapshot?format=html"), s.with("GET", "/pty", "", "Host", "evil.com"),
	} {
		policy := r.header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'self'", "frame-ancestors 'none'", "object-src 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: Content-Security-Policy %q lacks %q", r.request.path, policy, part)
			}
		}
		if strings.Contains(policy, "script-src") && strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %q", r.request.path, policy)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Access-Control-Allow-Origin": ""} {
			if got := r.header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", r.request.path, name, got, want)
			}
		}
	}
}

// TestTheTokenStaysInItsFile: security rows 6, 23 and 25.
func TestTheTokenStaysInItsFile(t *testing.T) {
	t.Parallel()
	extra := make([]*os.File, 4) // descriptors 3 to 6 of the server
	for i := range extra {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		extra[i] = f
	}
	s := start(t, launch{auth: "token", flags: []string{"--log-level", "debug"}, extra: extra,
		env: []string{"EVERTTY_LOG_LEVEL=debug", "NOTIFY_SOCKET=/run/notify", "LISTEN_FDS=3",
			"SECRET_OF_THE_SERVER=x"}})
	token := s.token()
	id := s.shell().ID
	s.get("/pty?token=" + token)
	s.with("GET", "/pty", "", "Authorization", "Bearer wrong")
	s.watch(sse, id).close()
	s.input(id, "env; tr '\\0' '\\n' < /proc/$PPID/cmdline; tr '\\0' '\\n' < /proc/$$/environ; tr '\\0' '\\n' < "+
		"/proc/$PPID/environ | grep -v SECRET_OF; echo 'over'\n")
	seen := s.await(id, "^over$")
	child := s.info(id).PID
	for what, text := range map[string]string{"what the child sees": seen, "the log": s.stderr.String(),
		"what was printed":         s.stdout.String(),
		"the server's argv":        readProc(t, s.pid(), "cmdline"),
		"the server's environment": readProc(t, s.pid(), "environ"),
		"the child's environment":  readProc(t, child, "environ")} {
		if strings.Contains(text, token) {
			t.Errorf("%s holds the token", what)
		}
	}
	// Where it is, which is no secret.
	told := map[string]bool{"EVERTTY_PTY": true, "EVERTTY_SESSION": true, "EVERTTY_URL": true,
		"EVERTTY_SOCKET": true}
	for pair := range strings.SplitSeq(readProc(t, child, "environ"), "\x00") {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "EVERTTY_") && !told[name] || name == "NOTIFY_SOCKET" || name == "LISTEN_FDS" ||
			name == "SECRET_OF_THE_SERVER" {
			t.Errorf("the child inherits %s", name)
		}
	}
	quiet := s.create("sleep", "1000")
	var files []string
	eventually(t, "the program is loaded and has three files", func() bool {
		files = openFiles(quiet.PID)
		return len(files) == 3
	})
	for i, f := range files {
		if !strings.HasPrefix(f, fmt.Sprintf("%d=/dev/pts/", i)) {
			t.Errorf("the child has %v", files)
		}
	}
	s.must(filepath.WalkDir(s.how.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "token" {
			var b []byte
			if b, err = os.ReadFile(path); strings.Contains(string(b), token) {
				t.Errorf("%s holds the token", path)
			}
		}
		return err
	}))
}

func readProc(t *testing.T, pid int, name string) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestFilesAreOurs: security row 27. Modes do not depend on the umask, and a
// link in the data directory is not followed.
func TestFilesAreOurs(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token", shell: "umask 000", flags: []string{"--snapshot-interval", "100ms"}})
	id := s.shell().ID
	s.onDisk(id, `[$#]$`)
	modes := func() {
		t.Helper()
		files := 0
		s.must(filepath.WalkDir(s.how.dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil { // it was replaced meanwhile
				return nil
			}
			files++
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			if info.Mode().Perm() != want {
				t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
			}
			return nil
		}))
		if files < 6 {
			t.Errorf("only %d files and directories", files)
		}
	}
	modes()
	s.stop()
	modes()
	token := filepath.Join(s.how.dir, "token")
	s.must(os.Chmod(token, 0o644))
	run(t, call(t, nil, "serve", "--listen", "127.0.0.1:0", "--data-dir", s.how.dir)).refuses(t, 1, token, "chmod 600")
	s.must(os.Rename(token, token+".real"))
	s.must(os.Symlink(token+".real", token))
	run(t, call(t, nil, "serve", "--listen", "127.0.0.1:0", "--data-dir", s.how.dir)).refuses(t, 1, token,
		"symbolic link")
}
