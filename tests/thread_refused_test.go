package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// threads are the names of all threads.
func (s *server) threads() (names []string) {
	s.t.Helper()
	var list struct {
		Threads []struct {
			ID string `json:"thread_id"`
		}
	}
	s.get("/api/threads").wants(200).into(&list)
	for _, th := range list.Threads {
		names = append(names, th.ID)
	}
	return names
}

// TestRefusalsMakeNothing: neither a read nor a request that is refused makes a thread or anything of one.
func TestRefusalsMakeNothing(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for n, r := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/api/threads/NEW/messages", `{"role":"nobody","content":"x"}`, 400},
		{"POST", "/api/threads/NEW/messages", `{"messages":[]}`, 400},
		{"POST", "/api/threads/NEW/timeline", `{"kind":5}`, 400},
		{"PATCH", "/api/threads/NEW/state", `{"no_such_field":1}`, 400},
		{"PATCH", "/api/threads/NEW/state", `{"permission_mode":"never"}`, 400},
		{"POST", "/api/threads/NEW/prompts", `{"content":""}`, 400},
		{"POST", "/api/threads/NEW/turns", `{"iterations":-1}`, 400},
		{"POST", "/api/threads/NEW/turns", `{"usage":{"input_tokens":"many"}}`, 400},
		{"POST", "/api/threads/NEW/steer", `{"message":""}`, 400},
		{"PUT", "/api/threads/NEW/record", `[]`, 400},
		{"PUT", "/api/threads/NEW/permissions", `{"mode":"never"}`, 400},
		{"POST", "/api/threads/NEW/attach", `{"owner_type":"harness"}`, 404},
		{"POST", "/api/threads/NEW/clear", ``, 404},
		{"POST", "/api/threads/NEW/compact", `{}`, 404},
		{"POST", "/api/threads/NEW/touch", ``, 404},
		{"POST", "/api/threads/NEW/pause", ``, 404},
		{"POST", "/api/threads/NEW/resume", ``, 404},
		{"POST", "/api/threads/NEW/steer/drain", ``, 404},
		{"POST", "/api/threads", `{"id":"NEW","sandbox":"nowhere"}`, 400},
		{"POST", "/api/threads", `{"id":"NEW","lease_id":"nowhere"}`, 404},
		{"POST", "/api/threads", `{"id":"NEW","policy":{"idle_seconds":-1}}`, 400},
		{"POST", "/session/NEW/exec", `{"command":"true","env":{"A B":"x"}}`, 400},
		{"POST", "/session/NEW/exec", `{"command":"true","cwd":"a\u0000b"}`, 400},
		{"POST", "/session/NEW/exec", `{"isolated":true,"argv":[""]}`, 400},
		{"POST", "/session/NEW/exec", `{"command":"true","timeout_ms":-1}`, 400},
		{"POST", "/session/NEW/env", `{"env":{"A B":"x"}}`, 400},
		{"POST", "/session/NEW/env", `{"unset":["A=B"]}`, 400},
		{"POST", "/session/NEW/shell", `{"env":{"A B":"x"}}`, 400},
		{"POST", "/session/NEW/shell", `{"cwd":"relative"}`, 400},
		{"POST", "/session/NEW/pty", `{"cmd":[]}`, 400},
		{"POST", "/session/NEW/pty", `{"cmd":["/no/such/program"]}`, 400},
		{"POST", "/session/NEW/pty", `{"cwd":"/no/such/directory"}`, 400},
		{"POST", "/session/NEW/pty", `{"cols":0}`, 400},
		{"POST", "/session/NEW/shell/none/exec", `{"command":"true"}`, 404},
		{"GET", "/api/threads/NEW", ``, 404},
		{"GET", "/api/threads/NEW/record", ``, 404},
		{"GET", "/api/threads/NEW/steer", ``, 404},
		{"GET", "/session/NEW/shell", ``, 200},
		{"GET", "/session/NEW/pty", ``, 200},
		{"GET", "/session/NEW/commands", ``, 200},
	} {
		name := fmt.Sprintf("new-%d", n)
		path, text := strings.ReplaceAll(r.path, "NEW", name), strings.ReplaceAll(r.body, "NEW", name)
		if got := s.call(r.method, path, text); got.status != r.status {
			t.Errorf("%s %s %s: %d %s, want %d", r.method, path, text, got.status, clip(got.body), r.status)
		}
	}
	if names := s.threads(); len(names) > 0 {
		t.Errorf("there are threads: %v", names)
	}
	if list := s.shells(""); len(list) > 0 {
		t.Errorf("there are shells: %v", list)
	}
	s.post("/api/threads/real/messages", `{"role":"user","content":"x"}`).wants(201)
	if names := s.threads(); !slices.Equal(names, []string{"real"}) {
		t.Errorf("after one that was accepted: %v", names)
	}
}

// TestUnwrittenIsEmpty: what nobody has written to a thread is there and empty.
func TestUnwrittenIsEmpty(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	s.thread("t").run("true")
	for path, list := range map[string]string{
		"messages": "messages", "timeline": "timeline", "trace": "completion_trace", "prompts": "prompts",
		"turns": "turns", "compactions": "compactions",
		"records": "records", "approvals": "approvals", "steer": "messages",
	} {
		var fields map[string]json.RawMessage
		s.get("/api/threads/t/" + path).wants(200).into(&fields)
		if string(fields[list]) != "[]" {
			t.Errorf("%s: %s is %s", path, list, fields[list])
		}
		s.get("/api/threads/absent/"+path).refused(404, "NOT_FOUND")
	}
	for path, want := range map[string]map[string]string{
		"record": {"session_id": "null", "created_at": "null", "messages": "[]", "current_task": "null"},
		"state":  {"current_task": "null", "workflow_mode": `"execute"`},
		"ledger": {"assumptions": "[]"},
		"usage":  {"turns": "0"},
	} {
		var fields map[string]json.RawMessage
		s.get("/api/threads/t/" + path).wants(200).into(&fields)
		for name, v := range want {
			if string(fields[name]) != v {
				t.Errorf("%s: %s is %s, want %s", path, name, fields[name], v)
			}
		}
		s.get("/api/threads/absent/"+path).refused(404, "NOT_FOUND")
	}
	s.get("/api/threads/t/record?record=20200101T000000Z-00000000").refused(404, "NOT_FOUND")
	s.post("/api/threads/t/steer/drain", "").wants(200)
	var records struct{ Records []any }
	if s.get("/api/threads/t/records").wants(200).into(&records); len(records.Records) != 0 {
		t.Errorf("looking has made %v", records)
	}
}

// TestSmallPromises: what requests about threads say where they said something else before.
func TestSmallPromises(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.thread("t")
	o.run("true")
	var refusal struct{ Details struct{ Providers []string } }
	for path, text := range map[string]string{"/api/threads": `{"sandbox":"e2b"}`,
		"/api/leases": `{"provider_name":"e2b"}`} {
		r := s.post(path, text)
		r.refused(400, "VALIDATION", "e2b", "local")
		if r.into(&refusal); !slices.Contains(refusal.Details.Providers, "local") {
			t.Errorf("%s: %s", path, r.body)
		}
	}
	s.get("/api/leases?provider=e2b").refused(400, "VALIDATION", "local")
	s.get("/api/threads/t/approvals?status=zzz").refused(400, "VALIDATION", "zzz", "pending")
	s.post("/api/threads", `{"id":"latest"}`).refused(400, "VALIDATION", "latest")
	s.post("/session/latest/exec", `{"command":"true"}`).refused(400, "VALIDATION", "latest")
	s.post("/session/latest/pty", `{"cmd":["cat"]}`).refused(400, "VALIDATION", "latest")
	s.post("/api/threads/latest/messages", `{"role":"user","content":"x"}`).refused(400, "VALIDATION", "latest")
	for _, call := range []string{"touch", "pause", "resume", "sandbox/pause", "sandbox/resume", "clear",
		"steer/drain"} {
		s.post("/api/threads/t/"+call, `{"a":`).refused(400, "VALIDATION", "line 1")
		s.post("/api/threads/t/"+call, `{"a":1}`).refused(400, "VALIDATION", `"a"`)
		s.post("/api/threads/t/"+call, `{}`)
	}
	s.call(http.MethodDelete, "/api/threads/t", `{"purge":true}`).refused(400, "VALIDATION", "purge")
	for n := range 120 {
		s.post("/api/threads/t/messages", fmt.Sprintf(`{"role":"user","content":"%d"}`, n)).wants(201)
	}
	var th struct {
		Messages []json.RawMessage
		Omitted  int `json:"messages_omitted"`
	}
	if s.get("/api/threads/t").wants(200).into(&th); len(th.Messages) != 100 || th.Omitted != 20 {
		t.Errorf("%d messages, %d omitted", len(th.Messages), th.Omitted)
	}
	s.post("/api/threads/t/steer", `{"message":"left"}`).wants(201)
	for range 2 {
		var mail struct{ Messages []struct{ Message string } }
		if s.get("/api/threads/t/steer").wants(200).into(&mail); len(mail.Messages) != 1 ||
			mail.Messages[0].Message != "left" {
			t.Errorf("the mail is %v", mail)
		}
	}
}

// TestRollbackWhereNothingIs: a version whose directory is gone says so, and where the shell is.
func TestRollbackWhereNothingIs(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.thread("t")
	gone := filepath.Join(t.TempDir(), "a", "b")
	s.must(os.MkdirAll(gone, 0o700))
	o.run("cd " + quote(gone))
	version := o.reaches(gone).Version
	o.run("cd /")
	o.reaches("/")
	above := filepath.Dir(gone)
	s.must(os.Remove(gone))
	var back struct {
		Applied     string
		Cwd         string
		CwdFallback string `json:"cwd_fallback"`
	}
	s.post(o.path+"/terminals/"+o.terminal().TerminalID+"/rollback",
		fmt.Sprintf(`{"version":%d}`, version)).wants(200).into(&back)
	if back.CwdFallback != gone || back.Cwd != above || back.Applied != "now" {
		t.Errorf("%+v, want %s instead of %s", back, above, gone)
	}
	o.run("pwd").is(0, above+"\n")
}

// TestLeasePages: lists of leases have an end, and the next part begins behind it.
func TestLeasePages(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	var made []string
	for n := range 7 {
		made = append(made, fmt.Sprintf("lease-%d", 9-n))
		s.post("/api/leases", fmt.Sprintf(`{"id":%q}`, made[n])).wants(201)
	}
	for path, list := range map[string]string{"/api/leases": "leases", "/api/sandbox/sessions": "sessions"} {
		var got []string
		parts := 0
		for after := ""; ; parts++ {
			var page map[string]json.RawMessage
			s.get(path + "?limit=3&after=" + after).wants(200).into(&page)
			var rows []struct {
				ID string `json:"lease_id"`
			}
			s.must(json.Unmarshal(page[list], &rows))
			for _, r := range rows {
				got = append(got, r.ID)
			}
			if len(rows) > 3 {
				t.Fatalf("%s: %d rows", path, len(rows))
			}
			after = ""
			if page["next"] == nil {
				break
			}
			s.must(json.Unmarshal(page["next"], &after))
		}
		if !slices.Equal(got, made) || parts != 2 {
			t.Errorf("%s: %v in %d parts, want %v", path, got, parts+1, made)
		}
		s.get(path+"?limit=0").refused(400, "VALIDATION")
		s.get(path+"?after=none").refused(404, "NOT_FOUND")
	}
	if list, err := s.Leases(s.ctx(), ""); err != nil || len(list) != 7 {
		t.Errorf("%d leases, %v", len(list), err)
	}
}

// TestWhyACommandWasEnded: who waits for a command that the end of its session takes along is told why, and so is who
// looks later.
func TestWhyACommandWasEnded(t *testing.T) {
	t.Parallel()
	for _, how := range []body{{}, {"isolated": true, "argv": []string{"sleep", "1000"}}} {
		s := start(t, launch{})
		o := s.made("t", `{"max_seconds":2}`)
		b := body{"command": "sleep 1000"}
		if how["argv"] != nil {
			b = how
		}
		var r struct {
			result
			Reason string
		}
		s.post("/session/t/exec", asJSON(b)).wants(200).into(&r)
		if r.Reason != "max_duration" || r.Success {
			t.Errorf("%s: %+v", asJSON(b), r)
		}
		var p struct{ Reason string }
		if s.get("/session/t/commands/" + r.CommandID).wants(200).into(&p); p.Reason != "max_duration" {
			t.Errorf("alone: %+v", p)
		}
		var list struct{ Commands []struct{ Reason string } }
		eventually(t, "the records have it", func() bool {
			s.get(o.path + "/commands").wants(200).into(&list)
			return len(list.Commands) == 1 && list.Commands[0].Reason == "max_duration"
		})
	}
}

// TestExecTellsWhyItEnded: the command line says in words what the reply has as a word.
func TestExecTellsWhyItEnded(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	s.made("t", `{"max_seconds":2}`)
	cmd := s.command("exec", "--data-dir", s.how.dir, "-s", "t", "-c", "sleep 1000")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "max_seconds") {
		t.Errorf("%v: %s", err, out)
	}
}
