package conversation

import "encoding/json"

// Usage counts tokens and what they were spent on. Totals are sums over the turns of a
// conversation.
type Usage struct {
	InputTokens         int64 `json:"input_tokens"`
	OutputTokens        int64 `json:"output_tokens"`
	CacheCreationTokens int64 `json:"cache_creation_tokens"`
	CacheReadTokens     int64 `json:"cache_read_tokens"`
	ToolCalls           int64 `json:"tool_calls"`
	Iterations          int64 `json:"iterations"`
	Turns               int64 `json:"turns"`
}

// Turn is the summary of one request to the harness: a list of completions until it answered.
// DefinitionOfDone and Trace are JSON, kept as given.
type Turn struct {
	Seq                int64           `json:"seq"`
	At                 string          `json:"created_at"`
	FinalResponse      string          `json:"final_response"`
	AssistantMessages  json.RawMessage `json:"assistant_messages,omitempty"`
	ToolResultMessages json.RawMessage `json:"tool_result_messages,omitempty"`
	Iterations         int64           `json:"iterations"`
	ToolCalls          int64           `json:"tool_calls"`
	Failures           json.RawMessage `json:"failures,omitempty"`
	VerificationStatus *string         `json:"verification_status"`
	Usage              Usage           `json:"usage"`
	CumulativeUsage    Usage           `json:"cumulative_usage"` // of all turns up to this one
	Trace              json.RawMessage `json:"trace,omitempty"`
	DefinitionOfDone   json.RawMessage `json:"definition_of_done"`
	WorkflowMode       string          `json:"workflow_mode"`
	SessionID          string          `json:"session_id"`
}
