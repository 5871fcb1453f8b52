package tests

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestExecRefusals: what is wrong is refused with its status, code and a sentence
// that says where, and does nothing.
func TestExecRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	w := s.in("test")
	w.alive()
	_, named := s.newShell("test", body{"id": "named"})
	done := w.run("true").CommandID
	before := len(w.commands(""))
	const exec, shells = "/session/test/exec", "/session/test/shell"
	large := strings.Repeat("x", 9<<20)
	for _, r := range []struct {
		method, path, body string
		status             int
		code, words        string
	}{
		// Commands that are none.
		{"POST", exec, `{}`, 400, "VALIDATION", "command argv"},
		{"POST", exec, `{"command":"true","argv":["true"]}`, 400, "VALIDATION", "command argv"},
		{"POST", exec, `{"isolated":true}`, 400, "VALIDATION", "argv"},
		{"POST", exec, `{"isolated":true,"argv":[]}`, 400, "VALIDATION", "argv"},
		{"POST", exec, `{"command":"a\u0000b"}`, 400, "VALIDATION", "NUL"},
		{"POST", exec, `{"isolated":true,"argv":["a\u0000"]}`, 400, "VALIDATION", "NUL"},
		{"POST", exec, `{"command":"true","stdin":"a","stdin_b64":"YQ=="}`, 400, "VALIDATION", "stdin"},
		{"POST", exec, `{"command":"true","tty":true,"background":true}`, 400, "VALIDATION", "tty"},
		// Wrong types and unknown fields.
		{"POST", exec, `{"command":7}`, 400, "VALIDATION", "command"},
		{"POST", exec, `{"command":["true"]}`, 400, "VALIDATION", "command"},
		{"POST", exec, `{"command":"true","background":"yes"}`, 400, "VALIDATION", "background"},
		{"POST", exec, `{"command":"true","env":["A=b"]}`, 400, "VALIDATION", "env"},
		{"POST", exec, `{"command":"true","env":{"A":1}}`, 400, "VALIDATION", "env"},
		{"POST", exec, `{"command":"true","env":{"A":null}}`, 400, "VALIDATION", "null"},
		{"POST", exec, `{"command":"true","timeout_ms":1.5}`, 400, "VALIDATION", "timeout_ms"},
		{"POST", exec, `{"command":"true","timeout_ms":"1"}`, 400, "VALIDATION", "timeout_ms"},
		{"POST", exec, `{"command":"true","stdin_b64":"?"}`, 400, "VALIDATION", ""},
		{"POST", exec, `{"command":"true","shell":"dash"}`, 400, "VALIDATION", "shell"},
		{"POST", exec, `{"command":"true"`, 400, "VALIDATION", ""},
		{"POST", exec, `{"command":"true"}{}`, 400, "VALIDATION", ""},
		{"POST", exec, `[]`, 400, "VALIDATION", ""},
		// Numbers out of their range.
		{"POST", exec, `{"command":"true","timeout_ms":-1}`, 400, "VALIDATION", "timeout_ms -1"},
		{"POST", exec, `{"command":"true","timeout_ms":99999999999999}`, 400, "VALIDATION", "timeout_ms"},
		{"POST", exec, `{"command":"true","max_output_bytes":-5}`, 400, "VALIDATION", "max_output_bytes -5"},
		{"POST", shells, `{"command_timeout_ms":-1}`, 400, "VALIDATION", "command_timeout_ms"},
		{"POST", shells, `{"max_output_bytes":-1}`, 400, "VALIDATION", "max_output_bytes"},
		// Names of variables.
		{"POST", exec, `{"command":"true","env":{"1A":"x"}}`, 400, "VALIDATION", "1A"},
		{"POST", exec, `{"command":"true","env":{"A-B":"x"}}`, 400, "VALIDATION", "A-B"},
		{"POST", exec, `{"command":"true","env":{"":"x"}}`, 400, "VALIDATION", ""},
		{"POST", exec, `{"command":"true","env":{"A=B":"x"}}`, 400, "VALIDATION", "A=B"},
		{"POST", exec, `{"command":"true","env":{"Ä":"x"}}`, 400, "VALIDATION", ""},
		{"POST", exec, `{"command":"true","env":{"A$(id)":"x"}}`, 400, "VALIDATION", ""},
		{"POST", exec, `{"command":"true","env":{"A\n":"x"}}`, 400, "VALIDATION", ""},
		{"POST", exec, `{"command":"true","env":{"A":"\u0000"}}`, 400, "VALIDATION", "NUL"},
		{"POST", "/session/test/env", `{"env":{"A B":"x"}}`, 400, "VALIDATION", "A B"},
		{"POST", "/session/test/env", `{"unset":["A;B"]}`, 400, "VALIDATION", "A;B"},
		{"POST", "/session/test/env", `{"env":{"A":"\u0000"}}`, 400, "VALIDATION", "NUL"},
		{"POST", shells, `{"env":{"1A":"x"}}`, 400, "VALIDATION", "1A"},
		// Shells.
		{"POST", shells, `{"id":"named"}`, 409, "SESSION_ALREADY_EXISTS", "named"},
		{"POST", shells, `{"id":"../x"}`, 400, "VALIDATION", ""},
		{"POST", shells, `{"id":"a/b"}`, 400, "VALIDATION", ""},
		{"POST", shells, `{"id":"` + strings.Repeat("x", 300) + `"}`, 400, "VALIDATION", ""},
		{"GET", shells + "/nothere", ``, 404, "NOT_FOUND", "shell"},
		{"DELETE", shells + "/nothere", ``, 404, "NOT_FOUND", "shell"},
		{"POST", shells + "/nothere/exec", `{"command":"true"}`, 404, "NOT_FOUND", "shell"},
		{"POST", shells + "/nothere/exec/stream", `{"command":"true"}`, 404, "NOT_FOUND", "shell"},
		{"POST", shells + "/nothere/env", `{"env":{}}`, 404, "NOT_FOUND", "shell"},
		{"GET", "/session/another/shell/" + named, ``, 404, "NOT_FOUND", "shell"},
		{"POST", "/session/another/shell/" + named + "/exec", `{"command":"true"}`, 404, "NOT_FOUND", "shell"},
		// Commands.
		{"GET", "/session/test/commands/nothere", ``, 404, "NOT_FOUND", "command"},
		{"GET", "/session/test/commands/nothere/logs", ``, 404, "NOT_FOUND", "command"},
		{"DELETE", "/session/test/commands/nothere", ``, 404, "NOT_FOUND", "command"},
		{"POST", "/session/test/commands/nothere/input", `{"data":"x"}`, 404, "NOT_FOUND", "command"},
		{"GET", "/session/another/commands/" + done, ``, 404, "NOT_FOUND", "command"},
		{"GET", "/session/test/commands?limit=0", ``, 400, "VALIDATION", "limit"},
		{"GET", "/session/test/commands?limit=x", ``, 400, "VALIDATION", "limit"},
		{"GET", "/session/test/commands/" + done + "/logs?follow=maybe", ``, 400, "VALIDATION", "follow"},
		{"POST", "/session/test/commands/" + done + "/input", `{}`, 400, "VALIDATION", "data"},
		// Too large.
		{"POST", exec, `{"command":"` + large + `"}`, 413, "TOO_LARGE", "8388608"},
		{"POST", exec, `{"command":"true","stdin":"` + large + `"}`, 413, "TOO_LARGE", "8388608"},
		// The compatible calls.
		{"POST", "/api/execute", `{}`, 400, "VALIDATION", "command"},
		{"POST", "/api/execute", `{"command":7}`, 400, "VALIDATION", "command"},
		{"POST", "/api/session/delete", `{"sessionId":"nothere"}`, 404, "SESSION_NOT_FOUND", ""},
		{"POST", "/api/session/nothere/env", `{"envVars":{"A":"x"}}`, 404, "SESSION_NOT_FOUND", ""},
		{"GET", "/api/process/nothere", ``, 404, "PROCESS_NOT_FOUND", ""},
		{"DELETE", "/api/process/nothere", ``, 404, "PROCESS_NOT_FOUND", ""},
	} {
		s.call(r.method, r.path, r.body).refused(r.status, r.code, strings.Fields(r.words)...)
	}
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded"} {
		s.do(request{"POST", exec, `{"command":"true"}`, map[string]string{"Content-Type": media}}).refused(415,
			"UNSUPPORTED_MEDIA_TYPE", "application/json")
	}
	if after := len(w.commands("")); after != before {
		t.Errorf("there were %d commands and are %d", before, after)
	}
	if list := w.shells("test"); len(list) != 2 {
		t.Errorf("the shells are %+v", list)
	}
	if list := s.shells("another"); len(list) != 0 {
		t.Errorf("a refusal made a shell: %+v", list)
	}
	w.alive()
}

// TestExecOfOneCommandAlone: directory and environment of one command: an absent
// directory ends the command, not the request, and nothing of it stays.
func TestExecOfOneCommandAlone(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	w, dir := s.in("own"), t.TempDir()
	w.run("cd "+quote(dir)+"; export A=shell; mkdir inner").is(0, "")
	r := w.run("echo NOT", body{"cwd": "/no/such/directory"})
	if r.fails(1, "", "/no/such/directory"); r.Cwd != dir {
		t.Errorf("%+v", r)
	}
	w.run("pwd; echo $A $B", body{"cwd": "inner", "env": body{"A": "mine", "B": "too"}}).is(0, dir+"/inner\nmine too\n")
	w.run("pwd; echo $A ${B-none}").is(0, dir+"\nshell none\n")
	// What the command itself changes is kept, as in any other.
	w.run("x=kept; A=changed; cd /", body{"env": body{"B": "too"}})
	w.run("echo $x $A ${B-none}").is(0, "kept changed none\n")
	w.run("exit 4", body{"cwd": dir, "env": body{"B": "too"}}).is(4, "")
	w.run("echo $A ${B-none}").is(0, "changed none\n")
	// argv without a shell's meaning.
	w.with(body{"argv": []string{"printf", "%s|", "a b", "$A", "*", "'"}}).is(0, "a b|$A|*|'|")
	w.run("cat", body{"stdin_b64": "AP8K"}).is(0, "\x00\xff\n")
}

// TestExecRoles: who may only look runs nothing, and who has no credentials learns nothing.
func TestExecRoles(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	w := s.in("test")
	secret := w.run("echo secret").CommandID
	_, shell := s.newShell("test", body{})
	id := s.shell().ID
	var ticket struct{ Ticket string }
	const exec = `{"command":"touch /nothere/by-a-stranger"}`
	for _, role := range []string{"read", "write"} { // a terminal's ticket opens that terminal only
		s.post("/tickets", fmt.Sprintf(`{"pty":%q,"role":%q,"uses":1000}`, id, role)).wants(201).into(&ticket)
		for _, r := range [][3]string{
			{"POST", "/session/test/exec", exec}, {"POST", "/session/test/exec/stream", exec},
			{"POST", "/session/test/shell", `{}`}, {"GET", "/session/test/shell", ""},
			{"GET", "/session/test/shell/" + shell, ""}, {"DELETE", "/session/test/shell/" + shell, ""},
			{"DELETE", "/session/test/shell", ""}, {"POST", "/session/test/shell/" + shell + "/exec", exec},
			{"POST", "/session/test/env", `{"env":{"A":"x"}}`}, {"GET", "/session/test/commands", ""},
			{"GET", "/session/test/commands/" + secret, ""},
			{"GET", "/session/test/commands/" + secret + "/logs", ""},
			{"GET", "/session/test/commands/" + secret + "/logs?follow=1", ""},
			{"DELETE", "/session/test/commands/" + secret, ""},
			{"POST", "/session/test/commands/" + secret + "/input", `{"data":"x"}`}, {"POST", "/api/execute", exec},
			{"POST", "/api/execute/stream", exec}, {"POST", "/api/session/create", `{}`},
			{"GET", "/api/session/list", ""},
			{"POST", "/api/env/set", `{"envVars":{"A":"x"}}`}, {"POST", "/api/process/start", exec},
			{"GET", "/api/process/list", ""}, {"DELETE", "/api/process/kill-all", ""},
			{"POST", "/api/file/read", `{"path":"/etc/passwd"}`},
			{"POST", "/api/file/write", `{"path":"/nothere/x","content":"x"}`},
		} {
			method, path, text := r[0], r[1], r[2]
			join := "?"
			if strings.Contains(path, "?") {
				join = "&"
			}
			s.with(method, path, text).refused(401, "UNAUTHORIZED")
			s.with(method, path+join+"ticket="+ticket.Ticket, text).refused(401, "UNAUTHORIZED")
			if method != http.MethodGet {
				s.with(method, path, text, "Origin", "http://evil", "Authorization", s.bearer()).refused(403,
					"FORBIDDEN_ORIGIN")
			}
			s.with(method, path, text, "Host", "evil.com", "Authorization", s.bearer()).refused(403, "FORBIDDEN_HOST")
		}
	}
	if list := w.shells("test"); len(list) != 2 {
		t.Errorf("the shells are %+v", list)
	}
	w.run("cat /proc/self/environ; tr '\\0' '\\n' </proc/$$/environ; tr '\\0' '\\n' </proc/$PPID/cmdline")
	if out, _ := w.logs(w.commands("?limit=1")[0].CommandID); strings.Contains(out, s.token()) {
		t.Errorf("a command sees the token: %s", clip(out))
	}
	w.alive()
}

// TestAPIVersion: F-060.
func TestAPIVersion(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	w := s.in("test")
	for _, version := range []string{"", "1"} {
		r := s.with("POST", "/session/test/exec", `{"command":"echo spoken"}`, "X-Evertty-API", version).wants(200)
		if got := r.header.Get("X-Evertty-API"); got != "1" {
			t.Errorf("the reply says version %q", got)
		}
	}
	before := len(w.commands(""))
	for _, version := range []string{"999", "0", "2", "-1", "1.0", "x", "1, 2"} {
		for _, path := range []string{"/session/test/exec", "/api/execute"} {
			r := s.with("POST", path, `{"command":"echo NOT"}`, "X-Evertty-API", version)
			if r.refused(400, "UNSUPPORTED_API_VERSION"); !strings.Contains(r.body, "1") {
				t.Errorf("it does not say what it speaks: %s", r.body)
			}
		}
	}
	if after := len(w.commands("")); after != before {
		t.Errorf("a refused request ran: %d commands, then %d", before, after)
	}
}
