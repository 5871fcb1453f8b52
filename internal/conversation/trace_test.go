package conversation

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

func some(s string) *string { return &s }

func codes(trace []TraceEntry) (list []string) {
	for _, t := range trace {
		list = append(list, t.DecisionCode)
	}
	return list
}

// TestTraceFromTimeline is the seed's two: what is projected, and that a stored entry which the
// timeline contradicts is ignored.
func TestTraceFromTimeline(t *testing.T) {
	stale := []TraceEntry{{Stage: "definition_of_done", Outcome: "complete", DecisionCode: "stale_completion_trace"}}
	missing := []Provenance{{Category: "verification", Source: "dod.verification_commands",
		Summary: "evidence was missing", Status: "missing", Subject: some("pytest -q")}}
	timeline := []Entry{
		{Kind: "completion_check", ReasonCode: "premature_completion_nudge",
			Summary:     "completion: requested one continuation",
			PolicyStage: some("continuation_check"), PolicyOutcome: some("continue"),
			EvidenceSummary: []string{"showing the work"}},
		{Kind: "completion_finalize", ReasonCode: "continuation_budget_exhausted", Summary: "completion:stopped",
			PolicyStage: some("continuation_check"), PolicyOutcome: some("finalize"),
			EvidenceSummary: []string{"a passing result"}, EvidenceProvenance: missing},
	}
	trace, derived := Trace(timeline, some("continuation_budget_exhausted"), stale)
	want := []TraceEntry{
		{Stage: "continuation_check", Outcome: "continue", DecisionCode: "premature_completion_nudge",
			DecisionSummary: "requested one continuation", EvidenceSummary: []string{"showing the work"},
			EvidenceProvenance: []Provenance{}},
		{Stage: "continuation_check", Outcome: "finalize", DecisionCode: "continuation_budget_exhausted",
			DecisionSummary: "stopped", EvidenceSummary: []string{"a passing result"}, EvidenceProvenance: missing},
	}
	if !derived || !reflect.DeepEqual(trace, want) {
		t.Errorf("derived %v: %+v", derived, trace)
	}
	for _, last := range []*string{nil, some(""), some("turn_complete")} {
		if trace, derived := Trace(timeline, last, stale); derived ||
			trace[0].DecisionCode != "stale_completion_trace" {
			t.Errorf("without the last decision in the timeline: %v %+v", derived, trace)
		}
	}
}

func TestTraceCases(t *testing.T) {
	entry := func(kind, code string) Entry { return Entry{Kind: kind, ReasonCode: code} }
	for _, c := range []struct {
		name     string
		timeline []Entry
		want     []string
	}{
		{"ends at the decision", []Entry{entry("completion_check", "a"), entry("completion_complete", "x"),
			entry("completion_check", "b")}, []string{"a", "x"}},
		{"the newest of the same", []Entry{entry("completion_check", "x"), entry("route", "r"),
			entry("completion_check", "b"), entry("completion_check", "x")}, []string{"b", "x"}},
		{"another kind ends it", []Entry{entry("completion_check", "a"), entry("repair_retry", "r"),
			entry("completion_check", "x")}, []string{"x"}},
		{"the code alone is not enough", []Entry{entry("route", "x")}, nil},
		{"an empty timeline", nil, nil},
	} {
		if trace, derived := Trace(c.timeline, some("x"), nil); derived != (c.want != nil) || trace == nil ||
			!reflect.DeepEqual(codes(trace), c.want) {
			t.Errorf("%s: %v %v, want %v", c.name, derived, codes(trace), c.want)
		}
	}
	for kind, outcome := range map[string]string{"completion_check": "accept", "completion_continue": "continue",
		"completion_finalize": "finalize", "completion_complete": "complete", "completion_new": "complete"} {
		if trace, _ := Trace([]Entry{entry(kind, "x")}, some("x"), nil); trace[0].Outcome != outcome ||
			trace[0].Stage != "unknown" {
			t.Errorf("%s without an outcome is %+v", kind, trace[0])
		}
	}
}

// randomTimeline has runs of entries about completion between others.
func randomTimeline(r *rand.Rand) []Entry {
	kinds := []string{"completion_check", "completion_check", "completion_continue", "completion_finalize",
		"completion_complete", "route", "repair_retry", "completion"}
	list := make([]Entry, r.IntN(40))
	for i := range list {
		list[i] = Entry{Timestamp: fmt.Sprint(i), Kind: kinds[r.IntN(len(kinds))],
			ReasonCode: fmt.Sprint("code ", r.IntN(6)), Summary: fmt.Sprint("entry ", i)}
		if r.IntN(2) == 0 {
			list[i].PolicyStage, list[i].PolicyOutcome = some("stage"), some("outcome")
		}
	}
	return list
}

// TestTraceProperties: over random timelines a derived trace is a run of the timeline about
// completion in its order that ends at the newest entry with the decision and cannot be longer, at
// most 8; it does not depend on what is stored, nor on what comes before; and a conversation that
// was written to a file and read again has the same.
func TestTraceProperties(t *testing.T) {
	for seed := range uint64(randomRuns) {
		r := rand.New(rand.NewPCG(seed, 1))
		timeline, last := randomTimeline(r), some(fmt.Sprint("code ", r.IntN(6)))
		stored := make([]TraceEntry, r.IntN(12))
		for i := range stored {
			stored[i] = NormalTrace(TraceEntry{DecisionCode: fmt.Sprint("stored ", i)})
		}
		trace, derived := Trace(timeline, last, stored)
		end := -1
		for i, e := range timeline {
			if isCompletion(e) && e.ReasonCode == *last {
				end = i
			}
		}
		if derived != (end >= 0) {
			t.Fatalf("seed %d: derived is %v, the decision is entry %d", seed, derived, end)
		}
		if !derived {
			if !reflect.DeepEqual(trace, append([]TraceEntry{}, stored[max(0, len(stored)-MaxTrace):]...)) {
				t.Fatalf("seed %d: the stored trace is %v", seed, codes(trace))
			}
			continue
		}
		checkRun(t, seed, timeline[:end+1], trace)
		if other, _ := Trace(timeline, last, nil); !reflect.DeepEqual(other, trace) {
			t.Fatalf("seed %d: what is stored changes a derived trace", seed)
		}
		if other, _ := Trace(timeline[max(0, end+1-MaxTrace):], last, stored); !reflect.DeepEqual(other, trace) {
			t.Fatalf("seed %d: what is older than %d entries changes the trace", seed, MaxTrace)
		}
		b, err := Document{WorkflowTimeline: timeline, State: State{LastCompletionDecisionCode: last}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		d, err := DecodeDocument(b)
		if err != nil {
			t.Fatal(err)
		}
		if reloaded, _ := Trace(d.WorkflowTimeline, d.LastCompletionDecisionCode,
			d.CompletionTrace); !reflect.DeepEqual(reloaded, trace) {
			t.Fatalf("seed %d: live %+v, reloaded %+v", seed, trace, reloaded)
		}
	}
}

// checkRun: trace is the last run about completion of timeline, entry by entry.
func checkRun(t *testing.T, seed uint64, timeline []Entry, trace []TraceEntry) {
	t.Helper()
	run := len(timeline) - len(trace)
	for i, e := range timeline[run:] {
		if !isCompletion(e) || trace[i].DecisionCode != e.ReasonCode || trace[i].DecisionSummary != e.Summary {
			t.Fatalf("seed %d: entry %d of the trace is %+v, of the timeline %+v", seed, i, trace[i], e)
		}
	}
	if len(trace) > MaxTrace || len(trace) < MaxTrace && run > 0 && isCompletion(timeline[run-1]) {
		t.Fatalf("seed %d: the trace has %d entries", seed, len(trace))
	}
}
