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
	{name: "Done", status: 200, text: "Done.", json: []any{wire.Done{}}},
	{name: "InputTaken", status: 200, text: "All bytes were taken, in order.", json: []any{wire.InputTaken{}}},
	{name: "Shell", status: 201, text: "The shell.", json: []any{wire.Shell{}}},
	{name: "ShellList", status: 200, text: "The shells.", json: []any{wire.ShellList{}}},
	{name: "ExecResult", status: 200, text: "It has ended, with whatever code.", json: []any{wire.ExecResult{}}},
	{name: "ExecAccepted", status: 202, text: "It runs in the background.", json: []any{wire.ExecAccepted{}}},
	{name: "Command", status: 200, text: "The command.", json: []any{wire.Command{}}},
	{name: "CommandList", status: 200, text: "The commands.", json: []any{wire.CommandList{}}},
	{name: "CommandCancelled", status: 200, text: "It ends now, or has ended.", json: []any{wire.CommandCancelled{}}},
	{name: "ExecStream", status: 200,
		text: "`start`, then `stdout` and `stderr` as they come, at the end `complete` or `error`. A comment every " +
			"15 s when nothing comes. A client that reads slowly gets everything later; nothing is dropped and " +
			"nobody waits for it.",
		headers: []header{
			{name: "X-Command-Id", text: "The command's id, before the first event; absent with tty.",
				schema: `{"type": "string"}`},
		},
		other: []content{eventStream},
		events: []event{
			{"start", wire.EventStart{}}, {"stdout", wire.EventOutput{}}, {"stderr", wire.EventOutput{}},
			{"complete", wire.EventComplete{}}, {"error", wire.Error{}},
		},
	},
	{name: "CommandLogs", status: 200,
		text: "Both outputs; with follow=1 as events, those of POST …/exec/stream, which end when nothing more can " +
			"come.",
		json:  []any{wire.CommandLogs{}},
		other: []content{eventStream},
	},
	{name: "CompatSession", status: 200, text: "It is there.", json: []any{wire.CompatSession{}}},
	{name: "CompatSessions", status: 200, text: "The sessions.", json: []any{wire.CompatSessions{}}},
	{name: "CompatNamed", status: 200, text: "Done.", json: []any{wire.CompatNamed{}}},
	{name: "CompatResult", status: 200, text: "It has ended, with whatever code.", json: []any{wire.CompatResult{}}},
	{name: "CompatProcess", status: 200, text: "The process.", json: []any{wire.CompatProcess{}}},
	{name: "CompatProcesses", status: 200, text: "The processes.", json: []any{wire.CompatProcesses{}}},
	{name: "CompatLogs", status: 200, text: "Both outputs.", json: []any{wire.CompatLogs{}}},
	{name: "CompatKilled", status: 200, text: "They have ended, or do.", json: []any{wire.CompatKilled{}}},
	{name: "CompatFile", status: 200, text: "Done.", json: []any{wire.CompatFile{}}},
	{name: "CompatContent", status: 200, text: "The file.", json: []any{wire.CompatContent{}}},
	{name: "CompatRenamed", status: 200, text: "Done.", json: []any{wire.CompatRenamed{}}},
	{name: "CompatExists", status: 200, text: "Whether it exists.", json: []any{wire.CompatExists{}}},
	{name: "CompatFiles", status: 200, text: "The directory.", json: []any{wire.CompatFiles{}}},
	{name: "CompatStream", status: 200,
		text: "Events of `data:` alone, whose type is a field: start, then stdout and stderr, at the end complete " +
			"or error.",
		headers: []header{{name: "X-Command-Id", text: "The process's id.", schema: `{"type": "string"}`}},
		other:   []content{eventStream},
		events: []event{
			{"start", wire.CompatEvent{}}, {"stdout", wire.CompatEvent{}}, {"stderr", wire.CompatEvent{}},
			{"complete", wire.CompatEvent{}}, {"error", wire.CompatEvent{}},
		},
	},
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
