package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
)

func TestTimelineIsExact(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	given := `{"timestamp":"2026-04-07T12:00:00Z","kind":"route","mode":"plan","reason_code":"task_is_complex",` +
		`"summary":"s","decision_kind":"initial_route",
		"route_score":0.72,"runner_up_mode":"clarify","runner_up_score":0.6100000000000001,
			"scheduled_next_mode":"execute","unresolved_questions":["Scope is still broad."],
		"prompt_format":"native","prompt_sections":["A"],"policy_stage":"p","policy_outcome":"o",
			"evidence_summary":["e"],
		"evidence_provenance":[{"category":"verification","source":"cmd_1","summary":"s","status":"missing",
			"subject":"pytest -q","detail":"d","command_id":"c"}],
		"ours":{"n":12345678901234567890}}`
	var e conversation.Entry
	must(t, json.Unmarshal([]byte(given), &e))
	added, err := r.AddEntry("t", e)
	must(t, err)
	r.again()
	list, err := r.Timeline("t", "", store.Page{})
	must(t, err)
	same(t, "the entry", list, []store.Item[conversation.Entry]{added})
	for _, exact := range []string{`"route_score":0.72,`, `0.6100000000000001`, `12345678901234567890`,
		`"command_id":"c"`} {
		if got := asJSON(t, list[0].Value); !strings.Contains(got, exact) {
			t.Errorf("%s is not in %s", exact, got)
		}
	}
	same(t, "the file", r.saved(r.head("t").SessionID).WorkflowTimeline, []conversation.Entry{e})
}

// TestViewsAndLogs: a view shows the newest, the log has all.
func TestViewsAndLogs(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	for i := range conversation.MaxTimeline + 1 {
		_, err := r.AddEntry("t", conversation.Entry{Kind: "route", Summary: fmt.Sprint(i + 1)})
		must(t, err)
		_, added, err := r.AddPrompt("t", conversation.Prompt{Content: fmt.Sprint(i + 1)})
		if must(t, err); !added {
			t.Errorf("prompt %d is not added", i+1)
		}
		_, _, err = r.AddTrace("t", conversation.TraceEntry{DecisionCode: fmt.Sprint(i + 1)})
		must(t, err)
	}
	d, err := r.Document("t", "", -1)
	must(t, err)
	if n := len(d.WorkflowTimeline); n != conversation.MaxTimeline || d.WorkflowTimeline[0].Summary != "2" {
		t.Errorf("%d entries from %s", n, d.WorkflowTimeline[0].Summary)
	}
	if n := len(d.PromptHistory); n != conversation.MaxPrompts || d.PromptHistory[n-1].Content != "25" {
		t.Errorf("%d prompts", n)
	}
	if n := len(d.CompletionTrace); n != conversation.MaxTrace || d.CompletionTrace[n-1].DecisionCode != "25" {
		t.Errorf("%d steps", n)
	}
	log, err := r.Timeline("t", "", store.Page{})
	must(t, err)
	if len(log) != conversation.MaxTimeline+1 || log[0].Seq != 1 {
		t.Errorf("the log has %d", len(log))
	}
	for _, c := range []struct {
		page     store.Page
		from, to int64
	}{
		{store.Page{After: 3, Limit: 2}, 4, 5},
		{store.Page{Limit: 2, Newest: true}, 24, 25},
		{store.Page{After: 24, Newest: true}, 25, 25},
	} {
		list, err := r.Prompts("t", "", c.page)
		must(t, err)
		if list[0].Seq != c.from || list[len(list)-1].Seq != c.to || int64(len(list)) != c.to-c.from+1 {
			t.Errorf("%+v: %d from %d to %d", c.page, len(list), list[0].Seq, list[len(list)-1].Seq)
		}
	}
}

func TestTheTraceIsOfTheTimeline(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	_, err := r.Patch("t", json.RawMessage(`{"last_completion_decision_code":"budget"}`))
	must(t, err)
	list, derived, err := r.AddTrace("t", conversation.TraceEntry{DecisionCode: "stale"})
	must(t, err)
	if derived || len(list) != 1 {
		t.Errorf("%v %+v", derived, list)
	}
	id := r.head("t").SessionID
	same(t, "the steps of the file", len(r.saved(id).CompletionTrace), 1)
	for _, e := range []conversation.Entry{
		{Kind: "completion_check", ReasonCode: "nudge", Summary: "completion: more", PolicyStage: ptr("check"),
			PolicyOutcome: ptr("continue")},
		{Kind: "completion_finalize", ReasonCode: "budget", Summary: "completion: done", PolicyStage: ptr("check"),
			PolicyOutcome: ptr("finalize")},
	} {
		_, err = r.AddEntry("t", e)
		must(t, err)
	}
	list, derived, err = r.AddTrace("t", conversation.TraceEntry{DecisionCode: "ignored"})
	must(t, err)
	if !derived || len(list) != 2 || list[0].DecisionCode != "nudge" || list[1].DecisionCode != "budget" {
		t.Errorf("%v %+v", derived, list)
	}
	if r.head("t").Traces != 1 {
		t.Error("what the timeline says is stored too")
	}
	if d := r.saved(id); d.CompletionTrace != nil {
		t.Errorf("the file has it too: %+v", d.CompletionTrace)
	}
	r.again()
	again, derived, err := r.Trace("t", "")
	if must(t, err); !derived {
		t.Error("another server has it stored")
	}
	same(t, "the trace of another server", again, list)
	_, err = r.Patch("t", json.RawMessage(`{"last_completion_decision_code":null}`))
	must(t, err)
	if list, derived, err = r.Trace("t", ""); derived || len(list) != 1 || list[0].DecisionCode != "stale" {
		t.Errorf("%v %+v %v", derived, list, err)
	}
}

func TestLedger(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	l := conversation.Ledger{
		Assumptions: []conversation.LedgerItem{{Text: "notes.txt stays out", Status: "contradicted",
			IntroducedPhase: ptr("clarify"), UpdatedPhase: ptr("recovery"), Evidence: []string{"e"}},
			{Text: "  "}},
		DecisionBoundaries: []conversation.LedgerItem{{Text: "Escalate", Status: "tracked"}},
	}
	kept, err := r.PutLedger("t", l)
	must(t, err)
	if len(kept.Assumptions) != 1 || kept.Assumptions[0].Status != "contradicted" || len(kept.DecisionBoundaries) != 1 {
		t.Errorf("%+v", kept)
	}
	r.again()
	read, err := r.Ledger("t", "")
	must(t, err)
	same(t, "the ledger", read, kept)
	_, err = r.PutLedger("t", conversation.Ledger{})
	must(t, err)
	read, err = r.Ledger("t", "")
	must(t, err)
	same(t, "the empty one", read, conversation.NormalLedger(conversation.Ledger{}))
	_, err = r.PutLedger("t", conversation.Ledger{Assumptions: []conversation.LedgerItem{{Text: strings.Repeat("x",
		conversation.MaxItemBytes)}}})
	refused(t, err, conversation.ErrTooLarge)
}

func TestPromptsAreNotRepeated(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	p := conversation.Prompt{Timestamp: "2026-04-07T14:00:00Z", WorkflowMode: "plan", PermissionMode: "prompt",
		PromptSections: []string{"A"}, Content: "# Introduction\n  kept\n"}
	_, added, err := r.AddPrompt("t", p)
	if must(t, err); !added {
		t.Error("the first is not added")
	}
	r.again()
	p.Timestamp = "2026-04-07T14:02:00Z"
	it, added, err := r.AddPrompt("t", p)
	if must(t, err); added || it.Seq != 1 {
		t.Errorf("%v %+v", added, it)
	}
	p.WorkflowMode = "execute"
	_, added, err = r.AddPrompt("t", p)
	if must(t, err); !added {
		t.Error("another mode is another prompt")
	}
	list, err := r.Prompts("t", "", store.Page{})
	must(t, err)
	if len(list) != 2 || list[0].Value.WorkflowMode != "plan" || list[1].Value.Content != p.Content {
		t.Errorf("%+v", list)
	}
	_, _, err = r.AddPrompt("t", conversation.Prompt{})
	refused(t, err, conversation.ErrInvalid)
}

func TestTurnsAddUp(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	turn, err := r.AddTurn("t", conversation.Turn{FinalResponse: "done", ToolCalls: 2, Iterations: 3,
		DefinitionOfDone: json.RawMessage(`{"task_statement":"t"}`)},
		json.RawMessage(`{"prompt_tokens":9,"completion_tokens":3,"colour":1}`))
	must(t, err)
	want := conversation.Usage{InputTokens: 9, OutputTokens: 3, ToolCalls: 2, Iterations: 3, Turns: 1}
	same(t, "usage", turn.Usage, want)
	same(t, "all", turn.CumulativeUsage, want)
	if turn.Seq != 1 || turn.WorkflowMode != "execute" || turn.SessionID != r.head("t").SessionID {
		t.Errorf("%+v", turn)
	}
	r.again()
	_, err = r.AddTurn("t", conversation.Turn{},
		json.RawMessage(`{"input_tokens":1,"output_tokens":1,"cache_read_tokens":5}`))
	must(t, err)
	u, err := r.Usage("t", "")
	must(t, err)
	same(t, "the total", u, conversation.Usage{InputTokens: 10, OutputTokens: 4, CacheReadTokens: 5, ToolCalls: 2,
		Iterations: 3, Turns: 2})
	list, err := r.Turns("t", "", store.Page{})
	must(t, err)
	same(t, "the first", list[0].Value, turn)
	same(t, "the last total", list[1].Value.CumulativeUsage, u)
	for _, bad := range []conversation.Turn{{ToolCalls: -1}, {Iterations: -1}, {Trace: json.RawMessage(`{`)}} {
		_, err := r.AddTurn("t", bad, nil)
		refused(t, err, conversation.ErrInvalid)
	}
}

func TestMailbox(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	_, err := r.Enqueue("t", "one")
	must(t, err)
	_, err = r.Enqueue("t", "two")
	must(t, err)
	r.again()
	list, err := r.Dequeue("t")
	must(t, err)
	if len(list) != 2 || list[0].Value != "one" || list[1].Value != "two" || list[1].Seq != 2 {
		t.Errorf("%+v", list)
	}
	list, err = r.Dequeue("t")
	if must(t, err); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	_, err = r.Enqueue("t", "x")
	must(t, err)
	r.pretend("t", func(h *conversation.Head) { h.Waiting = conversation.MaxMail - 1 })
	_, err = r.Enqueue("t", "the last")
	must(t, err)
	_, err = r.Enqueue("t", "x")
	refused(t, err, conversation.ErrTooMany)
	_, err = r.Enqueue("t", "")
	refused(t, err, conversation.ErrInvalid)
	_, err = r.Dequeue("t")
	must(t, err)
	_, err = r.Enqueue("t", "there is room")
	must(t, err)
}

func TestListsRefuse(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	r.say("t", "x")
	large := strings.Repeat("x", conversation.MaxItemBytes)
	for name, err := range map[string]error{
		"entry":  second(r.AddEntry("t", conversation.Entry{Summary: large})),
		"trace":  third(r.AddTrace("t", conversation.TraceEntry{DecisionSummary: large})),
		"prompt": third(r.AddPrompt("t", conversation.Prompt{Content: large})),
		"mail":   second(r.Enqueue("t", large)),
	} {
		if err == nil {
			t.Errorf("%s is not refused", name)
		}
		refused(t, err, conversation.ErrTooLarge)
	}
	refused(t, second(r.AddEntry("t", conversation.Entry{RouteScore: ptr(json.Number("NaN"))})),
		conversation.ErrInvalid)
	same(t, "events", r.events("t"), []string{"record.created", "record.message"})
}

func second[T any](_ T, err error) error        { return err }
func third[T, U any](_ T, _ U, err error) error { return err }
