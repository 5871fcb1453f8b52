package tests

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// refusedForLimit fails unless a reply is 429 LIMIT with Retry-After and names the setting.
func (r reply) refusedForLimit(setting string) {
	r.t.Helper()
	n, err := strconv.Atoi(r.header.Get("Retry-After"))
	if r.status != http.StatusTooManyRequests || err != nil || n < 1 ||
		!strings.Contains(r.body, `"code":"LIMIT"`) || !strings.Contains(r.body, setting) {
		r.t.Errorf("%s %s: %d, Retry-After %q: %s; want 429 LIMIT about %s", r.request.method, r.request.path, r.status,
			r.header.Get("Retry-After"), r.body, setting)
	}
}

// open sends a request whose reply lasts, as the user of that token ("" is none). The caller closes the body.
func (s *server) open(path, token string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.ctx(), http.MethodGet, s.url+path, nil)
	s.must(err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := plain.Do(req)
	s.must(err)
	return resp
}

// TestServerLimits: one more than --max-ptys, --max-shells and --max-viewers is refused with what to do; what runs goes
// on, and what ends makes room. A terminal that is started again counts too.
func TestServerLimits(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: []string{"--max-ptys", "2", "--max-shells", "1",
		"--max-viewers", "2"}})
	first, ended := s.createIn("a", "cat"), s.createIn("b", "true")
	s.exit(ended.ID)
	second := s.createIn("b", "cat")
	s.post("/session/c/pty", `{"cmd":["cat"]}`).refusedForLimit("max_ptys")
	s.post("/pty/"+ended.ID+"/restart", `{}`).refusedForLimit("max_ptys")
	s.post("/session/a/shell", `{}`).wants(201)
	s.book.add("a")
	s.post("/session/a/shell", `{}`).refusedForLimit("max_shells")
	s.post("/session/b/exec", `{"command":"true"}`).refusedForLimit("max_shells")
	s.post("/session/b/exec/stream", `{"command":"true"}`).refusedForLimit("max_shells")
	s.post("/api/session/create", `{"id":"c"}`).refusedForLimit("max_shells")

	watching := []*http.Response{s.open("/pty/"+first.ID+"/stream", ""), s.open("/pty/"+first.ID+"/stream", "")}
	for _, path := range []string{"/stream", "/recording?follow=1"} {
		s.get("/pty/" + first.ID + path).refusedForLimit("max_viewers")
	}
	s.post("/pty/"+first.ID+"/wait", `{"for":"exit"}`).refusedForLimit("max_viewers")
	s.get("/pty/" + first.ID + "/recording").wants(200) // ends by itself
	s.call(http.MethodHead, "/pty/"+first.ID+"/stream", "").wants(200)
	_ = watching[0].Body.Close()
	eventually(t, "who left makes room", func() bool {
		resp := s.open("/pty/"+first.ID+"/stream", "")
		watching = append(watching, resp)
		return resp.StatusCode == http.StatusOK
	})
	s.stays(first)
	s.stays(second)
	s.must(s.Delete(s.ctx(), second.ID, false))
	s.post("/pty/"+ended.ID+"/restart", `{}`).wants(200)
	for _, resp := range watching {
		_ = resp.Body.Close()
	}
}

// crowd is what a flood of requests got.
type crowd struct {
	mu       sync.Mutex
	watching []*http.Response
	running  []string       // ids
	refused  map[string]int // by status and code; "closed" is a connection that was closed without a word
}

// tooMany asks for so many viewers and terminals of a server that takes fewer.
func (s *server) tooMany(id string, viewers, terminals int) *crowd {
	s.t.Helper()
	c := &crowd{refused: map[string]int{}}
	parallel(terminals, func(int) {
		r := s.post("/session/flood/pty", `{"cmd":["cat"]}`)
		c.mu.Lock()
		defer c.mu.Unlock()
		if r.status != http.StatusCreated {
			c.refuse(s.t, r.status, r.header, r.body)
			return
		}
		var i struct{ ID string }
		r.into(&i)
		c.running = append(c.running, i.ID)
	})
	parallel(viewers, func(int) {
		resp, err := plain.Get(s.url + "/pty/" + id + "/stream")
		c.mu.Lock()
		defer c.mu.Unlock()
		switch {
		case err != nil: // a connection too many may be closed without a word
			c.refused["closed"]++
		case resp.StatusCode == http.StatusOK:
			c.watching = append(c.watching, resp)
		default:
			b, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			c.refuse(s.t, resp.StatusCode, resp.Header, string(b))
		}
	})
	return c
}

// refuse counts a refusal, which must be one of a limit. c.mu is held.
func (c *crowd) refuse(t testing.TB, status int, header http.Header, body string) {
	t.Helper()
	var r struct{ Code string }
	if err := json.Unmarshal([]byte(body), &r); err != nil || header.Get("Retry-After") == "" ||
		status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		t.Errorf("one too many: %d %v %s", status, header, body)
	}
	c.refused[strconv.Itoa(status)+" "+r.Code]++
}

// parallel calls f n times, sixteen at once.
func parallel(n int, f func(int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range 16 {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// TestFloodOfViewersAndTerminals: row 21 of the attacks, by the limits and without any but that of descriptors. What
// was there before goes on and is exact, and memory and descriptors come back.
func TestFloodOfViewersAndTerminals(t *testing.T) {
	for name, how := range map[string]launch{
		"limits": {flags: []string{"--max-ptys", strconv.Itoa(times(6, 200)), "--max-viewers",
			strconv.Itoa(times(20, 2000))}},
		"descriptors": {shell: "ulimit -n " + strconv.Itoa(times(220, 2000))},
	} {
		t.Run(name, func(t *testing.T) {
			if !full() { // it measures
				t.Parallel()
			}
			floodServer(t, name, start(t, how), times(200, 10_000), times(20, 5_000))
		})
	}
}

// floodServer asks a server for so many viewers and terminals, and looks at what was there before.
func floodServer(t *testing.T, name string, s *server, viewers, terminals int) {
	t.Helper()
	first := s.shell()
	s.post("/session/busy/exec", `{"command":"A=before"}`).wants(200)
	s.book.add("busy")
	v, seen := s.watch(wsBinary, first.ID), make(chan error, 1)
	go func() { // who does not read answers no pings
		var err error
		for err == nil && !strings.Contains(string(v.text), "still there") {
			_, err = v.next()
		}
		seen <- err
	}()
	memory, files := status(t, s.pid(), "VmRSS"), len(openFiles(s.pid()))
	c := s.tooMany(first.ID, viewers, terminals)
	if len(c.watching) == 0 || len(c.running) == 0 || len(c.watching) == viewers {
		t.Errorf("%d viewers and %d terminals were taken", len(c.watching), len(c.running))
	}
	if s.how.shell == "" { // else there is no descriptor for one more connection
		s.get("/healthz").wants(200)
	}
	peak := status(t, s.pid(), "VmRSS")
	for _, resp := range c.watching {
		_ = resp.Body.Close()
	}
	for _, id := range c.running {
		s.must(s.Delete(s.ctx(), id, true))
	}
	s.input(first.ID, "echo 'still' there\n")
	s.await(first.ID, "^still there$")
	if err := <-seen; err != nil {
		t.Errorf("the viewer that was there before: %v", err)
	}
	if r := s.post("/session/busy/exec", `{"command":"echo $A"}`).wants(200); !strings.Contains(r.body, "before") {
		t.Errorf("the shell has lost its state: %s", r.body)
	}
	s.stays(first)
	eventually(t, "the descriptors are free again", func() bool { return len(openFiles(s.pid())) <= files+8 })
	figure(t, "%s: %d viewers and %d terminals taken, refused %v; RSS %d MiB before, %d at the most, %d after; %d "+
		"descriptors before, %d after", name, len(c.watching), len(c.running), c.refused, memory>>10, peak>>10,
		status(t, s.pid(), "VmRSS")>>10, files, len(openFiles(s.pid())))
}

// rush sends so many requests at once, as a user, and returns the ids of what they made: N in the path is the request's
// number. The others must be refused for that limit.
func (s *server) rush(n int, user, path, body, setting string) (made []string) {
	s.t.Helper()
	var mu sync.Mutex
	parallel(n, func(i int) {
		r := s.as(user, http.MethodPost, strings.ReplaceAll(path, "N", strconv.Itoa(i)), body)
		if r.status != http.StatusCreated {
			r.refusedForLimit(setting)
			return
		}
		var answer struct{ ID string }
		r.into(&answer)
		mu.Lock()
		defer mu.Unlock()
		made = append(made, answer.ID)
	})
	return made
}

// rushOfViewers has a user watch a terminal so many times at once, and returns how many were let in.
func (s *server) rushOfViewers(n int, user, id string) (watching int) {
	s.t.Helper()
	var mu sync.Mutex
	parallel(n, func(int) {
		resp := s.open("/pty/"+id+"/stream", userToken(user))
		mu.Lock()
		defer mu.Unlock()
		if resp.StatusCode == http.StatusOK {
			watching++
			s.t.Cleanup(func() { _ = resp.Body.Close() })
			return
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
			s.t.Errorf("a viewer too many of %s: %d", user, resp.StatusCode)
		}
	})
	return watching
}

// TestLimitsHoldAtOnce: of many requests at once just as many are taken as the server and a user may have. A kill of the
// server forgets none of them.
func TestLimitsHoldAtOnce(t *testing.T) {
	t.Parallel()
	const rush, cat, pty, shell = 24, `{"cmd":["cat"]}`, "/session/sN/pty", "/session/sN/shell"
	s, _ := startUsers(t, launch{listen: freePort(t), flags: []string{"--max-ptys", "5", "--max-shells", "4",
		"--max-viewers", "3"}}, "alice limits = {max_ptys = 3, max_shells = 2, max_viewers = 2}", "bob")
	for i := range rush {
		s.book.add("alice@s" + strconv.Itoa(i))
		s.book.add("bob@s" + strconv.Itoa(i))
	}
	ids := map[string][]string{}
	for _, c := range []struct {
		user, path, body, setting string
		want                      int
	}{{"alice", pty, cat, "max_ptys of the user", 3}, {"bob", pty, cat, "max_ptys", 2},
		{"alice", shell, `{}`, "max_shells of the user", 2}, {"bob", shell, `{}`, "max_shells", 2}} {
		made := s.rush(rush, c.user, c.path, c.body, c.setting)
		if ids[c.user+c.path] = made; len(made) != c.want {
			t.Fatalf("%s has got %d of %s, want %d", c.user, len(made), c.path, c.want)
		}
	}
	first := ids["alice"+pty][0]
	if n := s.rushOfViewers(rush, "alice", first); n != 2 {
		t.Errorf("alice has %d viewers, want 2", n)
	}
	if n := s.rushOfViewers(rush, "bob", ids["bob"+pty][0]); n != 1 {
		t.Errorf("bob has %d viewers, want 1", n)
	}
	s.kill()
	s.again()
	for _, user := range []string{"alice", "bob"} {
		s.as(user, http.MethodPost, "/session/s0/pty", cat).refusedForLimit("max_ptys")
		s.as(user, http.MethodPost, "/session/s0/shell", `{}`).refusedForLimit("max_shells")
	}
	s.as("alice", http.MethodDelete, "/pty/"+first, "").wants(200)
	if made := s.rush(rush, "bob", pty, cat, "max_ptys"); len(made) != 1 {
		t.Errorf("the place of a deleted terminal was taken %d times", len(made))
	}
}
