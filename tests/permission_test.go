package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// careful is a thread with permissions; at the end of the test they forbid nothing.
func (s *server) careful(id string, permissions object) *owner {
	s.t.Helper()
	o := s.thread(id)
	o.permit(permissions)
	s.t.Cleanup(func() {
		if s.running() {
			o.permit(object{"mode": "allow", "rules": object{}})
		}
	})
	return o
}

func (o *owner) permit(permissions object) {
	o.t.Helper()
	o.call(http.MethodPut, o.path+"/permissions", asJSON(permissions)).wants(200)
}

func rule(keys ...string) object {
	r := object{}
	for i := 0; i < len(keys); i += 2 {
		r[keys[i]] = keys[i+1]
	}
	return r
}

// asks wants a 423 and returns the id of the approval.
func (r reply) asks() string {
	r.t.Helper()
	r.refused(423, "NEEDS_APPROVAL", "approv")
	var e struct {
		Approval string `json:"approval_id"`
		Details  struct {
			Approval string `json:"approval_id"`
		} `json:"details"`
	}
	r.into(&e)
	if e.Approval == "" || e.Details.Approval != e.Approval {
		r.t.Fatalf("no approval in %s", r.body)
	}
	return e.Approval
}

func (o *owner) answer(approval, decision string) reply {
	o.t.Helper()
	return o.post(o.path+"/approvals/"+approval, asJSON(object{"decision": decision}))
}

// decisions are what the thread's events tell of decisions, as "deny exec rm -rf x".
func (o *owner) decisions() (list []string) {
	o.t.Helper()
	for _, e := range o.happened() {
		var d struct{ To, Source, Command string }
		o.must(json.Unmarshal(dataOf(e), &d))
		if e.Type == "permission.decided" {
			list = append(list, strings.TrimSpace(d.To+" "+d.Source+" "+d.Command))
		}
	}
	return list
}

// TestF122DeniedCommands: a deny rule holds in every way in which a command can be given, and everything else goes on.
func TestF122DeniedCommands(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.careful("one", object{"rules": object{"deny": []object{rule("tool", "exec", "contains", "rm -rf")}}})
	dir := t.TempDir()
	s.must(os.WriteFile(filepath.Join(dir, "kept"), nil, 0o600))
	command := "rm -rf " + dir
	for _, try := range []struct {
		path string
		body object
	}{
		{"/session/one/exec", object{"command": command}},
		{"/session/one/exec", object{"command": "rm  \\\n -rf  " + dir + "; rm\t-rf " + dir}},
		{"/session/one/exec", object{"command": ": " + strings.Repeat("x", 1000) + "; " + command}},
		{"/session/one/exec", object{"argv": []string{"rm", "-rf", dir}}},
		{"/session/one/exec", object{"argv": []string{"rm", "-rf", dir}, "isolated": true}},
		{"/session/one/exec", object{"command": command, "isolated": true}},
		{"/session/one/exec", object{"command": command, "tty": true}},
		{"/session/one/exec", object{"command": command, "background": true}},
		{"/session/one/exec", object{"command": "bash", "stdin": command}},
		{"/session/one/exec", object{"command": `eval "$DO"`, "env": object{"DO": command}}},
		{"/session/one/exec/stream", object{"command": command}},
		{"/session/one/exec/stream", object{"command": command, "tty": true}},
		{"/session/one/env", object{"env": object{"PROMPT_COMMAND": command}}},
		{"/session/one/pty", object{"cmd": []string{"rm", "-rf", dir}}},
		{"/session/one/pty", object{"cmd": []string{"bash", "-c", command}}},
		{"/session/one/pty", object{"cmd": []string{"bash", "-c", `eval "$DO"`}, "env": object{"DO": command}}},
		{"/session/one/shell", object{"env": object{"BASH_ENV": command}}},
		{"/api/execute", object{"command": command, "sessionId": "one"}},
		{"/api/execute/stream", object{"command": command, "sessionId": "one"}},
		{"/api/process/start", object{"command": command, "sessionId": "one"}},
		{"/api/session/create", object{"id": "one", "env": object{"BASH_ENV": command}}},
	} {
		s.post(try.path, asJSON(try.body)).refused(403, "DENIED", "rm -rf")
	}
	if shells := s.shells("one"); len(shells) != 0 {
		t.Errorf("what was denied has started %+v", shells)
	}
	if n := len(o.decisions()); n != 21 {
		t.Errorf("%d decisions are told: %q", n, o.decisions())
	}
	o.run("echo fine").is(0, "fine\n")
	s.in("other").run("rm -rf "+filepath.Join(dir, "none")).is(0, "") // another thread is not held
	if _, err := os.Stat(filepath.Join(dir, "kept")); err != nil {
		t.Error(err)
	}
	if last := o.decisions()[21:]; !slices.Equal(last, []string{"allow exec echo fine"}) {
		t.Errorf("%q", last)
	}
}

// TestF122ApprovalRunsOnce: a call that is asked about runs when it was approved, exactly once, whoever comes first and
// whatever has ended the server in between.
func TestF122ApprovalRunsOnce(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	o := s.careful("one", object{"rules": object{"ask": []object{rule("tool", "exec", "contains", "push")}}})
	o.run("echo fine").is(0, "fine\n")
	file := filepath.Join(t.TempDir(), "runs")
	call := body{"command": "echo push >> " + quote(file)}
	id := o.send(call).asks()
	if again := o.send(call).asks(); again != id {
		t.Errorf("the same call is asked about as %s and %s", id, again)
	}
	if n := sizeOf(file); n != 0 {
		t.Errorf("it ran before anybody was asked: %d", n)
	}
	var list struct {
		Approvals []struct {
			ID, Tool, Status string
			Arguments        object
		}
	}
	o.get(o.path + "/approvals?status=pending").wants(200).into(&list)
	if len(list.Approvals) != 1 || list.Approvals[0].ID != id || list.Approvals[0].Tool != "exec" ||
		list.Approvals[0].Arguments["command"] != call["command"] {
		t.Errorf("%+v", list)
	}
	s.kill()
	s.again()
	o.answer(id, "approve").wants(200)
	s.kill()
	s.again()
	var all sync.WaitGroup
	statuses := make([]int, 6)
	for i := range statuses {
		all.Go(func() { statuses[i] = o.send(call).status })
	}
	all.Wait()
	slices.Sort(statuses)
	if !slices.Equal(statuses, []int{200, 423, 423, 423, 423, 423}) || sizeOf(file) != int64(len("push\n")) {
		t.Errorf("statuses %v, the file has %d bytes", statuses, sizeOf(file))
	}
	next := o.send(call).asks()
	if next == id {
		t.Error("an approval was used twice")
	}
	o.answer(id, "approve").refused(409, "DECIDED")
	o.answer(next, "deny").wants(200)
	o.send(call).refused(403, "DENIED")
	o.send(body{"command": "echo push to another place >> " + quote(file)}).asks()
	if n := sizeOf(file); n != int64(len("push\n")) {
		t.Errorf("the file has %d bytes", n)
	}
}

// TestF122BadRules: rules that are not understood change nothing, and a server does not start with them.
func TestF122BadRules(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.careful("one", object{"rules": object{"deny": []object{rule("tool", "exec", "contains", "secret")}}})
	for _, bad := range []string{`{"rules":{"deny":[{}]}}`, `{"rules":{"deny":[{"command":"x"}]}}`,
		`{"rules":{"denied":[]}}`, `{"rules":[]}`, `{"rules":{"deny":{}}}`, `{"rules":"x"}`, `{"mode":"none"}`,
		`{"rules":{"deny":[{"contains":""}]}}`, `{"rules":{"deny":[{"tool":7}]}}`, `{"rules":{"deny":[],"deny":[]}}`,
		`{"rules":null,"mode":"none"}`,
		`{}`, `{"mode":"allow","rules":{"allow":[1]}}`} {
		s.call(http.MethodPut, o.path+"/permissions", bad).refused(400, "VALIDATION")
		o.send(body{"command": "echo secret"}).refused(403, "DENIED")
	}
	file := filepath.Join(t.TempDir(), "rules.json")
	for _, bad := range []string{`{"deny":[{"tool":"exec","regex":"x"}]}`, `{"Deny":[]}`, `{`, ``, `[]`,
		`{"deny":[]} x`, `{"deny":[null]}`} {
		s.must(os.WriteFile(file, []byte(bad), 0o600))
		dir := filepath.Join(t.TempDir(), "data")
		run(t, call(t, nil, "serve", "--listen", "127.0.0.1:0", "--data-dir", dir, "--permission-rules",
			file)).refuses(t, 2, "permission_rules", file)
		run(t, call(t, []string{"EVERTTY_PERMISSION_RULES=" + file}, "serve", "--listen", "127.0.0.1:0", "--data-dir",
			dir)).refuses(t, 2, "permission_rules", file)
	}
	run(t, call(t, nil, "serve", "--permission-rules", file+".none")).refuses(t, 2, "permission_rules", "no such file")
}

// TestF122ServerRules are for every thread, from the first command on, and no thread can lift them.
func TestF122ServerRules(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rules.json")
	if err := os.WriteFile(file, []byte(`{"deny":[{"tool":"exec","contains":"rm -rf"},{"tool":"write",`+
		`"path_contains":"/.ssh/"}],"ask":[{"contains":"deploy"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, launch{flags: []string{"--permission-rules", file}})
	o := s.thread("one")
	// This makes no thread that could tell of it.
	o.send(body{"command": "rm -rf /tmp/x"}).refused(403, "DENIED", "server")
	o.permit(object{"mode": "allow", "rules": object{"allow": []object{rule("tool", "exec")}}})
	o.send(body{"command": "rm -rf /tmp/x"}).refused(403, "DENIED", "server")
	o.send(body{"command": "echo deploy"}).asks()
	s.post("/api/file/write", `{"path":"/root/.ssh/authorized_keys","content":"x"}`).refused(403, "DENIED")
	s.post("/api/file/rename", `{"oldPath":"/tmp/x","newPath":"/root/.ssh/x"}`).refused(403, "DENIED")
	s.post("/api/file/write", `{"path":"/root/a/../.ssh/authorized_keys","content":"x"}`).refused(403, "DENIED")
	o.run("echo fine").is(0, "fine\n")
	want := []string{"deny exec rm -rf /tmp/x", "ask exec echo deploy", "allow exec echo fine"}
	if got := o.decisions(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestF123Precedence: deny rule, ask rule, allow rule, mode prompt, mode allow, level, and deny.
func TestF123Precedence(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.careful("one", object{"mode": "allow"})
	exec, other := []object{rule("tool", "exec")}, []object{rule("tool", "elsewhere")}
	for _, test := range []struct {
		mode     string
		rules    object
		tool     string
		decision string
		byRule   bool
	}{
		{"allow", object{"deny": exec}, "exec", "deny", true},
		{"danger-full-access", object{"deny": exec, "ask": exec, "allow": exec}, "exec", "deny", true},
		{"prompt", object{"deny": exec, "allow": exec}, "exec", "deny", true},
		{"allow", object{"ask": exec, "allow": exec}, "exec", "ask", true},
		{"danger-full-access", object{"ask": exec}, "exec", "ask", true},
		{"read-only", object{"ask": exec}, "exec", "ask", true},
		{"read-only", object{"allow": exec}, "exec", "allow", true},
		{"prompt", object{"allow": exec}, "exec", "allow", true},
		{"prompt", object{}, "exec", "ask", false},
		{"prompt", object{}, "read", "ask", false},
		{"prompt", object{"deny": other}, "exec", "ask", false},
		{"allow", object{}, "exec", "allow", false},
		{"allow", object{}, "mystery", "allow", false},
		{"read-only", object{}, "read", "allow", false},
		{"read-only", object{}, "exec", "deny", false},
		{"read-only", object{}, "input", "deny", false},
		{"read-only", object{}, "mystery", "deny", false},
		{"workspace-write", object{}, "exec", "allow", false},
		{"workspace-write", object{}, "kill", "allow", false},
		{"workspace-write", object{}, "lease.destroy", "deny", false},
		{"workspace-write", object{}, "mystery", "deny", false},
		{"workspace-write", object{"allow": other}, "mystery", "deny", false},
		{"danger-full-access", object{}, "mystery", "allow", false},
		{"danger-full-access", object{}, "lease.destroy", "allow", false},
	} {
		o.permit(object{"mode": test.mode, "rules": test.rules})
		var d struct {
			Decision, Reason string
			Rule             object
		}
		o.post(o.path+"/authorize", asJSON(object{"tool": test.tool,
			"arguments": object{"command": "ls"}})).wants(200).into(&d)
		if d.Decision != test.decision || (d.Rule != nil) != test.byRule || d.Reason == "" {
			t.Errorf("mode %s, rules %s, tool %s: %+v, want %s", test.mode, asJSON(test.rules), test.tool, d,
				test.decision)
		}
	}
	if n := len(o.decisions()); n != 20 { // five of them are one question
		t.Errorf("%d decisions are told: %q", n, o.decisions())
	}
}

// TestModeOfTheState: the permission mode in a record's state is the thread's, over a SIGKILL too.
func TestModeOfTheState(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o, n := s.thread("one"), s.notebook("one")
	o.run("true")
	n.patch(object{"permission_mode": "read-only", "permission_rule_counts": object{"allow": 2, "deny": 1, "ask": 4}})
	holds(t, "the permissions", n.read("/permissions"), object{"mode": "read-only"})
	s.kill()
	s.again()
	o.send(body{"command": "true"}).refused(403, "DENIED", "read-only")
	holds(t, "the state", n.read("/state"),
		object{"permission_mode": "read-only", "permission_rule_counts": object{"allow": 2, "deny": 1, "ask": 4}})
	n.patch(object{"permission_mode": nil})
	o.run("true").is(0, "")
	holds(t, "the permissions", n.read("/permissions"), object{"mode": "workspace-write"})
	n.call(http.MethodPatch, n.path+"/state", `{"permission_mode":"everything"}`).refused(400, "VALIDATION",
		"everything")
}

// TestF124ReadOnly: nothing may be done and everything be seen, live too.
func TestF124ReadOnly(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.thread("one")
	o.run("true")
	id := s.createIn("one", "sh", "-c",
		"i=0; while :; do i=$((i+1)); echo line $i; read -t 0.2 x && echo got $x; done").ID
	s.await(id, "line 3$")
	o = s.careful("one", object{"mode": "read-only"})
	pty := "/session/one/pty/" + id
	o.send(body{"command": "true"}).refused(403, "DENIED", "read-only", "workspace-write")
	for path, b := range map[string]string{"/input": `{"data":"x\n"}`, "/keys": `{"keys":["Enter"]}`,
		"/paste": `{"data":"x\n"}`, "/signal": `{"signal":"KILL"}`, "/resize": `{"cols":100,"rows":30}`} {
		s.post(pty+path, b).refused(403, "DENIED")
		s.post("/pty/"+id+path, b).refused(403, "DENIED")
	}
	s.call(http.MethodDelete, pty, "").refused(403, "DENIED")
	s.call(http.MethodDelete, o.path, "").refused(403, "DENIED")
	s.post("/session/one/pty", `{}`).refused(403, "DENIED")
	for _, path := range []string{pty, pty + "/snapshot", pty + "/snapshot?format=html", pty + "/recording",
		"/session/one/pty", o.path, o.path + "/events?format=json", o.path + "/permissions", "/session/one/commands"} {
		s.get(path).wants(200)
	}
	for _, kind := range transports {
		v := s.watch(kind, id)
		from := v.seq
		v.until("output goes on", func() bool { return v.seq > from })
	}
	if text := s.text(id); strings.Contains(text, "got") {
		t.Errorf("something was typed:\n%s", text)
	}
	if i := s.info(id); i.State != "running" || i.Cols != 80 {
		t.Errorf("%+v", i)
	}
}

// TestPermissionsOfSockets: what comes over WebSockets is held like requests; the viewer is told, the stream goes on,
// and the thread's events say it once for each connection.
func TestPermissionsOfSockets(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.createIn("one", "cat").ID
	o := s.careful("one", object{"mode": "read-only"})
	for _, path := range []string{"/session/one/pty/" + id + "/ws", "/pty/" + id + "/ws?format=binary", "/ws",
		"/pty/" + id + "/ws?ticket=" + s.writeTicket(id)} {
		before := len(o.decisions())
		j := s.socket(path, id)
		for range 3 {
			j.types(path, id, "denied\r")
			if code := j.refusal(); code != "DENIED" {
				t.Errorf("%s: %s", path, code)
			}
		}
		j.resizes(path, id, 100)
		if got := o.decisions()[before:]; !slices.Equal(got, []string{"deny input"}) {
			t.Errorf("%s: the events tell %q", path, got)
		}
		o.permit(object{"mode": "workspace-write", "rules": object{"deny": []object{rule("contains", "secret")}}})
		j.types(path, id, "seen"+fmt.Sprint(before)+"\r")
		s.await(id, "^seen"+fmt.Sprint(before)+"$")
		j.types(path, id, "secret\r")
		if code := j.refusal(); code != "DENIED" {
			t.Errorf("%s: %s", path, code)
		}
		if got := o.decisions()[before:]; !slices.Equal(got, []string{"deny input", "allow input"}) {
			t.Errorf("%s: the events tell %q", path, got)
		}
		o.permit(object{"mode": "read-only", "rules": object{}})
		_ = j.conn.Close()
	}
	if text := s.text(id); strings.Contains(text, "denied") || strings.Contains(text, "secret") ||
		s.info(id).Cols != 80 {
		t.Errorf("a denied message had an effect:\n%s", text)
	}
	if log := asJSON(o.happened()); strings.Contains(log, "secret\\r") || strings.Contains(log, "seen") {
		t.Errorf("the events tell what was typed: %s", log)
	}
}

// TestPermissionsAskTypists: where permissions ask, one connection types when somebody has approved that the terminal
// is typed into, and the next one asks again.
func TestPermissionsAskTypists(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.createIn("one", "cat").ID
	o := s.careful("one", object{"rules": object{"ask": []object{rule("tool", "input")}}})
	path := "/pty/" + id + "/ws"
	first, second := s.socket(path, id), s.socket(path, id)
	for range 2 {
		first.types(path, id, "too early\r")
		if code := first.refusal(); code != "NEEDS_APPROVAL" {
			t.Error(code)
		}
	}
	var list struct {
		Approvals []struct {
			ID        string
			Arguments object
		}
	}
	o.get(o.path + "/approvals").wants(200).into(&list)
	if len(list.Approvals) != 1 || list.Approvals[0].Arguments["terminal"] != id ||
		len(list.Approvals[0].Arguments) != 1 {
		t.Fatalf("%+v", list)
	}
	o.answer(list.Approvals[0].ID, "approve").wants(200)
	for n := range 2 {
		first.types(path, id, fmt.Sprintf("typed %d\r", n))
		s.await(id, fmt.Sprintf("^typed %d$", n))
	}
	second.types(path, id, "not approved\r")
	if code := second.refusal(); code != "NEEDS_APPROVAL" {
		t.Error(code)
	}
	s.post("/pty/"+id+"/input", `{"data":"by request\r"}`).asks()
	o.permit(object{"mode": "read-only", "rules": object{}})
	first.types(path, id, "too late\r")
	if code := first.refusal(); code != "DENIED" {
		t.Error(code)
	}
	if text := s.text(id); strings.Contains(text, "too") || strings.Contains(text, "not approved") ||
		strings.Contains(text, "by request") {
		t.Errorf("the terminal was typed into:\n%s", text)
	}
}

// TestWithoutPermissionsNothingIsTold: where nobody has set any, nothing is decided.
func TestWithoutPermissionsNothingIsTold(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.thread("one")
	o.run("rm -rf /tmp/none")
	id := s.createIn("one", "cat").ID
	s.input(id, "x\r")
	if n := o.times("permission."); n != 0 || len(o.decisions()) != 0 {
		t.Errorf("%s", asJSON(o.happened()))
	}
	var p struct {
		Mode   string
		Active bool
	}
	if o.get(o.path + "/permissions").wants(200).into(&p); p.Mode != "workspace-write" || p.Active {
		t.Errorf("%+v", p)
	}
	s.get("/api/threads/absent/permissions").refused(404, "NOT_FOUND")
}

// TestPermissionsGoWithTheirThread: a thread that is made again under an old name is free.
func TestPermissionsGoWithTheirThread(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.careful("one", object{"mode": "allow", "rules": object{"deny": []object{rule("contains", "x")}}})
	o.send(body{"command": "echo x"}).refused(403, "DENIED")
	s.call(http.MethodDelete, o.path, "").wants(200)
	o.run("echo x").is(0, "x\n")
}

// createIn starts a terminal of a session.
func (s *server) createIn(session string, cmd ...string) client.Terminal {
	s.t.Helper()
	i, err := s.Create(s.ctx(), session, wire.CreateTerminal{Cmd: cmd, Cols: new(80), Rows: new(24)})
	s.must(err)
	return i
}

// writeTicket is a ticket to type into a terminal.
func (s *server) writeTicket(id string) string {
	s.t.Helper()
	var made struct{ Ticket string }
	s.post("/tickets", asJSON(object{"pty": id, "role": "write"})).wants(201).into(&made)
	return made.Ticket
}

// TestPermissionsOutliveTheDatabase: a server that cannot read its database holds what was set, lets everything else go
// on, and asks nobody.
func TestPermissionsOutliveTheDatabase(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), errors: true})
	o := s.thread("one")
	o.permit(object{"rules": object{"deny": []object{rule("contains", "secret")},
		"ask": []object{rule("contains", "push")}}})
	o.send(body{"command": "echo secret"}).refused(403, "DENIED")
	s.stop()
	s.must(os.WriteFile(s.file("evertty.db"), []byte(strings.Repeat("not a database ", 1000)), 0o600))
	s.again()
	o.send(body{"command": "echo secret"}).refused(403, "DENIED")
	o.send(body{"command": "echo push"}).refused(403, "DENIED", "nobody can be asked")
	o.run("echo fine").is(0, "fine\n")
	s.in("other").run("echo secret").is(0, "secret\n")
	s.call(http.MethodPut, o.path+"/permissions", `{"mode":"allow"}`).refused(503, "NO_RECORDS")
	s.stop()
	s.must(os.WriteFile(s.file("permissions.json"), []byte("{"), 0o600))
	s.again()
	s.in("other").send(body{"command": "true"}).refused(403, "DENIED", "cannot be read")
	s.get("/pty").wants(200)
	s.must(os.Remove(s.file("permissions.json")))
	s.stop()
	s.again() // so that the end of the test may end what runs
}

// talker is a WebSocket to a terminal, of its own or of a page.
type talker struct {
	*jsonSocket
	t testing.TB
}

func (s *server) socket(path, id string) talker {
	s.t.Helper()
	j, err := s.dialJSON(s.t.Context(), path)
	s.must(err)
	s.t.Cleanup(func() { _ = j.Close() })
	if path == "/ws" {
		s.must(j.send(object{"type": "attach", "pty": id}))
	}
	return talker{j, s.t}
}

func (j talker) types(path, id, text string) {
	j.t.Helper()
	var err error
	if strings.Contains(path, "binary") {
		err = j.conn.WriteMessage(websocket.BinaryMessage, append([]byte{0}, text...))
	} else {
		err = j.send(object{"type": "input", "pty": id, "data": text})
	}
	if err != nil {
		j.t.Fatal(err)
	}
}

// resizes asks for another size and waits until the server has seen it.
func (j talker) resizes(path, id string, cols int) {
	j.t.Helper()
	for _, message := range []object{{"type": "resize", "pty": id, "cols": cols, "rows": 40},
		{"type": "ping", "t": 1}} {
		b := []byte(asJSON(message))
		kind := websocket.TextMessage
		if strings.Contains(path, "binary") {
			kind, b = websocket.BinaryMessage, append([]byte{3}, b...)
		}
		if err := j.conn.WriteMessage(kind, b); err != nil {
			j.t.Fatal(err)
		}
	}
	j.control("pong")
}

// refusal is the code of the next error.
func (j talker) refusal() string {
	j.t.Helper()
	code, _ := j.control(client.KindError).Code.(string)
	return code
}

// control is the next message of a kind.
func (j talker) control(kind client.Kind) (f frame) {
	j.t.Helper()
	if err := j.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		j.t.Fatal(err)
	}
	for f.Event != kind {
		f = frame{}
		_, b, err := j.conn.ReadMessage()
		if err != nil {
			j.t.Fatalf("waiting for %s: %v", kind, err)
		}
		if len(b) > 0 && b[0] == 3 {
			b = b[1:]
		}
		_ = json.Unmarshal(b, &f) // frames of output are not JSON
	}
	return f
}
