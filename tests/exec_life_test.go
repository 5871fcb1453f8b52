package tests

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func rowDelete(w *work) {
	own, id := w.newShell(w.session, body{})
	dirs := len(w.shellDirs())
	var list []int
	// How a shell process ends.
	for code, end := range map[int]string{137: "kill -9 $$", 3: "exit 3", 1: "set -e; false"} {
		list = append(list, pids(w.t, own.strays())...)
		list = append(list, own.shellPID())
		own.run(end).is(code, "")
	}
	list = append(list, own.shellPID())
	running := own.later(body{"command": "setsid sleep 1000 & trap '' INT TERM HUP; while :; do sleep 1000; done"})
	own.find(running.text, "running")
	waiting := own.later(body{"command": "echo NOT"})
	own.find("echo NOT", "queued")
	live(w.t, "before the end", list[len(list)-1])
	w.call(http.MethodDelete, "/session/"+w.session+"/shell/"+id, "")
	running.reply().refused(410, "SESSION_DESTROYED")
	waiting.reply().refused(410, "SESSION_DESTROYED")
	die(w.t, "after the end", list...)
	w.get("/session/"+w.session+"/shell/"+id).refused(404, "NOT_FOUND")
	if r := own.send(body{"command": "true"}); r.status != 404 && r.status != 410 {
		w.t.Errorf("an exec in a deleted shell: %d %s", r.status, r.body)
	}
	if left, _ := filepath.Glob(w.file("shells", id)); len(left) != 0 {
		w.t.Errorf("its directory is there, of %d", dirs)
	}
	if list := w.shells(w.session); slices.ContainsFunc(list, func(s shellInfo) bool { return s.ID == id }) {
		w.t.Errorf("it is listed: %+v", list)
	}
}

func rowServerKilled(w *work) {
	s := start(w.t, launch{listen: freePort(w.t)})
	own, g := s.in("own"), newGate(w.t)
	dir := w.dir()
	own.run("cd " + quote(dir) + "; export KEPT=yes; x=inner; sleep 1000 & true")
	pid := own.shellPID()
	c := own.later(body{"command": "echo before; " + g.wait() + "; echo after; echo error >&2; printf end; (exit 7)"})
	id := own.find(c.text, "running").CommandID
	own.logged(id, "before\n")
	s.kill()
	<-c.done
	g.open()
	s.again()
	if p := own.finished(id); !p.ended("done", 7) {
		w.t.Errorf("%v", p)
	}
	if out, errs := own.logs(id); out != "before\nafter\nend" || errs != "error\n" {
		w.t.Errorf("stdout %q, stderr %q", out, errs)
	}
	if r := own.run("echo $$ $x $KEPT; pwd").is(0, fmt.Sprintf("%d inner yes\n%s\n", pid, dir)); r.Recreated {
		w.t.Errorf("%+v", r)
	}
	if r := own.run("jobs"); !strings.Contains(r.out(), "sleep 1000") {
		w.t.Errorf("%+v", r)
	}
	// The shell dies while no server is there.
	c = own.later(body{"command": "echo begun; sleep 1000; echo NOT"})
	id = own.find(c.text, "running").CommandID
	own.logged(id, "begun\n")
	s.kill()
	w.must(syscall.Kill(pid, syscall.SIGKILL))
	die(w.t, "the shell", pid)
	s.again()
	if p := own.finished(id); !p.ended("done", 137) && !p.ended("failed", 137) {
		w.t.Errorf("%v", p)
	}
	own.logged(id, "begun\n")
	if r := own.run("echo $KEPT; pwd").is(0, "yes\n"+dir+"\n"); !r.Recreated {
		w.t.Errorf("%+v", r)
	}
	own.alive()
}

func rowLeftovers(w *work) {
	s := start(w.t, launch{listen: freePort(w.t)})
	own, g := s.in("own"), newGate(w.t)
	c := own.later(body{"command": g.wait()})
	p := own.find(c.text, "running")
	mode := func(path string) os.FileMode {
		i, err := os.Stat(path)
		w.must(err)
		return i.Mode().Perm()
	}
	live := s.shellDirs()
	if len(live) != 1 || mode(live[0]) != 0o700 || mode(s.file("shells")) != 0o700 {
		w.t.Errorf("the shells' directories are %v", live)
	}
	s.kill()
	<-c.done
	// What a shell has left that is not there any more, and names that nobody made.
	stale := s.file("shells", "stale", "c", "001")
	w.must(os.MkdirAll(stale, 0o700))
	for _, path := range []string{filepath.Join(stale, "out"), filepath.Join(stale, "err"),
		s.file("shells", "stale", "ctl")} {
		w.must(syscall.Mkfifo(path, 0o600))
	}
	s.how.errors = true // it may say that it found something damaged
	s.again()
	eventually(w.t, "what nobody made is swept", func() bool { return len(fifos(s.file("shells", "stale"))) == 0 })
	g.open()
	if p := own.finished(p.CommandID); !p.ended("done", 0) {
		w.t.Errorf("%v", p)
	}
	own.alive()
	// At rest there is nothing but what holds the shell's input, and the outputs of its next command.
	eventually(w.t, "a shell at rest has at most three FIFOs", func() bool { return len(fifos(s.how.dir)) <= 3 })
}

func rowQueue(w *work) {
	g, order := newGate(w.t), filepath.Join(w.dir(), "order")
	first := w.later(body{"command": g.wait() + "; echo first >>" + quote(order)})
	w.find(first.text, "running")
	var queued []*came
	for i := range 5 {
		c := w.later(body{"command": fmt.Sprintf("echo %d >>%s", i, quote(order))})
		w.find(c.text, "queued")
		queued = append(queued, c)
	}
	victim := w.find(queued[3].text, "queued")
	if r := w.cancel(victim.CommandID); r.status/100 != 2 {
		w.t.Errorf("cancel: %d %s", r.status, r.body)
	}
	if r := queued[3].result(); r.ExitCode != 130 || !r.Cancelled {
		w.t.Errorf("cancelled while it waited: %+v", r)
	}
	if p := w.command(victim.CommandID); p.Status != "cancelled" {
		w.t.Errorf("%v", p)
	}
	if list := w.shells(w.session); len(list) != 1 || !list[0].Busy || list[0].Queued != 4 {
		w.t.Errorf("the shells are %+v", list)
	}
	for len(queued) < 5+64-4 {
		queued = append(queued, w.later(body{"command": "true"}))
	}
	eventually(w.t, "64 wait", func() bool { return w.shells(w.session)[0].Queued == 64 })
	full := w.send(body{"command": "echo NOT"})
	if full.refused(429, "LIMIT"); full.header.Get("Retry-After") == "" {
		w.t.Errorf("without Retry-After: %v", full.header)
	}
	w.in("row-47-other").run("echo another session").is(0, "another session\n")
	g.open()
	first.result().is(0, "")
	for i, c := range queued {
		if i != 3 {
			c.result().is(0, "")
		}
	}
	w.run("cat "+quote(order)).is(0, "first\n0\n1\n2\n4\n")
}

func rowParallel(w *work) {
	g := newGate(w.t)
	waits := w.later(body{"command": g.wait() + "; echo opened"})
	w.find(waits.text, "running")
	w.in("row-48-other").run("echo >"+quote(g.path)).is(0, "") // else they would wait for each other
	waits.result().is(0, "opened\n")
	beside, _ := w.newShell(w.session, body{})
	second := newGate(w.t)
	waits = w.later(body{"command": second.wait() + "; echo opened too"})
	beside.run("echo >"+quote(second.path)).is(0, "")
	waits.result().is(0, "opened too\n")
}
