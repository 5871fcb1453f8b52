package conversation

import (
	"encoding/json"
	"maps"
	"math"

	"github.com/evertty/evertty/internal/permission"
)

// State is the part of a conversation that is changed field by field: in a patch an absent key
// keeps, null clears, that is, gives the zero value or the default. A nil pointer is null. Keys are
// those of a Loader record.
type State struct {
	CurrentTask      *string `json:"current_task"`
	RuntimeOwnerType *string `json:"runtime_owner_type"`
	// derived from the type unless given: OwnerPath
	RuntimeOwnerPath           *string        `json:"runtime_owner_path"`
	WorkflowMode               string         `json:"workflow_mode"`   // DefaultWorkflowMode
	PermissionMode             string         `json:"permission_mode"` // DefaultMode; one of the Modes
	PermissionPromptingEnabled bool           `json:"permission_prompting_enabled"`
	PermissionRuleCounts       map[string]int `json:"permission_rule_counts"` // allow, deny, ask
	PermissionRulesSource      *string        `json:"permission_rules_source"`
	PromptFormat               *string        `json:"prompt_format"`
	PromptSections             []string       `json:"prompt_sections"`
	ActiveDoDPath              *string        `json:"active_dod_path"`
	ActiveTurnPhase            *string        `json:"active_turn_phase"`
	WorkflowReasonCode         *string        `json:"workflow_reason_code"`
	WorkflowReasonSummary      *string        `json:"workflow_reason_summary"`
	WorkflowDecisionKind       *string        `json:"workflow_decision_kind"`
	WorkflowAmbiguityScore     *json.Number   `json:"workflow_ambiguity_score"`
	WorkflowComplexityScore    *json.Number   `json:"workflow_complexity_score"`
	WorkflowScheduledNextMode  *string        `json:"workflow_scheduled_next_mode"`
	LastCompletionDecisionCode *string        `json:"last_completion_decision_code"`
	LastCompletionDecisionText *string        `json:"last_completion_decision_summary"`
	LastTurnTransitionSummary  *string        `json:"last_turn_transition_summary"`
	LastTurnTransitionKind     *string        `json:"last_turn_transition_kind"`
	LastTurnTransitionReason   *string        `json:"last_turn_transition_reason_code"`
}

// DefaultWorkflowMode is the workflow mode of a new conversation.
const DefaultWorkflowMode = "execute"

// Normal is the state with defaults where it has none, null for other blank texts, the three
// counts, and empty collections instead of none.
func (s State) Normal() State {
	for _, p := range s.texts() {
		*p = unblank(*p)
	}
	if blank(s.WorkflowMode) {
		s.WorkflowMode = DefaultWorkflowMode
	}
	if blank(s.PermissionMode) {
		s.PermissionMode = permission.DefaultMode
	}
	s.PromptSections = unblanks(s.PromptSections)
	counts := map[string]int{permission.Allow: 0, permission.Deny: 0, permission.Ask: 0}
	maps.Copy(counts, s.PermissionRuleCounts)
	s.PermissionRuleCounts = counts
	return s
}

// texts are the texts that may be null, by their keys.
func (s *State) texts() map[string]**string {
	return map[string]**string{
		"current_task":                     &s.CurrentTask,
		"runtime_owner_type":               &s.RuntimeOwnerType,
		"runtime_owner_path":               &s.RuntimeOwnerPath,
		"permission_rules_source":          &s.PermissionRulesSource,
		"prompt_format":                    &s.PromptFormat,
		"active_dod_path":                  &s.ActiveDoDPath,
		"active_turn_phase":                &s.ActiveTurnPhase,
		"workflow_reason_code":             &s.WorkflowReasonCode,
		"workflow_reason_summary":          &s.WorkflowReasonSummary,
		"workflow_decision_kind":           &s.WorkflowDecisionKind,
		"workflow_scheduled_next_mode":     &s.WorkflowScheduledNextMode,
		"last_completion_decision_code":    &s.LastCompletionDecisionCode,
		"last_completion_decision_summary": &s.LastCompletionDecisionText,
		"last_turn_transition_summary":     &s.LastTurnTransitionSummary,
		"last_turn_transition_kind":        &s.LastTurnTransitionKind,
		"last_turn_transition_reason_code": &s.LastTurnTransitionReason,
	}
}

// decodeState reads the state out of a document.
func decodeState(f fields) State {
	s := State{
		WorkflowMode:               f.content("workflow_mode"),
		PermissionMode:             f.content("permission_mode"),
		PermissionPromptingEnabled: f.truth("permission_prompting_enabled"),
		PermissionRuleCounts:       map[string]int{},
		PromptSections:             f.texts("prompt_sections"),
		WorkflowAmbiguityScore:     f.number("workflow_ambiguity_score"),
		WorkflowComplexityScore:    f.number("workflow_complexity_score"),
	}
	for key, p := range s.texts() {
		*p = f.maybe(key)
	}
	if s.RuntimeOwnerType != nil && s.RuntimeOwnerPath == nil {
		path := OwnerPath(*s.RuntimeOwnerType)
		s.RuntimeOwnerPath = &path
	}
	counts := object(f["permission_rule_counts"])
	for _, key := range []string{permission.Allow, permission.Deny, permission.Ask} {
		n, _ := counts.count(key)
		s.PermissionRuleCounts[key] = int(min(n, math.MaxInt32))
	}
	return s.Normal()
}

// KeepOwner takes over what is of the thread and not of one conversation.
func (s *State) KeepOwner(was State) {
	s.RuntimeOwnerType, s.RuntimeOwnerPath = was.RuntimeOwnerType, was.RuntimeOwnerPath
	s.PermissionMode, s.PermissionPromptingEnabled = was.PermissionMode, was.PermissionPromptingEnabled
	s.PermissionRuleCounts, s.PermissionRulesSource = was.PermissionRuleCounts, was.PermissionRulesSource
}

// NewState returns the state of a new conversation.
func NewState() State { return State{}.Normal() }
