package tests

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/wire"
)

// twoDirs are directories with a file each, by their real paths.
func (o *owner) twoDirs() (a, b string) {
	o.t.Helper()
	dir := o.dir()
	for _, name := range []string{"a", "b"} {
		o.must(os.Mkdir(filepath.Join(dir, name), 0o700))
		o.must(os.WriteFile(filepath.Join(dir, name, "file"), nil, 0o600))
	}
	return filepath.Join(dir, "a"), filepath.Join(dir, "b")
}

// keeps wants files to be there, or not.
func keeps(t testing.TB, there bool, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "file")); (err == nil) != there {
			t.Errorf("the file in %s: %v", dir, err)
		}
	}
}

// TestApprovalsBindTheDirectory: security row D28. What was approved in one directory does not run in another,
// however the shell, the terminal or the path of the request came there.
func TestApprovalsBindTheDirectory(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.careful("one", object{"rules": object{"ask": []object{rule("contains", "rm -f")}}})
	a, b := o.twoDirs()
	call := body{"command": "rm -f ./*"}
	o.run("cd "+quote(a)).is(0, "")
	approve := func(call body) string {
		t.Helper()
		id := o.send(call).asks()
		o.answer(id, "approve").wants(200)
		return id
	}

	first := approve(call)
	var list struct{ Approvals []struct{ Arguments object } }
	o.get(o.path + "/approvals?status=approved").wants(200).into(&list)
	if len(list.Approvals) != 1 || list.Approvals[0].Arguments["directory"] != a {
		t.Errorf("the approval says %+v", list)
	}
	o.run("cd "+quote(b)).is(0, "")
	for _, how := range []object{{}, {"tty": true}, {"isolated": true}, {"background": true}} {
		try := body{"command": "rm -f ./*"}
		for k, v := range how {
			try[k] = v
		}
		if id := o.send(try).asks(); id == first {
			t.Errorf("%v: the approval is of another directory", how)
		}
	}
	keeps(t, true, a, b)
	o.run("cd "+quote(a)).is(0, "")
	if id := o.post("/api/threads/one/authorize", `{"tool":"exec","arguments":{"command":"rm -f ./*"}}`).
		wants(200); !strings.Contains(id.body, first) {
		t.Errorf("authorize asks about another call: %s", id.body)
	} // it has used the approval
	approve(call)
	o.send(call).wants(200)
	keeps(t, false, a)
	keeps(t, true, b)

	// A link that is turned after the approval.
	link := filepath.Join(filepath.Dir(a), "link")
	o.must(os.Symlink(a, link))
	approve(body{"command": "rm -f ./*", "cwd": link})
	o.must(os.Remove(link))
	o.must(os.Symlink(b, link))
	o.send(body{"command": "rm -f ./*", "cwd": link}).asks()
	o.must(os.Remove(link))
	o.must(os.Symlink(a, link))
	o.run("cd "+quote(link)).is(0, "")
	approve(call)
	o.must(os.Remove(link))
	o.must(os.Symlink(b, link))
	o.run("cd "+quote(link)).is(0, "")
	o.send(call).asks()
	keeps(t, true, b)
}

// TestApprovalsBindTheDirectoryInTheQueue: an approved command whose shell goes elsewhere while it
// waits for its turn does not run, also under the next server.
func TestApprovalsBindTheDirectoryInTheQueue(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	o := s.careful("one", object{"rules": object{"ask": []object{rule("contains", "rm -f")}}})
	a, b := o.twoDirs()
	o.run("cd "+quote(a)+" && mkfifo ../go").is(0, "")
	call := body{"command": "rm -f ./*"}
	o.answer(o.send(call).asks(), "approve").wants(200)
	move := "read x <../go; cd " + quote(b)
	moving := o.later(body{"command": move})
	o.find(move, "running")
	waiting := o.later(call)
	id := o.find("rm -f ./*", "queued").CommandID
	s.kill()
	<-moving.done
	<-waiting.done
	s.again()
	o.must(os.WriteFile(filepath.Join(filepath.Dir(a), "go"), []byte("\n"), 0))
	if p := o.finished(id); p.Status != "failed" {
		t.Errorf("%+v", p)
	}
	keeps(t, true, a, b)

	call = body{"command": "rm -f ./* # again"}
	o.answer(o.send(call).asks(), "approve").wants(200)
	move = "read x <../go; cd " + quote(a)
	o.later(body{"command": move})
	o.find(move, "running")
	waiting = o.later(call)
	o.find("rm -f ./* # again", "queued")
	o.must(os.WriteFile(filepath.Join(filepath.Dir(a), "go"), []byte("\n"), 0))
	waiting.reply().refused(409, "DIRECTORY_CHANGED", "approved")
	keeps(t, true, a, b)
}

// TestApprovalsBindTheDirectoryOfATerminal: security row D28. So it is with what is typed, and with a terminal that
// is made behind a link.
func TestApprovalsBindTheDirectoryOfATerminal(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.careful("one", object{"mode": "allow"})
	a, b := o.twoDirs()
	var made wire.Terminal
	o.post("/session/one/pty", asJSON(object{"cmd": []string{"bash", "--norc"}, "cwd": a})).wants(201).into(&made)
	terminal := "/session/one/pty/" + made.ID
	o.permit(object{"rules": object{"ask": []object{rule("contains", "rm -f"), rule("tool", "pty")}}})
	in := func() bool { return s.info(made.ID).Cwd == b }
	for _, way := range []struct{ path, body string }{
		{"/input", `{"data":"rm -f ./*\r"}`}, {"/paste", `{"data":"rm -f ./*"}`}, {"/keys",
			`{"keys":["text:rm -f ./*"]}`},
	} {
		o.post(terminal+"/input", asJSON(object{"data": "cd " + quote(a) + "\r"})).wants(200)
		if !polling.Until(patience, func() bool { return !in() }) {
			t.Fatal("the terminal stays")
		}
		id := o.post(terminal+way.path, way.body).asks()
		o.answer(id, "approve").wants(200)
		o.post(terminal+"/input", asJSON(object{"data": "cd " + quote(b) + "\r"})).wants(200)
		if !polling.Until(patience, in) {
			t.Fatal("the terminal stays")
		}
		if next := o.post(terminal+way.path, way.body).asks(); next == id {
			t.Errorf("%s: the approval is of another directory", way.path)
		}
	}
	link := filepath.Join(filepath.Dir(a), "link")
	o.must(os.Symlink(a, link))
	create := asJSON(object{"cmd": []string{"rm", "-f", "file"}, "cwd": link})
	o.answer(o.post("/session/one/pty", create).asks(), "approve").wants(200)
	o.must(os.Remove(link))
	o.must(os.Symlink(b, link))
	o.post("/session/one/pty", create).asks()
	keeps(t, true, a, b)
}

// TestAllowRulesMatchFromTheBeginning: security row D29. Text anywhere else than at the beginning of the argument
// that an allow rule names lets nothing through.
func TestAllowRulesMatchFromTheBeginning(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for _, allow := range []object{rule("tool", "exec", "contains", "command=git --version"),
		rule("tool", "exec", "contains", "git --version"), rule("tool", "exec", "key", "command", "prefix",
			"git --version"),
		rule("tool", "exec", "prefix", "git --version")} {
		o := s.careful("one", object{"mode": "read-only", "rules": object{"allow": []object{allow}}})
		for _, try := range []body{
			{"command": "touch x", "stdin": "command=git --version"},
			{"command": "touch x", "stdin": "git --version"},
			{"command": "touch x", "env": object{"A": "command=git --version"}},
			{"command": "touch x # command=git --version"},
			{"command": "touch x; git --version"},
			{"command": " git --version"},
			{"command": "git\n--version"},
			{"command": "git --version", "env": object{"PATH": "/tmp"}},
			{"argv": []string{"touch", "command=git --version"}, "isolated": true},
			{"command": "touch x", "cwd": "/command=git --version"},
		} {
			o.send(try).refused(403, "DENIED", "read-only")
		}
		o.send(body{"command": "git --version"}).wants(200)
		o.send(body{"argv": []string{"git", "--version"}, "isolated": true}).wants(200)
	}
	o := s.careful("one", object{"mode": "read-only", "rules": object{"allow": []object{rule("equals", "echo a")}}})
	o.send(body{"command": "echo a; echo b"}).refused(403, "DENIED")
	o.run("echo a").is(0, "a\n")
	o.permit(object{"mode": "allow", "rules": object{"deny": []object{rule("key", "stdin", "contains", "secret")}}})
	o.send(body{"command": "cat", "stdin": "a secret"}).refused(403, "DENIED")
	o.run("echo secret").is(0, "secret\n")
	o.permit(object{"mode": "allow", "rules": object{"deny": []object{rule("tool", "exec", "prefix", "secret")}}})
	o.send(body{"command": "secret word"}).refused(403, "DENIED") // without a key it is about the command
	o.send(body{"command": "cat", "stdin": "secret", "env": object{"A": "secret"}}).wants(200)
	o.call(http.MethodPut, o.path+"/permissions", `{"rules":{"allow":[{"key":"stdin"}]}}`).refused(400, "VALIDATION",
		"key", "prefix, equals or contains")
}

// TestADirectoryIsNotRenamedAwayFromItsRule: the directory that a rule protects, one above it and
// what is in it stay where they are, from either end of a move.
func TestADirectoryIsNotRenamedAwayFromItsRule(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.careful("one", object{"mode": "allow"})
	home := filepath.Join(o.dir(), "home")
	keys := filepath.Join(home, ".ssh")
	o.must(os.MkdirAll(keys, 0o700))
	o.must(os.WriteFile(filepath.Join(keys, "id"), []byte("key"), 0o600))
	for _, part := range []string{"/.ssh/", keys + "/", keys} {
		o.permit(object{"mode": "allow", "rules": object{"deny": []object{rule("path_contains", part)}}})
		o.run("cd "+quote(home)).is(0, "")
		moves := [][2]string{{keys, home + "/x"}, {keys + "/", home + "/x"}, {".ssh", "x"}, {home + "/x", keys},
			{keys + "/id", home + "/x"}, {home + "/y/../.ssh", home + "/x"}}
		if part != "/.ssh/" { // which what is in a moved directory still has in its path
			moves = append(moves, [2]string{home, home + "2"}, [2]string{filepath.Dir(home), home + "2"})
		}
		for _, m := range moves {
			o.post("/api/file/rename", asJSON(object{"oldPath": m[0], "newPath": m[1], "sessionId": "one"})).
				refused(403, "DENIED")
			o.post("/api/file/move", asJSON(object{"sourcePath": m[0], "destinationPath": m[1], "sessionId": "one"})).
				refused(403, "DENIED")
		}
		for _, route := range []string{"read", "list", "exists", "mkdir", "delete"} {
			o.post("/api/file/"+route, asJSON(object{"path": ".ssh", "sessionId": "one"})).refused(403, "DENIED")
		}
		o.send(body{"command": "cat id", "cwd": keys}).refused(403, "DENIED")
	}
	if b, err := os.ReadFile(filepath.Join(keys, "id")); err != nil || string(b) != "key" {
		t.Error(string(b), err)
	}
	o.post("/api/file/rename", asJSON(object{"oldPath": home + "/other", "newPath": home + "/x",
		"sessionId": "one"})).refused(404, "FILE_NOT_FOUND")
}

// TestFileChecksStartNoShell: what only reads starts no bash, whatever the path, and tells where a
// relative one begins all the same.
func TestFileChecksStartNoShell(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := start(t, launch{env: []string{"HOME=" + home}})
	s.must(os.WriteFile(filepath.Join(home, "file"), []byte("here"), 0o600))
	o := s.careful("one", object{"mode": "read-only"})
	for route, path := range map[string]string{"read": "file", "exists": "file", "list": "."} {
		for _, p := range []string{path, filepath.Join(home, path)} {
			r := o.post("/api/file/"+route, asJSON(object{"path": p, "sessionId": "one"})).wants(200)
			if !strings.Contains(r.body, home) {
				t.Errorf("%s %s: %s", route, p, r.body)
			}
		}
	}
	o.post("/api/file/read", `{"path":"none","sessionId":"one"}`).refused(404, "FILE_NOT_FOUND", home)
	o.post("/api/file/write", `{"path":"file","content":"x","sessionId":"one"}`).refused(403, "DENIED")
	if list := s.shells("one"); len(list) != 0 {
		t.Errorf("shells %+v", list)
	}
	o.permit(object{"mode": "allow"})
	o.run("mkdir sub && cd sub && echo there >file").is(0, "")
	o.permit(object{"mode": "read-only"})
	if r := o.post("/api/file/read", `{"path":"file","sessionId":"one"}`).wants(200); !strings.Contains(r.body,
		"there") {
		t.Error(r.body)
	}
}
