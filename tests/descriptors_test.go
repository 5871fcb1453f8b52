package tests

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// limitsOf are soft and hard limit of descriptors of a process.
func limitsOf(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`Max open files\s+(\d+)\s+(\d+)`).FindStringSubmatch(string(text))
	return m[1] + " " + m[2]
}

// TestDescriptorLimits: server and keeper may have as many descriptors as the system lets them; programs have the limit
// that the server was started with.
func TestDescriptorLimits(t *testing.T) {
	t.Parallel()
	s := start(t, launch{shell: "ulimit -Sn 300; ulimit -Hn 900"})
	id := s.shell().ID
	s.input(id, "echo limits=$(ulimit -Sn)/$(ulimit -Hn)\n")
	s.await(id, "^limits=300/900$")
	s.book.add("limits")
	r := s.post("/session/limits/exec", `{"command":"echo $(ulimit -Sn)/$(ulimit -Hn)"}`).wants(200)
	if !strings.Contains(r.body, `"stdout":"300/900\n"`) {
		t.Errorf("a shell: %s", r.body)
	}
	for name, pid := range map[string]int{"server": s.pid(), "keeper": s.keeperPID()} {
		if got := limitsOf(t, pid); got != "900 900" && got != "899 900" { // Go leaves one out
			t.Errorf("%s: %s", name, got)
		}
	}
}

// refusedForDescriptors reports whether r tells the client that there are too few descriptors.
func (r reply) refusedForDescriptors() bool {
	return r.status == http.StatusServiceUnavailable && r.header.Get("Retry-After") != "" &&
		strings.Contains(r.body, `"code":"NO_DESCRIPTORS"`) &&
		strings.Contains(r.body, "descriptor")
}

// keepOpen makes one request on a connection that stays, and returns both with the answer: the server ends a connection
// without any request after seconds, and a slow machine would come too late to find it.
func (s *server) keepOpen(path string) (net.Conn, *http.Response) {
	s.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	s.must(c.SetDeadline(time.Now().Add(patience)))
	_, err = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path)
	s.must(err)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	s.must(err)
	return c, resp
}

// TestOutOfDescriptors: new terminals, shells, commands and viewers are refused early, with a reason; what runs goes on
// without a gap, and what ends makes room.
func TestOutOfDescriptors(t *testing.T) {
	t.Parallel()
	s := start(t, launch{shell: "ulimit -n 220", flags: []string{"--journal-terminal-quota", "2MiB"}})
	first := s.shell().ID
	s.watch(wsBinary, first)
	s.post("/session/busy/exec", `{"command":"A=before"}`).wants(200)
	s.book.add("busy")
	var ids []string
	var refused reply
	for range 100 {
		r := s.post("/session/many/pty", `{"cmd":["cat"]}`)
		if r.status != 201 {
			refused = r
			break
		}
		var i struct{ ID string }
		r.into(&i)
		ids = append(ids, i.ID)
	}
	if !refused.refusedForDescriptors() || len(ids) < 3 {
		t.Fatalf("after %d terminals: %d %v %s", len(ids), refused.status, refused.header, refused.body)
	}
	var kept []net.Conn
	for path, text := range map[string]string{"/session/other/shell": `{}`, "/session/busy/exec": `{"command":"true"}`,
		"/session/new/exec": `{"command":"true"}`} {
		r := s.post(path, text)
		// A command needs fewer descriptors than a terminal, so some connections may have to take what is left.
		for n := 0; r.status/100 == 2 && n < 24; n++ {
			c, _ := s.keepOpen("/healthz")
			kept = append(kept, c)
			r = s.post(path, text)
		}
		if !r.refusedForDescriptors() {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	s.book.add("other")
	c, viewer := s.keepOpen("/pty/" + first + "/stream")
	for n := 0; viewer.StatusCode == 200 && n < 24; n++ {
		kept = append(kept, c)
		c, viewer = s.keepOpen("/pty/" + first + "/stream")
	}
	if kept = append(kept, c); !viewer.Close { // an idle connection keeps a descriptor from what runs
		t.Errorf("a viewer is told %d, and keeps its connection", viewer.StatusCode)
	}
	// Connections take the rest, and still nothing that runs is harmed.
	told := false
	for n := 0; n < 200 && !told; n++ {
		c, answer := s.keepOpen("/healthz")
		kept = append(kept, c)
		told = answer.StatusCode == http.StatusServiceUnavailable
		var e struct{ Code string }
		if told && (json.NewDecoder(answer.Body).Decode(&e) != nil || e.Code != "NO_DESCRIPTORS") {
			t.Errorf("a connection too many is told %+v", e)
		}
	}
	if !told {
		t.Errorf("%d connections, and none too many", len(kept))
	}
	for _, c := range kept {
		_ = c.Close()
	}
	eventually(t, "the connections are gone", func() bool {
		resp, err := plain.Get(s.url + "/healthz")
		return err == nil && resp.Body.Close() == nil && resp.StatusCode == 200
	})
	s.input(first, "seq 200000 | tail -c 1000000; echo 'all' there\n") // several segments of the journal
	s.await(first, "^all there$")
	if r := s.get("/healthz").wants(200); !strings.Contains(r.body, `"ok"`) {
		t.Errorf("health: %s", r.body)
	}
	for _, id := range ids {
		if i := s.info(id); i.State != "running" {
			t.Errorf("%+v", i)
		}
	}
	for _, id := range ids[:len(ids)/2] {
		s.must(s.Delete(s.ctx(), id, false))
	}
	if r := s.post("/session/busy/exec", `{"command":"echo $A"}`).wants(200); !strings.Contains(r.body, "before") {
		t.Errorf("the shell has lost its state: %s", r.body)
	}
	s.post("/session/many/pty", `{"cmd":["cat"]}`).wants(201)
	s.kill()
	s.again()
	s.await(first, "^all there$")
}
