package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// daemon is a command that leaves a process of its own session, without the terminal, the environment and its parent,
// which writes its number into a file; its shell ends after it.
func daemon(file string) string {
	return fmt.Sprintf(`(env -i setsid sh -c 'echo $$ >%s.new; mv %s.new %s; exec sleep 1000' </dev/null >/dev/null `+
		`2>&1 &); while [ ! -e %s ]; do sleep 0.01; done`, file, file, file, file)
}

// pidIn is the number in a file.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	pid := 0
	eventually(t, "a number in "+file, func() bool {
		b, err := os.ReadFile(file)
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
		}
		return err == nil && pid > 0
	})
	return pid
}

// TestDeletingEndsWhatIsLeft: what a terminal has started ends with it, also when its program has ended long ago, was
// started again, and when the server was killed in between; what another terminal has started does not.
func TestDeletingEndsWhatIsLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		between func(s *server, id string)
		end     func(s *server, id string)
	}{
		"purge":   {nil, func(s *server, id string) { s.call("DELETE", "/pty/"+id+"?purge=1", "").wants(200) }},
		"delete":  {nil, func(s *server, id string) { s.call("DELETE", "/pty/"+id, "").wants(200) }},
		"session": {nil, func(s *server, _ string) { s.call("DELETE", "/session/test/pty", "").wants(200) }},
		"kill --all": {nil, func(s *server, _ string) {
			if out, err := s.command("kill", "--all", "--data-dir", s.how.dir).CombinedOutput(); err != nil {
				s.t.Errorf("%v: %s", err, out)
			}
		}},
		"after a restart": {func(s *server, id string) { s.restart(id); s.exit(id) }, func(s *server, id string) {
			s.call("DELETE", "/pty/"+id+"?purge=1", "").wants(200)
		}},
		"after a kill": {func(s *server, _ string) { s.kill(); s.again() }, func(s *server, id string) {
			s.call("DELETE", "/pty/"+id+"?purge=1", "").wants(200)
		}},
		"while it runs": {func(s *server, id string) {
			s.must(os.Remove(filepath.Join(s.how.dir, "again")))
			s.restart(id)
		}, func(s *server, id string) { s.call("DELETE", "/pty/"+id, "").wants(200) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch{listen: freePort(t)})
			mine, others := filepath.Join(t.TempDir(), "pid"), filepath.Join(t.TempDir(), "pid")
			again := filepath.Join(s.how.dir, "again")
			s.must(os.WriteFile(again, nil, 0o600))
			id := s.create("sh", "-c", daemon(mine)+"; [ -e "+again+" ] || read x").ID
			s.exit(id)
			var other struct{ ID string }
			s.post("/session/other/pty",
				asJSON(body{"cmd": []string{"sh", "-c", daemon(others)}})).wants(201).into(&other)
			s.exit(other.ID)
			left, stranger := pidIn(t, mine), pidIn(t, others)
			if c.between != nil {
				c.between(s, id)
			}
			if !alive(left) || !alive(stranger) {
				t.Fatal("a daemon ended by itself")
			}
			c.end(s, id)
			if alive(left) {
				t.Error("what the terminal has started lives on")
				_ = syscall.Kill(left, syscall.SIGKILL)
			}
			if lives := alive(stranger); name != "kill --all" && !lives {
				t.Error("what another terminal has started has ended with it")
			}
			s.call("DELETE", "/pty/"+other.ID+"?purge=1", "")
			if alive(stranger) {
				t.Error("what the other terminal has started lives on")
				_ = syscall.Kill(stranger, syscall.SIGKILL)
			}
		})
	}
}

// TestDeletingSparesProgramsOfANestedServer: a server that was started in a terminal ends with it, but not the
// programs on its own terminals: their keeper holds them for the next server.
func TestDeletingSparesProgramsOfANestedServer(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"running", "ended"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			outer := start(t, launch{})
			dir, file := t.TempDir(), filepath.Join(t.TempDir(), "pid")
			serve := "setsid " + binary + " serve --auth none --listen 127.0.0.1:0 --data-dir " + dir +
				" >/dev/null 2>&1 & "
			if first == "running" {
				serve += "read x"
			} else {
				serve += "while [ ! -e " + dir + "/server.json ]; do sleep 0.01; done"
			}
			id := outer.create("sh", "-c", serve).ID
			var at struct{ PID int }
			eventually(t, "the nested server", func() bool {
				b, err := os.ReadFile(filepath.Join(dir, "server.json"))
				return err == nil && json.Unmarshal(b, &at) == nil
			})
			made, err := outer.command("new", "-d", "--data-dir", dir, "--", "sh", "-c",
				"echo $$ >"+file+"; exec sleep 1000").Output()
			outer.must(err)
			program := pidIn(t, file)
			if first == "ended" {
				outer.exit(id)
			}
			outer.call("DELETE", "/pty/"+id+"?purge=1", "").wants(200)
			if alive(at.PID) || !alive(program) {
				t.Errorf("the nested server lives: %v, its program: %v", alive(at.PID), alive(program))
			}
			next := start(t, launch{dir: dir})
			if i := next.info(strings.TrimSpace(string(made))); i.State != "running" || i.PID != program {
				t.Errorf("the next nested server says %s, process %d instead of %d", i.State, i.PID, program)
			}
		})
	}
}
