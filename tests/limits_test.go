package tests

import (
	"os"
	"strings"
	"testing"

	"github.com/evertty/evertty/wire"
)

// limited starts a program with limits, or skips the test where they cannot be had.
func (s *server) limited(l wire.Limits, script string) string {
	s.t.Helper()
	r := s.post("/session/test/pty", asJSON(wire.CreateTerminal{Cmd: []string{"bash", "-c", script}, Cwd: "/",
		Limits: &l}))
	if r.status == 501 {
		s.t.Skipf("not here: %s", r.body)
	}
	var i wire.Terminal
	r.wants(201).into(&i)
	if i.Limits == nil {
		s.t.Errorf("the terminal shows no limits: %s", r.body)
	}
	return i.ID
}

// TestLimits: what a program sees of its limits, also after a restart and in its children.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.limited(wire.Limits{Nofile: new(int64(99)), MemoryBytes: new(int64(64 << 20))},
		`ulimit -n; sh -c 'ulimit -Hn'; head -c 300M /dev/zero | tail >/dev/null && echo unbounded; echo over`)
	for range 2 {
		s.exit(id)
		if text := s.text(id); !strings.Contains(text, "99\n99\n") || strings.Contains(text, "unbounded") ||
			!strings.Contains(text, "over") {
			t.Errorf("%s", text)
		}
		if i := s.info(id); i.LimitsBy == "" || *i.Limits.Nofile != 99 {
			t.Errorf("%+v", i)
		}
		s.post("/pty/"+id+"/restart", "{}").wants(200)
	}
	s.exit(id)
}

// TestLimitOfProcesses: a fork bomb of a user starts no more than it may.
func TestLimitOfProcesses(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can start the server of another user")
	}
	s := account(t, mallo, "")
	id := s.limited(wire.Limits{Pids: new(int64(20))},
		`n=0; while [ $n -lt 60 ]; do sleep 1000 & n=$((n+1)); done 2>&1 | head -c 300; wait; echo over`)
	s.await(id, `[Rr]esource temporarily unavailable`)
	if n := len(marked(s.mark)); n > 60 {
		t.Errorf("there are %d processes", n)
	}
}

// TestLimitsRefused: limits that are none, and those that cannot be had.
func TestLimitsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for limits, field := range map[string]string{
		`{"pids":0}`: "limits.pids", `{"nofile":15}`: "limits.nofile", `{"nofile":1048577}`: "limits.nofile",
		`{"memory_bytes":1}`: "limits.memory_bytes", `{"cpu_percent":-1}`: "limits.cpu_percent",
		`{"memory":1}`: "limits.memory", `{"pids":"x"}`: "limits.pids",
	} {
		r := s.post("/session/test/pty", `{"limits":`+limits+`}`).wants(400)
		if !strings.Contains(r.body, `"field":"`+field+`"`) {
			t.Errorf("%s: %s", limits, r.body)
		}
	}
	r := s.post("/session/test/pty", `{"cwd":"/","limits":{"cpu_percent":50}}`)
	if r.status != 201 && (r.status != 501 || !strings.Contains(r.body, "cpu_percent")) {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r.status == 501 { // so there is no cgroup
		r := s.post("/session/test/pty", `{"cwd":"/","limits":{"pids":50}}`)
		if (r.status == 501) != (os.Geteuid() == 0) {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
}
