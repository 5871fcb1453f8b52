package tests

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// The eleven tests of the harness whose records these are, over HTTP. What it does in memory and on disk is here done
// by requests, and a restart of it by one of the server.

// TestSessionPersistsAndResumesAcrossAgentRestart is test_session_persists_and_resumes_across_agent_restart (F-102).
func TestSessionPersistsAndResumesAcrossAgentRestart(t *testing.T) {
	t.Parallel()
	const task = "Create hello.txt in the workspace root."
	n := start(t, launch{}).notebook("loader")
	n.say("user", task)
	n.send(http.MethodPost, "/messages", object{"role": "assistant", "content": "I'll create the file.",
		"tool_calls": []object{{"id": "write-1", "name": "write",
			"arguments": object{"file_path": "hello.txt", "content": "hello\n"}}}}, http.StatusCreated)
	n.send(http.MethodPost, "/messages", object{"role": "tool", "content": "",
		"tool_results": []object{{"tool_call_id": "write-1", "content": "ok", "is_error": false}}}, http.StatusCreated)
	n.say("assistant", "The file is written.")
	n.send(http.MethodPost, "/turns", object{"usage": object{"prompt_tokens": 22, "completion_tokens": 9},
		"final_response": "The file is written.", "tool_calls": 1, "iterations": 2,
		"definition_of_done": object{"task_statement": task}}, http.StatusCreated)
	before := n.read("/record")
	id := before["session_id"].(string)
	if _, err := os.Stat(n.file(id, "")); err != nil {
		t.Error(err)
	}
	n.kill()
	n.again()
	s := n.send(http.MethodPost, "/attach", object{"owner_type": "Agent"}, http.StatusOK)
	holds(t, "after attach", s, object{"session_id": id, "current_task": task, "permission_mode": "workspace-write",
		"workflow_mode": before["workflow_mode"], "runtime_owner_path": "public-agent"})
	turn, _ := s["last_turn_summary"].(object)
	holds(t, "the last turn", turn, object{"final_response": "The file is written.",
		"definition_of_done": object{"task_statement": task}})
	holds(t, "the record", n.read("/record"),
		object{"messages": before["messages"], "last_turn_summary": before["last_turn_summary"],
			"usage": before["usage"]})
	if said := n.said("/messages"); len(said) != 4 || said[0] != task {
		t.Errorf("the messages are %q", said)
	}
}

// TestAgentClearHistoryRebuildsAFreshRuntimeSession is test_agent_clear_history_rebuilds_a_fresh_runtime_session
// (F-103).
func TestAgentClearHistoryRebuildsAFreshRuntimeSession(t *testing.T) {
	t.Parallel()
	n := start(t, launch{}).notebook("loader")
	n.say("user", "before")
	n.patch(object{"current_task": "Keep runtime state tidy.", "prompt_format": "native",
		"prompt_sections": []string{"Runtime Config", "Workflow Context"}, "workflow_mode": "clarify"})
	n.send(http.MethodPost, "/turns", object{"usage": object{"prompt_tokens": 1}}, http.StatusCreated)
	n.send(http.MethodPost, "/steer", object{"message": "Stay in runtime."}, http.StatusCreated)
	old := n.get(n.path + "/record?format=loader").wants(http.StatusOK)
	id := n.read("/record")["session_id"].(string)
	next := n.send(http.MethodPost, "/clear", object{}, http.StatusCreated)
	if next["session_id"] == id {
		t.Errorf("the record after clear is still %s", id)
	}
	holds(t, "after clear", n.read("/record"),
		object{"session_id": next["session_id"], "current_task": nil, "workflow_mode": "execute", "prompt_format": nil,
			"prompt_sections": []string{}, "messages": []object{}, "last_turn_summary": nil})
	holds(t, "drained", n.send(http.MethodPost, "/steer/drain", object{}, http.StatusOK),
		object{"messages": []string{}})
	if again := n.get(n.path + "/records/" + id + "?format=loader").wants(http.StatusOK); again.body != old.body {
		t.Errorf("the old record is %s, was %s", again.body, old.body)
	}
	if list := n.list("/records", "records"); len(list) != 2 || list[0]["session_id"] != next["session_id"] ||
		list[1]["session_id"] != id {
		t.Errorf("the records are %s", asJSON(list))
	}
}

// TestSessionRotationKicksInAtSizeCap is test_session_rotation_kicks_in_at_size_cap (F-105).
func TestSessionRotationKicksInAtSizeCap(t *testing.T) {
	t.Parallel()
	n := start(t, launch{flags: []string{"--record-rotate", "250"}}).notebook("loader")
	for i := range 6 {
		n.say("user", "Message "+string(rune('0'+i))+": "+strings.Repeat("x", 120))
	}
	id := n.read("/record")["session_id"].(string)
	for _, suffix := range []string{"", ".1"} {
		if v := parsed(t, n.file(id, suffix)); v["session_id"] != id {
			t.Errorf("%s is of %v", n.file(id, suffix), v["session_id"])
		}
	}
	for range 94 {
		n.say("user", strings.Repeat("y", 120))
	}
	entries, err := os.ReadDir(n.how.dir + "/threads")
	n.must(err)
	for _, e := range entries {
		if name := e.Name(); !slices.Contains([]string{id + ".json", id + ".1.json", id + ".2.json", id + ".3.json"},
			name) {
			t.Errorf("%s is there", name)
		}
	}
	if len(entries) != 4 {
		t.Errorf("%d files after 100 saves", len(entries))
	}
}

// compacted are the messages of the seed.
var compacted = []string{"Kick off runtime audit", "Initial findings", "Focus on sessions", "Compaction design drafted",
	"Preserve the latest four messages", "Ready to compact"}

// TestSessionCompactionPersistsSummaryAndRecentMessages is test_session_compaction_persists_summary_and_recent_messages
// (F-106).
func TestSessionCompactionPersistsSummaryAndRecentMessages(t *testing.T) {
	t.Parallel()
	n := start(t, launch{}).notebook("loader")
	for i, text := range compacted {
		n.say([]string{"user", "assistant"}[i%2], text)
	}
	n.patch(object{"current_task": nil})
	c := n.send(http.MethodPost, "/compact", object{"threshold": 1, "keep_last": 4}, http.StatusOK)
	holds(t, "the compaction", c, object{"compacted": true, "count": 1, "removed_message_count": 2})
	said := n.said("/messages")
	if len(said) != 5 || !strings.HasPrefix(said[0], "[COMPACTED CONTEXT]\n") ||
		!slices.Equal(said[1:], compacted[2:]) {
		t.Fatalf("the messages are %q", said)
	}
	for _, line := range []string{"- Scope: Kick off runtime audit", "- Current work: Initial findings",
		"- Pending work: Kick off runtime audit", "- Key files referenced: None referenced.",
		"- Tools mentioned: None yet.", "- Recent user requests: Kick off runtime audit", "- Newly compacted " +
			"context: 2 earlier message(s) summarized."} {
		if !strings.Contains(said[0], "\n"+line+"\n") {
			t.Errorf("%q is not in %s", line, said[0])
		}
	}
	r := n.read("/record")
	if r["compaction"] == nil {
		t.Error("the record has no compaction")
	}
	if file := parsed(t, n.file(r["session_id"].(string), "")); asJSON(file["messages"]) != asJSON(r["messages"]) {
		t.Errorf("the file has %s", asJSON(file["messages"]))
	}
}

// TestSessionPersistsPermissionPolicyMetadata is test_session_persists_permission_policy_metadata (F-109, F-110).
func TestSessionPersistsPermissionPolicyMetadata(t *testing.T) {
	t.Parallel()
	n := start(t, launch{}).notebook("loader")
	const source = "/work/.loader/permission-rules.json"
	n.patch(object{"permission_mode": "prompt", "permission_prompting_enabled": true,
		"permission_rule_counts": object{"allow": 1, "deny": 2, "ask": 3}, "permission_rules_source": source,
		"prompt_format": "react", "prompt_sections": []string{"Runtime Config", "Workflow Context"}})
	state := object{"current_task": "Inspect permission history", "runtime_owner_type": "RuntimeHandle",
		"permission_mode": "allow", "permission_prompting_enabled": true,
		"permission_rule_counts": object{"allow": 2, "deny": 1, "ask": 4}, "permission_rules_source": source,
		"prompt_format":            "native",
		"prompt_sections":          []string{"Runtime Config", "Workflow Context", "Project Context"},
		"workflow_reason_code":     "task_is_complex",
		"workflow_reason_summary":  "task looks complex enough to benefit from a persisted plan",
		"workflow_decision_kind":   "initial_route",
		"workflow_ambiguity_score": 0.2, "workflow_complexity_score": 0.6, "workflow_scheduled_next_mode": "execute",
		"last_completion_decision_code": "verification_failed_reentry",
		"last_completion_decision_summary": "continued after verification failed and the runtime re-entered execute " +
			"mode",
		"last_turn_transition_summary": "completion -> finalize [terminal] Finalizing completed turn",
		"last_turn_transition_kind":    "terminal", "last_turn_transition_reason_code": "turn_complete"}
	n.patch(state)
	entry := object{"timestamp": "2026-04-07T12:00:00Z", "kind": "route", "mode": "plan",
		"reason_code": "task_is_complex", "summary": "plan: workflow pressure favors a persisted plan before execution",
		"decision_kind": "initial_route", "route_score": 0.72, "runner_up_mode": "clarify", "runner_up_score": 0.61,
		"scheduled_next_mode":  "execute",
		"unresolved_questions": []string{"Scope is still broad."}, "prompt_format": "native",
		"prompt_sections": []string{"Runtime Config", "Workflow Context", "Project Context"}}
	n.send(http.MethodPost, "/timeline", entry, http.StatusCreated)
	step := object{"stage": "definition_of_done", "outcome": "continue", "decision_code": "verification_failed_reentry",
		"decision_summary": "continued after verification failed and the runtime re-entered execute mode",
		"evidence_summary": []string{"verification contradiction: pytest still failed"}}
	n.send(http.MethodPost, "/trace", step, http.StatusCreated)
	n.stop()
	n.again()
	r := n.read("/record")
	holds(t, "the state", r, state)
	holds(t, "the owner", r, object{"runtime_owner_path": "runtime-handle"})
	if list := n.list("/timeline", "timeline"); len(list) != 1 {
		t.Errorf("the timeline is %s", asJSON(list))
	} else {
		holds(t, "the timeline", list[0], entry)
	}
	if list := n.list("/trace", "completion_trace"); len(list) != 1 {
		t.Errorf("the trace is %s", asJSON(list))
	} else {
		holds(t, "the trace", list[0], step)
	}
	n.patch(object{"workflow_reason_code": nil})
	holds(t, "after a field was cleared", n.read("/state"),
		object{"workflow_reason_code": nil, "workflow_reason_summary": state["workflow_reason_summary"],
			"current_task": state["current_task"]})
}

// TestResumeSessionUpdatesRuntimeOwnerMetadata is test_resume_session_updates_runtime_owner_metadata (F-111).
func TestResumeSessionUpdatesRuntimeOwnerMetadata(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	s.post("/api/threads", `{"id":"loader"}`).wants(http.StatusCreated)
	n := s.notebook("loader")
	id := n.send(http.MethodPost, "/clear", object{}, http.StatusCreated)["session_id"].(string) // an empty record
	for _, test := range [][2]string{{"Agent", "public-agent"}, {"FooBar", "foo-bar"},
		{"RuntimeHandle", "runtime-handle"}} {
		n.send(http.MethodPost, "/attach", object{"owner_type": test[0]}, http.StatusOK)
		want := object{"session_id": id, "runtime_owner_type": test[0], "runtime_owner_path": test[1]}
		holds(t, "the record", n.read("/record"), want)
		eventually(t, "the file says "+test[1], func() bool {
			return parsed(t, n.file(id, ""))["runtime_owner_path"] == test[1]
		})
	}
}

func completionEntry(kind, code, summary, outcome string, evidence ...string) object {
	return object{"timestamp": "2026-04-09T12:00:00Z", "kind": kind, "mode": "execute", "reason_code": code,
		"summary": summary, "decision_kind": "forced",
		"policy_stage": "continuation_check", "policy_outcome": outcome,
		"evidence_summary": append([]string{}, evidence...)}
}

// codes are the decisions of a trace.
func codes(trace []object) (list []string) {
	for _, e := range trace {
		list = append(list, e["decision_code"].(string))
	}
	return list
}

// TestSessionPrefersCanonicalWorkflowTimelineForCompletionTrace is
// test_session_prefers_canonical_workflow_timeline_for_completion_trace (F-113).
func TestSessionPrefersCanonicalWorkflowTimelineForCompletionTrace(t *testing.T) {
	t.Parallel()
	n := start(t, launch{}).notebook("loader")
	n.patch(object{"current_task": "Explain why the turn stopped",
		"last_completion_decision_code": "continuation_budget_exhausted",
		"last_completion_decision_summary": "stopped because the continuation budget was exhausted while " +
			"follow-through evidence was still missing"})
	n.send(http.MethodPost, "/trace", object{"stage": "definition_of_done", "outcome": "complete",
		"decision_code": "stale_completion_trace", "decision_summary": "this legacy trace entry should be ignored"},
		http.StatusCreated)
	const evidence = "showing the requested work was actually carried out"
	n.send(http.MethodPost, "/timeline", completionEntry("completion_check", "premature_completion_nudge",
		"completion: requested one continuation because the non-mutating response looked incomplete", "continue",
		evidence), http.StatusCreated)
	n.send(http.MethodPost, "/timeline", completionEntry("completion_finalize", "continuation_budget_exhausted",
		"completion: stopped because the continuation budget was exhausted while follow-through evidence was still "+
			"missing", "finalize", evidence), http.StatusCreated)
	id := n.read("/record")["session_id"].(string)
	for _, when := range []string{"live", "after a restart"} {
		if _, there := n.read("/record")["completion_trace"]; there {
			t.Errorf("%s: the record has a completion_trace", when)
		}
		eventually(t, "the file has no completion_trace", func() bool {
			_, there := parsed(t, n.file(id, ""))["completion_trace"]
			return !there
		})
		trace := n.list("/trace", "completion_trace")
		if got := codes(trace); !slices.Equal(got,
			[]string{"premature_completion_nudge", "continuation_budget_exhausted"}) {
			t.Fatalf("%s: the trace is %v", when, got)
		}
		holds(t, when, trace[1], object{"stage": "continuation_check", "outcome": "finalize",
			"evidence_summary": []string{evidence}})
		n.kill()
		n.again()
	}
}

// TestSessionProjectsLiveCompletionTraceFromWorkflowTimeline is
// test_session_projects_live_completion_trace_from_workflow_timeline (F-113, F-115).
func TestSessionProjectsLiveCompletionTraceFromWorkflowTimeline(t *testing.T) {
	t.Parallel()
	n := start(t, launch{}).notebook("loader")
	n.send(http.MethodPost, "/timeline", completionEntry("completion_check", "completion_response_accepted",
		"completion: accepted the response because follow-through evidence was present", "accept"), http.StatusCreated)
	last := completionEntry("completion_finalize", "continuation_budget_exhausted",
		"completion: stopped because verification evidence was still missing", "finalize", "a passing verification "+
			"result from `pytest -q`")
	proof := object{"category": "verification", "source": "dod.verification_commands",
		"summary": "verification evidence was still missing for `pytest -q`", "status": "missing",
		"subject": "pytest -q", "detail": "exit 1"}
	last["evidence_provenance"] = []object{proof}
	n.send(http.MethodPost, "/timeline", last, http.StatusCreated)
	if got := codes(n.list("/trace", "completion_trace")); len(got) != 0 {
		t.Errorf("before there is a decision the trace is %v", got)
	}
	n.patch(object{"last_completion_decision_code": "continuation_budget_exhausted",
		"last_completion_decision_summary": "stopped because verification evidence was still missing"})
	trace := n.list("/trace", "completion_trace")
	if got := codes(trace); !slices.Equal(got,
		[]string{"completion_response_accepted", "continuation_budget_exhausted"}) {
		t.Fatalf("the trace is %v", got)
	}
	holds(t, "the last step", trace[1], object{"stage": "continuation_check", "outcome": "finalize",
		"evidence_summary":    []string{"a passing verification result from `pytest -q`"},
		"evidence_provenance": []object{proof},
		"decision_summary":    "stopped because verification evidence was still missing"})
}

// TestSessionPersistsWorkflowLedgerState is test_session_persists_workflow_ledger_state (F-116).
func TestSessionPersistsWorkflowLedgerState(t *testing.T) {
	t.Parallel()
	n := start(t, launch{}).notebook("loader")
	first := object{"text": "notes.txt stays out of scope unless clarified otherwise.", "status": "contradicted",
		"introduced_phase": "clarify", "updated_phase": "recovery",
		"evidence": []string{"Clarify scope assumed `notes.txt` stayed out of scope."}}
	anchor := object{"text": "notes.txt exists in the workspace root.", "status": "changed",
		"introduced_phase": "clarify", "updated_phase": "recovery", "evidence": []string{}}
	bound := object{"text": "Escalate before broad UX changes.", "status": "tracked", "introduced_phase": "clarify",
		"updated_phase": nil, "evidence": []string{}}
	ledger := object{"assumptions": []object{first}, "acceptance_anchors": []object{anchor},
		"decision_boundaries": []object{bound}}
	n.send(http.MethodPut, "/ledger", object{"assumptions": []object{{"text": "replaced", "status": "open"}}},
		http.StatusOK)
	n.send(http.MethodPut, "/ledger", object{"assumptions": []object{first, {"text": " ", "status": "open"}},
		"acceptance_anchors": []object{anchor}, "decision_boundaries": []object{bound}}, http.StatusOK)
	n.kill()
	n.again()
	holds(t, "the ledger", n.read("/ledger"), ledger)
	holds(t, "the record", n.read("/record"), object{"workflow_ledger": ledger})
}

// TestSessionPersistsPromptHistoryState is test_session_persists_prompt_history_state (F-117).
func TestSessionPersistsPromptHistoryState(t *testing.T) {
	t.Parallel()
	n := start(t, launch{}).notebook("loader")
	plan := object{"timestamp": "2026-04-07T14:00:00Z", "workflow_mode": "plan", "permission_mode": "prompt",
		"current_task": "Tighten Loader workflow behavior", "prompt_format": "native",
		"prompt_sections": []string{"Runtime Config", "Workflow Context", "Mode Guidance"},
		"content":         "# Introduction\nplan around planned.txt\n"}
	do := object{"timestamp": "2026-04-07T14:02:00Z", "workflow_mode": "execute", "permission_mode": "prompt",
		"current_task": "Tighten Loader workflow behavior", "prompt_format": "native",
		"prompt_sections": []string{"Runtime Config", "Workflow Context", "Mode Guidance", "Project Context"},
		"content":         "# Introduction\nexecute around notes.txt\n# Project Context\npython\n"}
	n.send(http.MethodPost, "/prompts", plan, http.StatusCreated)
	n.send(http.MethodPost, "/prompts", do, http.StatusCreated)
	do["timestamp"] = "2026-04-07T14:03:00Z"
	holds(t, "the same again", n.send(http.MethodPost, "/prompts", do, http.StatusCreated),
		object{"skipped": true, "seq": 2})
	do["timestamp"] = "2026-04-07T14:02:00Z"
	n.kill()
	n.again()
	list := n.list("/prompts", "prompts")
	if len(list) != 2 {
		t.Fatalf("the prompts are %s", asJSON(list))
	}
	holds(t, "the first", list[0], plan)
	holds(t, "the second", list[1], do)
	for i := range 15 {
		n.send(http.MethodPost, "/prompts", object{"workflow_mode": "plan", "content": strings.Repeat("p", i+1)},
			http.StatusCreated)
	}
	if list = n.list("/prompts", "prompts"); len(list) != 16 || list[0]["content"] != do["content"] {
		t.Errorf("of 17 prompts the view has %d, from %v", len(list), list[0]["content"])
	}
	if list = n.list("/prompts?after=0", "prompts"); len(list) != 17 {
		t.Errorf("of 17 prompts %d are kept", len(list))
	}
}

// TestTurnSummaryUsageRollsUpIntoSessionTotals is test_turn_summary_usage_rolls_up_into_session_totals (F-118).
func TestTurnSummaryUsageRollsUpIntoSessionTotals(t *testing.T) {
	t.Parallel()
	n := start(t, launch{}).notebook("loader")
	turn := n.send(http.MethodPost, "/turns", object{"usage": object{"prompt_tokens": 9, "completion_tokens": 3,
		"of_nobody": 7}, "final_response": "Here's the answer."}, http.StatusCreated)
	usage, total := turn["usage"].(object), turn["cumulative_usage"].(object)
	holds(t, "the turn", usage, object{"input_tokens": 9, "output_tokens": 3})
	holds(t, "all turns", total, object{"input_tokens": 9, "output_tokens": 3, "turns": 1})
	n.send(http.MethodPost, "/turns", object{"usage": object{"input_tokens": 1, "output_tokens": 2,
		"cache_read_tokens": 5}, "tool_calls": 3, "iterations": 2}, http.StatusCreated)
	n.kill()
	n.again()
	holds(t, "two turns", n.read("/usage"),
		object{"input_tokens": 10, "output_tokens": 5, "cache_read_tokens": 5, "tool_calls": 3, "turns": 2})
	if list := n.list("/turns", "turns"); len(list) != 2 || asJSON(list[0]) != asJSON(turn) {
		t.Errorf("the turns are %s", asJSON(list))
	}
}
