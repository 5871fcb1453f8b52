package wire

import "encoding/json"

// ToolCall is a call of a tool by the assistant.
type ToolCall struct {
	// Its arguments, kept as given.
	//schema:type "object"
	//schema:additionalProperties true
	Arguments json.RawMessage `json:"arguments" optional:"true"`
	// Its name for the result.
	ID string `json:"id" optional:"true"`
	// The tool.
	Name string `json:"name" optional:"true"`
}

// ToolResult is the result of a call.
type ToolResult struct {
	// What it said.
	Content string `json:"content" optional:"true"`
	// Whether it failed.
	IsError bool `json:"is_error" optional:"true"`
	// The call.
	ToolCallID string `json:"tool_call_id" optional:"true"`
}

// Message is a message of a conversation.
type Message struct {
	// The text.
	Content string `json:"content"`
	// Who says it.
	Role string `json:"role" enum:"system,user,assistant,tool"`
	// Tools that the assistant wants used.
	ToolCalls []ToolCall `json:"tool_calls" optional:"true"`
	// What became of tools.
	ToolResults []ToolResult `json:"tool_results" optional:"true"`
}

// KeptMessage is a message with its number and time.
type KeptMessage struct {
	// Its number, from 1, without gaps; that of a summary is the last it stands for.
	Seq uint64 `json:"seq"`
	// When it was appended.
	CreatedAt string `json:"created_at"`
	// The compaction that put it behind a summary.
	ArchivedBy uint64 `json:"archived_by,omitempty"`
	// It stands for others.
	Summary bool `json:"summary,omitempty"`
	// The text.
	Content string `json:"content"`
	// Who says it.
	Role string `json:"role" enum:"system,user,assistant,tool"`
	// Tools that the assistant wants used.
	ToolCalls []ToolCall `json:"tool_calls"`
	// What became of tools.
	ToolResults []ToolResult `json:"tool_results"`
}

// MessageList has messages of a record.
//
//schema:reply "The messages."
type MessageList struct {
	// The thread.
	ThreadID string `json:"thread_id" owned:"thread"`
	// The record that they are of; null when nobody has written one yet.
	SessionID *string `json:"session_id"`
	// In order.
	Messages []KeptMessage `json:"messages"`
	// The after of the next part; absent at the end.
	Next int64 `json:"next,omitempty" format:"int64" minimum:"0"`
}

// AppendMessages appends one message, or several in `messages`.
type AppendMessages struct {
	ThreadRef
	// Who says it.
	Role string `json:"role,omitempty" enum:"system,user,assistant,tool"`
	// The text.
	Content string `json:"content,omitempty"`
	// Tools that the assistant wants used.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// What became of tools.
	ToolResults []ToolResult `json:"tool_results,omitempty"`
	// Several, all or none of which are appended.
	Messages []Message `json:"messages,omitempty"`
}

// Appended says what was appended.
//
//schema:reply "They are kept."
type Appended struct {
	// The number of the last.
	Seq int64 `json:"seq" format:"int64" minimum:"0"`
	// Each.
	Messages []AppendedMessage `json:"messages"`
}

// AppendedMessage is a message that was appended.
type AppendedMessage struct {
	// Its number.
	Seq int64 `json:"seq" format:"int64" minimum:"0"`
	// When.
	CreatedAt string `json:"created_at"`
}

// RecordState is the state of a record.
//
//schema:reply "The state."
type RecordState struct {
	// What is being done: the first user message unless set.
	CurrentTask *string `json:"current_task"`
	// Who drives the thread.
	RuntimeOwnerType *string `json:"runtime_owner_type"`
	// The same in small letters and dashes.
	RuntimeOwnerPath *string `json:"runtime_owner_path"`
	// Such as execute, the default, plan or clarify.
	WorkflowMode string `json:"workflow_mode"`
	// read-only, workspace-write, danger-full-access, prompt or allow.
	PermissionMode string `json:"permission_mode"`
	// Whether somebody may be asked.
	PermissionPromptingEnabled bool `json:"permission_prompting_enabled"`
	// How many rules there are.
	PermissionRuleCounts RuleCounts `json:"permission_rule_counts"`
	// Where they come from.
	PermissionRulesSource *string `json:"permission_rules_source"`
	// Such as native or react.
	PromptFormat *string `json:"prompt_format"`
	// The prompt's parts, in order.
	PromptSections []string `json:"prompt_sections"`
	// The harness's definition of done.
	ActiveDodPath *string `json:"active_dod_path"`
	// Where it is in a turn.
	ActiveTurnPhase *string `json:"active_turn_phase"`
	// Why this workflow mode.
	WorkflowReasonCode *string `json:"workflow_reason_code"`
	// The same in words.
	WorkflowReasonSummary *string `json:"workflow_reason_summary"`
	// How that was decided.
	WorkflowDecisionKind *string `json:"workflow_decision_kind"`
	// How unclear the task is.
	WorkflowAmbiguityScore *json.Number `json:"workflow_ambiguity_score"`
	// How complex it is.
	WorkflowComplexityScore *json.Number `json:"workflow_complexity_score"`
	// The mode that comes next.
	WorkflowScheduledNextMode *string `json:"workflow_scheduled_next_mode"`
	// Why the last turn went on or ended; what the trace is projected for.
	LastCompletionDecisionCode *string `json:"last_completion_decision_code"`
	// The same in words.
	LastCompletionDecisionSummary *string `json:"last_completion_decision_summary"`
	// The last step of the turn.
	LastTurnTransitionSummary *string `json:"last_turn_transition_summary"`
	// Its kind.
	LastTurnTransitionKind *string `json:"last_turn_transition_kind"`
	// Its reason.
	LastTurnTransitionReasonCode *string `json:"last_turn_transition_reason_code"`
}

// RuleCounts is how many rules there are.
type RuleCounts struct {
	// Rules of this kind.
	Allow int `json:"allow" optional:"true" format:"int64" minimum:"0"`
	// Rules of this kind.
	Ask int `json:"ask" optional:"true" format:"int64" minimum:"0"`
	// Rules of this kind.
	Deny int `json:"deny" optional:"true" format:"int64" minimum:"0"`
}

// PatchState changes the state of a record: absent keeps, null clears.
type PatchState struct {
	// What is being done: the first user message unless set.
	CurrentTask *string `json:"current_task,omitempty" nullable:"true"`
	// Who drives the thread.
	RuntimeOwnerType *string `json:"runtime_owner_type,omitempty" nullable:"true"`
	// The same in small letters and dashes.
	RuntimeOwnerPath *string `json:"runtime_owner_path,omitempty" nullable:"true"`
	// Such as execute, the default, plan or clarify.
	WorkflowMode *string `json:"workflow_mode,omitempty" nullable:"true"`
	// read-only, workspace-write, danger-full-access, prompt or allow.
	PermissionMode *string `json:"permission_mode,omitempty" nullable:"true"`
	// Whether somebody may be asked.
	PermissionPromptingEnabled *bool `json:"permission_prompting_enabled,omitempty" nullable:"true"`
	// How many rules there are.
	PermissionRuleCounts *RuleCountsPatch `json:"permission_rule_counts,omitempty" nullable:"true"`
	// Where they come from.
	PermissionRulesSource *string `json:"permission_rules_source,omitempty" nullable:"true"`
	// Such as native or react.
	PromptFormat *string `json:"prompt_format,omitempty" nullable:"true"`
	// The prompt's parts, in order.
	PromptSections []string `json:"prompt_sections,omitempty" nullable:"true"`
	// The harness's definition of done.
	ActiveDodPath *string `json:"active_dod_path,omitempty" nullable:"true"`
	// Where it is in a turn.
	ActiveTurnPhase *string `json:"active_turn_phase,omitempty" nullable:"true"`
	// Why this workflow mode.
	WorkflowReasonCode *string `json:"workflow_reason_code,omitempty" nullable:"true"`
	// The same in words.
	WorkflowReasonSummary *string `json:"workflow_reason_summary,omitempty" nullable:"true"`
	// How that was decided.
	WorkflowDecisionKind *string `json:"workflow_decision_kind,omitempty" nullable:"true"`
	// How unclear the task is.
	WorkflowAmbiguityScore *float64 `json:"workflow_ambiguity_score,omitempty" nullable:"true"`
	// How complex it is.
	WorkflowComplexityScore *float64 `json:"workflow_complexity_score,omitempty" nullable:"true"`
	// The mode that comes next.
	WorkflowScheduledNextMode *string `json:"workflow_scheduled_next_mode,omitempty" nullable:"true"`
	// Why the last turn went on or ended; what the trace is projected for.
	LastCompletionDecisionCode *string `json:"last_completion_decision_code,omitempty" nullable:"true"`
	// The same in words.
	LastCompletionDecisionSummary *string `json:"last_completion_decision_summary,omitempty" nullable:"true"`
	// The last step of the turn.
	LastTurnTransitionSummary *string `json:"last_turn_transition_summary,omitempty" nullable:"true"`
	// Its kind.
	LastTurnTransitionKind *string `json:"last_turn_transition_kind,omitempty" nullable:"true"`
	// Its reason.
	LastTurnTransitionReasonCode *string `json:"last_turn_transition_reason_code,omitempty" nullable:"true"`
}

// RuleCountsPatch is how many rules there are.
type RuleCountsPatch struct {
	// Rules of this kind.
	Allow uint64 `json:"allow,omitempty"`
	// Rules of this kind.
	Deny uint64 `json:"deny,omitempty"`
	// Rules of this kind.
	Ask uint64 `json:"ask,omitempty"`
}

// Provenance says where a piece of evidence comes from.
type Provenance struct {
	// Its kind, such as verification.
	Category string `json:"category" optional:"true"`
	// Where it is from; cmd_ID cites a command of the thread.
	Source string `json:"source" optional:"true"`
	// It in a sentence.
	Summary string `json:"summary" optional:"true"`
	// supports, missing, contradicts, context, or another word.
	Status string `json:"status" optional:"true"`
	// What it is about.
	Subject *string `json:"subject" optional:"true" nullable:"true"`
	// More of it.
	Detail *string `json:"detail" optional:"true" nullable:"true"`
	// A command of a terminal of the thread.
	CommandID string `json:"command_id,omitempty"`
}

// TimelineEntry is a decision of the harness. Keys that are not known are kept.
//
//schema:additionalProperties true
type TimelineEntry struct {
	// When, as the harness wrote it.
	Timestamp string `json:"timestamp,omitempty"`
	// What was decided about, an open word such as route or completion_check.
	Kind string `json:"kind,omitempty"`
	// The workflow mode.
	Mode string `json:"mode,omitempty"`
	// Why, for programs.
	ReasonCode string `json:"reason_code,omitempty"`
	// Why, for people.
	Summary string `json:"summary,omitempty"`
	// How.
	DecisionKind *string `json:"decision_kind,omitempty" nullable:"true"`
	// The score of the mode that was taken, exact.
	RouteScore *float64 `json:"route_score,omitempty" nullable:"true"`
	// The second best.
	RunnerUpMode *string `json:"runner_up_mode,omitempty" nullable:"true"`
	// Its score, exact.
	RunnerUpScore *float64 `json:"runner_up_score,omitempty" nullable:"true"`
	// What comes next.
	ScheduledNextMode *string `json:"scheduled_next_mode,omitempty" nullable:"true"`
	// What is open.
	UnresolvedQuestions []string `json:"unresolved_questions,omitempty"`
	// The prompt's form.
	PromptFormat *string `json:"prompt_format,omitempty" nullable:"true"`
	// Its parts.
	PromptSections []string `json:"prompt_sections,omitempty"`
	// The stage of completion.
	PolicyStage *string `json:"policy_stage,omitempty" nullable:"true"`
	// What became of it there.
	PolicyOutcome *string `json:"policy_outcome,omitempty" nullable:"true"`
	// Evidence in words.
	EvidenceSummary []string `json:"evidence_summary,omitempty"`
	// Where it comes from.
	EvidenceProvenance []Provenance `json:"evidence_provenance,omitempty"`
	// Signals.
	SignalSummary []string `json:"signal_summary,omitempty"`
	// What verification saw.
	VerificationObservations []any `json:"verification_observations,omitempty"`
	// The stage of clarifying.
	ClarifyStage *string `json:"clarify_stage,omitempty" nullable:"true"`
	// What presses.
	ClarifyPressureKind *string `json:"clarify_pressure_kind,omitempty" nullable:"true"`
	// Whether that is over.
	PressurePassComplete *bool `json:"pressure_pass_complete,omitempty" nullable:"true"`
	// What is missing.
	MissingReadinessGates []string `json:"missing_readiness_gates,omitempty"`
	// Files.
	ArtifactPaths []string `json:"artifact_paths,omitempty"`
}

// Timeline has decisions in order.
//
//schema:reply "The timeline."
type Timeline struct {
	// The number of the first that is there; 0 of none.
	FirstSeq int64 `json:"first_seq" format:"int64" minimum:"0"`
	// They.
	//schema:items {"$ref": "#/components/schemas/TimelineEntry"}
	Timeline []json.RawMessage `json:"timeline"` // with the keys that only the harness knows
}

// TraceEntry is a step in the completion of a turn.
type TraceEntry struct {
	// The stage.
	Stage string `json:"stage" optional:"true"`
	// What became of it there.
	Outcome string `json:"outcome" optional:"true"`
	// Why, for programs.
	DecisionCode string `json:"decision_code" optional:"true"`
	// Why, for people.
	DecisionSummary string `json:"decision_summary" optional:"true"`
	// Evidence in words.
	EvidenceSummary []string `json:"evidence_summary" optional:"true"`
	// Where it comes from.
	EvidenceProvenance []Provenance `json:"evidence_provenance" optional:"true"`
}

// Trace has the steps in the completion of a turn.
//
//schema:reply "The trace."
type Trace struct {
	// It is projected from the timeline.
	Derived bool `json:"derived"`
	// The steps in order.
	CompletionTrace []TraceEntry `json:"completion_trace"`
}

// LedgerItem is a line of a ledger.
type LedgerItem struct {
	// The line; one without text is left out.
	Text string `json:"text" optional:"true"`
	// Such as tracked, changed or contradicted.
	Status string `json:"status" optional:"true"`
	// When it came.
	IntroducedPhase *string `json:"introduced_phase" optional:"true" nullable:"true"`
	// When it changed.
	UpdatedPhase *string `json:"updated_phase" optional:"true" nullable:"true"`
	// Why.
	Evidence []string `json:"evidence" optional:"true"`
}

// Ledger has what the harness takes as given.
//
//schema:reply "The ledger."
type Ledger struct {
	// What is assumed.
	Assumptions []LedgerItem `json:"assumptions" optional:"true"`
	// What has to hold in the end.
	AcceptanceAnchors []LedgerItem `json:"acceptance_anchors" optional:"true"`
	// What is not decided alone.
	DecisionBoundaries []LedgerItem `json:"decision_boundaries" optional:"true"`
}

// Prompt is a system prompt of the harness.
type Prompt struct {
	// When, as the harness wrote it.
	Timestamp string `json:"timestamp" optional:"true"`
	// The workflow mode.
	WorkflowMode string `json:"workflow_mode" optional:"true"`
	// The permission mode.
	PermissionMode string `json:"permission_mode" optional:"true"`
	// The task.
	CurrentTask *string `json:"current_task" optional:"true" nullable:"true"`
	// The prompt's form.
	PromptFormat *string `json:"prompt_format" optional:"true" nullable:"true"`
	// Its parts.
	PromptSections []string `json:"prompt_sections" optional:"true"`
	// The prompt, kept as given.
	Content string `json:"content"`
}

// PromptList has prompts in order.
//
//schema:reply "The prompts."
type PromptList struct {
	// The number of the first that is there; 0 of none.
	FirstSeq int64 `json:"first_seq" format:"int64" minimum:"0"`
	// They.
	Prompts []Prompt `json:"prompts"`
}

// PromptAdded is the reply to a new prompt.
//
//schema:reply "It is kept, or was the newest already."
type PromptAdded struct {
	// Its number, or of the one it repeats.
	Seq int64 `json:"seq" format:"int64" minimum:"0"`
	// It repeats the newest.
	Skipped bool `json:"skipped"`
}

// Usage counts tokens, tools and turns.
//
//schema:reply "What all turns used."
type Usage struct {
	// Tokens read.
	InputTokens int64 `json:"input_tokens" format:"int64" minimum:"0"`
	// Tokens written.
	OutputTokens int64 `json:"output_tokens" format:"int64" minimum:"0"`
	// Tokens put into a cache.
	CacheCreationTokens int64 `json:"cache_creation_tokens" format:"int64" minimum:"0"`
	// Tokens from a cache.
	CacheReadTokens int64 `json:"cache_read_tokens" format:"int64" minimum:"0"`
	// Tools used.
	ToolCalls int64 `json:"tool_calls" format:"int64" minimum:"0"`
	// Rounds.
	Iterations int64 `json:"iterations" format:"int64" minimum:"0"`
	// Turns.
	Turns int64 `json:"turns" format:"int64" minimum:"0"`
}

// AppendTurn is a turn to append.
type AppendTurn struct {
	// What the harness answered.
	FinalResponse string `json:"final_response,omitempty"`
	// What the assistant said.
	AssistantMessages json.RawMessage `json:"assistant_messages,omitempty"`
	// What tools said.
	ToolResultMessages json.RawMessage `json:"tool_result_messages,omitempty"`
	// Rounds.
	Iterations int64 `json:"iterations,omitempty" format:"int64" minimum:"0"`
	// Tools used.
	ToolCalls int64 `json:"tool_calls,omitempty" format:"int64" minimum:"0"`
	// What failed.
	Failures json.RawMessage `json:"failures,omitempty"`
	// Whether it was verified.
	VerificationStatus *string `json:"verification_status,omitempty" nullable:"true"`
	// What it used; prompt_tokens and completion_tokens are other names of input_tokens and
	// output_tokens, unknown keys are ignored.
	//schema:type "object"
	//schema:additionalProperties true
	Usage json.RawMessage `json:"usage,omitempty"`
	// How it went.
	Trace json.RawMessage `json:"trace,omitempty"`
	// The definition of done, kept as given.
	DefinitionOfDone json.RawMessage `json:"definition_of_done,omitempty"`
	// The workflow mode; the state's if absent.
	WorkflowMode string `json:"workflow_mode,omitempty"`
}

// Turn is the summary of a turn.
//
//schema:reply "The turn as it is kept."
type Turn struct {
	// Its number, from 1.
	Seq int64 `json:"seq" format:"int64" minimum:"0"`
	// When it was appended.
	CreatedAt string `json:"created_at"`
	// What the harness answered.
	FinalResponse string `json:"final_response"`
	// What the assistant said.
	AssistantMessages json.RawMessage `json:"assistant_messages,omitempty"`
	// What tools said.
	ToolResultMessages json.RawMessage `json:"tool_result_messages,omitempty"`
	// Rounds.
	Iterations int64 `json:"iterations" format:"int64" minimum:"0"`
	// Tools used.
	ToolCalls int64 `json:"tool_calls" format:"int64" minimum:"0"`
	// What failed.
	Failures json.RawMessage `json:"failures,omitempty"`
	// Whether it was verified.
	VerificationStatus *string `json:"verification_status"`
	Usage              Usage   `json:"usage"`
	CumulativeUsage    Usage   `json:"cumulative_usage"`
	// How it went.
	Trace json.RawMessage `json:"trace,omitempty"`
	// The definition of done, kept as given.
	DefinitionOfDone json.RawMessage `json:"definition_of_done"`
	// The workflow mode; the state's if absent.
	WorkflowMode string `json:"workflow_mode"`
	// The record.
	SessionID string `json:"session_id"`
}

// TurnList has turns in order.
//
//schema:reply "The turns."
type TurnList struct {
	// They.
	Turns []Turn `json:"turns"`
}

// Compaction says what a summary replaces.
type Compaction struct {
	// How many there have been.
	Count int64 `json:"count" format:"int64" minimum:"0"`
	// Messages that are behind the summary.
	RemovedMessageCount int64 `json:"removed_message_count" format:"int64" minimum:"0"`
	// The summary.
	Summary string `json:"summary"`
	// Estimated tokens before it.
	OriginalInputTokens int64 `json:"original_input_tokens" format:"int64" minimum:"0"`
	// Estimated tokens after it.
	CompressedInputTokens int64 `json:"compressed_input_tokens" format:"int64" minimum:"0"`
}

// Archive is a compaction with its summary message.
type Archive struct {
	// When.
	CreatedAt string `json:"created_at"`
	// The number of the last message that is behind the summary.
	UpTo int64 `json:"up_to" format:"int64" minimum:"0"`
	// The message that stands for them.
	Message *Message `json:"message"`
	Compaction
}

// CompactionList has compactions in order.
//
//schema:reply "The compactions."
type CompactionList struct {
	// They.
	Compactions []Archive `json:"compactions"`
}

// Compact says how to compact a record.
type Compact struct {
	ThreadRef
	// Messages that stay as they are; 0 is 4.
	KeepLast int `json:"keep_last,omitempty" format:"int64" minimum:"0"`
	// Estimated tokens from which on it is worth it; 0 is 100000.
	Threshold int64 `json:"threshold,omitempty" format:"int64" minimum:"0"`
	// Tokens of the model: the threshold is three quarters of it.
	ContextWindow int64 `json:"context_window,omitempty" format:"int64" minimum:"0"`
	// The summary, instead of one that is made here.
	Summary *string `json:"summary,omitempty" nullable:"true"`
}

// Compacted says whether there was a compaction, and which.
//
//schema:reply "Whether anything was archived."
type Compacted struct {
	// Whether anything was archived.
	Compacted bool `json:"compacted"`
	*Archive       // nil when nothing was archived
}

// RecordHead is the metadata of a record.
//
//schema:reply "The record."
type RecordHead struct {
	// The record's id.
	SessionID string `json:"session_id"`
	// Its thread.
	ThreadID string `json:"thread_id" owned:"thread"`
	// Whether it is the one that is written to.
	Current bool `json:"current"`
	// When it began.
	CreatedAt string `json:"created_at"`
	// When it changed last.
	UpdatedAt string `json:"updated_at"`
	// Messages ever appended.
	Messages int64 `json:"messages" format:"int64" minimum:"0"`
	// Messages up to this number are behind a summary.
	Archived int64 `json:"archived" format:"int64" minimum:"0"`
	// About what the others have in the file.
	Bytes int64 `json:"bytes" format:"int64" minimum:"0"`
	// Entries of the timeline.
	Timeline int64 `json:"timeline" format:"int64" minimum:"0"`
	// Prompts.
	Prompts int64 `json:"prompts" format:"int64" minimum:"0"`
	// Turns.
	Turns int64 `json:"turns" format:"int64" minimum:"0"`
	// Messages in the mailbox.
	Waiting int64 `json:"waiting" format:"int64" minimum:"0"`
	// Compactions.
	Compactions int64 `json:"compactions" format:"int64" minimum:"0"`
	Usage       Usage `json:"usage"`
}

// RecordList has the records of a thread.
//
//schema:reply "The records."
type RecordList struct {
	// The thread.
	ThreadID string `json:"thread_id" owned:"thread"`
	// The newest first.
	Records []RecordHead `json:"records"`
}

// Record is a whole record as its file has it, with the keys of a Loader record of version 11; keys
// that are not known are kept. Without ?format=loader it has thread_id and last_turn_summary, too.
//
//schema:additionalProperties true
//schema:reply "The record."
type Record struct {
	RecordState
	// Its thread; not in the file.
	ThreadID string `json:"thread_id,omitempty" owned:"thread"`
	// The newest turn; not in the file.
	LastTurnSummary *Turn `json:"last_turn_summary,omitempty" nullable:"true"`
	// That of the file's form.
	Version uint64 `json:"version"`
	// The record's id; null when there is none yet.
	SessionID *string `json:"session_id"`
	// When it began; null when there is none yet.
	CreatedAt *string `json:"created_at"`
	// When it changed last; null when there is none yet.
	UpdatedAt *string `json:"updated_at"`
	// Those that are not archived; after a compaction the first is the summary.
	Messages []Message `json:"messages"`
	// The sum of all turns.
	//schema:additionalProperties true
	Usage map[string]any `json:"usage"`
	// The newest 16 prompts.
	PromptHistory []Prompt `json:"prompt_history"`
	// The newest 24 decisions.
	WorkflowTimeline []TimelineEntry `json:"workflow_timeline"`
	WorkflowLedger   Ledger          `json:"workflow_ledger"`
	// The newest compaction.
	Compaction *Compaction `json:"compaction"`
	// Absent when the timeline tells it.
	CompletionTrace []TraceEntry `json:"completion_trace,omitempty"`
}

// ImportRecord is a record file. What is missing or odd has the default of a new record.
//
//schema:additionalProperties true
type ImportRecord struct {
}

// Attach says who drives the thread.
type Attach struct {
	ThreadRef
	// A type, such as RuntimeHandle.
	OwnerType string `json:"owner_type" minLength:"1" maxLength:"128"`
}

// Attached is the state of a record for the driver of its thread.
//
//schema:reply "Where the record stands."
type Attached struct {
	// The record.
	SessionID string `json:"session_id"`
	// The thread.
	ThreadID string `json:"thread_id" owned:"thread"`
	RecordState
	// The newest turn.
	LastTurnSummary *Turn `json:"last_turn_summary"`
}

// Steer is a message for the driver of the thread.
type Steer struct {
	ThreadRef
	// The text.
	Message string `json:"message" minLength:"1"`
}

// Seq is a number in a list.
//
//schema:reply "It is kept."
type Seq struct {
	// It, from 1.
	Seq int64 `json:"seq" format:"int64" minimum:"0"`
}

// Drained has the messages that waited.
//
//schema:reply "What waited."
type Drained struct {
	// In the order in which they were left.
	Messages []string `json:"messages"`
}
