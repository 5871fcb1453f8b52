package conversation

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Entry is one decision of the harness. What a key does not say is nil or empty; keys that are not
// listed are in Extra and come back as they were.
type Entry struct {
	Timestamp                string            `json:"timestamp"`
	Kind                     string            `json:"kind"`
	Mode                     string            `json:"mode"`
	ReasonCode               string            `json:"reason_code"`
	Summary                  string            `json:"summary"`
	DecisionKind             *string           `json:"decision_kind"`
	RouteScore               *json.Number      `json:"route_score"` // a number as it was written
	RunnerUpMode             *string           `json:"runner_up_mode"`
	RunnerUpScore            *json.Number      `json:"runner_up_score"`
	ScheduledNextMode        *string           `json:"scheduled_next_mode"`
	UnresolvedQuestions      []string          `json:"unresolved_questions"`
	PromptFormat             *string           `json:"prompt_format"`
	PromptSections           []string          `json:"prompt_sections"`
	PolicyStage              *string           `json:"policy_stage"`
	PolicyOutcome            *string           `json:"policy_outcome"`
	EvidenceSummary          []string          `json:"evidence_summary"`
	EvidenceProvenance       []Provenance      `json:"evidence_provenance"`
	SignalSummary            []string          `json:"signal_summary"`
	VerificationObservations []json.RawMessage `json:"verification_observations"`
	ClarifyStage             *string           `json:"clarify_stage"`
	ClarifyPressureKind      *string           `json:"clarify_pressure_kind"`
	PressurePassComplete     bool              `json:"pressure_pass_complete"`
	MissingReadinessGates    []string          `json:"missing_readiness_gates"`
	ArtifactPaths            []string          `json:"artifact_paths"`

	Extra map[string]json.RawMessage `json:"-"`
}

// What an entry says that does not say it.
const (
	defaultKind   = "route"
	defaultStatus = "context" // of Provenance
)

// Normal is the entry with defaults for a blank kind and mode, null for other blank texts that may
// be null, and empty lists instead of none.
func (e Entry) Normal() Entry {
	if blank(e.Kind) {
		e.Kind = defaultKind
	}
	if blank(e.Mode) {
		e.Mode = DefaultWorkflowMode
	}
	for _, p := range e.texts() {
		*p = unblank(*p)
	}
	for _, p := range e.lists() {
		*p = unblanks(*p)
	}
	e.EvidenceProvenance = normalProvenance(e.EvidenceProvenance)
	e.VerificationObservations = append([]json.RawMessage{}, e.VerificationObservations...)
	return e
}

// MarshalJSON writes all keys, also of Extra. A struct that embeds an Entry is written as the
// Entry alone.
func (e Entry) MarshalJSON() ([]byte, error) {
	type plain Entry
	b, err := marshal(plain(e.Normal()))
	if err != nil || len(e.Extra) == 0 {
		return b, err
	}
	all := object(b)
	for key, raw := range e.Extra {
		if _, known := all[key]; !known {
			all[key] = raw
		}
	}
	return marshal(all)
}

// UnmarshalJSON is as tolerant as DecodeDocument; only another value than an object is an error.
func (e *Entry) UnmarshalJSON(b []byte) error {
	f := object(b)
	if f == nil {
		return fmt.Errorf("%w: an entry of the timeline is a JSON object", ErrInvalid)
	}
	*e = decodeEntry(f)
	return nil
}

// texts are the texts that may be null, by their keys.
func (e *Entry) texts() map[string]**string {
	return map[string]**string{
		"decision_kind":         &e.DecisionKind,
		"runner_up_mode":        &e.RunnerUpMode,
		"scheduled_next_mode":   &e.ScheduledNextMode,
		"prompt_format":         &e.PromptFormat,
		"policy_stage":          &e.PolicyStage,
		"policy_outcome":        &e.PolicyOutcome,
		"clarify_stage":         &e.ClarifyStage,
		"clarify_pressure_kind": &e.ClarifyPressureKind,
	}
}

// lists are the lists of texts, by their keys.
func (e *Entry) lists() map[string]*[]string {
	return map[string]*[]string{
		"unresolved_questions":    &e.UnresolvedQuestions,
		"prompt_sections":         &e.PromptSections,
		"evidence_summary":        &e.EvidenceSummary,
		"signal_summary":          &e.SignalSummary,
		"missing_readiness_gates": &e.MissingReadinessGates,
		"artifact_paths":          &e.ArtifactPaths,
	}
}

func decodeEntry(f fields) Entry {
	e := Entry{
		Timestamp:            f.text("timestamp", ""),
		Kind:                 f.content("kind"),
		Mode:                 f.content("mode"),
		ReasonCode:           f.content("reason_code"),
		Summary:              f.content("summary"),
		RouteScore:           f.number("route_score"),
		RunnerUpScore:        f.number("runner_up_score"),
		EvidenceProvenance:   listOf(f, "evidence_provenance", decodeProvenance),
		PressurePassComplete: f.truth("pressure_pass_complete"),
		Extra:                f.others(entryKeys),
	}
	e.VerificationObservations = slices.AppendSeq(e.VerificationObservations, f.elements("verification_observations"))
	for key, p := range e.texts() {
		*p = f.maybe(key)
	}
	for key, p := range e.lists() {
		*p = f.texts(key)
	}
	return e.Normal()
}

func decodeProvenance(f fields) Provenance {
	return Provenance{
		Category: f.content("category"), Source: f.content("source"), Summary: f.content("summary"),
		Status:  f.content("status"),
		Subject: f.maybe("subject"), Detail: f.maybe("detail"), CommandID: f.text("command_id", ""),
	}
}

func normalProvenance(list []Provenance) []Provenance {
	list = append([]Provenance{}, list...)
	for i := range list {
		p := &list[i]
		if blank(p.Status) {
			p.Status = defaultStatus
		}
		p.Subject, p.Detail = unblank(p.Subject), unblank(p.Detail)
	}
	return list
}

// NormalTrace is the entry with empty lists instead of none.
func NormalTrace(t TraceEntry) TraceEntry {
	t.EvidenceSummary = unblanks(t.EvidenceSummary)
	t.EvidenceProvenance = normalProvenance(t.EvidenceProvenance)
	return t
}

func decodeTrace(f fields) TraceEntry {
	return NormalTrace(TraceEntry{
		Stage: f.content("stage"), Outcome: f.content("outcome"), DecisionCode: f.content("decision_code"),
		DecisionSummary:    f.content("decision_summary"),
		EvidenceSummary:    f.texts("evidence_summary"),
		EvidenceProvenance: listOf(f, "evidence_provenance", decodeProvenance),
	})
}
