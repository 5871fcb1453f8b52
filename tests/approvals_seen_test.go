package tests

import (
	"net/http"
	"strings"
	"testing"

	"github.com/evertty/evertty/wire"
)

// hiddenCall is a call whose command is in a variable that looks like a secret.
func hiddenCall(o *owner) (call body, id string) {
	o.t.Helper()
	call = body{"command": `eval "$MY_TOKEN"`, "env": object{"MY_TOKEN": "echo boo\u202e", "PLAIN": "word"}}
	return call, o.send(call).asks()
}

// TestNothingIsApprovedUnseen: security row D30. What is hidden in a call has its name and length, whoever may
// approve can look at it, that is audited, and only after it the call can be approved.
func TestNothingIsApprovedUnseen(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), auth: "token"})
	o := s.careful("one", object{"mode": "prompt"})
	call, id := hiddenCall(o)
	path := o.path + "/approvals/" + id
	for _, where := range []string{path, o.path + "/approvals"} {
		if r := o.get(where).wants(200); strings.Contains(r.body, "boo") ||
			!strings.Contains(r.body, `"hidden":{"MY_TOKEN":11}`) || !strings.Contains(r.body, `"MY_TOKEN":"***"`) ||
			!strings.Contains(r.body, "eval") || !strings.Contains(r.body, "word") {
			t.Error(r.body)
		}
	}
	o.answer(id, "approve").refused(409, "UNSEEN", "reveal=1")
	o.get(path+"?reveal=maybe").refused(400, "VALIDATION", "reveal")
	o.get(o.path+"/approvals/apr_none?reveal=1").refused(404, "NOT_FOUND")
	if strings.Contains(string(s.readFile("audit.log")), `"what":"secrets.show","target":"one/`+id) {
		t.Error("a look that was not is in the audit log")
	}
	if r := o.get(path + "?reveal=1").wants(200); !strings.Contains(r.body, "echo boo") || strings.Contains(r.body,
		"***") ||
		strings.Contains(r.body, `"hidden"`) {
		t.Error(r.body)
	}
	if !strings.Contains(string(s.readFile("audit.log")), `"what":"secrets.show","target":"one/`+id) {
		t.Errorf("a look is not in the audit log: %s", s.readFile("audit.log"))
	}
	s.kill()
	s.again() // nobody has looked at it under this server
	o.answer(id, "approve").refused(409, "UNSEEN")
	o.get(o.path + "/approvals?secrets=1").wants(200)
	o.answer(id, "approve").wants(200)
	o.send(call).wants(200)
	_, id = hiddenCall(o)
	o.answer(id, "deny").wants(200) // needs no look
	o.answer(o.send(body{"command": "echo token", "env": object{"PLAIN": "x"}}).asks(), "approve").wants(200)
	o.get("/api/threads/two/approvals/"+id).refused(404, "NOT_FOUND")
	reader := s.post("/tickets", asJSON(object{"pty": s.create("cat").ID, "role": "read"})).wants(201)
	var ticket wire.Ticket
	reader.into(&ticket)
	if r := s.do(request{http.MethodGet, path + "?reveal=1&ticket=" + ticket.Ticket, "", nil}); r.status == 200 &&
		strings.Contains(r.body, "boo") {
		t.Errorf("a reader's ticket shows %s", r.body)
	}
}

// TestApproveShowsAndAsks: on a terminal `approve` shows the whole call, with escapes for what could
// hide, and asks; anything but y leaves it waiting.
func TestApproveShowsAndAsks(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	o := s.careful("one", object{"mode": "prompt"})
	approve := func(args ...string) (terminal string) {
		t.Helper()
		return s.createWith(wire.CreateTerminal{Cmd: append([]string{binary, "thread", "approve", "one"}, args...),
			Cols: new(90), Rows: new(40), Env: map[string]string{"EVERTTY_DATA_DIR": s.how.dir}}).ID
	}
	answered := func(terminal, answer string, code int) {
		t.Helper()
		s.await(terminal, `once\? \[y/N\]$`)
		s.input(terminal, answer+"\n")
		if e := s.exit(terminal); e.Code == nil || *e.Code != code {
			t.Errorf("after %q it ends with %+v: %s", answer, e, s.text(terminal))
		}
	}
	long := "echo " + strings.Repeat("safe ", 30) + "\r\n\x1b[2K; rm -rf x # \u202e"
	id := o.send(body{"command": long}).asks()
	shown := func(text string) {
		t.Helper()
		flat := strings.ReplaceAll(text, "\n  | ", "")
		if !strings.Contains(flat, `\r\n\x1b[2K; rm -rf x # \u202e`) || strings.Contains(text, "\x1b") ||
			strings.Count(flat, "safe") != 30 || !strings.Contains(text, "directory: /") {
			t.Errorf("shown is %q", text)
		}
	}
	shown(s.says("thread", "approvals", "one"))
	run(t, s.cli("thread", "approve", "one", id)).refuses(t, 2, "--yes")
	me := approve(id)
	s.await(me, `once\? \[y/N\]$`)
	shown(s.text(me))
	answered(me, "", 1)
	answered(approve(id), "maybe", 1)
	answered(approve(id), "y", 0)
	o.send(body{"command": long}).wants(200)

	call, hidden := hiddenCall(o)
	me = approve(hidden)
	s.await(me, `MY_TOKEN=\*\*\*\(11\)`)
	s.await(me, "--show shows them")
	me = approve(hidden, "--show")
	s.await(me, `echo boo\\u202e`)
	answered(me, "yes", 0)
	o.send(call).wants(200)
}

// TestBrowserShowsHiddenValues: the page has the names and lengths of what is hidden in a call, and
// offers to approve it when it was shown.
func TestBrowserShowsHiddenValues(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{auth: "token"})
	pty := s.create("sh", "-c", "echo here; exec cat")
	o := s.thread(pty.Session)
	o.call("PUT", o.path+"/permissions", `{"mode":"allow","rules":{"ask":[{"tool":"exec"}]}}`).wants(200)
	b := browse(t, 1200, 800)
	b.open(s, pty.ID)
	b.reads(panelStatus, "active")
	call, _ := hiddenCall(o)
	b.live(approvalBadge, "1")
	b.click(approvalBadge)
	b.live(".hidden-values", "Hidden: MY_TOKEN=***(11)")
	b.has("no way to approve it", count(".asked .primary"), "0")
	b.shoot()
	b.click(".asked .show")
	b.has("a way to approve it", count(".asked .primary"), "1")
	if text := b.eval(`document.querySelector(".asked .arguments").innerText`); !strings.Contains(text, "echo boo") {
		t.Errorf("shown is %q", text)
	}
	b.click(".asked .primary")
	b.live(".asked .tag.approved", "approved")
	o.send(call).wants(200)
}
