package tests

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/tests/polling"
)

// TestBadRequests: every way to ask wrongly that we know, and that none of them
// leaves anything behind: no terminal, no process, no descriptor.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	alive := s.shell().ID
	ended := s.create("true").ID
	s.exit(ended)
	create, on, over := "/session/s/pty", "/session/test/pty/"+alive, "/session/test/pty/"+ended
	table := []struct {
		method, path, body string
		status             int
		code               string
		words              string // the sentence says them
	}{
		// What is not JSON, not an object, or not ours.
		{"POST", create, `{"cols":80,`, 400, "VALIDATION", "line 1"},
		{"POST", create, "{\n  \"cols\": 80,\n  oops\n}", 400, "VALIDATION", "line 3"},
		{"POST", create, `[]`, 400, "VALIDATION", "object"},
		{"POST", create, `"x"`, 400, "VALIDATION", "object"},
		{"POST", create, `{} {}`, 400, "VALIDATION", "line 1"},
		{"POST", create, `{"colums":80}`, 400, "VALIDATION", "colums"},
		{"POST", create, `{"Cols":80}`, 400, "VALIDATION", "Cols"},
		{"POST", create, `{"cols":80,"cols":90}`, 400, "VALIDATION", "cols"},
		{"POST", create, "{\"name\":\"\xff\"}", 400, "VALIDATION", "UTF-8"},
		{"POST", create, strings.Repeat(`{"env":`, 50) + strings.Repeat(`}`, 50), 400, "VALIDATION", ""},
		// Wrong types and values of a creation.
		{"POST", create, `{"cmd":"bash"}`, 400, "VALIDATION", "cmd"},
		{"POST", create, `{"cmd":[]}`, 400, "VALIDATION", "cmd"},
		{"POST", create, `{"cmd":[""]}`, 400, "VALIDATION", "cmd"},
		{"POST", create, `{"cmd":[5]}`, 400, "VALIDATION", "cmd"},
		{"POST", create, `{"cmd":["a\u0000b"]}`, 400, "VALIDATION", "NUL"},
		{"POST", create, `{"cmd":["/no/such/command"]}`, 400, "NO_COMMAND", "/no/such/command"},
		{"POST", create, `{"cmd":["no-such-command-anywhere"]}`, 400, "NO_COMMAND", "no-such-command-anywhere"},
		{"POST", create, `{"cmd":["/etc/passwd"]}`, 400, "NO_COMMAND", "/etc/passwd"},
		{"POST", create, `{"cmd":["true"],"cwd":"/no/such/dir"}`, 400, "NO_DIRECTORY", "/no/such/dir"},
		{"POST", create, `{"cmd":["true"],"cwd":"/etc/passwd"}`, 400, "NO_DIRECTORY", "/etc/passwd"},
		{"POST", create, `{"cmd":["true"],"cwd":5}`, 400, "VALIDATION", "cwd"},
		{"POST", create, `{"cols":0}`, 400, "VALIDATION", "cols 0"},
		{"POST", create, `{"cols":-1}`, 400, "VALIDATION", "cols -1"},
		{"POST", create, `{"cols":"x"}`, 400, "VALIDATION", "cols"},
		{"POST", create, `{"rows":1001}`, 400, "VALIDATION", "rows 1001"},
		{"POST", create, `{"rows":1e9}`, 400, "VALIDATION", "rows"},
		{"POST", create, `{"rows":99999999999999999999}`, 400, "VALIDATION", "rows"},
		{"POST", create, `{"cols":2.5}`, 400, "VALIDATION", "cols"},
		{"POST", create, `{"scrollback":-1}`, 400, "VALIDATION", "scrollback"},
		{"POST", create, `{"scrollback":1000000000}`, 400, "VALIDATION", "scrollback"},
		{"POST", create, `{"size_policy":"mine"}`, 400, "VALIDATION", "size_policy"},
		{"POST", create, `{"name":"../x"}`, 400, "VALIDATION", "name"},
		{"POST", create, `{"name":"` + strings.Repeat("n", 65) + `"}`, 400, "VALIDATION", "name"},
		{"POST", create, `{"env":{"A=B":"c"}}`, 400, "VALIDATION", "A=B"},
		{"POST", create, `{"env":{"":"c"}}`, 400, "VALIDATION", ""},
		{"POST", create, `{"env":{"A":"\u0000"}}`, 400, "VALIDATION", "A"},
		{"POST", create, `{"env":{"A":5}}`, 400, "VALIDATION", "env"},
		{"POST", create, `{"env":{"A":"` + strings.Repeat("v", 200_000) + `"}}`, 400, "VALIDATION", "A"},
		{"POST", "/session/a%20b/pty", `{}`, 400, "VALIDATION", "session"},
		{"POST", "/session/" + strings.Repeat("s", 65) + "/pty", `{}`, 400, "VALIDATION", "session"},
		{"GET", "/session/%2e%2e/pty", ``, 400, "VALIDATION", "session"},
		// Terminals that are not there.
		{"GET", "/pty/nothere", ``, 404, "NOT_FOUND", "nothere"},
		{"GET", "/pty/..%2f..%2fetc%2fpasswd", ``, 404, "NOT_FOUND", ""},
		{"GET", "/pty/nothere/stream", ``, 404, "NOT_FOUND", ""},
		{"GET", "/pty/nothere/snapshot", ``, 404, "NOT_FOUND", ""},
		{"DELETE", "/pty/nothere", ``, 404, "NOT_FOUND", ""},
		{"POST", "/pty/nothere/input", `{"data":"x"}`, 404, "NOT_FOUND", ""},
		{"POST", "/pty/nothere/resize", `{"cols":80,"rows":24}`, 404, "NOT_FOUND", ""},
		{"POST", "/pty/nothere/wait", `{"for":"exit"}`, 404, "NOT_FOUND", ""},
		{"GET", "/session/other/pty/" + alive, ``, 404, "NOT_FOUND", ""},
		{"GET", "/nothere", ``, 404, "NOT_FOUND", "/nothere"},
		{"PUT", on, `{}`, 405, "METHOD_NOT_ALLOWED", "PUT"},
		// A terminal that has ended.
		{"POST", over + "/input", `{"data":"x"}`, 409, "EXITED", "exited"},
		{"POST", over + "/keys", `{"keys":["Enter"]}`, 409, "EXITED", ""},
		{"POST", over + "/paste", `{"data":"x"}`, 409, "EXITED", ""},
		{"POST", over + "/resize", `{"cols":80,"rows":24}`, 409, "EXITED", ""},
		{"POST", over + "/signal", `{"signal":"INT"}`, 409, "EXITED", ""},
		// Wrong input to one that lives.
		{"POST", on + "/input", `{"data":5}`, 400, "VALIDATION", "data"},
		{"POST", on + "/input", `{}`, 400, "VALIDATION", "data"},
		{"POST", on + "/input", `{"data":"x","data_b64":"eA=="}`, 400, "VALIDATION", "data"},
		{"POST", on + "/input", `{"data_b64":"***"}`, 400, "VALIDATION", ""},
		{"POST", on + "/input", `{"data":null}`, 400, "VALIDATION", "data"},
		{"POST", on + "/keys", `{"keys":[]}`, 400, "VALIDATION", "keys"},
		{"POST", on + "/keys", `{"keys":["NoKey"]}`, 400, "VALIDATION", "NoKey"},
		{"POST", on + "/keys", `{"keys":"Enter"}`, 400, "VALIDATION", "keys"},
		{"POST", on + "/paste", `{}`, 400, "VALIDATION", "data"},
		{"POST", on + "/signal", `{"signal":"NOPE"}`, 400, "VALIDATION", "NOPE"},
		{"POST", on + "/signal", `{"signal":9}`, 400, "VALIDATION", "signal"},
		{"POST", on + "/resize", `{}`, 400, "VALIDATION", "cols 0"},
		{"POST", on + "/resize", `{"cols":80}`, 400, "VALIDATION", "rows 0"},
		{"POST", on + "/resize", `{"cols":0,"rows":24}`, 400, "VALIDATION", "cols 0"},
		{"POST", on + "/resize", `{"cols":-1,"rows":24}`, 400, "VALIDATION", "cols -1"},
		{"POST", on + "/resize", `{"cols":"x","rows":24}`, 400, "VALIDATION", "cols"},
		{"POST", on + "/resize", `{"cols":80,"rows":1001}`, 400, "VALIDATION", "rows 1001"},
		{"POST", on + "/resize", `{"cols":1000000000,"rows":24}`, 400, "VALIDATION", "cols"},
		{"POST", on + "/resize", `{"cols":1e9,"rows":24}`, 400, "VALIDATION", "cols"},
		{"POST", on + "/resize", `{"cols":2.5,"rows":24}`, 400, "VALIDATION", "cols"},
		{"GET", on + "/stream?since=x", ``, 400, "VALIDATION", "since"},
		{"GET", on + "/stream?scrollback=x", ``, 400, "VALIDATION", "scrollback"},
		{"GET", on + "/ws?format=xml", ``, 400, "VALIDATION", "format"},
		{"GET", on + "/ws", ``, 426, "UPGRADE_REQUIRED", ""},
		{"DELETE", on + "?purge=maybe", ``, 400, "VALIDATION", "purge"},
		{"POST", on + "/wait", `{"for":"exit","since":99999999}`, 400, "VALIDATION", "since 99999999"},
		// Bodies that are too large.
		{"POST", on + "/input", `{"data":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "TOO_LARGE", "1048576"},
		{"POST", create, `{"name":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "TOO_LARGE", "1048576"},
	}
	before := s.inventory()
	for _, r := range table {
		s.call(r.method, r.path, r.body).refused(r.status, r.code, strings.Fields(r.words)...)
	}
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded",
		"multipart/form-data; boundary=x", "application/jsonp", "application/json; charset=latin1"} {
		for _, path := range []string{create, on + "/input", on + "/resize"} {
			s.do(request{"POST", path, `{"data":"x"}`, map[string]string{"Content-Type": media}}).refused(415,
				"UNSUPPORTED_MEDIA_TYPE", "application/json")
		}
	}
	s.sameAs(before)
	s.input(alive, "echo 'nothing' typed\n")
	s.await(alive, "^nothing typed$")
	if i := s.info(alive); i.Cols != 80 || i.Rows != 24 {
		t.Errorf("the size is %dx%d now", i.Cols, i.Rows)
	}
}

// inventory is what a server has: terminals, processes, descriptors. It waits
// until connections of before are gone.
func (s *server) inventory() string {
	s.t.Helper()
	return rests(s.t, "the server is at rest", func() string {
		list, err := s.List(s.ctx(), "")
		s.must(err)
		s.Client.Close()
		return fmt.Sprintf("%d terminals, %d processes, %d descriptors", len(list), len(marked(s.mark)),
			len(openFiles(s.pid())))
	})
}

// sameAs waits until the server has what it had. Connections may still be closing.
func (s *server) sameAs(before string) {
	s.t.Helper()
	after := ""
	if !polling.Until(patience, func() bool { after = s.inventory(); return after == before }) {
		s.t.Errorf("before: %s\nafter:  %s\n%v", before, after, openFiles(s.pid()))
	}
}

// TestBodiesThatDoNotEnd: a body without a length is cut at the limit too, and
// one that never comes does not keep a connection for ever.
func TestBodiesThatDoNotEnd(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	before := s.inventory()
	endless := io.MultiReader(strings.NewReader(`{"data":"`), io.LimitReader(zeros{}, 1<<30))
	req, err := http.NewRequestWithContext(s.ctx(), "POST", s.url+"/pty/"+id+"/input", endless)
	s.must(err)
	req.Header.Set("Content-Type", "application/json")
	if resp, err := plain.Do(req); err == nil { // else the server closed the connection while we wrote
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("a gigabyte: %s", resp.Status)
		}
		_ = resp.Body.Close()
	}
	if rss := status(t, s.pid(), "VmRSS"); !raceEnabled && rss > 100<<10 {
		t.Errorf("the server takes %d kB after a gigabyte of input", rss)
	}
	// Half a request: the head does not end. The server gives up after seconds.
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /version HTTP/1.1\r\nHost: localhost\r\nX-")
	s.must(err)
	s.must(conn.SetReadDeadline(time.Now().Add(patience)))
	if b, err := io.ReadAll(conn); err != nil && !isReset(err) {
		t.Errorf("half a request: %q, %v", b, err)
	}
	s.sameAs(before)
}

func isReset(err error) bool { return strings.Contains(err.Error(), "reset") }

// zeros is an endless text.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte("0"), len(p)))
	return len(p), nil
}

// TestManyWrongRequestsAtOnce: nothing of what clients send at the same time
// gets into each other's way.
func TestManyWrongRequestsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("cat").ID
	before := s.inventory()
	const callers, each = 8, 25
	failed := make(chan string, callers*each)
	done := make(chan struct{}, callers)
	for n := range callers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range each {
				body := []string{`{`, `{"data":5}`, `{"data":"x"}`, `{"cols":5}`, ``}[(n+i)%5]
				path := []string{"/pty/" + id + "/input", "/pty/nothere/input", "/pty/" + id + "/resize",
					"/session/s/pty"}[(n*i)%4]
				want := "4"
				if body == `{"data":"x"}` && strings.HasPrefix(path, "/pty/"+id+"/input") {
					want = "2"
				}
				if body == "" && path == "/session/s/pty" { // would start a shell
					path = "/nothere"
				}
				if path == "/session/s/pty" && body == `{"cols":5}` {
					body = `{"cols":0}`
				}
				resp, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
				if err != nil {
					failed <- err.Error()
					continue
				}
				_ = resp.Body.Close()
				if resp.Status[:1] != want {
					failed <- fmt.Sprintf("%s %s: %s", path, body, resp.Status)
				}
			}
		}()
	}
	for range callers {
		<-done
	}
	close(failed)
	for f := range failed {
		t.Error(f)
	}
	http.DefaultClient.CloseIdleConnections()
	s.sameAs(before)
}
