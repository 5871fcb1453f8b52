package conversation

import "encoding/json"

// Version of the conversation files that are written: they have the keys of Loader's version.
const Version = 11

// Document is a whole record as it is in its file. CompletionTrace is nil, and its key absent, when
// the trace is projected from the timeline. Messages are those that are not archived. Extra has
// keys that are not ours, which come back as they were, and usage as it came from a file, whose
// keys are written again.
type Document struct {
	Version   int
	SessionID string // the conversation's id
	CreatedAt string
	UpdatedAt string
	Messages  []Message
	Usage     Usage
	State
	PromptHistory    []Prompt
	WorkflowTimeline []Entry
	WorkflowLedger   Ledger
	Compaction       *Compaction
	CompletionTrace  []TraceEntry
	Extra            map[string]json.RawMessage
}
