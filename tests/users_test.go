package tests

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// userToken is the token of a user of a test.
func userToken(name string) string { return name + strings.Repeat("-token", 6) }

// usersFile writes a file of users: a name, and lines of TOML behind it.
func usersFile(t testing.TB, file string, users ...string) {
	t.Helper()
	text := ""
	for _, u := range users {
		name, more, _ := strings.Cut(u, " ")
		text += fmt.Sprintf("[[users]]\nname = %q\ntoken_hash = \"sha256:%x\"\n%s\n", name,
			sha256.Sum256([]byte(userToken(name))), more)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// startUsers starts a server with users, and returns it with the file.
func startUsers(t testing.TB, how launch, users ...string) (s *server, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "users.toml")
	usersFile(t, file, users...)
	how.auth = "token"
	how.flags = append(how.flags, "--users", file)
	return start(t, how), file
}

// as sends a request with the token of a user.
func (s *server) as(user, method, path, body string) reply {
	s.t.Helper()
	h := map[string]string{"Authorization": "Bearer " + userToken(user)}
	if body != "" {
		h["Content-Type"] = "application/json"
	}
	return s.do(request{method, path, body, h})
}

// cat starts a terminal of a user, and returns its id.
func (s *server) cat(user, session, name string) string {
	s.t.Helper()
	var i struct{ ID, Session string }
	s.as(user, http.MethodPost, "/session/"+session+"/pty", asJSON(object{"name": name, "cmd": []string{"cat"}})).
		wants(201).into(&i)
	if i.Session != session {
		s.t.Errorf("the session of %s is called %q", user, i.Session)
	}
	return i.ID
}

// TestUsersHaveTheirOwnNames: two users and the administrators may call the same things alike; each sees one, and an
// administrator all, with the user before the name.
func TestUsersHaveTheirOwnNames(t *testing.T) {
	t.Parallel()
	s, _ := startUsers(t, launch{listen: freePort(t)}, "alice", "bob", "root admin = true")
	ids := map[string]string{"alice": s.cat("alice", "work", "x"), "bob": s.cat("bob", "work", "x")}
	own := s.createIn("work", "cat").ID
	for user, id := range ids {
		for _, path := range []string{"/pty", "/session/work/pty"} {
			r := s.as(user, http.MethodGet, path, "").wants(200)
			if !strings.Contains(r.body, id) || strings.Count(r.body, `"ptyID"`) != 1 || strings.Contains(r.body, "@") {
				t.Errorf("%s sees at %s: %s", user, path, r.body)
			}
		}
		if r := s.as(user, http.MethodGet, "/pty/x", "").wants(200); !strings.Contains(r.body, id) {
			t.Errorf("x is for %s: %s", user, r.body)
		}
		r := s.as(user, http.MethodPost, "/session/work/exec", `{"command":"echo in=$EVERTTY_SESSION"}`).wants(200)
		if !strings.Contains(r.body, `in=work\n`) || !strings.Contains(r.body, `"session":"work"`) {
			t.Errorf("a command of %s: %s", user, r.body)
		}
		s.book.add(user + "@work")
	}
	for _, token := range []string{userToken("root"), s.token()} {
		h := map[string]string{"Authorization": "Bearer " + token}
		list := s.do(request{http.MethodGet, "/pty", "", h}).wants(200)
		for _, want := range []string{ids["alice"], ids["bob"], own, `"alice@work"`, `"bob@work"`, `"session":"work"`} {
			if !strings.Contains(list.body, want) {
				t.Errorf("an administrator does not see %s: %s", want, list.body)
			}
		}
	}
	s.as("root", http.MethodGet, "/session/alice@work/pty/x", "").wants(200)
	for _, user := range []string{"alice", "bob"} {
		for _, path := range []string{"/session/alice@work/pty", "/api/threads/alice@work", "/api/leases/alice@x"} {
			s.as(user, http.MethodGet, path, "").wants(400)
		}
		s.as(user, http.MethodGet, "/metrics", "").wants(403)
		if r := s.as(user, http.MethodGet, "/healthz", "").wants(200); strings.Contains(r.body, "pid") {
			t.Errorf("the state of the server for %s: %s", user, r.body)
		}
	}
	s.kill()
	s.again()
	for user, id := range ids {
		if r := s.as(user, http.MethodGet, "/pty/x", "").wants(200); !strings.Contains(r.body, id) {
			t.Errorf("after a restart x is for %s: %s", user, r.body)
		}
		r := s.as(user, http.MethodGet, "/session/work/shell", "").wants(200)
		if strings.Count(r.body, `"session":"work"`) != 1 {
			t.Errorf("after a restart %s has %s", user, r.body)
		}
	}
	log, err := os.ReadFile(s.file("audit.log"))
	if s.must(err); !strings.Contains(string(log), `"who":"alice"`) || !strings.Contains(string(log), `"who":"bob"`) {
		t.Errorf("the audit log: %s", log)
	}
}

// TestUserFindsTheirOwn: references, filters and changes of terminals reach what the user has and nothing else, and a
// refusal names it as the user does.
func TestUserFindsTheirOwn(t *testing.T) {
	t.Parallel()
	s, _ := startUsers(t, launch{}, "alice", "bob", "root admin = true")
	mine, other := s.cat("alice", "work", "x"), s.cat("bob", "work", "x")
	own := s.createIn("work", "cat").ID
	s.as("bob", http.MethodPatch, "/pty/x", `{"labels":{"team":"web"}}`).wants(200)
	s.as("alice", http.MethodPatch, "/pty/"+other, `{"name":"y"}`).wants(404)
	s.as("alice", http.MethodPatch, "/session/bob@work/pty/x", `{"name":"y"}`).wants(400)
	s.as("alice", http.MethodPost, "/pty/"+other+"/park", `{}`).wants(404)
	for _, query := range []string{"session=work", "id=work/x", "id=x", "id=" + mine, "id=" + mine[:8], "name=x"} {
		r := s.as("alice", http.MethodGet, "/pty?"+query, "").wants(200)
		if !strings.Contains(r.body, mine) || strings.Count(r.body, `"ptyID"`) != 1 || strings.Contains(r.body, "@") {
			t.Errorf("alice finds by %s: %s", query, r.body)
		}
	}
	for _, ref := range []string{other, own, other[:len(other)-1], "bob@work/x", "@work/x", "alice@work/x"} {
		s.as("alice", http.MethodGet, "/pty?id="+ref, "").wants(404)
		s.as("alice", http.MethodGet, "/session/work/pty?id="+ref, "").wants(404)
	}
	s.as("alice", http.MethodGet, "/pty?session=bob@work", "").wants(400)
	s.as("alice", http.MethodGet, "/pty?after="+other, "").wants(404)
	if r := s.as("alice", http.MethodGet, "/pty?label=team=web", "").wants(200); strings.Contains(r.body, other) {
		t.Errorf("alice finds by a label of bob: %s", r.body)
	}
	if r := s.as("root", http.MethodGet, "/pty?id=bob@work/x", "").wants(200); !strings.Contains(r.body, other) {
		t.Errorf("an administrator finds %s", r.body)
	}
	second := s.cat("alice", "more", "x")
	r := s.as("alice", http.MethodGet, "/pty?id=x", "").wants(409)
	if !strings.Contains(r.body, `"choices":["more/x","work/x"]`) || strings.Contains(r.body, "alice@") {
		t.Errorf("which x alice means: %s", r.body)
	}
	s.as("alice", http.MethodPost, "/session/work/pty", `{"name":"z","cmd":["cat"]}`).wants(201)
	r = s.as("alice", http.MethodPatch, "/session/work/pty/z", `{"name":"x"}`).wants(409)
	if !strings.Contains(r.body, `"id":"`+mine+`"`) || strings.Contains(r.body, "@") {
		t.Errorf("who has the name x: %s", r.body)
	}
	s.as("alice", http.MethodPatch, "/session/more/pty/x", `{"name":"moved"}`).wants(200)
	if r := s.as("alice", http.MethodGet, "/pty/moved", "").wants(200); !strings.Contains(r.body, second) {
		t.Errorf("moved is %s", r.body)
	}
	s.as("alice", http.MethodPost, "/backup", "").wants(403)
	if r := s.as("alice", http.MethodGet, "/healthz", "").wants(200); strings.Contains(r.body, "started_at") {
		t.Errorf("the state of the server for alice: %s", r.body)
	}
	if r := s.as("root", http.MethodGet, "/healthz", "").wants(200); !strings.Contains(r.body, "started_at") {
		t.Errorf("the state of the server for an administrator: %s", r.body)
	}
}

// TestUserLimits: what one user has counts for nobody else.
func TestUserLimits(t *testing.T) {
	t.Parallel()
	s, _ := startUsers(t, launch{}, "alice limits = {max_ptys = 1, max_viewers = 1, max_shells = 1}", "bob")
	id, other := s.cat("alice", "a", ""), s.cat("bob", "a", "")
	s.as("alice", http.MethodPost, "/session/b/pty", `{"cmd":["cat"]}`).refusedForLimit("max_ptys")
	s.cat("bob", "b", "")
	s.as("alice", http.MethodPost, "/session/a/shell", `{}`).wants(201)
	s.as("alice", http.MethodPost, "/session/b/exec", `{"command":"true"}`).refusedForLimit("max_shells")
	s.as("bob", http.MethodPost, "/session/b/exec", `{"command":"true"}`).wants(200)
	s.book.add("alice@a")
	s.book.add("bob@b")
	watching := s.open("/pty/"+id+"/stream", userToken("alice"))
	defer watching.Body.Close()
	s.as("alice", http.MethodGet, "/pty/"+id+"/stream", "").refusedForLimit("max_viewers")
	for range 2 {
		resp := s.open("/pty/"+other+"/stream", userToken("bob"))
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("a viewer of bob: %d", resp.StatusCode)
		}
	}
	s.createIn("work", "cat")
}

// TestUserIsRemoved: by SIGHUP a user's requests, logins and tickets end at once, those of others stay; programs go on.
// A file with a mistake changes nothing.
func TestUserIsRemoved(t *testing.T) {
	t.Parallel()
	s, file := startUsers(t, launch{errors: true, listen: freePort(t)}, "alice", "bob")
	id, other := s.cat("alice", "work", ""), s.cat("bob", "work", "")
	ticket := func(user, body string) string {
		var got struct{ Ticket string }
		s.as(user, http.MethodPost, "/tickets", body).wants(201).into(&got)
		return got.Ticket
	}
	ask := asJSON(object{"pty": id, "uses": 9, "ttl_s": 600})
	s.as("bob", http.MethodPost, "/tickets", ask).wants(404)
	secret := ticket("alice", ask)
	login := s.do(request{http.MethodGet, "/?ticket=" + ticket("alice", `{"login":true}`), "", nil}).wants(303)
	cookie, _, _ := strings.Cut(login.header.Get("Set-Cookie"), ";")
	_, page, _ := strings.Cut(login.header.Get("Location"), "#page=")
	loggedIn := func() reply {
		return s.do(request{http.MethodGet, "/pty", "", map[string]string{"Cookie": cookie, "Evertty-Page": page}})
	}
	if r := loggedIn().wants(200); !strings.Contains(r.body, id) || strings.Contains(r.body, other) {
		t.Errorf("the page of alice shows %s", r.body)
	}
	streams := map[string]*http.Response{"token": s.open("/pty/"+id+"/stream", userToken("alice")),
		"ticket": s.open("/pty/"+id+"/stream?ticket="+secret, "")}
	stays := s.open("/pty/"+other+"/stream", userToken("bob"))
	defer stays.Body.Close()

	s.must(os.WriteFile(file, []byte("[[users]]\nname = 1\n"), 0o600))
	s.must(s.cmd.Process.Signal(syscall.SIGHUP))
	eventually(t, "the mistake is in the log", func() bool {
		return strings.Contains(s.stderr.String(), "not read again")
	})
	s.as("alice", http.MethodGet, "/pty/"+id, "").wants(200)

	usersFile(t, file, "bob")
	s.must(s.cmd.Process.Signal(syscall.SIGHUP))
	for name, resp := range streams {
		b := make([]byte, 1<<20)
		for n := 0; ; {
			more, err := resp.Body.Read(b[n:])
			if n += more; err != nil {
				if !strings.Contains(string(b[:n]), "event: expired") {
					t.Errorf("the stream by %s ends with %q", name, b[:n])
				}
				break
			}
		}
	}
	s.as("alice", http.MethodGet, "/pty", "").wants(401)
	loggedIn().wants(401)
	s.do(request{http.MethodGet, "/pty/" + id + "/snapshot?ticket=" + secret, "", nil}).wants(401)
	s.as("bob", http.MethodGet, "/pty/"+other, "").wants(200)
	if i := s.info(id); i.State != "running" || i.Session != "alice@work" {
		t.Errorf("what is left of alice: %+v", i)
	}
	usersFile(t, file, "alice", "bob") // the login was of another alice, the tickets are gone
	s.kill()
	s.again()
	s.as("alice", http.MethodGet, "/pty/"+id, "").wants(200)
	s.do(request{http.MethodGet, "/pty/" + id + "/snapshot?ticket=" + secret, "", nil}).wants(401)
}

// TestWrongUsersFile: exit 2 and one line that names the line and what is wrong.
func TestWrongUsersFile(t *testing.T) {
	t.Parallel()
	hash := func(c string) string { return "token_hash = \"sha256:" + strings.Repeat(c, 64) + "\"\n" }
	hashOf := func(token string) string {
		return fmt.Sprintf("token_hash = \"sha256:%x\"\n", sha256.Sum256([]byte(token)))
	}
	good := "[[users]]\nname = \"alice\"\n" + hash("a")
	for text, words := range map[string][]string{
		good + "colour = 1\n":                                  {":4:", "colour", "token_hash, admin"},
		good + "[users.limits]\nmax_pty = 1\n":                 {":5:", "max_pty", "limits.max_ptys"},
		good + "[[users]]\nname = \"alice\"\n" + hash("b"):     {":5:", "name", "alice", "twice"},
		good + "[[users]]\nname = \"bob\"\n" + hash("a"):       {":6:", "token_hash", "same token"},
		"[[users]]\nname = \"a@b\"\n" + hash("a"):              {":2:", "name", "a@b"},
		"[[users]]\nname = \"token\"\n" + hash("a"):            {":2:", "name", "audit"},
		"[[users]]\n" + hash("a"):                              {":1:", "name"},
		"[[users]]\nname = \"bob\"\n":                          {":1:", "token_hash", "evertty user add bob"},
		"[[users]]\nname = \"bob\"\ntoken_hash = \"sha256:1\"": {":3:", "token_hash", "sha256:1"},
		"[[users]]\nname = \"bob\"\ntoken_hash = \"\"":         {":3:", "token_hash", "evertty user add bob"},
		"[[users]]\nname = \"bob\"\n" + hashOf(""):             {":3:", "token_hash", "of no token"},
		good + "limits = {max_ptys = -1}\n":                    {":4:", "max_ptys", "-1"},
		good + "admin = \"yes\"\n":                             {"line 4", "users.admin", "allowed is true or false"},
		good + "limits = {max_ptys = \"1\"}\n":                 {"line 4", "users.limits.max_ptys", "a whole number"},
		"[users]\nname = \"alice\"\n":                          {"line 1", "users", "[[…]]"},
		"user = []\n":                                          {":1:", "user"},
		"[[users]\n":                                           {"line 2"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "users.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, call(t, nil, "serve", "--data-dir", filepath.Join(dir, "data"), "--users", file)).refuses(t, 2, words...)
		if _, err := os.Stat(filepath.Join(dir, "data")); err == nil {
			t.Errorf("%q: the data directory was made", text)
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "users.toml")
	usersFile(t, file, "alice")
	serve := []string{"serve", "--data-dir", filepath.Join(dir, "data"), "--users", file}
	run(t, call(t, nil, append(serve, "--auth", "none")...)).refuses(t, 2, "users", "--auth none")
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, call(t, nil, serve...)).refuses(t, 2, "users", "users.toml")
}

// TestUserAdd: the lines of evertty user add are a file of users, and the token opens the server.
func TestUserAdd(t *testing.T) {
	t.Parallel()
	out := run(t, call(t, nil, "user", "add", "carol"))
	token := strings.TrimSpace(out.stderr[strings.LastIndex(out.stderr, " ")+1:])
	if out.code != 0 || strings.Contains(out.stdout, token) || len(token) < 32 {
		t.Fatalf("%+v", out)
	}
	file := filepath.Join(t.TempDir(), "users.toml")
	if err := os.WriteFile(file, []byte(out.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, launch{auth: "token", flags: []string{"--users", file}})
	s.do(request{http.MethodGet, "/pty", "", map[string]string{"Authorization": "Bearer " + token}}).wants(200)
	run(t, call(t, nil, "user", "add", "a b")).refuses(t, 2, "a b", "letters")
}
