package tests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const (
	conversationTab  = "#status-tab-conversation"
	conversationBody = "#conversation-panel"
	lastMessage      = ".message:last-child"
	approvalBadge    = ".approval-badge"
	askedCall        = ".asked.waits"
)

// part is the tab of a part of the conversation.
func part(name string) string { return "#conversation-tab-" + name }

// has waits for what an expression gives.
func (b *tab) has(what, expression, want string) {
	b.t.Helper()
	b.sees(what, expression, func(s string) bool { return s == want })
}

// count is how many elements a selector finds.
func count(selector string) string { return `document.querySelectorAll('` + selector + `').length` }

// writes appends a message to the conversation of a thread.
func (o *owner) writes(role, content string) {
	o.t.Helper()
	b, err := json.Marshal(map[string]string{"role": role, "content": content})
	o.must(err)
	o.post(o.path+"/messages", string(b)).wants(201)
}

// hostile is a text that would do something if it were markup, and would mislead if it were shown as it is.
const hostile = `<img src=x onerror="document.title='owned'"> \u202eevil`

// harnessed writes the conversation of a harness that has done something.
func (o *owner) harnessed() {
	o.t.Helper()
	o.writes("user", "Make the tests of the parser pass.")
	o.post(o.path+"/messages", `{"role":"assistant","content":"I run them first.","tool_calls":[{"id":"call_1",`+
		`"name":"bash","arguments":{"command":"go test ./parser","timeout":30}}]}`).wants(201)
	o.post(o.path+"/messages", fmt.Sprintf(`{"role":"tool","content":"","tool_results":[{"tool_call_id":"call_1",`+
		`"is_error":true,"content":%q}]}`, strings.Repeat("--- FAIL: TestNumbers (0.00s)\n", 40))).wants(201)
	o.post(o.path+"/timeline", `{"kind":"route","mode":"verify-first","reason_code":"tests_fail",
		"summary":"The tests fail, so they are looked at first.",
		"route_score":0.20,"runner_up_mode":"act","runner_up_score":0.125,"evidence_summary":["TestNumbers fails"],
		"evidence_provenance":[{"category":"command","source":"cmd_7f3a","summary":"go test ended with 1",
			"status":"contradicts"}],"unresolved_questions":["Which numbers?"]}`).wants(201)
	o.post(o.path+"/timeline", `{"kind":"completion_check","mode":"verify-first","reason_code":"verified",`+
		`"summary":"completion: all tests pass","policy_stage":"verification","evidence_summary":["go test ended `+
		`with 0"]}`).wants(201)
	o.call("PATCH", o.path+"/state", `{"last_completion_decision_code":"verified"}`).wants(200)
	o.call("PUT", o.path+"/ledger", `{"assumptions":[{"text":"Numbers have no sign.","status":"open"}],`+
		`"acceptance_anchors":[{"text":"All tests pass.","evidence":["go test"]}]}`).wants(200)
	o.post(o.path+"/turns", `{"final_response":"Done.","iterations":3,"tool_calls":5,"usage":{"input_tokens":1234,`+
		`"output_tokens":56}}`).wants(201)
}

// fits fails when something of the page is wider than its window.
func (b *tab) fits() {
	b.t.Helper()
	wide := `[...document.querySelectorAll("body *")].filter(e => e.checkVisibility() && !e.closest(".side,.screen,` +
		`.tabs") && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.className).join()`
	if got := b.eval(wide); got != "" {
		b.t.Errorf("wider than the page: %s", got)
	}
}

// TestBrowserShowsTheConversation: without one the page says so; what a harness writes is there by itself; long texts
// are folded, older and archived messages come on demand, and nothing that is written is taken for markup.
func TestBrowserShowsTheConversation(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{auth: "token"})
	pty := s.create("sh", "-c", "echo here; exec cat")
	o := s.thread(pty.Session)
	b := browse(t, 1200, 800)
	b.open(s, pty.ID)
	b.reads(panelStatus, "active")
	size := b.eval(`JSON.stringify(window.evertty.size())`)
	b.click(panelHeader)
	b.click(conversationTab)
	b.reads(conversationBody, "This thread has no conversation yet.")

	o.harnessed()
	b.live(conversationBody, "Make the tests of the parser pass.")
	b.reads(conversationBody, "go test ./parser")
	b.has("three messages", count(".message"), "3")
	b.has("a folded result", `(document.querySelector(".tool.failed .fold-text").innerText.match(/FAIL/g) ?? `+
		`[]).length < 20`, "true")
	b.shoot()
	b.click(".tool.failed .fold-action")
	b.has("the whole result", `document.querySelector(".tool.failed .fold-text").innerText.match(/FAIL/g).length`, "40")
	o.writes("assistant", hostile)
	b.live(lastMessage, `<img src=x onerror="document.title='owned'">`)
	plain := `document.querySelector(".session-status-body img") === null && document.title !== "owned"`
	if got := b.eval(plain); got != "true" {
		t.Error("a message is markup in the page")
	}
	if got := b.eval(`JSON.stringify(window.evertty.size())`); got != size {
		t.Errorf("the conversation makes the terminal %s instead of %s", got, size)
	}

	b.click(part("timeline"))
	b.reads(conversationBody, "Score 0.20, runner-up act 0.125")
	b.reads(conversationBody, "cmd_7f3a")
	b.reads(".trace", "all tests pass")
	b.shoot()
	b.eval(`document.querySelector("` + part("timeline") + `").focus()`)
	b.eval(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}))`)
	b.reads(conversationBody, "Numbers have no sign.")
	b.has("the focus on the ledger", `document.activeElement.id`, "conversation-tab-ledger")
	b.shoot()
	b.click(part("usage"))
	b.reads(conversationBody, "1,234")
	o.post(o.path+"/turns", `{"usage":{"input_tokens":1}}`).wants(201)
	b.live(conversationBody, "1,235")
	b.shoot()
	b.eval(`document.querySelector("` + part("usage") +
		`").dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}))`)
	b.has("a closed panel", count(".session-status-body"), "0")
}

// TestBrowserShowsOlderAndArchivedMessages: the newest are there first, the others on demand, and the summary says what
// it is.
func TestBrowserShowsOlderAndArchivedMessages(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{auth: "token"})
	pty := s.create("sh", "-c", "echo here; exec cat")
	o := s.thread(pty.Session)
	var many []string
	for i := range 130 {
		many = append(many, fmt.Sprintf(`{"role":"user","content":"message number %d"}`, i+1))
	}
	o.post(o.path+"/messages", `{"messages":[`+strings.Join(many, ",")+`]}`).wants(201)
	b := browse(t, 1200, 800)
	b.open(s, pty.ID)
	b.click(panelHeader)
	b.click(conversationTab)
	b.reads(lastMessage, "message number 130")
	b.has("the newest only", count(".message"), "50")
	b.has("their end", `(e => e.scrollHeight - e.scrollTop - e.clientHeight < `+
		`5)(document.querySelector("#conversation-panel"))`, "true")
	b.click(".older")
	b.has("more of them", count(".message"), "100")
	b.reads(".message:first-child", "message number 31")

	o.post(o.path+"/compact", `{"keep_last":4,"summary":"It was all about numbers."}`).wants(200)
	b.live(".message.summary", "It was all about numbers.")
	b.has("the rest", count(".message"), "5")
	b.reads(".older", "Show archived messages (126)")
	b.shoot()
	b.click(".older")
	b.has("archived ones", count(".message.archived"), "50")
	b.reads(".message.archived", "message number 77")
	b.shoot()
	b.eval(`document.querySelector("#conversation-panel").scrollTop = 1e6`)
	o.writes("user", "one more")
	b.live(lastMessage, "one more")

	o.post(o.path+"/clear", "").wants(201)
	b.live(conversationBody, "There are no messages.")
}

// TestBrowserDecidesAboutCalls: a call that waits is seen without opening anything; approved in the page it runs, once.
func TestBrowserDecidesAboutCalls(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{auth: "token"})
	pty := s.create("sh", "-c", "echo here; exec cat")
	o := s.thread(pty.Session)
	o.call("PUT", o.path+"/permissions",
		`{"mode":"allow","rules":{"ask":[{"tool":"exec","contains":"echo"}]}}`).wants(200)
	b := browse(t, 1200, 800)
	b.open(s, pty.ID)
	b.reads(panelStatus, "active")
	if got := b.eval(count(approvalBadge)); got != "0" {
		t.Errorf("there is a badge before anybody was asked")
	}
	call := func() reply {
		return s.post("/session/"+pty.Session+"/exec", `{"command":"echo approved; \u202eecho twice"}`)
	}
	call().wants(423)
	b.live(approvalBadge, "1")
	s.post("/session/"+pty.Session+"/exec", `{"command":"echo never"}`).wants(423)
	b.live(approvalBadge, "2")
	b.shoot()
	b.click(approvalBadge)
	b.reads(askedCall, `echo approved; \u{202e}echo twice`)
	b.shoot()
	second := `document.querySelectorAll(".asked")[1].getBoundingClientRect().top`
	place := b.eval(second)
	b.click(askedCall + " .primary")
	b.live(".asked .tag.approved", "approved")
	b.reads(approvalBadge, "1")
	if got := b.eval(second); got != place {
		t.Errorf("the next call moves from %s to %s below who decides", place, got)
	}
	if got := call().wants(200).body; !strings.Contains(got, "approved") {
		t.Errorf("the approved call says %s", got)
	}
	b.live(".asked .tag.used", "approved and done")
	b.click(askedCall + " button")
	b.live(".asked .tag.denied", "denied")
	b.has("no badge", count(approvalBadge), "0")
	s.post("/session/"+pty.Session+"/exec", `{"command":"echo never"}`).wants(403)
	b.shoot()
	call().wants(423)
	b.live(approvalBadge, "1")
}

// TestBrowserShowsTheConversationOnAPhone: nothing of it is wider than the screen.
func TestBrowserShowsTheConversationOnAPhone(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{auth: "token"})
	pty := s.create("sh", "-c", "echo small; exec cat")
	o := s.thread(pty.Session)
	o.harnessed()
	o.writes("assistant", "A word without an end: "+strings.Repeat("a", 300))
	o.call("PUT", o.path+"/permissions",
		`{"mode":"allow","rules":{"ask":[{"tool":"exec","contains":"push"}]}}`).wants(200)
	s.post("/session/"+pty.Session+"/exec",
		`{"command":"git push --force origin `+strings.Repeat("b", 120)+`"}`).wants(423)
	b := browse(t, 390, 780)
	b.open(s, pty.ID)
	b.reads(panelStatus, "active")
	b.reads(approvalBadge, "1")
	b.fits()
	b.shoot()
	b.click(panelHeader)
	b.click(conversationTab)
	b.reads(lastMessage, "A word without an end")
	for _, name := range []string{"messages", "timeline", "ledger", "usage", "approvals"} {
		b.click(part(name))
		b.has("the part "+name, `document.querySelector("`+part(name)+`").getAttribute("aria-selected")`, "true")
		b.sees("something of "+name, inner(conversationBody), func(s string) bool { return len(s) > 20 })
		b.fits()
		b.shoot()
	}
	b.has("room for all parts", `(e => e.scrollWidth <= e.clientWidth)(document.querySelectorAll(".tabs")[1])`, "true")
}
