package conversation

import (
	"slices"
	"strings"
)

// MaxTrace is how many entries of a completion trace are shown, the newest. Loader's.
const MaxTrace = 8

// What marks a decision about completion in the timeline.
const (
	completionKind    = "completion_" // how its kind begins
	completionSummary = "completion:" // how its summary may begin
	stageUnknown      = "unknown"     // the stage of an entry that names none
)

// completionOutcomes is what came of an entry that names no outcome, by its kind; of other kinds it
// is complete.
var completionOutcomes = map[string]string{
	"completion_check":    "accept",
	"completion_continue": "continue",
	"completion_finalize": "finalize",
}

const outcomeComplete = "complete"

// Trace is the completion trace of a conversation: projected from the timeline when that carries
// the last completion decision (derived: nothing of it need be stored), else the newest of the
// stored one. timeline is in the order in which it was written.
//
// The projection: the newest entry about completion whose reason code is lastDecision, and those
// about completion that stand directly before it, at most MaxTrace. So it is the same for any end
// of the timeline that has these.
func Trace(timeline []Entry, lastDecision *string, stored []TraceEntry) (trace []TraceEntry, derived bool) {
	end := lastCompletion(timeline, lastDecision)
	if end == 0 {
		return append([]TraceEntry{}, newest(stored, MaxTrace)...), false
	}
	start := end - 1
	for start > 0 && end-start < MaxTrace && isCompletion(timeline[start-1]) {
		start--
	}
	trace = make([]TraceEntry, 0, MaxTrace)
	for _, e := range timeline[start:end] {
		trace = append(trace, project(e))
	}
	return trace, true
}

// lastCompletion is the index behind the newest entry about completion with this reason code; 0
// when there is none.
func lastCompletion(timeline []Entry, code *string) int {
	if code == nil || *code == "" {
		return 0
	}
	for i := len(timeline); i > 0; i-- {
		if e := timeline[i-1]; isCompletion(e) && e.ReasonCode == *code {
			return i
		}
	}
	return 0
}

func isCompletion(e Entry) bool { return strings.HasPrefix(e.Kind, completionKind) }

func project(e Entry) TraceEntry {
	t := TraceEntry{
		Stage:              stageUnknown,
		Outcome:            outcomeComplete,
		DecisionCode:       e.ReasonCode,
		DecisionSummary:    e.Summary,
		EvidenceSummary:    slices.Clone(e.EvidenceSummary),
		EvidenceProvenance: slices.Clone(e.EvidenceProvenance),
	}
	if e.PolicyStage != nil {
		t.Stage = *e.PolicyStage
	}
	if e.PolicyOutcome != nil {
		t.Outcome = *e.PolicyOutcome
	} else if o, ok := completionOutcomes[e.Kind]; ok {
		t.Outcome = o
	}
	if rest, ok := strings.CutPrefix(e.Summary, completionSummary); ok {
		t.DecisionSummary = strings.TrimSpace(rest)
	}
	return NormalTrace(t)
}

// newest are the last n of a list.
func newest[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
