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

// diagnosis is what `evertty doctor --json` says of one server's processes.
type diagnosis struct {
	OK      bool
	Servers []struct {
		PID              int
		Dir              string `json:"data_dir"`
		Version, Problem string
	}
	Keepers []struct {
		PID, Programs, Server    int
		Dir                      string `json:"data_dir"`
		Reachable                bool
		Version, Problem, Advice string
	}
	Checks []struct{ Name, Problem string }
}

// doctor keeps what is of this server's directory: other tests have servers too.
func (s *server) doctor() (d diagnosis, code int) {
	s.t.Helper()
	out := run(s.t, s.command("doctor", "--json", "--data-dir", s.how.dir))
	s.must(json.Unmarshal([]byte(out.stdout), &d))
	all := d
	d.Servers, d.Keepers = nil, nil
	for _, one := range all.Servers {
		if one.Dir == s.how.dir {
			d.Servers = append(d.Servers, one)
		}
	}
	for _, one := range all.Keepers {
		if one.Dir == s.how.dir {
			d.Keepers = append(d.Keepers, one)
		}
	}
	if d.OK != (out.code == 0) {
		s.t.Errorf("ok is %v, the exit code %d", d.OK, out.code)
	}
	return d, out.code
}

// TestDoctor: it finds server and keeper, in reach, stopped and out of reach, says what to do, and changes nothing.
func TestDoctor(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	s.shell()
	d, _ := s.doctor()
	if len(d.Servers) != 1 || d.Servers[0].PID != s.pid() || d.Servers[0].Version == "" || d.Servers[0].Problem != "" {
		t.Errorf("servers: %+v", d.Servers)
	}
	if len(d.Keepers) != 1 || d.Keepers[0].PID != s.keeperPID() || d.Keepers[0].Server != s.pid() ||
		!d.Keepers[0].Reachable || d.Keepers[0].Programs != 1 || d.Keepers[0].Problem != "" {
		t.Errorf("keepers: %+v", d.Keepers)
	}
	s.must(s.cmd.Process.Signal(syscall.SIGSTOP))
	if d, code := s.doctor(); code != 1 || len(d.Servers) != 1 || !strings.Contains(d.Servers[0].Problem, "stopped") {
		t.Errorf("a stopped server: %d %+v", code, d.Servers)
	}
	s.must(s.cmd.Process.Signal(syscall.SIGCONT))
	s.must(os.Chmod(s.how.dir, 0o755))
	s.must(os.WriteFile(s.file("open"), nil, 0o644))
	d, code := s.doctor()
	bad := ""
	for _, c := range d.Checks {
		if c.Problem != "" {
			bad += c.Name + ": " + c.Problem + "\n"
		}
	}
	if code != 1 || !strings.Contains(bad, "others may look into it") || !strings.Contains(bad, s.file("open")) {
		t.Errorf("%d: %s", code, bad)
	}
	s.must(os.Chmod(s.how.dir, 0o700))
	s.kill()
	if d, _ := s.doctor(); len(d.Servers) != 0 || len(d.Keepers) != 1 || d.Keepers[0].Server != 0 ||
		!d.Keepers[0].Reachable || d.Keepers[0].Version == "" {
		t.Errorf("without a server: %+v", d)
	}
	s.again()
	out := run(t, s.command("doctor", "--data-dir", filepath.Join(t.TempDir(), "none")))
	if !strings.Contains(out.stdout, fmt.Sprintf("server %d", s.pid())) ||
		!strings.Contains(out.stdout, fmt.Sprintf("keeper %d", s.keeperPID())) {
		t.Errorf("for people, with another directory: %s", out.stdout)
	}
}

// TestKillAllWithoutAServer: what a keeper holds without a server can be ended, also when its directory is gone.
func TestKillAllWithoutAServer(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		t.Run(strconv.FormatBool(gone), func(t *testing.T) {
			s := start(t, launch{})
			id := s.shell().ID
			apart := filepath.Join(t.TempDir(), "pid")
			s.input(id, "sleep 1008 & "+daemon(apart)+"; echo 'be'gun\n")
			s.await(id, "^begun$")
			left := pidIn(t, apart)
			s.post("/session/left/exec", `{"command":"sleep 1009 & true"}`).wants(200)
			s.book.add("left")
			program, keeperPID := s.info(id).PID, s.keeperPID()
			s.kill()
			if gone {
				s.must(os.RemoveAll(s.how.dir))
				d, code := s.doctor()
				if code != 1 || len(d.Keepers) != 1 || d.Keepers[0].Reachable ||
					!strings.Contains(d.Keepers[0].Problem, "gone") ||
					!strings.Contains(d.Keepers[0].Advice, "kill --all") {
					t.Errorf("doctor: %d %+v", code, d)
				}
			}
			if out := run(t, s.command("kill", "--all", "--data-dir", s.how.dir)); out.code != 0 {
				t.Errorf("%+v", out)
			}
			if alive(program) || alive(left) || gone && alive(keeperPID) {
				t.Error("they are still there")
			}
			if again := run(t, s.command("kill", "--all", "--data-dir", s.how.dir)); gone && again.code != 3 {
				t.Errorf("when there is nothing any more: %+v", again)
			}
			if !gone {
				s.again()
				if i := s.info(id); i.State == "running" {
					t.Errorf("%+v", i)
				}
			}
		})
	}
}

// TestDoctorReadsTheConfiguration: a wrong key is a problem that it names; a warning is none.
func TestDoctorReadsTheConfiguration(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.toml")
	for text, wrong := range map[string]bool{"log_level = \"info\"\n": false, "log_levle = \"info\"\n": true} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out := run(t, call(t, []string{"EVERTTY_CONFIG=" + file, "LANG=C"}, "doctor", "--data-dir",
			filepath.Join(t.TempDir(), "none")))
		bad := strings.Contains(out.stdout, "BAD  configuration")
		if bad != wrong || wrong != strings.Contains(out.stdout, "log_levle") {
			t.Errorf("%q: %s", text, out.stdout)
		}
		if !strings.Contains(out.stdout, "warn this terminal") || !wrong && strings.Contains(out.stdout, "BAD ") &&
			out.code == 0 {
			t.Errorf("%d: %s", out.code, out.stdout)
		}
	}
}
