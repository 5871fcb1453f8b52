package tests

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/evertty/evertty/client"
)

// TestStatusAndStop: without a server 3 and no directory; the programs go on and are there at the next start; another
// directory's server is not touched.
func TestStatusAndStop(t *testing.T) {
	t.Parallel()
	s, other := unstarted(t), unstarted(t)
	other.gives("ls")
	for _, verb := range []string{"status", "stop"} {
		run(t, s.verb(verb)).refuses(t, 3, "no server")
	}
	if list, _ := filepath.Glob(s.how.dir); len(list) > 0 {
		t.Error("the data directory was made")
	}
	s.gives("new", "-d", "--name", "cat", "--", "cat")
	pid := s.terminal("cat").PID
	var status struct {
		Address, Version, Data_Dir       string
		PID, Terminals, Running, Viewers int
	}
	s.must(json.Unmarshal([]byte(s.gives("status", "--json")), &status))
	p, err := client.Find(s.how.dir)
	s.must(err)
	if status.PID != p.PID || status.Address != p.URL || status.Data_Dir != s.how.dir || status.Version == "" ||
		status.Terminals != 1 || status.Running != 1 {
		t.Errorf("%+v", status)
	}
	s.must(syscall.Kill(p.PID, syscall.SIGSTOP)) // one that was stopped ends too
	if out := s.gives("stop"); !strings.Contains(out, "go on running") || alive(p.PID) || !alive(pid) {
		t.Errorf("%q; the server is alive: %v, its program: %v", out, alive(p.PID), alive(pid))
	}
	run(t, s.verb("stop")).refuses(t, 3, "no server")
	if i := s.gives("ls"); !strings.Contains(i, "running") || s.terminal("cat").PID != pid {
		t.Errorf("ls says\n%s", i)
	}
	var both sync.WaitGroup
	for range 2 {
		c := s.verb("stop")
		both.Go(func() {
			if e := run(t, c); e.code != 0 && e.code != 3 {
				t.Errorf("%+v", e)
			}
		})
	}
	both.Wait()
	other.gives("status")
	run(t, s.verb("stop", "--server", "http://127.0.0.1:1")).refuses(t, 2, "127.0.0.1:1")
}
