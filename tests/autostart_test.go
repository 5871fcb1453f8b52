package tests

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/client"
)

// unstarted is a data directory without a server, for verbs that start one. What they start is ended at the end of the
// test.
func unstarted(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, how: launch{dir: filepath.Join(t.TempDir(), "data")}, book: &book{}, stderr: &output{},
		mark: fmt.Sprintf("%s-%016x", strings.ReplaceAll(t.Name(), "/", "-"), rand.Uint64())}
	t.Cleanup(func() {
		if out, err := s.verb("kill", "--all").CombinedOutput(); err != nil && !strings.Contains(string(out), "no server") {
			t.Errorf("at the end of the test: %s", out)
		}
		if p, err := client.Find(s.how.dir); err == nil {
			_ = syscall.Kill(p.PID, syscall.SIGTERM)
		}
		s.dismissKeeper()
		s.nothingIsLeft()
		log := s.serverLog()
		if wrongs.MatchString(log) || t.Failed() {
			t.Errorf("the server's log:\n%s", log)
		}
	})
	return s
}

// verb is a call of the binary on the data directory. What it starts has this test's mark.
func (s *server) verb(args ...string) *exec.Cmd {
	return call(s.t, []string{"EVERTTY_DATA_DIR=" + s.how.dir, "XDG_TESTMARK_HOME=" + s.mark,
		"EVERTTY_KEEPER_IDLE=" + keeperIdle.String()}, args...)
}

// gives carries out a verb that must succeed.
func (s *server) gives(args ...string) string {
	s.t.Helper()
	e := run(s.t, s.verb(args...))
	if e.code != 0 || e.stderr != "" {
		s.t.Fatalf("evertty %s: %+v", strings.Join(args, " "), e)
	}
	return e.stdout
}

func (s *server) serverLog() string {
	b, _ := os.ReadFile(s.file("server.log"))
	return string(b)
}

// servers are the servers that run for this test.
func (s *server) servers() []string {
	return slices.DeleteFunc(marked(s.mark), func(p string) bool { return !strings.Contains(p, " serve ") })
}

// TestAVerbStartsAServer: detached from everything of the verb, on a free port, with the variables of serve.
func TestAVerbStartsAServer(t *testing.T) {
	t.Parallel()
	s := unstarted(t)
	s.must(os.MkdirAll(s.how.dir, 0o700))
	s.must(os.WriteFile(s.file("server.log"), make([]byte, 1<<20+1), 0o644))
	secret := filepath.Join(t.TempDir(), "inherited")
	f, err := os.Create(secret)
	s.must(err)
	defer f.Close()
	c := s.verb("ls", "--json")
	c.Env = append(c.Env, "EVERTTY_MAX_PTYS_PER_SESSION=1")
	c.ExtraFiles = []*os.File{f}
	c.Dir = t.TempDir()
	if e := run(t, c); e.code != 0 || e.stdout != "[]\n" || e.stderr != "" {
		t.Fatalf("%+v", e)
	}
	p, err := client.Find(s.how.dir)
	s.must(err)
	if !strings.HasPrefix(p.URL, "http://127.0.0.1:") || strings.HasSuffix(p.URL, ":3000") {
		t.Errorf("it listens on %s", p.URL)
	}
	if sid, err := unix.Getsid(p.PID); err != nil || sid != p.PID {
		t.Errorf("its session is %d, %v", sid, err)
	}
	proc := fmt.Sprintf("/proc/%d/", p.PID)
	for name, want := range map[string]string{"cwd": s.how.dir, "fd/0": os.DevNull, "fd/1": s.file("server.log"),
		"fd/2": s.file("server.log")} {
		if got, err := os.Readlink(proc + name); err != nil || got != want {
			t.Errorf("%s is %s, %v", name, got, err)
		}
	}
	open, _ := filepath.Glob(proc + "fd/*")
	for _, fd := range open {
		if to, _ := os.Readlink(fd); to == secret {
			t.Errorf("it has inherited %s", fd)
		}
	}
	log, err := os.Stat(s.file("server.log"))
	old, errOld := os.Stat(s.file("server.log.1"))
	if err != nil || errOld != nil || log.Mode().Perm() != 0o600 || log.Size() > 1<<20 || old.Size() != 1<<20+1 {
		t.Errorf("%v %v, %v %v", log, err, old, errOld)
	}
	s.gives("new", "-d", "--", "cat")
	run(t, s.verb("new", "-d", "--", "cat")).refuses(t, 1, "1")
}

// TestManyVerbsStartOneServer: also where the server before was killed; then it listens there again if it can.
func TestManyVerbsStartOneServer(t *testing.T) {
	t.Parallel()
	s := unstarted(t)
	const verbs = 8
	at := ""
	for round := range 2 {
		var all sync.WaitGroup
		for i := range verbs {
			c := s.verb("new", "-d", "--name", fmt.Sprintf("t%d-%d", round, i), "--", "cat")
			all.Go(func() {
				if e := run(t, c); e.code != 0 || e.stderr != "" {
					t.Errorf("%+v", e)
				}
			})
		}
		all.Wait()
		if list := s.servers(); len(list) != 1 {
			t.Errorf("%d servers: %v", len(list), list)
		}
		log := s.serverLog()
		if n := strings.Count(log, "listening on"); n != round+1 || strings.Contains(log, "in use") {
			t.Errorf("%d servers have started:\n%s", n, log)
		}
		if n := strings.Count(s.gives("ls"), " running "); n != (round+1)*verbs {
			t.Errorf("%d terminals run", n)
		}
		p, err := client.Find(s.how.dir)
		s.must(err)
		if at = cmp.Or(at, p.URL); p.URL != at {
			t.Errorf("after a kill it listens on %s, before on %s", p.URL, at)
		}
		s.must(syscall.Kill(p.PID, syscall.SIGKILL))
		eventually(t, "its end", func() bool { return !alive(p.PID) })
	}
	s.must(os.WriteFile(s.file("server.json"), []byte(`{"url":`), 0o600))
	s.gives("logs", "t0-1")
	p, err := client.Find(s.how.dir)
	s.must(err)
	s.must(syscall.Kill(p.PID, syscall.SIGKILL))
	eventually(t, "its port is free", func() bool {
		taken, err := net.Listen("tcp", strings.TrimPrefix(p.URL, "http://"))
		if err == nil {
			t.Cleanup(func() { _ = taken.Close() })
		}
		return err == nil
	})
	s.gives("logs", "t0-0") // what was left by a kill -9 is no server
	if again, err := client.Find(s.how.dir); err != nil || again.URL == p.URL {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestAVerbSaysWhyNoServerStarts: the reason and where the log is.
func TestAVerbSaysWhyNoServerStarts(t *testing.T) {
	t.Parallel()
	s := unstarted(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	defer l.Close()
	busy := l.Addr().String()
	for _, args := range [][]string{{"ls"}, {"wait", "x"}, {"exec", "true"}, {"logs", "x", "-f"}, {"url"}} {
		c := s.verb(args...)
		c.Env = append(c.Env, "EVERTTY_LISTEN="+busy)
		run(t, c).refuses(t, 3, "no server", busy, "in use", s.file("server.log"))
	}
	c := s.verb("ls")
	c.Env = append(c.Env, "EVERTTY_LISTEN=nowhere")
	run(t, c).refuses(t, 2, "nowhere", "HOST:PORT")
	s.must(os.Remove(s.file("server.log")))
	s.must(os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), s.file("server.log")))
	if e := run(t, s.verb("ls")); e.code != 1 || !strings.Contains(e.stderr, "server.log") {
		t.Errorf("%+v", e)
	}
}

// TestWhatStartsNoServer: it exits 3, or does what it does without one, and makes no directory.
func TestWhatStartsNoServer(t *testing.T) {
	t.Parallel()
	s := unstarted(t)
	for _, args := range []string{"ls --no-start", "new -d --no-start -- cat", "logs x -f --no-start",
		"exec --no-start true", "kill x --no-start", "kill --all"} {
		run(t, s.verb(strings.Fields(args)...)).refuses(t, 3, "no server", s.how.dir)
	}
	for _, args := range []string{"doctor", "__complete attach x", "--help", "version"} {
		run(t, s.verb(strings.Fields(args)...))
	}
	run(t, s.verb("ls", "--server", "http://127.0.0.1:1")).refuses(t, 3, "127.0.0.1:1")
	c := s.verb("ls")
	c.Env = append(c.Env, "EVERTTY_SERVER=http://127.0.0.1:1")
	run(t, c).refuses(t, 3, "127.0.0.1:1")
	if _, err := os.Stat(s.how.dir); err == nil || len(s.servers()) > 0 {
		t.Errorf("there is something: %v, %v", err, s.servers())
	}
}

// TestAServerSurvivesItsTerminal: a verb inside a terminal of another server starts one; it goes on when that terminal
// and all that runs in it are killed.
func TestAServerSurvivesItsTerminal(t *testing.T) {
	t.Parallel()
	outer, s := start(t, launch{}), unstarted(t)
	c := s.verb("new", "-d", "--name", "inner", "--", "cat")
	id := outer.create(slices.Concat([]string{"env"}, c.Env, []string{"sh", "-c", `"$@"; exec cat`, "sh"},
		c.Args)...).ID
	outer.await(id, "started a server in the background")
	outer.await(id, "^[a-z0-9]{20}$")
	outer.must(outer.Delete(outer.ctx(), id, false))
	p, err := client.Find(s.how.dir)
	s.must(err)
	if !alive(p.PID) {
		t.Error("the server has ended with the terminal")
	}
	if out := s.gives("ls"); !strings.Contains(out, "running") {
		t.Errorf("ls says\n%s", out)
	}
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.terminal("inner").PID), "environ"))
	if err != nil || strings.Contains(string(environ), id) {
		t.Errorf("its programs take themselves for ones of the other terminal: %v %q", err, environ)
	}
}

// terminal is what the server of the data directory tells of a terminal.
func (s *server) terminal(name string) client.Terminal {
	s.t.Helper()
	c, err := client.Discover(s.how.dir)
	s.must(err)
	defer c.Close()
	i, err := c.Get(s.ctx(), name)
	s.must(err)
	return i
}

// TestAFollowerStartsNoServer: who ends a server may want to start the next one.
func TestAFollowerStartsNoServer(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.create("bash", "-c", "echo ready; read -r; echo over").ID
	c := s.cli("logs", id, "--follow")
	out, errs := &output{}, &output{}
	c.Stdout, c.Stderr = out, errs
	s.must(c.Start())
	eventually(t, "the output", func() bool { return out.String() == "ready\n" })
	s.stop()
	eventually(t, "the server is missed", func() bool { return strings.Contains(errs.String(), "lost") })
	if _, err := client.Find(s.how.dir); err == nil {
		t.Error("the verb has started a server")
	}
	s.launch()
	s.input(id, "\n")
	if err := c.Wait(); err != nil || !strings.HasSuffix(out.String(), "over\n") {
		t.Errorf("%v: %s %s", err, out, errs)
	}
}

// TestAVerbStartsAServerOnAFullDisk: what runs is found again when nothing more can be written.
func TestAVerbStartsAServerOnAFullDisk(t *testing.T) {
	t.Parallel()
	s, disk := unstarted(t), smallDisk(t, "3m")
	s.how.dir = disk.dir
	script := disk.mounts + ` && "$0" new -d --name kept -- cat >/dev/null && cd ` + disk.dir + ` && {
		until test -s reserve; do sleep 0.02; done
		cat /dev/zero >filler 2>/dev/null
		kill -9 $(cat lock)
		"$0" ls --json; echo code $?
		rm filler
		"$0" kill --all; "$0" stop >/dev/null; kill $(cat keeper.lock)
	}`
	verb := s.verb()
	verb.Args = []string{"unshare", "--mount", "sh", "-c", script, verb.Path}
	verb.Path = "/usr/bin/unshare"
	e := run(t, verb)
	if !strings.Contains(e.stdout, `"name": "kept"`) || !strings.Contains(e.stdout, "code 0") {
		t.Errorf("%+v", e)
	}
}
