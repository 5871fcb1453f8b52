package conversation

import (
	"math"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/wire"
)

// State is the part of a conversation that is changed field by field: in a patch an absent key
// keeps, null clears, that is, gives the zero value or the default. A nil pointer is null. It has the
// keys of a Loader record.
type State = wire.RecordState

// DefaultWorkflowMode is the workflow mode of a new conversation.
const DefaultWorkflowMode = "execute"

// NormalState is the state with defaults where it has none, null for other blank texts, and
// empty lists instead of none.
func NormalState(s State) State {
	for _, p := range stateTexts(&s) {
		*p = unblank(*p)
	}
	if blank(s.WorkflowMode) {
		s.WorkflowMode = DefaultWorkflowMode
	}
	if blank(s.PermissionMode) {
		s.PermissionMode = permission.DefaultMode
	}
	s.PromptSections = unblanks(s.PromptSections)
	return s
}

// stateTexts are the texts that may be null, by their keys.
func stateTexts(s *State) map[string]**string {
	return map[string]**string{
		"current_task":                     &s.CurrentTask,
		"runtime_owner_type":               &s.RuntimeOwnerType,
		"runtime_owner_path":               &s.RuntimeOwnerPath,
		"permission_rules_source":          &s.PermissionRulesSource,
		"prompt_format":                    &s.PromptFormat,
		"active_dod_path":                  &s.ActiveDodPath,
		"active_turn_phase":                &s.ActiveTurnPhase,
		"workflow_reason_code":             &s.WorkflowReasonCode,
		"workflow_reason_summary":          &s.WorkflowReasonSummary,
		"workflow_decision_kind":           &s.WorkflowDecisionKind,
		"workflow_scheduled_next_mode":     &s.WorkflowScheduledNextMode,
		"last_completion_decision_code":    &s.LastCompletionDecisionCode,
		"last_completion_decision_summary": &s.LastCompletionDecisionSummary,
		"last_turn_transition_summary":     &s.LastTurnTransitionSummary,
		"last_turn_transition_kind":        &s.LastTurnTransitionKind,
		"last_turn_transition_reason_code": &s.LastTurnTransitionReasonCode,
	}
}

// decodeState reads the state out of a document.
func decodeState(f fields) State {
	s := State{
		WorkflowMode:               f.content("workflow_mode"),
		PermissionMode:             f.content("permission_mode"),
		PermissionPromptingEnabled: f.truth("permission_prompting_enabled"),
		PromptSections:             f.texts("prompt_sections"),
		WorkflowAmbiguityScore:     f.number("workflow_ambiguity_score"),
		WorkflowComplexityScore:    f.number("workflow_complexity_score"),
	}
	for key, p := range stateTexts(&s) {
		*p = f.maybe(key)
	}
	if s.RuntimeOwnerType != nil && s.RuntimeOwnerPath == nil {
		path := OwnerPath(*s.RuntimeOwnerType)
		s.RuntimeOwnerPath = &path
	}
	counts := object(f["permission_rule_counts"])
	for key, to := range map[string]*int{permission.Allow: &s.PermissionRuleCounts.Allow,
		permission.Ask: &s.PermissionRuleCounts.Ask, permission.Deny: &s.PermissionRuleCounts.Deny} {
		n, _ := counts.count(key)
		*to = int(min(n, math.MaxInt32))
	}
	return NormalState(s)
}

// KeepOwner takes over the fields of the thread: its owner and its permissions.
func KeepOwner(s *State, was State) {
	s.RuntimeOwnerType, s.RuntimeOwnerPath = was.RuntimeOwnerType, was.RuntimeOwnerPath
	s.PermissionMode, s.PermissionPromptingEnabled = was.PermissionMode, was.PermissionPromptingEnabled
	s.PermissionRuleCounts, s.PermissionRulesSource = was.PermissionRuleCounts, was.PermissionRulesSource
}

// NewState returns the state of a new conversation.
func NewState() State { return NormalState(State{}) }
