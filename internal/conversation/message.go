package conversation

import "encoding/json"

// Roles of messages.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Message is one entry of the conversation, as a conversation file has it. Its fields, and those of
// what is in it, are in the order of their keys, as a file wants them.
type Message struct {
	Content     string       `json:"content"`
	Role        string       `json:"role"`
	ToolCalls   []ToolCall   `json:"tool_calls"`
	ToolResults []ToolResult `json:"tool_results"`
}

// ToolCall is what the assistant wants done. Arguments is a JSON object, kept as it was given.
type ToolCall struct {
	Arguments json.RawMessage `json:"arguments"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
}

// ToolResult is what became of a ToolCall.
type ToolResult struct {
	Content    string `json:"content"`
	IsError    bool   `json:"is_error"`
	ToolCallID string `json:"tool_call_id"`
}

// Kept is a message as a Store has it. Seq counts all messages of a conversation from 1 and has no
// gaps.
type Kept struct {
	Seq int64  `json:"seq"`
	At  string `json:"created_at"`
	// the number of the compaction that put it behind a summary; 0 is none
	ArchivedBy int64 `json:"archived_by,omitempty"`
	Summary    bool  `json:"summary,omitempty"` // it stands for those that a compaction archived
	Message
}

// Normal is the message with empty lists instead of none, and arguments that are an object.
func (m Message) Normal() Message {
	m.ToolCalls = append([]ToolCall{}, m.ToolCalls...)
	for i := range m.ToolCalls {
		if !IsObject(m.ToolCalls[i].Arguments) {
			m.ToolCalls[i].Arguments = json.RawMessage("{}")
		}
	}
	m.ToolResults = append([]ToolResult{}, m.ToolResults...)
	return m
}

// ordered is the Normal message with the keys of arguments sorted: its JSON is canonical without
// the cost of that, and messages are most of a conversation.
func (m Message) ordered() Message {
	m = m.Normal()
	for i := range m.ToolCalls {
		a := &m.ToolCalls[i].Arguments
		if b, err := sorted(*a); err == nil { // it is an object
			*a = b
		}
	}
	return m
}

func decodeMessage(f fields) Message {
	return Message{
		Role:        f.text("role", RoleUser),
		Content:     f.content("content"),
		ToolCalls:   listOf(f, "tool_calls", decodeToolCall),
		ToolResults: listOf(f, "tool_results", decodeToolResult),
	}
}

func decodeToolCall(f fields) ToolCall {
	c := ToolCall{ID: f.content("id"), Name: f.content("name"), Arguments: f["arguments"]}
	if !IsObject(c.Arguments) {
		c.Arguments = json.RawMessage("{}")
	}
	return c
}

func decodeToolResult(f fields) ToolResult {
	return ToolResult{ToolCallID: f.content("tool_call_id"), Content: f.content("content"),
		IsError: f.truth("is_error")}
}
