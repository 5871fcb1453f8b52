package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// worker speaks the calls of the seed's own end-to-end tests: what they call the
// worker API.
type worker struct {
	*server
	id string // of the session, "" for none
}

// session makes one as the seed's tests do.
func (s *server) workerSession(b body) worker {
	s.t.Helper()
	var made struct {
		Success   bool
		SessionID string `json:"sessionId"`
	}
	s.post("/api/session/create", asJSON(b)).wants(200).into(&made)
	if !made.Success || made.SessionID == "" {
		s.t.Fatalf("the new session is %+v", made)
	}
	s.book.add(made.SessionID)
	return worker{s, made.SessionID}
}

// api is a call with the session's header.
func (w worker) api(method, path, text string) reply {
	w.t.Helper()
	h := map[string]string{"X-Session-Id": w.id}
	if text != "" {
		h["Content-Type"] = "application/json"
	}
	return w.do(request{method, path, text, h})
}

// executed is the reply to /api/execute.
type executed struct {
	Success        bool
	ExitCode       int `json:"exitCode"`
	Stdout, Stderr string
	Command        string
	SessionID      string `json:"sessionId"`
	Timestamp      string
	Duration       *float64
}

func (w worker) execute(command string) (e executed) {
	w.t.Helper()
	w.api(http.MethodPost, "/api/execute", asJSON(body{"command": command})).wants(200).into(&e)
	if e.Success != (e.ExitCode == 0) || e.Command != command || e.Timestamp == "" || e.Duration == nil {
		w.t.Errorf("%q: %+v", command, e)
	}
	return e
}

// prints checks what a command that succeeds prints.
func (w worker) prints(command, want string) {
	w.t.Helper()
	if e := w.execute(command); !e.Success || e.Stdout != want {
		w.t.Errorf("%s in %s: %+v, want %q", command, w.id, e, want)
	}
}

func (w worker) setEnvVars(vars map[string]string) {
	w.t.Helper()
	var ok struct{ Success bool }
	if w.api(http.MethodPost, "/api/env/set", asJSON(body{"envVars": vars})).wants(200).into(&ok); !ok.Success {
		w.t.Errorf("setting %v", vars)
	}
}

// TestSessionStateIsolation: the six tests of seed 002 by their names (R-203 to
// ), in the calls of that seed.
func TestSessionStateIsolation(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	t.Run("six", func(t *testing.T) {
		for name, test := range map[string]func(*server){
			"should isolate environment variables between sessions":                     isolatesEnv,
			"should isolate working directories between sessions":                       isolatesCwd,
			"should isolate shell state (functions) between sessions":                   isolatesFunctions,
			"should share process space between sessions (by design)":                   sharesProcesses,
			"should share file system between sessions (by design)":                     sharesFiles,
			"should support concurrent execution without output mixing":                 concurrent,
			"should take setEnvVars as often as a caller likes, with values byte-exact": envOftenAndExact,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(s.seenBy(t))
			})
		}
	})
}

func isolatesEnv(s *server) {
	one := s.workerSession(body{"env": body{"NODE_ENV": "production", "API_KEY": "prod-key-123",
		"DB_HOST": "prod.example.com"}})
	two := s.workerSession(body{"env": body{"NODE_ENV": "test", "API_KEY": "test-key-456",
		"DB_HOST": "test.example.com"}})
	const show = `echo "$NODE_ENV|$API_KEY|$DB_HOST"`
	one.prints(show, "production|prod-key-123|prod.example.com\n")
	two.prints(show, "test|test-key-456|test.example.com\n")
	one.setEnvVars(map[string]string{"NEW_VAR": "session1-only"})
	one.prints(`echo "$NEW_VAR"`, "session1-only\n")
	two.prints(`echo "VALUE:$NEW_VAR:END"`, "VALUE::END\n")
	two.setEnvVars(map[string]string{"NEW_VAR": "session2-only", "ANOTHER_VAR": "value"})
	one.setEnvVars(map[string]string{"ANOTHER_VAR": "other"}) // a second call of the same session: 500 in the seed
	one.prints(`echo "$NEW_VAR $ANOTHER_VAR"; `+show, "session1-only other\nproduction|prod-key-123|prod.example.com\n")
	two.prints(`echo "$NEW_VAR $ANOTHER_VAR"`, "session2-only value\n")
	one.prints("export NODE_ENV=changed", "")
	two.prints(show, "test|test-key-456|test.example.com\n")
}

func isolatesCwd(s *server) {
	dir := s.t.TempDir()
	setup := s.workerSession(body{})
	for _, sub := range []string{"src", "test/unit"} {
		setup.api(http.MethodPost, "/api/file/mkdir",
			asJSON(body{"path": filepath.Join(dir, sub), "recursive": true})).wants(200)
	}
	one, two := s.workerSession(body{"cwd": filepath.Join(dir, "src")}),
		s.workerSession(body{"cwd": filepath.Join(dir, "test")})
	one.prints("pwd", filepath.Join(dir, "src")+"\n")
	two.prints("pwd", filepath.Join(dir, "test")+"\n")
	one.prints("cd ..", "")
	two.prints("cd unit", "")
	one.prints("pwd", dir+"\n")
	two.prints("pwd", filepath.Join(dir, "test", "unit")+"\n")
}

func isolatesFunctions(s *server) {
	one, two := s.workerSession(body{}), s.workerSession(body{})
	one.prints(`greet() { echo "Hello from Production"; }`, "")
	one.prints("greet", "Hello from Production\n")
	if e := two.execute("greet"); e.Success || e.ExitCode != 127 || !strings.Contains(e.Stderr, "greet") {
		s.t.Errorf("an unknown function: %+v", e)
	}
	two.prints(`greet() { echo "Hello from Test"; }`, "")
	two.prints("greet", "Hello from Test\n")
	one.prints("greet", "Hello from Production\n")
}

// processOf is a process as the seed's tests read it.
type processOf struct {
	ID, Status, Command string
	PID                 int
}

// processes reads the list, an array or one in a field.
func (w worker) processes() (list []processOf) {
	w.t.Helper()
	text := w.api(http.MethodGet, "/api/process/list", "").wants(200).body
	if json.Unmarshal([]byte(text), &list) == nil {
		return list
	}
	var wrapped struct{ Processes []processOf }
	if err := json.Unmarshal([]byte(text), &wrapped); err != nil {
		w.t.Fatalf("%v in %s", err, text)
	}
	return wrapped.Processes
}

func (w worker) process(id string) (found processOf) {
	w.t.Helper()
	for _, p := range w.processes() {
		if p.ID == id {
			found = p
		}
	}
	return found
}

func sharesProcesses(s *server) {
	one, two := s.workerSession(body{}), s.workerSession(body{})
	var started processOf
	one.api(http.MethodPost, "/api/process/start", `{"command":"sleep 120"}`).wants(200).into(&started)
	if started.ID == "" {
		s.t.Fatalf("%+v", started)
	}
	for _, w := range []worker{one, two} {
		if p := w.process(started.ID); p.Status != "running" {
			s.t.Errorf("session %s sees %+v", w.id, p)
		}
	}
	if r := two.api(http.MethodDelete, "/api/process/"+started.ID, ""); r.status/100 != 2 {
		s.t.Errorf("killed from the other session: %d %s", r.status, r.body)
	}
	for _, w := range []worker{one, two} {
		eventually(s.t, "it does not run any more", func() bool {
			p := w.process(started.ID)
			return p.Status != "running" && p.Status != "starting"
		})
	}
	one.api(http.MethodGet, "/api/process/nothere", "").refused(404, "PROCESS_NOT_FOUND")
	// What it prints, and its end.
	one.api(http.MethodPost, "/api/process/start",
		`{"command":"echo out; echo err >&2; exit 3"}`).wants(200).into(&started)
	var logs struct{ Stdout, Stderr string }
	eventually(s.t, "its output is logged", func() bool {
		two.api(http.MethodGet, "/api/process/"+started.ID+"/logs", "").wants(200).into(&logs)
		return logs.Stdout == "out\n" && logs.Stderr == "err\n"
	})
	eventually(s.t, "it has failed", func() bool { return two.process(started.ID).Status == "failed" })
}

func sharesFiles(s *server) {
	one, two := s.workerSession(body{}), s.workerSession(body{})
	path := filepath.Join(s.t.TempDir(), "shared.txt")
	write := func(w worker, text string) {
		w.t.Helper()
		w.api(http.MethodPost, "/api/file/write", asJSON(body{"path": path, "content": text})).wants(200)
	}
	reads := func(w worker, want string) {
		w.t.Helper()
		var file struct{ Content string }
		if w.api(http.MethodPost, "/api/file/read",
			asJSON(body{"path": path})).wants(200).into(&file); file.Content != want {
			w.t.Errorf("it reads %q, want %q", file.Content, want)
		}
	}
	write(one, "Written by session 1")
	reads(two, "Written by session 1")
	write(two, "Modified by session 2")
	reads(one, "Modified by session 2")
	one.prints("cat "+quote(path), "Modified by session 2")
	two.api(http.MethodDelete, "/api/file/delete", asJSON(body{"path": path})).wants(200)
	if e := one.execute("cat " + quote(path)); e.Success {
		s.t.Errorf("%+v", e)
	}
}

func concurrent(s *server) {
	one, two := s.workerSession(body{"env": body{"NAME": "one"}}), s.workerSession(body{"env": body{"NAME": "two"}})
	const count = `for i in {1..500}; do echo "$NAME $i"; done; sleep 0.1; echo "$NAME over"`
	inParallel(8, func(i int) {
		w, name := one, "one"
		if i%2 == 1 {
			w, name = two, "two"
		}
		var want strings.Builder
		for n := 1; n <= 500; n++ {
			fmt.Fprintf(&want, "%s %d\n", name, n)
		}
		if e := w.execute(count); !e.Success || e.Stdout != want.String()+name+" over\n" || e.Stderr != "" {
			w.t.Errorf("%s: %d bytes, stderr %q", name, len(e.Stdout), clip(e.Stderr))
		}
	})
}

// envOftenAndExact, on all three routes of the environment.
func envOftenAndExact(s *server) {
	w := s.workerSession(body{})
	const hard = "a'b\"c$HOME `id` \\ \n😀\t"
	for i := range 100 {
		w.setEnvVars(map[string]string{fmt.Sprintf("VAR_%d", i): fmt.Sprintf("%d %s", i, hard), "LAST": fmt.Sprint(i)})
	}
	for i := 0; i < 100; i += 33 {
		w.prints(fmt.Sprintf(`printf %%s "$VAR_%d"`, i), fmt.Sprintf("%d %s", i, hard))
	}
	w.prints("bash -c 'echo $LAST'", "99\n")
	for i := range 3 {
		w.api(http.MethodPost, "/api/session/"+w.id+"/env",
			asJSON(body{"envVars": body{"LAST": fmt.Sprint("again ", i)}})).wants(200)
	}
	w.prints("printenv LAST", "again 2\n")
	for _, bad := range []string{`{"envVars":{"1A":"x"}}`, `{"envVars":{"A-B":"x"}}`, `{"envVars":{"":"x"}}`,
		`{"envVars":{"A=B":"x"}}`, `{"envVars":{"A B":"x"}}`, `{"envVars":{"A":7}}`, `{"envVars":{"A":"\u0000"}}`} {
		w.api(http.MethodPost, "/api/env/set", bad).refused(400, "VALIDATION")
		w.api(http.MethodPost, "/api/session/"+w.id+"/env", bad).refused(400, "VALIDATION")
	}
	worker{s, "nothere"}.api(http.MethodPost, "/api/env/set", `{"envVars":{"A":"x"}}`).refused(404, "SESSION_NOT_FOUND")
	worker{s, "nothere"}.api(http.MethodPost, "/api/execute", `{"command":"true"}`).refused(404, "SESSION_NOT_FOUND")
	w.post("/api/session/create", asJSON(body{"id": w.id})).refused(409, "SESSION_ALREADY_EXISTS")
	// The native route, with removals.
	n := s.in("env")
	for i := range 100 {
		n.post("/session/env/env", asJSON(body{"env": body{"N": fmt.Sprint(i, hard), fmt.Sprint("N", i): hard},
			"unset": []string{fmt.Sprint("N", (i+99)%100)}})).wants(200)
	}
	n.run(`printf %s "$N"`).is(0, fmt.Sprint(99, hard))
	n.run("printenv N98; printenv N99").is(0, hard+"\n")
}
