package tests

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	_ "modernc.org/sqlite"
)

// TestF104Steering: what is left is taken once, in order.
func TestF104Steering(t *testing.T) {
	t.Parallel()
	n := start(t, launch{}).notebook("one")
	for _, text := range []string{"first", "second"} {
		n.send(http.MethodPost, "/steer", object{"message": text}, http.StatusCreated)
	}
	n.kill()
	n.again()
	holds(t, "drained", n.send(http.MethodPost, "/steer/drain", object{}, http.StatusOK),
		object{"messages": []string{"first", "second"}})
	holds(t, "drained again", n.send(http.MethodPost, "/steer/drain", object{}, http.StatusOK),
		object{"messages": []string{}})
}

// TestF107NothingIsLost: after three compactions every message is there as it was, and what the first summary said is
// in the newest.
func TestF107NothingIsLost(t *testing.T) {
	t.Parallel()
	n := start(t, launch{}).notebook("one")
	var all []string
	say := func(role, text string) {
		all = append(all, text)
		n.say(role, text)
	}
	say("user", "Audit the runtime in cmd/audit.go")
	for round := range 3 {
		for i := range 6 {
			say([]string{"assistant", "user"}[i%2],
				fmt.Sprintf("round %d, message %d, with\nlines,  spaces and \"quotes\" …", round, i))
		}
		holds(t, "the compaction", n.send(http.MethodPost, "/compact", object{"threshold": 1, "keep_last": 2},
			http.StatusOK), object{"compacted": true, "count": round + 1})
	}
	n.kill()
	n.again()
	if said := n.said("/messages?archived=1"); !slices.Equal(said, all) {
		t.Errorf("of %d messages there are %d: %q", len(all), len(said), said)
	}
	said := n.said("/messages")
	if len(said) != 3 || !slices.Equal(said[1:], all[len(all)-2:]) {
		t.Fatalf("the messages are %q", said)
	}
	for _, fact := range []string{"Audit the runtime", "cmd/audit.go"} {
		if !strings.Contains(said[0], fact) {
			t.Errorf("%q is lost from the summary %s", fact, said[0])
		}
	}
	own := "We found the leak in cmd/audit.go."
	say("user", "more")
	n.send(http.MethodPost, "/compact", object{"threshold": 1, "keep_last": 1, "summary": own}, http.StatusOK)
	if said := n.said("/messages"); len(said) != 2 || !strings.Contains(said[0], own) {
		t.Errorf("with a summary of the caller's the messages are %q", said)
	}
}

// TestF108NotWorthACompaction: below the threshold, or no more messages than are to stay.
func TestF108NotWorthACompaction(t *testing.T) {
	t.Parallel()
	n := start(t, launch{}).notebook("one")
	for range 4 {
		n.say("user", "short")
	}
	for _, how := range []object{{}, {"threshold": 1}, {"threshold": 1000, "keep_last": 1}} {
		if got := n.send(http.MethodPost, "/compact", how, http.StatusOK); asJSON(got) != `{"compacted":false}` {
			t.Errorf("%s: %s", asJSON(how), asJSON(got))
		}
	}
}

// TestF112Timeline: all fields come back after a restart, numbers as they were written; the view has the newest 24, the
// log all.
func TestF112Timeline(t *testing.T) {
	t.Parallel()
	n := start(t, launch{}).notebook("one")
	const entry = `{"timestamp":"2026-04-07T12:00:00.123456789+02:00","kind":"a kind of nobody","mode":"plan",` +
		`"reason_code":"r","summary":"s","decision_kind":"initial_route","route_score":0.30000000000000004,` +
		`"runner_up_mode":"clarify","runner_up_score":1e-7,"scheduled_next_mode":"execute",` +
		`"unresolved_questions":["a","b"],"prompt_format":"native","prompt_sections":["x"],"policy_stage":"p",` +
		`"policy_outcome":"o",` +
		`"evidence_summary":["e"],"evidence_provenance":[{"category":"c","source":"s","summary":"m",` +
		`"status":"contradicts","subject":"j","detail":"d"}],"signal_summary":["g"],` +
		`"verification_observations":[{"k":1.50}],` +
		`"clarify_stage":"cs","clarify_pressure_kind":"cp","pressure_pass_complete":true,` +
		`"missing_readiness_gates":["m"],"artifact_paths":["/a"],"of_nobody":{"n":[1.10]}}`
	n.post(n.path+"/timeline", entry).wants(http.StatusCreated)
	n.stop()
	n.again()
	body := n.get(n.path + "/timeline").wants(http.StatusOK).body
	var want, got struct{ Timeline []map[string]json.RawMessage }
	n.must(json.Unmarshal([]byte(`{"timeline":[`+entry+`]}`), &want))
	n.must(json.Unmarshal([]byte(body), &got))
	for key, v := range want.Timeline[0] {
		if string(got.Timeline[0][key]) != string(v) {
			t.Errorf("%s is %s, was %s", key, got.Timeline[0][key], v)
		}
	}
	for i := range 24 {
		n.send(http.MethodPost, "/timeline", object{"kind": "route", "reason_code": fmt.Sprint(i)}, http.StatusCreated)
	}
	view, all := n.list("/timeline", "timeline"), n.list("/timeline?after=0", "timeline")
	if len(view) != 24 || view[0]["reason_code"] != "0" || len(all) != 25 || all[0]["reason_code"] != "r" {
		t.Errorf("the view has %d from %v, the log %d", len(view), view[0]["reason_code"], len(all))
	}
}

// TestF114TraceWithoutTimeline: a trace that the timeline does not tell is kept.
func TestF114TraceWithoutTimeline(t *testing.T) {
	t.Parallel()
	n := start(t, launch{}).notebook("one")
	step := object{"stage": "definition_of_done", "outcome": "complete", "decision_code": "done",
		"decision_summary": "it is done", "evidence_summary": []string{"e"}, "evidence_provenance": []object{}}
	n.send(http.MethodPost, "/trace", step, http.StatusCreated)
	n.kill()
	n.again()
	holds(t, "the trace", n.read("/trace"), object{"derived": false, "completion_trace": []object{step}})
	holds(t, "the record", n.read("/record"), object{"completion_trace": []object{step}})
}

// TestF115ProvenanceCitesACommand: the id in a piece of evidence is that of a command of the thread, which can be read.
func TestF115ProvenanceCitesACommand(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	s.in("one") // its shell ends with the test
	var run struct {
		ID   string `json:"command_id"`
		Exit int    `json:"exit_code"`
	}
	s.post("/session/one/exec", `{"command":"echo passed; exit_code() { return 3; }; exit_code"}`).
		wants(http.StatusOK).into(&run)
	n := s.notebook("one")
	proof := object{"category": "verification", "source": "cmd_" + run.ID, "summary": "it printed passed",
		"status": "supports", "subject": "echo", "detail": "code 3", "command_id": run.ID}
	n.send(http.MethodPost, "/timeline", object{"kind": "verify_observation", "evidence_provenance": []object{proof}},
		http.StatusCreated)
	got := n.list("/timeline", "timeline")[0]["evidence_provenance"].([]any)[0].(object)
	holds(t, "the evidence", got, proof)
	var command struct {
		Code int `json:"exit_code"`
	}
	s.get("/session/one/commands/" + got["command_id"].(string)).wants(http.StatusOK).into(&command)
	if command.Code != run.Exit || run.Exit != 3 {
		t.Errorf("the command has code %d, the reply had %d", command.Code, run.Exit)
	}
}

// TestF119NothingToLoad: without any record there is no latest one.
func TestF119NothingToLoad(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	s.get("/api/threads/latest").refused(http.StatusNotFound, "NOT_FOUND")
	s.post("/api/threads", `{"id":"empty"}`).wants(http.StatusCreated)
	s.get("/api/threads/latest").refused(http.StatusNotFound, "NOT_FOUND")
	for _, path := range []string{"/record", "/messages", "/state", "/timeline", "/trace", "/ledger", "/prompts",
		"/turns", "/usage"} {
		s.get("/api/threads/empty" + path).wants(http.StatusOK)
	}
	s.notebook("first").say("user", "a")
	s.notebook("second").say("user", "b")
	s.notebook("first").say("user", "c")
	var h object
	s.get("/api/threads/latest").wants(http.StatusOK).into(&h)
	holds(t, "the latest", h, object{"thread_id": "first", "messages": 2})
}

// loaderFile is a record of Loader's.
const loaderFile = "../internal/conversation/testdata/loader-v11.json"

// TestF120LoaderFile: it goes in and comes out, but for when it was changed, over HTTP and with the CLI.
func TestF120LoaderFile(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	file, err := os.ReadFile(loaderFile)
	s.must(err)
	n := s.notebook("taken")
	n.call(http.MethodPut, n.path+"/record", string(file)).wants(http.StatusOK)
	same := func(what string, out []byte) {
		t.Helper()
		var a, b object
		s.must(json.Unmarshal(file, &a))
		s.must(json.Unmarshal(out, &b))
		delete(a, "updated_at")
		delete(b, "updated_at")
		if asJSON(a) != asJSON(b) {
			t.Errorf("%s is %s, was %s", what, asJSON(b), asJSON(a))
		}
	}
	same("the export", []byte(n.get(n.path+"/record?format=loader").wants(http.StatusOK).body))
	out, err := s.cli("thread", "export", "taken").Output()
	s.must(err)
	same("the CLI's export", out)
	second := strings.Replace(string(file), `"session_id": "`, `"session_id": "again-`, 1)
	path := filepath.Join(t.TempDir(), "loader.json")
	s.must(os.WriteFile(path, []byte(second), 0o600))
	out, err = s.cli("thread", "import", "fresh", path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "again-") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = s.cli("thread", "resume", "fresh", "--owner", "RuntimeHandle").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Create hello.txt in the workspace root.") {
		t.Errorf("%v: %s", err, out)
	}
	holds(t, "the owner", s.notebook("fresh").read("/state"), object{"runtime_owner_path": "runtime-handle"})
	out, err = s.cli("thread", "compact", "fresh", "--threshold", "1", "--keep", "1").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "behind a summary") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestF121TolerantLoad: a file with odd or missing fields gets the defaults of a new record.
func TestF121TolerantLoad(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for i, file := range []string{`{}`, `{"messages":null,"workflow_mode":7,"permission_mode":"",` +
		`"prompt_sections":"x","workflow_timeline":[1,{"kind":2}],"usage":[],"compaction":"no","workflow_ledger":3}`,
		`{"session_id":"../../etc/passwd","messages":[{"role":"user"},{"content":"no role"},"text",` +
			`{"role":"assistant","content":"ok","tool_calls":{}}],"current_task":"  "}`,
		`{"session_id":7,"version":"x","workflow_ambiguity_score":"high","permission_rule_counts":{"allow":"many"},` +
			`"prompt_history":[{"content":""}],"completion_trace":{}}`} {
		n := s.notebook(fmt.Sprintf("odd%d", i))
		n.call(http.MethodPut, n.path+"/record", file).wants(http.StatusOK)
		holds(t, file, n.read("/record"), object{"version": 11, "workflow_mode": "execute",
			"permission_mode": "workspace-write", "current_task": nil, "prompt_sections": []string{}, "compaction": nil,
			"permission_rule_counts": object{"allow": 0, "ask": 0, "deny": 0}, "workflow_ambiguity_score": nil})
		n.say("user", "it goes on")
	}
	for _, file := range []string{`[]`, `{"session_id":`, `7`} {
		s.call(http.MethodPut, "/api/threads/odd/record", file).refused(http.StatusBadRequest, "VALIDATION")
	}
	s.must(filepath.WalkDir(s.how.dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(path, "passwd") {
			t.Errorf("%s is there", path)
		}
		return err
	}))
}

// appends is how many messages are appended while the server is killed.
const appends = 1000

// TestF125CrashSafety: a server is killed while messages are appended. The database and the file are whole, and what
// was acknowledged is there.
func TestF125CrashSafety(t *testing.T) {
	t.Parallel()
	s := start(t, launch{errors: true})
	n := s.notebook("one")
	n.say("user", "message 0")
	id := n.read("/record")["session_id"].(string)
	for next := 1; next < appends; {
		var acknowledged atomic.Int64
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := next; i < appends && ctx.Err() == nil && appended(ctx, s.url+n.path, i); i++ {
				acknowledged.Store(int64(i))
			}
		}()
		eventually(t, "some are appended",
			func() bool { return acknowledged.Load() >= int64(min(next+150, appends-1)) })
		s.kill()
		stop()
		<-done
		last := int(acknowledged.Load())
		parsed(t, n.file(id, "")) // before anybody mends it
		whole(t, filepath.Join(s.how.dir, "evertty.db"))
		s.again()
		said := n.everything()
		if len(said) != last+1 && len(said) != last+2 {
			t.Fatalf("%d were acknowledged, %d are there", last+1, len(said))
		}
		for i, text := range said {
			if text != fmt.Sprintf("message %d", i) {
				t.Fatalf("message %d is %q", i, text)
			}
		}
		eventually(t, "the file has what the database has", func() bool {
			return len(parsed(t, n.file(id, ""))["messages"].([]any)) == len(said)
		})
		next = len(said)
	}
}

// everything is what all messages say, page by page.
func (n *notebook) everything() (list []string) {
	n.t.Helper()
	for after := ""; ; {
		page := n.read("/messages?limit=1000" + after)
		for _, m := range page["messages"].([]any) {
			list = append(list, m.(object)["content"].(string))
		}
		next, more := page["next"].(float64)
		if !more {
			return list
		}
		after = fmt.Sprintf("&after=%.0f", next)
	}
}

// appended says whether a message was acknowledged.
func appended(ctx context.Context, thread string, i int) bool {
	body := fmt.Sprintf(`{"role":"user","content":"message %d"}`, i)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, thread+"/messages", strings.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := plain.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusCreated
}

// whole checks a database that nobody has open.
func whole(t testing.TB, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var said string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&said); err != nil || said != "ok" {
		t.Errorf("%s: %v %s", file, err, said)
	}
}

// TestF126OneThreadAllViews: a terminal, a shell and a record of one thread are told in one stream in their order, and
// go with the thread.
func TestF126OneThreadAllViews(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	s.post("/session/one/pty", `{"cmd":["cat"]}`).wants(http.StatusCreated)
	s.post("/session/one/exec", `{"command":"true"}`).wants(http.StatusOK)
	n := s.notebook("one")
	n.say("user", "look")
	n.patch(object{"workflow_mode": "plan"})
	n.send(http.MethodPost, "/timeline", object{"kind": "route"}, http.StatusCreated)
	n.send(http.MethodPost, "/turns", object{"usage": object{"input_tokens": 1}}, http.StatusCreated)
	id := n.read("/record")["session_id"].(string)
	if said := n.said(""); !slices.Equal(said, []string{"look"}) { // of the thread itself
		t.Errorf("the thread says %q", said)
	}
	o := s.thread("one")
	want := []string{"thread.created", "terminal.created", "runtime.started", "command.finished", "record.created",
		"record.message", "record.state", "record.timeline", "record.turn"}
	eventually(t, "all events", func() bool { return o.times("command.finished") == 1 && o.times("record.turn") == 1 })
	at := 0
	for _, e := range o.happened() {
		if at < len(want) && e.Type == want[at] {
			at++
		}
	}
	if at < len(want) {
		t.Errorf("%s does not come in its order: %s", want[at], asJSON(o.happened()))
	}
	s.call(http.MethodDelete, "/api/threads/one", "").wants(http.StatusOK)
	for _, path := range []string{"/api/threads/one", "/api/threads/one/record", "/api/threads/one/messages",
		"/api/threads/one/events", "/api/threads/one/records/" + id} {
		s.get(path).refused(http.StatusNotFound, "NOT_FOUND")
	}
	if _, err := os.Stat(n.file(id, "")); err == nil {
		t.Error("the record's file is still there")
	}
	var list struct{ Items []object }
	if s.get("/session/one/pty").wants(http.StatusOK).into(&list); len(list.Items) != 0 {
		t.Errorf("terminals are left: %s", asJSON(list.Items))
	}
}
