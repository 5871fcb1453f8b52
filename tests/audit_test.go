package tests

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// auditEntry is a line of the audit log.
type auditEntry struct {
	At                              time.Time
	Who, From, What, Target, Result string
}

// audited are the lines of a file so far.
func (s *server) audited(name string) (list []auditEntry) {
	s.t.Helper()
	f, err := os.Open(s.file(name))
	s.must(err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e auditEntry
		decoder := json.NewDecoder(strings.NewReader(lines.Text()))
		decoder.DisallowUnknownFields()
		s.must(decoder.Decode(&e))
		list = append(list, e)
	}
	return list
}

// TestAuditLog: security rows D23, D24. Who made, restarted, signalled and ended what, and who was refused, by HTTP,
// WebSocket and the command line, a line each; never content.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	auth := map[string]string{"Authorization": s.bearer(), "Content-Type": "application/json"}
	do := func(method, path, body string) reply {
		return s.do(request{method, path, body, auth})
	}
	var made struct{ ID, Ticket string }
	do("POST", "/session/audit/pty", `{"name":"one","cmd":["cat"],"env":{"NOTE":"content-7"}}`).wants(201).into(&made)
	id := made.ID
	do("POST", "/pty/one/input", `{"data":"content-7\n"}`).wants(200)
	do("POST", "/pty/one/signal", `{"signal":"WINCH"}`).wants(200)
	do("POST", "/pty/one/signal", `{"signal":"KILL"}`).wants(200)
	s.exit(id)
	do("POST", "/pty/one/restart", `{}`).wants(200)
	do("POST", "/session/audit/pty", `{"name":"one"}`).wants(409)
	do("POST", "/tickets", `{"pty":"one","ttl_s":3600,"uses":9}`).wants(201).into(&made)
	ticket := "?ticket=" + made.Ticket
	do("POST", "/session/audit/shell", `{"id":"sh"}`).wants(201)
	s.book.add("audit")
	do("POST", "/session/audit/shell/sh/exec", `{"command":"echo content-7"}`).wants(200)
	do("DELETE", "/session/audit/shell/sh", "").wants(200)
	do("POST", "/api/threads", `{"id":"th"}`).wants(201)
	s.do(request{"GET", "/pty", "", nil}).wants(401)
	s.do(request{"POST", "/session/audit/pty", `{}`,
		map[string]string{"Authorization": "Bearer wrong-content-7", "Content-Type": "application/json"}}).wants(401)
	s.do(request{"GET", "/pty", "", map[string]string{"Host": "evil.example"}}).wants(403)
	s.do(request{strings.Repeat("M", 2000), "/pty?" + strings.Repeat("<", 2000), "", nil}).wants(401)
	j, err := s.dialWith(s.ctx(), &websocket.Dialer{}, "/pty/"+id+"/ws"+ticket, http.Header{})
	s.must(err)
	s.must(j.send(object{"type": "input", "data": "content-7"}))
	talker{j, t}.refusal()
	_ = j.Close()
	if out := run(t, s.cli("kill", "one")); out.code != 0 {
		t.Fatalf("%+v", out)
	}
	want := []auditEntry{
		{Who: "token", What: "terminal.create", Target: id, Result: "ok"},
		{Who: "token", What: "terminal.signal", Target: id, Result: "ok"},
		{Who: "token", What: "terminal.signal", Target: id, Result: "ok"},
		{Who: "token", What: "terminal.restart", Target: id, Result: "ok"},
		{Who: "token", What: "terminal.create", Target: "audit", Result: "NAME_TAKEN"},
		{Who: "token", What: "ticket.create", Target: id, Result: "ok"},
		{Who: "token", What: "shell.create", Target: "audit/sh", Result: "ok"},
		{Who: "token", What: "command.run", Target: "audit/sh", Result: "ok"},
		{Who: "token", What: "shell.delete", Target: "audit/sh", Result: "ok"},
		{Who: "token", What: "thread.create", Target: "th", Result: "ok"},
		{Who: "token", What: "terminal.delete", Target: id, Result: "ok"},
	}
	refused := []auditEntry{
		{Who: "nobody", What: "refused", Target: "GET /pty", Result: "UNAUTHORIZED"},
		{Who: "nobody", What: "refused", Target: "POST /session/audit/pty", Result: "UNAUTHORIZED"},
		{Who: "nobody", What: "refused", Target: "GET /pty", Result: "FORBIDDEN_HOST"},
		{Who: "nobody", What: "refused", Target: strings.Repeat("M", 13) + "… /pty?" + strings.Repeat("<", 195) + "…",
			Result: "UNAUTHORIZED"},
		{Who: "ticket", What: "refused", Target: "WebSocket /pty/" + id + "/ws?ticket=REDACTED", Result: "READ_ONLY"},
	}
	want = append(want, refused...)
	got := append(s.audited("audit.log"), s.audited("audit.refused.log")...)
	for i, e := range got {
		if time.Since(e.At) > patience || e.From == "" {
			t.Errorf("%+v", e)
		}
		e.At, e.From = time.Time{}, ""
		if i >= len(want) || e != want[i] {
			t.Errorf("line %d is %+v", i+1, e)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
	read := func() string { return string(s.readFile("audit.log")) + string(s.readFile("audit.refused.log")) }
	text := read()
	if strings.Contains(text, "content-7") || strings.Contains(text, s.token()) || strings.Contains(text, made.Ticket) {
		t.Errorf("content:\n%s", text)
	}
	for _, name := range []string{"audit.log", "audit.refused.log"} {
		if info, err := os.Stat(s.file(name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
	}
	s.kill() // nothing of it was only in memory
	if again := read(); again != text {
		t.Errorf("after a kill:\n%s", again)
	}
	s.again()
}
