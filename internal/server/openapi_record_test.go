package server

import (
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/conversation"
)

// visitRecord drives the conversation of a thread through all its routes.
func (c *contract) visitRecord(t *testing.T) {
	const at = "/api/threads/noted"
	c.do(t, exchange{method: "GET", target: "/api/threads/latest", status: 404, code: "NOT_FOUND"})
	for _, path := range []string{"/record", "/records", "/records/x", "/messages", "/state", "/timeline", "/trace",
		"/ledger", "/prompts", "/turns", "/usage", "/compactions"} {
		c.do(t, exchange{method: "GET", target: at + path, status: 404, code: "NOT_FOUND"})
	}
	c.do(t, exchange{method: "POST", target: at + "/steer/drain", status: 404, code: "NOT_FOUND"})
	c.visitMessages(t, at)
	c.visitLists(t, at)
	c.visitRecordLife(t, at)
	c.do(t, exchange{method: "DELETE", target: at, status: 200})
	c.do(t, exchange{method: "GET", target: at + "/record", status: 404, code: "NOT_FOUND"})
}

func (c *contract) visitMessages(t *testing.T, at string) {
	call := `"tool_calls":[{"id":"w","name":"write","arguments":{"path":"/tmp/x","deep":[1.50]}}]`
	for _, e := range []exchange{
		{method: "POST", target: at + "/messages", body: `{"role":"user","content":"Do it."}`, status: 201},
		{method: "POST", target: at + "/messages", body: `{"messages":[{"role":"assistant","content":"",` + call +
			`},{"role":"tool","content":"","tool_results":[{"tool_call_id":"w","content":"ok","is_error":false}]}]}`,
			status: 201},
		{method: "POST", target: at + "/messages", body: `{"role":"nobody","content":"x"}`, status: 400,
			code: "VALIDATION"},
		{method: "POST", target: at + "/messages", body: `{"content":"x"}`, status: 400, code: "VALIDATION",
			loose: true},
		{method: "POST", target: at + "/messages", body: `{"messages":[]}`, status: 400, code: "VALIDATION",
			loose: true},
		{method: "POST", target: at + "/messages",
			body: `{"role":"user","content":"a","messages":[{"role":"user","content":"b"}]}`, status: 400,
			code: "VALIDATION", loose: true},
		{method: "POST", target: at + "/messages", status: 415, code: "UNSUPPORTED_MEDIA_TYPE"},
		{method: "GET", target: at + "/messages", status: 200},
		{method: "GET", target: at + "/messages?archived=1&after=1&limit=1&newest=1", status: 200},
		{method: "GET", target: at + "/messages?archived=2", status: 400, code: "VALIDATION"},
		{method: "GET", target: at + "/messages?limit=0", status: 400, code: "VALIDATION"},
		{method: "PATCH", target: at + "/state",
			body: `{"workflow_mode":"plan","workflow_ambiguity_score":0.2,"prompt_sections":["A"]}`, status: 200},
		{method: "PATCH", target: at + "/state", body: `{"workflow_mode":null}`, status: 200},
		{method: "PATCH", target: at + "/state", body: `{"nope":1}`, status: 400, code: "VALIDATION"},
		{method: "PATCH", target: at + "/state", body: `{"current_task":1}`, status: 400, code: "VALIDATION"},
		{method: "GET", target: at + "/state", status: 200},
	} {
		c.do(t, e)
	}
	var s conversation.State
	decode(t, c.do(t, exchange{method: "GET", target: at + "/state", status: 200}), &s)
	if s.CurrentTask == nil || *s.CurrentTask != "Do it." || s.WorkflowMode != conversation.DefaultWorkflowMode {
		t.Errorf("the state is %+v", s)
	}
}

func (c *contract) visitLists(t *testing.T, at string) {
	entry := `{"timestamp":"2026-04-09T12:00:00Z","kind":"completion_check","mode":"execute","reason_code":"done",` +
		`"summary":"completion: it is done","route_score":0.72,` +
		`"policy_stage":"check","policy_outcome":"accept","evidence_provenance":[{"category":"verification",` +
		`"source":"cmd_x","status":"missing"}],"of_nobody":{"a":1}}`
	for _, e := range []exchange{
		{method: "POST", target: at + "/trace", body: `{"stage":"check","outcome":"continue","decision_code":"x"}`,
			status: 201},
		{method: "POST", target: at + "/trace", body: `{"nope":1}`, status: 400, code: "VALIDATION"},
		{method: "POST", target: at + "/timeline", body: entry, status: 201},
		{method: "POST", target: at + "/timeline", body: `{"kind":1}`, status: 400, code: "VALIDATION"},
		{method: "GET", target: at + "/timeline", status: 200},
		{method: "GET", target: at + "/timeline?after=0&limit=1", status: 200},
		{method: "GET", target: at + "/timeline?after=-1", status: 400, code: "VALIDATION"},
		{method: "GET", target: at + "/trace", status: 200},
		{method: "PUT", target: at + "/ledger",
			body:   `{"assumptions":[{"text":"it rains","status":"open","evidence":["clouds"]},{"text":""}]}`,
			status: 200},
		{method: "PUT", target: at + "/ledger", body: `{"nope":[]}`, status: 400, code: "VALIDATION"},
		{method: "GET", target: at + "/ledger", status: 200},
		{method: "POST", target: at + "/prompts",
			body: `{"timestamp":"2026-04-07T14:00:00Z","workflow_mode":"plan","content":"# plan"}`, status: 201},
		{method: "POST", target: at + "/prompts",
			body: `{"timestamp":"2026-04-07T15:00:00Z","workflow_mode":"plan","content":"# plan"}`, status: 201},
		{method: "POST", target: at + "/prompts", body: `{"content":""}`, status: 400, code: "VALIDATION", loose: true},
		{method: "GET", target: at + "/prompts", status: 200},
		{method: "POST", target: at + "/turns", body: `{"usage":{"prompt_tokens":9,"completion_tokens":3,"other":1},` +
			`"final_response":"yes","definition_of_done":{"task_statement":"Do it."}}`, status: 201},
		{method: "POST", target: at + "/turns", body: `{"iterations":-1}`, status: 400, code: "VALIDATION"},
		{method: "GET", target: at + "/turns", status: 200},
		{method: "GET", target: at + "/usage", status: 200},
	} {
		c.do(t, e)
	}
	var u conversation.Usage
	decode(t, c.do(t, exchange{method: "GET", target: at + "/usage", status: 200}), &u)
	if u.InputTokens != 9 || u.OutputTokens != 3 || u.Turns != 1 {
		t.Errorf("the usage is %+v", u)
	}
}

func (c *contract) visitRecordLife(t *testing.T, at string) {
	for _, e := range []exchange{
		{method: "GET", target: "/api/threads/latest", status: 200},
		{method: "POST", target: at + "/compact", header: "Content-Type: application/json", status: 200},
		{method: "POST", target: at + "/compact", body: `{"keep_last":1,"threshold":1}`, status: 200},
		{method: "POST", target: at + "/compact", body: `{"keep_last":-1}`, status: 400, code: "VALIDATION"},
		{method: "GET", target: at + "/compactions", status: 200},
		{method: "POST", target: at + "/steer", body: `{"message":"left"}`, status: 201},
		{method: "POST", target: at + "/steer", body: `{"message":""}`, status: 400, code: "VALIDATION"},
		{method: "GET", target: at + "/steer", status: 200},
		{method: "POST", target: at + "/steer/drain", status: 200},
		{method: "POST", target: at + "/attach", body: `{"owner_type":"RuntimeHandle"}`, status: 200},
		{method: "POST", target: at + "/attach", body: `{"owner_type":""}`, status: 400, code: "VALIDATION"},
		{method: "GET", target: at + "/record?format=xml", status: 400, code: "VALIDATION"},
		{method: "GET", target: at + "/record", status: 200},
		{method: "PUT", target: at + "/record", body: `[]`, status: 400, code: "VALIDATION"},
	} {
		c.do(t, e)
	}
	file := c.do(t, exchange{method: "GET", target: at + "/record?format=loader", status: 200})
	c.do(t, exchange{method: "PUT", target: at + "/record", body: string(file), status: 200})
	var old, next conversation.Head
	decode(t, c.do(t, exchange{method: "GET", target: "/api/threads/latest", status: 200}), &old)
	decode(t, c.do(t, exchange{method: "POST", target: at + "/clear", status: 201}), &next)
	if old.SessionID == next.SessionID || next.Messages != 0 {
		t.Errorf("after %+v, cleared, %+v", old, next)
	}
	if again := c.do(t, exchange{method: "GET", target: at + "/records/" + old.SessionID + "?format=loader",
		status: 200}); string(again) != string(file) {
		t.Errorf("the old record is %s, was %s", again, file)
	}
	c.do(t, exchange{method: "GET", target: at + "/records", status: 200})
	c.do(t, exchange{method: "GET", target: at + "/messages?record=" + old.SessionID, status: 200})
	c.do(t, exchange{method: "PUT", target: "/api/threads/another/record", body: string(file), status: 409,
		code: "ALREADY_EXISTS"})
	elsewhere := strings.Replace(string(file), old.SessionID, "from-elsewhere", 1)
	c.do(t, exchange{method: "PUT", target: "/api/threads/another/record", body: elsewhere, status: 200})
}
