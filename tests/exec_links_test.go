package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/wire"
)

// linkedDirs makes a directory with two links to others.
func linkedDirs(t *testing.T) (link, other string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"real/deep", "else"} {
		if err := os.MkdirAll(filepath.Join(base, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link, other = filepath.Join(base, "link"), filepath.Join(base, "other")
	if os.Symlink(filepath.Join(base, "real/deep"), link) != nil || os.Symlink(filepath.Join(base, "else"),
		other) != nil {
		t.Fatal("no links")
	}
	return link, other
}

// TestExecKeepsLinks: a directory that was reached by a link keeps that name as long as it is one of it (POSIX, cd and
// pwd -L), whatever happens to the shell.
func TestExecKeepsLinks(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	w := s.in("links")
	link, other := linkedDirs(t)
	base := filepath.Dir(link)
	in := func(when string, r result, stdout, cwd string) {
		t.Helper()
		if r.out() != stdout || r.Cwd != cwd {
			t.Errorf("%s: %q in %q, want %q in %q; stderr %q", when, r.out(), r.Cwd, stdout, cwd, r.err())
		}
	}
	const ask = "pwd; echo $PWD"
	there := link + "\n" + link + "\n"
	in("cd", w.run("cd "+other+"; cd "+link+"; pwd"), link+"\n", link)
	in("cwd .", w.run(ask, body{"cwd": "."}), there, link)
	in("cwd ..", w.run("pwd", body{"cwd": ".."}), base+"\n", link)
	in("cwd", w.run("pwd", body{"cwd": other}), other+"\n", link)
	in("variable", w.run(ask, body{"env": body{"K": "v"}}), there, link)
	alone := body{"isolated": true, "argv": []string{"bash", "-c", ask}}
	in("isolated", w.with(alone), there, link)
	alone["cwd"] = "."
	in("isolated with cwd", w.with(alone), there, link)
	var begun past
	w.send(body{"command": ask, "background": true}).wants(202).into(&begun)
	w.logged(w.finished(begun.CommandID).CommandID, there)
	w.send(body{"command": ask, "background": true, "cwd": "."}).wants(202).into(&begun)
	w.logged(w.finished(begun.CommandID).CommandID, there)
	if out := w.run(ask, body{"tty": true}).out(); out != strings.ReplaceAll(there, "\n", "\r\n") {
		t.Errorf("on a terminal: %q", out)
	}
	s.post(w.at+"/env", `{"env":{"A":"b"}}`).wants(200)
	in("env", w.run(ask), there, link)
	w.run("exit")
	in("exit", w.run(ask), there, link)
	in("cd with a variable", w.run("cd "+other, body{"env": body{"K": "v"}}), "", other)
	in("after that", w.run(ask), other+"\n"+other+"\n", other)
	in("and back", w.run("cd "+link+"\ntrue", body{"env": body{"K": "v"}}), "", link)
	in("cd -", w.run("cd -; cd - >/dev/null; cd ..; pwd"), other+"\n"+base+"\n", base)
	w.run("cd " + link)
	s.kill()
	s.again()
	in("the next server", w.run(ask), there, link)
	w.run("kill -9 $$")
	in("kill -9", w.run(ask), there, link)
	w.run("sleep 100", body{"timeout_ms": 50})
	in("a timeout", w.run(ask), there, link)
	in("cd -P", w.run("cd -P .; pwd"), base+"/real/deep\n", base+"/real/deep")
	in("a false PWD", w.run("PWD="+other), "", base+"/real/deep")
	w.run("true", body{"cwd": base})
	in("a false PWD, after a command elsewhere", w.run("pwd -P"), base+"/real/deep\n", base+"/real/deep")
	w.run("cd " + link)
	s.must(os.Remove(link))
	s.must(os.Symlink(base+"/else", link))
	if r := w.run("true"); r.Cwd != base+"/real/deep" {
		t.Errorf("a link that names another directory now: %q", r.Cwd)
	}
	w.run("true", body{"cwd": base})
	in("such a link, after a command elsewhere", w.run("pwd -P"), base+"/real/deep\n", base+"/real/deep")
	w.run("cd " + other + "; exit")
	w.run("cd " + other)
	w.run("exit")
	s.must(os.Remove(other))
	in("a link that went with the shell", w.run(ask), base+"/else\n"+base+"/else\n", base+"/else")
	s.must(os.Symlink(base+"/else", other))
	mine, _ := s.newShell("links", body{"cwd": other})
	in("made in a link", mine.run(ask), other+"\n"+other+"\n", other)
	mine.run("exit")
	in("made in a link, after exit", mine.run(ask), other+"\n"+other+"\n", other)
}

// TestRestartKeepsLinks: a terminal that is restarted in a directory that was reached by a link has that name.
func TestRestartKeepsLinks(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	link, other := linkedDirs(t)
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"bash", "--norc", "-c",
		"pwd; read x; cd " + other + " && printf '\\e]7;file://%s\\a' $PWD; read x"}, Cwd: link}).ID
	s.await(id, "^"+link+"$")
	if got := s.info(id).Cwd; got != link {
		t.Errorf("the directory is %q", got)
	}
	s.kill()
	s.again()
	if got := s.info(id).Cwd; got != link {
		t.Errorf("under the next server the directory is %q", got)
	}
	s.endsBy(id)
	if got := s.restart(id).Cwd; got != link {
		t.Errorf("after a restart the directory is %q", got)
	}
	s.input(id, "\n")
	s.await(id, "(?s)"+link+".*"+link)
}

// endsBy ends the program of a terminal from outside.
func (s *server) endsBy(id string) {
	s.t.Helper()
	p, err := os.FindProcess(s.info(id).PID)
	if err == nil {
		err = p.Kill()
	}
	s.must(err)
	s.exit(id)
}
