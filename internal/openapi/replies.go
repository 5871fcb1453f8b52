package openapi

import (
	"github.com/evertty/evertty/wire"
)

// compressed is the header of replies that may be large.
var compressed = header{name: "Content-Encoding", schema: `{"type": "string", "enum": ["zstd", "gzip"]}`,
	text: "`zstd` or `gzip`, the one Accept-Encoding prefers, when the reply has 1400 bytes or more; absent otherwise."}

// eventStream is the body of a stream whose events are described beside it.
var eventStream = content{"text/event-stream", `{"type": "string"}`, ""}

// replies are what routes answer when all is well.
var replies = []response{
	{name: "ThreadMade", status: 201, text: "Made.", json: []any{wire.Thread{}}},
	{name: "Thread", status: 200, text: "The thread.", json: []any{wire.Thread{}}},
	{name: "ThreadList", status: 200, text: "Threads.", json: []any{wire.ThreadList{}}},
	{name: "ThreadSession", status: 200, text: "The session.", json: []any{wire.ThreadSession{}}},
	{name: "ThreadTerminal", status: 200, text: "The terminal.", json: []any{wire.ThreadTerminal{}}},
	{name: "RolledBack", status: 200, text: "The terminal, in a new version.", json: []any{wire.RolledBack{}}},
	{name: "ThreadTerminals", status: 200, text: "The terminals.", json: []any{wire.ThreadTerminals{}}},
	{name: "TerminalStates", status: 200, text: "The versions.", json: []any{wire.TerminalStates{}}},
	{name: "ThreadCommands", status: 200, text: "The commands.", json: []any{wire.ThreadCommands{}}},
	{name: "RecordHead", status: 200, text: "The record.", json: []any{wire.RecordHead{}}},
	{name: "Record", status: 200, text: "The record.", json: []any{wire.Record{}}},
	{name: "RecordList", status: 200, text: "The records.", json: []any{wire.RecordList{}}},
	{name: "MessageList", status: 200, text: "The messages.", json: []any{wire.MessageList{}}},
	{name: "Appended", status: 201, text: "They are kept.", json: []any{wire.Appended{}}},
	{name: "RecordState", status: 200, text: "The state.", json: []any{wire.RecordState{}}},
	{name: "Timeline", status: 200, text: "The timeline.", json: []any{wire.Timeline{}}},
	{name: "SeqAdded", status: 201, text: "It is kept.", json: []any{wire.Seq{}}},
	{name: "Trace", status: 200, text: "The trace.", json: []any{wire.Trace{}}},
	{name: "Ledger", status: 200, text: "The ledger.", json: []any{wire.Ledger{}}},
	{name: "PromptList", status: 200, text: "The prompts.", json: []any{wire.PromptList{}}},
	{name: "PromptAdded", status: 201,
		text: "It is kept, or was the newest already.",
		json: []any{wire.PromptAdded{}},
	},
	{name: "TurnList", status: 200, text: "The turns.", json: []any{wire.TurnList{}}},
	{name: "Turn", status: 201, text: "The turn as it is kept.", json: []any{wire.Turn{}}},
	{name: "Usage", status: 200, text: "What all turns used.", json: []any{wire.Usage{}}},
	{name: "CompactionList", status: 200, text: "The compactions.", json: []any{wire.CompactionList{}}},
	{name: "Compacted", status: 200, text: "Whether anything was archived.", json: []any{wire.Compacted{}}},
	{name: "Attached", status: 200, text: "Where the record stands.", json: []any{wire.Attached{}}},
	{name: "Drained", status: 200, text: "What waited.", json: []any{wire.Drained{}}},
	{name: "Lease", status: 200, text: "The lease.", json: []any{wire.Lease{}}},
	{name: "LeaseList", status: 200, text: "The leases.", json: []any{wire.LeaseList{}}},
	{name: "LeaseEvents", status: 200, text: "The book.", json: []any{wire.LeaseEvents{}}},
	{name: "ComputeMetrics", status: 200, text: "What it uses.", json: []any{wire.ComputeMetrics{}}},
	{name: "SandboxTypes", status: 200, text: "The providers.", json: []any{wire.SandboxTypes{}}},
	{name: "SandboxSessions", status: 200, text: "The leases.", json: []any{wire.SandboxSessions{}}},
	{name: "Matched", status: 202, text: "Taken.", json: []any{wire.Matched{}}},
	{name: "HookEvents", status: 200, text: "The webhooks.", json: []any{wire.HookEvents{}}},
	{name: "ThreadEvents", status: 200,
		text: "A stream of events named by their types (an `event:` line), with `id:` their numbers: first those " +
			"after `since` that are kept, then each as it happens. A comment every 15 s when nothing does. After " +
			"`thread.deleted` it ends; `error` says that the server goes. As a list: ThreadEvents.",
		json:   []any{wire.ThreadEvents{}},
		other:  []content{eventStream},
		events: []event{{"", wire.ThreadEvent{}}},
	},
	{name: "Permissions", status: 200, text: "The permissions.", json: []any{wire.Permissions{}}},
	{name: "Decision", status: 200, text: "The decision.", json: []any{wire.Decision{}}},
	{name: "Approvals", status: 200, text: "The approvals.", json: []any{wire.Approvals{}}},
	{name: "Approval", status: 200, text: "The approval.", json: []any{wire.Approval{}}},
	{name: "Mail", status: 200, text: "What waits.", json: []any{wire.Mail{}}},
}
