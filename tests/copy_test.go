package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// programsOfAll starts one program of each kind that a server starts, and returns their processes.
func programsOfAll(s *server) map[string]int {
	dir := s.t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	number := func(name string) string {
		return "echo $$ >" + file(name) + ".new; mv " + file(name) + ".new " + file(name)
	}
	s.create("sh", "-c", number("terminal")+"; exec cat")
	s.exit(s.create("sh", "-c", daemon(file("terminal-daemon"))).ID)
	run := func(session, text string) {
		s.post("/session/"+session+"/exec", asJSON(body{"command": text})).wants(200)
	}
	run("test", daemon(file("shell-daemon")))
	run("test", number("shell"))
	run("test", "sh -c '"+number("job")+"; exec sleep 1000' & while [ ! -e '"+file("job")+"' ]; do sleep 0.01; done")
	s.post("/session/test/exec", asJSON(body{"background": true,
		"command": "sh -c '" + number("command") + "; exec sleep 1000'"})).wants(202)
	run("dead", "sh -c '"+number("dead-shell")+"; exec sleep 1000' >/dev/null 2>&1 </dev/null & "+
		"while [ ! -e '"+file("dead-shell")+"' ]; do sleep 0.01; done; kill -9 $$")
	pids := map[string]int{}
	for _, name := range []string{"terminal", "terminal-daemon", "shell-daemon", "shell", "job", "command",
		"dead-shell"} {
		pids[name] = pidIn(s.t.(*testing.T), file(name))
	}
	return pids
}

// checkAlive checks that all processes live, or that all have ended, with something.
func checkAlive(t *testing.T, pids map[string]int, want bool, with string) {
	t.Helper()
	for name, pid := range pids {
		if alive(pid) == want {
			continue
		}
		t.Errorf("%s: alive is %v, want %v %s", name, !want, want, with)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestACopyOfADataDirectory: whatever is ended in a copy, nothing of the first directory ends, whether
// the first server runs or not. Said once, in the log.
func TestACopyOfADataDirectory(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"beside", "stopped"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			first := start(t, launch{dir: filepath.Join(top, "first"), listen: freePort(t)})
			pids := programsOfAll(first)
			first.eachIsOnDisk()
			if how != "beside" {
				first.stop()
			}
			at := filepath.Join(top, "second")
			if out, err := exec.Command("cp", "-a", first.how.dir, at).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if out, err := first.command("kill", "--all", "--data-dir", at).CombinedOutput(); err == nil {
				t.Errorf("kill --all without a server of the copy: %s", out)
			}
			second := start(t, launch{dir: at, listen: freePort(t)})
			if log := second.stderr.String(); strings.Count(log, "is a copy") != 1 {
				t.Errorf("the log does not say that it is a copy:\n%s", log)
			}
			list, err := second.List(second.ctx(), "")
			second.must(err)
			if len(list) != 2 {
				t.Errorf("the copy has %d terminals", len(list))
			}
			for _, i := range list {
				second.post("/pty/"+i.ID+"/restart", `{}`).wants(200)
				second.call("DELETE", "/pty/"+i.ID+"?purge=1", "").wants(200)
			}
			second.call("DELETE", "/session/dead/shell/default", "")
			for _, session := range []string{"test", "dead"} {
				second.call("DELETE", "/api/threads/"+session, "").wants(200)
			}
			second.says("kill", "--all")
			second.kill()
			second.again()
			if log := second.stderr.String(); strings.Contains(log, "is a copy") {
				t.Errorf("it says again that it is a copy:\n%s", log)
			}
			checkAlive(t, pids, true, "with the copy")
			if how != "beside" {
				first.again()
			}
			first.call("DELETE", "/api/threads/test", "").wants(200)
			first.call("DELETE", "/api/threads/dead", "").wants(200)
			checkAlive(t, pids, false, "with its own")
		})
	}
}

// eachIsOnDisk waits until the database has the rows of all terminals.
func (s *server) eachIsOnDisk() {
	eventually(s.t, "rows of terminals", func() bool {
		var rows struct{ Terminals []struct{} }
		s.get("/api/threads/test/terminals").wants(200).into(&rows)
		return len(rows.Terminals) >= 3
	})
}

// TestARenamedDataDirectory is no copy: programs go on, and end with their own.
func TestARenamedDataDirectory(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	s := start(t, launch{dir: filepath.Join(top, "first"), listen: freePort(t)})
	pids := programsOfAll(s)
	s.stop()
	to := filepath.Join(top, "second")
	s.must(os.Rename(s.how.dir, to))
	s.how.dir = to
	s.again()
	if log := s.stderr.String(); strings.Contains(log, "is a copy") {
		t.Errorf("it says that it is a copy:\n%s", log)
	}
	checkAlive(t, pids, true, "with the renaming")
	var said struct{ Stdout string }
	s.post("/session/test/exec", `{"command":"echo $$"}`).wants(200).into(&said)
	if said.Stdout == "" {
		t.Error("the shell does not go on")
	}
	for _, session := range []string{"test", "dead"} {
		s.call("DELETE", "/api/threads/"+session, "").wants(200)
	}
	checkAlive(t, pids, false, "with its thread")
}
