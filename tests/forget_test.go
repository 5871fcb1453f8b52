package tests

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/tests/polling"
)

// forgetTime is how long a deletion that somebody's reading delays may take: some looks of the server.
const forgetTime = 45 * time.Second

// filesWith are the files of the data directory that have a text, databases too.
func (s *server) filesWith(text string) (list []string) {
	s.t.Helper()
	_ = filepath.WalkDir(s.how.dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.Type().IsRegular() {
			if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(text)) { // else it went meanwhile
				list = append(list, strings.TrimPrefix(path, s.how.dir))
			}
		}
		return nil
	})
	return list
}

func (s *server) forgets(text string) {
	s.t.Helper()
	if !polling.Until(forgetTime, func() bool { return len(s.filesWith(text)) == 0 }) {
		s.t.Errorf("%q is in %v", text, s.filesWith(text))
	}
}

// TestADeletedThreadIsForgotten: no file has anything of it, neither the database nor its WAL, also
// when somebody reads at the moment of the deletion.
func TestADeletedThreadIsForgotten(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.careful("one", object{"mode": "allow"})
	const secret = "s3cret-of-a-thread"
	o.run("cat; export A="+secret, body{"stdin": secret, "env": body{"MY_TOKEN": secret}})
	o.with(body{"command": "echo " + secret, "tty": true, "env": body{"B": secret}})
	o.post("/session/one/env", asJSON(object{"env": object{"C": secret}})).wants(200)
	id := s.secretTerminal("one", secret)
	s.input(id, "echo "+secret+"\n")
	s.await(id, "^echo "+secret+"$")
	o.permit(object{"mode": "prompt"})
	o.send(body{"command": "echo no " + secret, "stdin": secret}).asks()
	o.permit(object{"mode": "allow", "rules": object{}})
	eventually(t, "the database has it", func() bool {
		return strings.Contains(strings.Join(s.filesWith(secret), " "), ".db")
	})
	o.call(http.MethodDelete, o.path, "").wants(200)
	s.forgets(secret)
}

// secretTerminal is a terminal of a session with a secret in its environment.
func (s *server) secretTerminal(session, secret string) string {
	s.t.Helper()
	var made struct{ ID string }
	s.post("/session/"+session+"/pty", asJSON(object{"cmd": []string{"cat"}, "env": object{"D_KEY": secret}})).
		wants(201).into(&made)
	return made.ID
}

// TestInputIsForgottenAtTheEnd: what a command was given is on disk no longer than it runs, also
// when the server is killed in between.
func TestInputIsForgottenAtTheEnd(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	w := s.in("one")
	const secret = "s3cret-of-a-command"
	for _, isolated := range []bool{false, true} {
		w.send(body{"command": "test $(wc -c) = 20", "stdin": secret + "\n", "isolated": isolated,
			"env": body{"T": secret}}).wants(200)
	}
	w.later(body{"command": "n=$(wc -c); sleep 0.5; test $n = 20", "stdin": secret + "\n"})
	id := w.find("n=$(wc -c); sleep 0.5; test $n = 20", "running").CommandID
	s.kill()
	s.again()
	if p := w.finished(id); !p.ended("done", 0) {
		t.Errorf("%v", p)
	}
	w.post("/session/one/exec", asJSON(body{"command": "cat >/dev/null", "stdin": secret, "timeout_ms": 1})).wants(200)
	w.run("true")
	if !polling.Until(forgetTime, func() bool {
		for _, f := range s.filesWith(secret) {
			if strings.HasPrefix(f, "/shells") {
				return false
			}
		}
		return true
	}) {
		t.Errorf("the input is in %v", s.filesWith(secret))
	}
}

// TestPurgeForgetsACommand: its text, output and input are in no file and in no list, and the others
// stay.
func TestPurgeForgetsACommand(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	o := s.careful("one", object{"mode": "allow"})
	const secret = "s3cret-to-purge"
	purge := func(id string) reply {
		return o.call(http.MethodDelete, "/session/one/commands/"+id+"?purge=1", "")
	}
	o.run("echo kept").is(0, "kept\n")
	o.permit(object{"mode": "prompt"})
	call := body{"command": "echo " + secret, "stdin": secret}
	o.answer(o.send(call).asks(), "approve").wants(200)
	o.send(call).wants(200)
	o.permit(object{"mode": "allow"})
	for _, how := range []body{{"isolated": true}, {"tty": true}, {"background": true}} {
		b := body{"command": "echo " + secret}
		for k, v := range how {
			b[k] = v
		}
		o.send(b)
	}
	o.send(body{"command": "sleep 1000 &"}).wants(200)
	running := o.later(body{"command": "echo " + secret + "; sleep 1000"})
	o.find("echo "+secret+"; sleep 1000", "running")
	for _, p := range o.commands("") {
		switch {
		case strings.HasSuffix(p.Command, "&"):
			purge(p.CommandID).refused(409, "RUNNING")
		case !strings.Contains(p.Command, secret):
		default:
			purge(p.CommandID).wants(200)
			o.get("/session/one/commands/"+p.CommandID).refused(404, "NOT_FOUND")
			purge(p.CommandID).refused(404, "NOT_FOUND")
		}
	}
	<-running.done
	s.forgets(secret)
	o.call(http.MethodDelete, "/session/one/commands/none?purge=maybe", "").refused(404, "NOT_FOUND")
	if list := o.commands(""); len(list) == 0 || list[0].Command != "echo kept" {
		t.Errorf("%v", list)
	}
}
