package conversation

import (
	"encoding/json"

	"github.com/evertty/evertty/wire"
)

// Roles of messages.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// The parts of a conversation that have one form in its file, in the database and for clients. Their fields are in the
// order of their keys, as a file wants them.
//
//nolint:revive // one comment for all
type (
	Message    = wire.Message
	ToolCall   = wire.ToolCall
	ToolResult = wire.ToolResult
	Provenance = wire.Provenance
	TraceEntry = wire.TraceEntry
	Ledger     = wire.Ledger
	LedgerItem = wire.LedgerItem
	Prompt     = wire.Prompt
	Usage      = wire.Usage
	Turn       = wire.Turn
	Compaction = wire.Compaction
	// Archive is a compaction with its effect: the messages up to UpTo are behind Message. An
	// imported one has archived nothing here and has no Message.
	Archive = wire.Archive
)

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

// Wire is the message for clients.
func (k Kept) Wire() wire.KeptMessage {
	return wire.KeptMessage{Seq: uint64(k.Seq), CreatedAt: k.At, ArchivedBy: uint64(k.ArchivedBy), Summary: k.Summary,
		Content: k.Content, Role: k.Role, ToolCalls: k.ToolCalls, ToolResults: k.ToolResults}
}

// NormalMessage is the message with empty lists instead of none, and arguments that are an object.
func NormalMessage(m Message) Message {
	m.ToolCalls = append([]ToolCall{}, m.ToolCalls...)
	for i := range m.ToolCalls {
		if !IsObject(m.ToolCalls[i].Arguments) {
			m.ToolCalls[i].Arguments = json.RawMessage("{}")
		}
	}
	m.ToolResults = append([]ToolResult{}, m.ToolResults...)
	return m
}

// ordered is NormalMessage with the keys of arguments sorted: its JSON is canonical without the
// cost of sorting all of it, and messages are most of a conversation.
func ordered(m Message) Message {
	m = NormalMessage(m)
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
