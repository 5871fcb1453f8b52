package tests

import (
	"encoding/json"
	"encoding/xml"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/wire"
)

// share makes a link, and returns it and its secret.
func (s *server) share(body object) (made wire.MadeShare, secret string) {
	s.t.Helper()
	s.with("POST", "/shares", asJSON(body), "Authorization", s.bearer()).wants(201).into(&made)
	secret, ok := strings.CutPrefix(made.URL, s.url+"/t/")
	if !ok || len(secret) < 32 {
		s.t.Fatalf("the link is %q", made.URL)
	}
	return made, secret
}

// follow opens a link, and returns the cookie that it sets.
func (s *server) follow(secret string) (cookie string) {
	s.t.Helper()
	r := s.with("GET", "/t/"+secret, "").wants(200)
	cookie, _, _ = strings.Cut(r.header.Get("Set-Cookie"), ";")
	if cookie == "" {
		s.t.Fatalf("no cookie: %s", r.body)
	}
	return cookie
}

// left is a link as the list has it.
func (s *server) left(id string) wire.Share {
	s.t.Helper()
	var list wire.ShareList
	r := s.with("GET", "/shares", "", "Authorization", s.bearer()).wants(200)
	r.into(&list)
	i := slices.IndexFunc(list.Shares, func(one wire.Share) bool { return one.ID == id })
	if i < 0 {
		s.t.Fatalf("no link %s: %s", id, r.body)
	}
	return list.Shares[i]
}

// dead fails unless a link is answered as one that never was.
func (s *server) dead(secret string) {
	s.t.Helper()
	never := s.with("GET", "/t/"+strings.Repeat("x", 43), "").wants(404)
	r := s.with("GET", "/t/"+secret, "")
	if r.status != 404 || r.body != never.body || r.header.Get("Set-Cookie") != "" ||
		!strings.Contains(r.body, "<p>It is wrong, has expired, was used up or was revoked.") {
		s.t.Errorf("a link that opens nothing: %d %s", r.status, r.body)
	}
}

// TestShareOfATerminal: what the reply says, what the secret opens, what a use is, over kill -9 of the server; the role
// read never types.
func TestShareOfATerminal(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"cat"}, Name: "shared"}).ID
	made, secret := s.share(object{"pty": "shared", "uses": 4, "name": "for <you>", "ttl_s": 600})
	var svg struct {
		XMLName xml.Name
		Title   string `xml:"title"`
	}
	if err := xml.Unmarshal([]byte(made.QRSVG), &svg); err != nil || svg.XMLName.Local != "svg" || svg.Title == "" {
		t.Errorf("the QR code: %v, %+v", err, svg)
	}
	if in := time.Until(made.ExpiresAt); in > 10*time.Minute || in < 8*time.Minute || made.PTY != id ||
		made.Role != "read" || made.Name != "for <you>" || made.By != "token" || *made.UsesLeft != 4 {
		t.Errorf("%+v", made)
	}
	for range 3 {
		s.with("HEAD", "/t/"+secret, "").wants(200)
		s.with("HEAD", "/pty/"+id+"/snapshot?ticket="+secret, "").wants(200)
	}
	if left := *s.left(made.ID).UsesLeft; left != 4 {
		t.Errorf("HEAD leaves %d", left)
	}
	cookie := s.follow(secret)
	s.with("GET", "/pty/"+id+"/snapshot?ticket="+secret, "").wants(200)
	s.kill()
	s.again()
	if left := *s.left(made.ID).UsesLeft; left != 2 {
		t.Errorf("%d uses are left", left)
	}
	below := "/t/" + made.ID
	for range 3 { // what the page asks for is no use
		s.with("GET", below+"/pty/"+id+"/snapshot", "", "Cookie", cookie).wants(200)
	}
	page := s.socketBy(halves{cookie: cookie}, below+"/ws")
	if text, code := first(page); !strings.Contains(text, `"list"`) || !strings.Contains(text, id) {
		t.Fatalf("%q, %d", text, code)
	}
	s.must(page.WriteMessage(websocket.TextMessage, []byte(`{"type":"attach","pty":"`+id+`"}`)))
	s.must(page.WriteMessage(websocket.TextMessage, []byte(`{"type":"input","pty":"`+id+`","data":"typed\n"}`)))
	conn := s.socketBy(halves{}, "/pty/shared/ws?ticket="+secret)
	s.must(conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"input","data":"typed\n"}`)))
	for name, conn := range map[string]*websocket.Conn{"the page": page, "a program": conn} {
		for text := ""; !strings.Contains(text, "READ_ONLY"); {
			if text, _ = first(conn); text == "" {
				t.Fatalf("%s was not refused to type", name)
			}
		}
	}
	stream := s.streamBy("/pty/" + id + "/stream?ticket=" + secret)
	s.dead(secret)
	s.with("GET", "/pty/"+id+"/snapshot?ticket="+secret, "").refused(401, "UNAUTHORIZED")
	s.with("GET", below+"/pty/"+id+"/snapshot", "", "Cookie", cookie).wants(200)
	eventually(t, "three viewers are counted", func() bool { return s.left(made.ID).Viewers == 3 })
	s.with("DELETE", "/shares/"+made.ID, "", "Authorization", s.bearer()).wants(200)
	for name, conn := range map[string]*websocket.Conn{"the page": page, "a program": conn} {
		if code := closes(conn); code != wire.CloseUnauthorized {
			t.Errorf("%s closes with %d", name, code)
		}
	}
	if all := <-stream; !expired(all) {
		t.Errorf("the stream ends with %q", all[max(0, len(all)-200):])
	}
	s.with("GET", below+"/share", "", "Cookie", cookie).refused(404, "NOT_FOUND")
	s.with("DELETE", "/shares/"+made.ID, "", "Authorization", s.bearer()).refused(404, "NOT_FOUND")
	s.kill()
	s.again()
	s.dead(secret)
	if text := s.get("/pty/" + id + "/snapshot?format=text").wants(200).body; strings.Contains(text, "typed") {
		t.Errorf("a reader has typed: %s", text)
	}
	var lines []string
	for _, e := range s.audited("audit.log") {
		if strings.HasPrefix(e.What, "share.") {
			lines = append(lines, e.Who+" "+e.What+" "+strings.ReplaceAll(e.Target, made.ID, "ID")+" "+e.Result)
		}
	}
	opened := "ticket share.open ID ok"
	if want := []string{"token share.create ID/" + id + " ok", opened, opened, opened, opened,
		"token share.delete ID ok", "token share.delete ID NOT_FOUND"}; !slices.Equal(lines, want) {
		t.Errorf("the audit log has %q", lines)
	}
	s.keepsNo(secret, cookie)
}

// TestShareWithASlashBehind leads to the link, uses nothing up, and says nothing of whether there is such a share.
func TestShareWithASlashBehind(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token", flags: []string{"--base-path", "/terminals"}})
	made, secret := s.share(object{"pty": s.create("cat").ID, "uses": 1})
	never := strings.Repeat("x", len(secret))
	for _, method := range []string{"GET", "HEAD"} {
		was := s.with(method, "/t/"+secret+"/", "").wants(302)
		is := s.with(method, "/t/"+never+"/", "").wants(302)
		if was.header.Get("Location") != "../"+secret || is.header.Get("Location") != "../"+never ||
			was.body != is.body || was.header.Get("Cache-Control") != "no-store" || was.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %v %q, and of no share %v %q", method, was.header, was.body, is.header, is.body)
		}
	}
	s.with("POST", "/t/"+secret+"/", "{}").wants(404)
	s.with("GET", "/t/"+secret+"/share", "").wants(404)
	s.with("GET", "/t/"+made.ID+"/", "").wants(404)
	if left := *s.left(made.ID).UsesLeft; left != 1 {
		t.Errorf("%d uses are left", left)
	}
	r, err := http.Get(s.url + "/t/" + secret + "/") // a client goes where it is led
	s.must(err)
	s.must(r.Body.Close())
	if r.StatusCode != 200 || r.Request.URL.String() != s.url+"/t/"+secret || r.Header.Get("Set-Cookie") == "" {
		t.Errorf("%d at %s", r.StatusCode, r.Request.URL)
	}
	s.dead(secret)
}

// keepsNo fails when one of the secrets is in a file of the data directory or in the log.
func (s *server) keepsNo(secrets ...string) {
	s.t.Helper()
	s.must(filepath.WalkDir(s.how.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, secret := range secrets {
			if strings.Contains(string(b), secret) {
				s.t.Errorf("%s has a secret", path)
			}
		}
		return err
	}))
	for _, secret := range secrets {
		if strings.Contains(s.stderr.String(), secret) {
			s.t.Error("the log has a secret")
		}
	}
}

// TestShareExpires: then nothing new opens, and who watches stays until it is deleted.
func TestShareExpires(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.create("cat").ID
	made, secret := s.share(object{"pty": id, "ttl_s": 2, "role": "write"})
	cookie := s.follow(secret)
	conn := s.socketBy(halves{}, "/pty/"+id+"/ws?ticket="+secret)
	eventually(t, "the link has expired", func() bool { return s.with("GET", "/t/"+secret, "").status == 404 })
	if time.Now().Before(made.ExpiresAt) {
		t.Error("it has expired too soon")
	}
	s.with("GET", "/t/"+made.ID+"/share", "", "Cookie", cookie).refused(404, "NOT_FOUND")
	s.must(conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"input","data":"still here\n"}`)))
	s.await(id, "^still here$")
	if viewers := s.left(made.ID).Viewers; viewers != 1 {
		t.Errorf("%d viewers", viewers)
	}
	s.with("DELETE", "/shares/"+made.ID, "", "Authorization", s.bearer()).wants(200)
	if code := closes(conn); code != wire.CloseUnauthorized {
		t.Errorf("it closes with %d", code)
	}
}

// TestShareOfASession: all its terminals, also later ones, and no others; names are those of the session.
func TestShareOfASession(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	named := func(session string) string {
		i, err := s.Create(s.ctx(), session, wire.CreateTerminal{Cmd: []string{"cat"}, Name: "web",
			Env: map[string]string{"NOTE": "private"}})
		s.must(err)
		return i.ID
	}
	one, other := named("one"), named("two")
	made, secret := s.share(object{"session": "one", "role": "write"})
	cookie := s.follow(secret)
	later := s.createIn("one", "cat").ID
	below := "/t/" + made.ID
	page := s.socketBy(halves{cookie: cookie}, below+"/ws")
	list, _ := first(page)
	if !strings.Contains(list, one) || !strings.Contains(list, later) || strings.Contains(list, other) ||
		strings.Contains(list, "private") {
		t.Errorf("the page lists %s", list)
	}
	s.must(page.WriteMessage(websocket.TextMessage, []byte(`{"type":"attach","pty":"`+other+`"}`)))
	for text := ""; !strings.Contains(text, "NOT_FOUND"); {
		if text, _ = first(page); text == "" || strings.Contains(text, "snapshot") {
			t.Fatalf("the page attaches another session's terminal: %q", text)
		}
	}
	for path, want := range map[string]int{"/pty/web": 200, "/pty/" + one: 200, "/pty/" + later: 200,
		"/session/one/pty/web": 200, "/pty/" + other: 401, "/session/two/pty/web": 401,
		"/session/two/pty/" + one: 401} {
		if r := s.with("GET", path+"/snapshot?ticket="+secret, ""); r.status != want {
			t.Errorf("%s by its secret: %d %s", path, r.status, r.body)
		}
		if want == 401 {
			want = 404
		}
		if r := s.with("GET", below+path+"/snapshot", "", "Cookie", cookie); r.status != want {
			t.Errorf("%s by its cookie: %d %s", path, r.status, r.body)
		}
	}
	s.must(page.WriteMessage(websocket.TextMessage, []byte(`{"type":"attach","pty":"`+later+`"}`)))
	s.must(page.WriteMessage(websocket.TextMessage, []byte(`{"type":"input","pty":"`+later+`","data":"typed\n"}`)))
	s.await(later, "^typed$")
}

// TestKickedGuest: the page of a kicked guest closes with 4403, and its link opens nothing more; another guest of the
// same link stays. A guest is called so, unless it says a name.
func TestKickedGuest(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.create("cat").ID
	made, secret := s.share(object{"pty": id, "role": "write"})
	cookie := s.follow(secret)
	page := s.socketBy(halves{cookie: cookie}, "/t/"+made.ID+"/ws")
	s.must(page.WriteMessage(websocket.TextMessage, []byte(`{"type":"attach","pty":"`+id+`"}`)))
	stays := s.socketBy(halves{}, "/pty/"+id+"/ws?name=stays&ticket="+secret)
	var list wire.ViewerList
	eventually(t, "both are there", func() bool {
		s.get("/pty/" + id + "/viewers").wants(200).into(&list)
		return len(list.Viewers) == 2
	})
	i := slices.IndexFunc(list.Viewers, func(v wire.Viewer) bool { return v.Name == "guest" && v.Role == "write" })
	if i < 0 {
		t.Fatalf("%+v", list)
	}
	s.with("POST", "/pty/"+id+"/viewers/"+list.Viewers[i].ID+"/kick", "{}", "Authorization", s.bearer()).wants(200)
	if code := closes(page); code != wire.CloseKicked {
		t.Errorf("the page closes with %d", code)
	}
	s.dead(secret)
	s.with("GET", "/t/"+made.ID+"/share", "", "Cookie", cookie).refused(404, "NOT_FOUND")
	s.must(stays.WriteMessage(websocket.TextMessage, []byte(`{"type":"input","data":"still here\n"}`)))
	s.await(id, "^still here$")
	if one := s.left(made.ID); !one.Closed || one.Viewers != 1 {
		t.Errorf("%+v", one)
	}
	s.kill()
	s.again()
	s.dead(secret)
}

// shareRoutes are what a share reaches, with GET and HEAD: of its terminals, and its page.
var shareRoutes = regexp.MustCompile(`/pty/\{id\}/(stream|ws|snapshot)$|^/$|^/assets/|^/favicon.svg$|^/ws$|^/share$|` +
	`^/t/\{secret\}$|^/(healthz|readyz)$|^/compat/(attach|asciinema|k8s|terminado|ttyd)/\{id\}`)

// TestShareOnEveryRoute: whoever has a link, or the cookie of one, reaches nothing but that, whatever the role. The
// routes are those of openapi.json.
func TestShareOnEveryRoute(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"cat"}, Name: "mine"}).ID
	s.createIn("other", "cat")
	s.with("GET", "/pty", "").refused(401, "UNAUTHORIZED") // opens the file of refusals
	before := s.inventory()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	s.get("/openapi.json").wants(200).into(&document)
	tried := 0
	for _, what := range []object{{"pty": id, "role": "write"}, {"session": "test", "role": "write"}} {
		made, secret := s.share(what)
		cookie := s.follow(secret)
		for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
			for method := range document.Paths[path] {
				method = strings.ToUpper(method)
				if method == "PARAMETERS" || method == http.MethodGet && shareRoutes.MatchString(path) ||
					strings.HasSuffix(path, "/api/terminals") { // a POST of JupyterLab, which makes nothing
					continue
				}
				target := pathParameter.ReplaceAllStringFunc(path, func(p string) string {
					if p == "{id}" {
						return id
					}
					return "test"
				})
				for _, at := range []string{target + "?ticket=" + secret, "/t/" + made.ID + target, target} {
					tried++
					r := s.with(method, at, walkBody(path), "Cookie", cookie, "Origin", s.url)
					if r.status != 401 && r.status != 403 && r.status != 404 && r.status != 405 {
						t.Errorf("%s %s: %d %s", method, at, r.status, clip(r.body))
					}
				}
			}
		}
		s.with("DELETE", "/shares/"+made.ID, "", "Authorization", s.bearer()).wants(200)
	}
	if after := s.inventory(); after != before || tried < 300 {
		t.Errorf("%d requests; before\n%s\nafter\n%s", tried, before, after)
	}
}

// TestSharesOfUsers: a user shares what is theirs, sees and ends their own, and they end with the user.
func TestSharesOfUsers(t *testing.T) {
	t.Parallel()
	s, file := startUsers(t, launch{errors: true}, "alice", "bob")
	id := s.cat("alice", "work", "build")
	share := func(user, body string) (made wire.MadeShare) {
		s.as(user, http.MethodPost, "/shares", body).wants(201).into(&made)
		return made
	}
	made, session := share("alice", asJSON(object{"pty": "build"})), share("alice", `{"session":"work"}`)
	if session.Session != "work" || made.By != "alice" {
		t.Errorf("%+v", session)
	}
	s.as("bob", http.MethodPost, "/shares", asJSON(object{"pty": id})).wants(404)
	s.as("bob", http.MethodPost, "/shares", `{"session":"alice@work"}`).wants(400)
	bobs := share("bob", `{"session":"work"}`) // his own of that name, which has nothing
	_, secret, _ := strings.Cut(bobs.URL, "/t/")
	s.with("GET", "/pty/build/snapshot?ticket="+secret, "").wants(401)
	if body := s.as("bob", http.MethodGet, "/shares", "").wants(200).body; strings.Contains(body, made.ID) {
		t.Errorf("bob sees %s", body)
	}
	s.as("bob", http.MethodDelete, "/shares/"+made.ID, "").wants(404)
	_, secret, _ = strings.Cut(session.URL, "/t/")
	cookie := s.follow(secret)
	page := s.socketBy(halves{cookie: cookie}, "/t/"+session.ID+"/ws")
	if list, _ := first(page); !strings.Contains(list, id) || strings.Contains(list, "alice") {
		t.Errorf("the page lists %s", list)
	}
	told := s.with("GET", "/t/"+session.ID+"/share", "", "Cookie", cookie).wants(200)
	if strings.Contains(told.body, "alice") {
		t.Errorf("the page is told %s", told.body)
	}
	usersFile(t, file, "bob")
	s.must(s.cmd.Process.Signal(syscall.SIGHUP))
	if code := closes(page); code != wire.CloseUnauthorized {
		t.Errorf("the page closes with %d", code)
	}
	s.dead(secret)
	s.as("bob", http.MethodGet, "/shares", "").wants(200)
}

// TestShareByTheCommandLine: the link alone is on stdout; ls lists it, rm ends it.
func TestShareByTheCommandLine(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	s.createWith(wire.CreateTerminal{Cmd: []string{"cat"}, Name: "build"})
	made := run(t, s.cli("share", "build", "--name", "to tea\x1bm"))
	if made.code != 2 || !strings.Contains(made.stderr, "plain text") {
		t.Errorf("%+v", made)
	}
	made = run(t, s.cli("share", "build", "--role", "write", "--expires", "30m", "--uses", "3", "--name", "team"))
	link := strings.TrimSuffix(made.stdout, "\n")
	if made.code != 0 || strings.Count(made.stdout, "\n") != 1 || !strings.HasPrefix(link, s.url+"/t/") ||
		!strings.Contains(made.stderr, "only browsers of this machine") {
		t.Fatalf("%+v", made)
	}
	s.follow(strings.TrimPrefix(link, s.url+"/t/"))
	qr := run(t, s.cli("share", "--session", "test", "--qr"))
	if !strings.Contains(qr.stdout, "█▄▄▄▄▄▄▄█") {
		t.Errorf("%+v", qr)
	}
	list := s.says("share", "ls")
	row := regexp.MustCompile(`write +in 29m +2 +0 +token +team\n`)
	if !strings.Contains(list, "session test") || !row.MatchString(list) {
		t.Errorf("it lists\n%s", list)
	}
	var shares []wire.Share
	s.must(json.Unmarshal([]byte(s.says("share", "ls", "--json")), &shares))
	if s.says("share", "rm", shares[0].ID) != "" {
		t.Error("rm prints something")
	}
	run(t, s.cli("share", "rm", shares[0].ID)).refuses(t, 4, "no such link")
	run(t, s.cli("share")).refuses(t, 2, "--session")
	run(t, s.cli("share", "build", "--session", "test")).refuses(t, 2, "--session")
	run(t, s.cli("share", "nobody")).refuses(t, 4, "no such terminal")
	run(t, s.cli("share", "build", "--expires", "31d")).refuses(t, 2, "--expires")
	run(t, s.cli("share", "build", "--expires", "1000h")).refuses(t, 2, "--expires")
}
