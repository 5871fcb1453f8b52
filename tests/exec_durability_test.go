package tests

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/tests/polling"
)

// settledShell starts a server with one shell that has a state.
func settledShell(t *testing.T, how launch) (s *server, w *work, check func()) {
	t.Helper()
	how.listen = freePort(t)
	s = start(t, how)
	w = s.in("own")
	return s, w, w.state()
}

// TestExecSurvivesEveryEnd: a command that runs goes on while the server is killed,
// stopped, replaced, and while the keeper is killed, and is finished with all of its
// output and its code.
func TestExecSurvivesEveryEnd(t *testing.T) {
	t.Parallel()
	ends := map[string]func(s *server){
		"kill -9": func(s *server) { s.kill(); s.again() },
		"SIGTERM": func(s *server) { s.stop(); s.again() },
		"kill -9 twice, once on the way up": func(s *server) {
			s.kill()
			s.begin(s.serveFlags())
			instant(time.Duration(rand.IntN(60)) * time.Millisecond)
			s.must(s.cmd.Process.Kill())
			<-s.exited
			s.again()
		},
		"the keeper": func(s *server) { old := s.keeperPID(); s.killKeeper(); s.newKeeper(old) },
		"the keeper, then the server": func(s *server) {
			old := s.keeperPID()
			s.killKeeper()
			s.newKeeper(old)
			s.kill()
			s.again()
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w, check := settledShell(t, launch{errors: strings.Contains(name, "keeper")})
			w.run("sleep 1000 & echo $! >job; inner=7")
			pid, job := w.shellPID(), w.number("cat job")
			list := pids(t, w.strays())
			g := newGate(t)
			c := w.later(body{"command": "echo before; echo warn >&2; " + g.wait() +
				"; echo after; exec 2>&-; (exit 9)"})
			id := w.find(c.text, "running").CommandID
			w.logged(id, "before\n")
			for range 2 {
				end(s)
			}
			if p := w.command(id); p.Status != "running" {
				t.Errorf("%v", p)
			}
			follow := w.follow(id)
			g.open()
			var out, errs strings.Builder
			if last := follow.all(&out, &errs); out.String() != "before\nafter\n" || errs.String() != "warn\n" ||
				last.ExitCode != 9 {
				t.Errorf("followed: %q, %q, %+v", out.String(), errs.String(), last)
			}
			if p := w.finished(id); !p.ended("done", 9) || p.StdoutBytes != 13 || p.StderrBytes != 5 {
				t.Errorf("%v", p)
			}
			if <-c.done; strings.HasPrefix(name, "the keeper") && !strings.Contains(name, "server") {
				c.result().fails(9, "before\nafter\n", "warn")
			}
			if r := w.run("echo $$ $inner").is(0, fmt.Sprintf("%d 7\n", pid)); r.Recreated {
				t.Errorf("%+v", r)
			}
			check()
			live(t, "the job", append(list, job)...)
			w.run("sleep 1000; echo NOT", body{"timeout_ms": 100}).timedOut() // cancelling works
			w.run("kill -9 $$").is(137, "")
			w.backAgain(check)
			w.deleteShells()
			die(t, "all of the first incarnation", append(list, pid, job)...)
			s.noFIFO()
			if left := s.shellDirs(); len(left) != 0 {
				t.Errorf("left are %v", left)
			}
		})
	}
}

// TestExecTakeover: `serve --takeover` goes on with what the old server began.
func TestExecTakeover(t *testing.T) {
	t.Parallel()
	old, w, _ := settledShell(t, launch{})
	g, pid := newGate(t), w.shellPID()
	c := w.later(body{"command": "echo before; " + g.wait() + "; echo after; (exit 3)"})
	id := w.find(c.text, "running").CommandID
	s := start(t, launch{dir: old.how.dir, listen: strings.TrimPrefix(old.url, "http://"),
		flags: []string{"--takeover"}})
	<-old.exited
	if code := old.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the old server ended with %d\n%s", code, old.stderr)
	}
	g.open()
	w = s.in("own")
	if p := w.finished(id); !p.ended("done", 3) {
		t.Errorf("%v", p)
	}
	w.logged(id, "before\nafter\n")
	w.run("echo $$").is(0, fmt.Sprintf("%d\n", pid))
}

// floodOf is a command that prints n pieces of a megabyte, numbered lines, with pauses.
func floodOf(n int) (command string, sum string, size int64) {
	const lines = 100_000 // of ten bytes
	h := sha256.New()
	for i := range n * lines {
		fmt.Fprintf(h, "%09d\n", i)
	}
	command = fmt.Sprintf(`for ((i = 0; i < %d; i++)); do `+
		`seq -f %%09.0f $((i * %d)) $((i * %d + %d)); sleep 0.02; done; (exit 5)`, n, lines, lines, lines-1)
	return command, fmt.Sprintf("%x", h.Sum(nil)), int64(n * lines * 10)
}

// TestExecFloodOverKills: tens of megabytes across kills of the server; not a byte is lost or
// doubled.
func TestExecFloodOverKills(t *testing.T) {
	t.Parallel()
	s, w, _ := settledShell(t, launch{})
	kills := times(3, 40)
	command, sum, size := floodOf(times(30, 200))
	c := w.later(body{"command": command})
	id := w.find(command, "running").CommandID
	var at int64
	for i := range kills {
		next := size * int64(i+1) / int64(kills+2)
		if !polling.Until(patience, func() bool { at = w.command(id).StdoutBytes; return at >= next }) {
			t.Fatalf("after %d kills there are %d bytes", i, at)
		}
		if p := w.command(id); p.Status != "running" {
			t.Fatalf("too fast for the test: %v", p)
		}
		s.kill()
		instant(time.Duration(rand.IntN(100)) * time.Millisecond)
		s.again()
		if now := w.command(id).StdoutBytes; now < at {
			t.Errorf("it had %d bytes and has %d", at, now)
		}
	}
	<-c.done
	if p := w.finished(id); !p.ended("done", 5) || p.StdoutBytes != size {
		t.Errorf("%v, want %d bytes", p, size)
	}
	all := summed{sha256.New(), 0}
	w.follow(id).all(&all, io.Discard)
	if got := fmt.Sprintf("%x", all.Sum(nil)); got != sum || all.n != size {
		t.Errorf("%d bytes with the sum %s, want %d with %s", all.n, got, size, sum)
	}
	figure(t, "%d kills of the server while a command printed %.1f MB: every byte in the log once", kills,
		float64(size)/1e6)
}

// summed is a checksum and a length.
type summed struct {
	hash.Hash
	n int64
}

func (s *summed) Write(p []byte) (int, error) { s.n += int64(len(p)); return s.Hash.Write(p) }

// TestExecQueueSurvives: what waits, what runs in the background and what has
// ended is there for the next server.
func TestExecQueueSurvives(t *testing.T) {
	t.Parallel()
	s, w, _ := settledShell(t, launch{})
	first := w.run("echo old; echo old error >&2; (exit 4)")
	g, order := newGate(t), filepath.Join(w.dir(), "order")
	var begun struct {
		CommandID string `json:"command_id"`
		PID       int
	}
	w.send(body{"command": "echo beside; " + g.wait() + "; echo over; exit 6",
		"background": true}).wants(202).into(&begun)
	running := w.later(body{"command": g.wait() + "; echo running >>" + quote(order)})
	ids := []string{w.find(running.text, "running").CommandID}
	for i := range 5 {
		c := w.later(body{"command": fmt.Sprintf("echo %d >>%s; echo out %d; (exit %d)", i, quote(order), i, i)})
		ids = append(ids, w.find(c.text, "queued").CommandID)
	}
	before := w.commands("")
	for _, end := range []func(){s.kill, s.stop, s.kill} {
		end()
		s.again()
		after := w.commands("")
		same := func(a, b past) bool {
			return a.CommandID == b.CommandID && a.Command == b.Command && a.Status == b.Status
		}
		if !slices.EqualFunc(before, after, same) {
			t.Errorf("the commands were %v and are %v", before, after)
		}
	}
	if r := w.cancel(ids[3]); r.status/100 != 2 {
		t.Errorf("cancel: %d %s", r.status, r.body)
	}
	if p := w.command(ids[3]); p.Status != "cancelled" {
		t.Errorf("%v", p)
	}
	live(t, "the background command", begun.PID)
	g.open()
	for i, id := range ids {
		p := w.finished(id)
		if want := max(i-1, 0); i != 3 && !p.ended("done", want) {
			t.Errorf("%v, want code %d", p, want)
		}
		if i > 0 && i != 3 {
			w.logged(id, fmt.Sprintf("out %d\n", i-1))
		}
	}
	if p := w.finished(begun.CommandID); !p.ended("done", 6) {
		t.Errorf("%v", p)
	}
	w.logged(begun.CommandID, "beside\nover\n")
	w.run("cat "+quote(order)).is(0, "running\n0\n1\n3\n4\n")
	if out, errs := w.logs(first.CommandID); out != "old\n" || errs != "old error\n" {
		t.Errorf("the log of before: %q, %q", out, errs)
	}
	if p := w.command(first.CommandID); !p.ended("done", 4) || p.StartedAt == nil || p.FinishedAt == nil ||
		p.FinishedAt.Before(*p.StartedAt) {
		t.Errorf("%v", p)
	}
	// The pages of the history.
	all := w.commands("?limit=1000")
	last := w.commands("?limit=2")
	if len(last) != 2 || last[1].CommandID != all[len(all)-1].CommandID {
		t.Errorf("the last two are %v of %d", last, len(all))
	}
	older := w.commands("?limit=2&before=" + last[0].CommandID)
	if len(older) != 2 || older[1].CommandID != all[len(all)-3].CommandID {
		t.Errorf("the two before are %v", older)
	}
}

// TestExecReboot: when every process is gone, what ran says so, and the next
// command finds the state.
func TestExecReboot(t *testing.T) {
	t.Parallel()
	s, w, check := settledShell(t, launch{})
	second, _ := s.newShell("own", body{"id": "named", "cwd": "/", "env": body{"GIVEN": "yes"}})
	done := w.run("echo done; (exit 3)")
	c := w.later(body{"command": "echo begun; sleep 1000; echo NOT"})
	id := w.find(c.text, "running").CommandID
	w.logged(id, "begun\n")
	waiting := w.later(body{"command": "echo its turn comes"})
	queued := w.find(waiting.text, "queued").CommandID
	s.reboot()
	<-c.done
	<-waiting.done
	s.again()
	if p := w.finished(id); p.Status == "done" && (p.ExitCode == nil || *p.ExitCode == 0) {
		t.Errorf("a command that was cut off has succeeded: %v", p)
	}
	w.logged(id, "begun\n")
	w.logged(done.CommandID, "done\n")
	if p := w.command(done.CommandID); !p.ended("done", 3) {
		t.Errorf("%v", p)
	}
	if p := w.finished(queued); p.Status == "done" && !p.ended("done", 0) {
		t.Errorf("%v", p)
	}
	check()
	second.run("pwd; printenv GIVEN").is(0, "/\nyes\n")
	w.alive()
}

// TestExecShellKilledWhileAway: a shell without a command dies while no server is
// there.
func TestExecShellKilledWhileAway(t *testing.T) {
	t.Parallel()
	s, w, check := settledShell(t, launch{})
	for _, end := range []func(){s.kill, s.stop} {
		pid := w.shellPID()
		end()
		s.must(syscall.Kill(pid, syscall.SIGKILL))
		die(t, "the shell", pid)
		s.again()
		w.backAgain(check)
	}
}

// TestExecKillAll: `evertty kill --all` ends shells with the rest.
func TestExecKillAll(t *testing.T) {
	t.Parallel()
	s, w, _ := settledShell(t, launch{})
	list := append(pids(t, w.strays()), w.shellPID())
	if e := run(t, call(t, nil, "kill", "--all", "--data-dir", s.how.dir)); e.code != 0 {
		t.Errorf("%+v", e)
	}
	die(t, "after kill --all", list...)
	s.noFIFO()
	s.in("other").alive()
}
