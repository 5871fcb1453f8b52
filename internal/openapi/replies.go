package openapi

import (
	"slices"

	"github.com/evertty/evertty/wire"
)

// compressed is the header of replies that may be large.
var compressed = header{name: "Content-Encoding", schema: `{"type": "string", "enum": ["zstd", "gzip"]}`,
	text: "`zstd` or `gzip`, the one Accept-Encoding prefers, when the reply has 1400 bytes or more; absent otherwise."}

// eventStream is the body of a stream whose events are described beside it.
var eventStream = content{"text/event-stream", `{"type": "string"}`, ""}

// What a viewer gets, what it gets on a WebSocket besides, and what it may send there.
var (
	streamEvents = []event{
		{"snapshot", wire.EventSnapshot{}}, {"resume", wire.EventResume{}}, {"data", wire.EventData{}},
		{"resize", wire.EventResize{}}, {"meta", wire.EventMeta{}}, {"exit", wire.EventExit{}},
	}
	socketEvents   = []event{{"error", wire.EventError{}}, {"pong", wire.EventPong{}}}
	socketCommands = []event{
		{"input", wire.CommandInput{}}, {"keys", wire.CommandKeys{}}, {"paste", wire.CommandPaste{}},
		{"resize", wire.CommandResize{}}, {"focus", wire.CommandFocus{}}, {"hide", wire.CommandHide{}},
		{"show", wire.CommandShow{}}, {"colors", wire.CommandColors{}}, {"ping", wire.CommandPing{}},
		{"auth", wire.CommandAuth{}},
	}
)

// replies are what routes answer when all is well.
var replies = []response{
	{name: "Terminal", status: 200, text: "The terminal.", json: []any{wire.Terminal{}}},
	{name: "TerminalList", status: 200,
		text:    "The terminals.",
		headers: []header{compressed},
		json:    []any{wire.TerminalList{}},
	},
	{name: "Done", status: 200, text: "Done.", json: []any{wire.Done{}}},
	{name: "InputTaken", status: 200, text: "All bytes were taken, in order.", json: []any{wire.InputTaken{}}},
	{name: "Sent", status: 200, text: "The program got it.", json: []any{wire.Sent{}}},
	{name: "Resized", status: 200, text: "Resized.", json: []any{wire.Resized{}}},
	{name: "Waited", status: 200,
		text:    "The condition came true.",
		headers: []header{compressed},
		json:    []any{wire.Waited{}},
	},
	{name: "Screen", status: 200,
		text:    "The screen, in the form that `format` asks for.",
		headers: []header{compressed},
		json:    []any{wire.ScreenANSI{}, wire.ScreenText{}, wire.ScreenJSON{}, wire.ScreenHTML{}},
	},
	{name: "Recording", status: 200,
		text: "**asciicast** (https://docs.asciinema.org/manual/asciicast/v3, …/v2): a header, then an event a " +
			"line. " +
			"Time begins with the first event. `o` is output, decoded: a byte that is not UTF-8 is one U+FFFD; `r` a " +
			"resize; `i` what was typed, when the server records that; `x` the exit status, of version 3 only; `m` " +
			"what else a viewer must know: `generation 2` (the program was started again), `exit 0` (before that, " +
			"and in version 2), `12 bytes lost` (the disk was full), `damaged from here` (the checksum is " +
			"wrong).\n\n**raw**: the output alone, byte for byte.",
		headers: []header{
			{name: "Content-Disposition", text: "A file name: the terminal's.", schema: `{"type": "string"}`},
			{name: "Content-Encoding", text: "`zstd` or `gzip`, the one Accept-Encoding prefers; absent otherwise.",
				schema: `{"type": "string", "enum": ["zstd", "gzip"]}`},
			{name: "Evertty-From",
				text: "Position at which the recording begins: `from` of a request for the same one. One with " +
					"`follow` that the end of the server breaks off goes on behind what was received.",
				schema: `{"type": "integer", "minimum": 0}`},
		},
		other: []content{
			{"application/x-asciicast", `{"type": "string"}`,
				"{\"version\":3,\"term\":" +
					"{\"cols\":80,\"rows\":24,\"type\":\"xterm-256color\"},\"timestamp\":1504467315," +
					"\"command\":\"bash " +
					"-l\"}\n[0.000, \"o\", \"$ \"]\n[1.001, \"o\", \"ls\\r\\n\"]\n[0.887, \"x\", \"0\"]\n"},
			{"application/octet-stream", `{"type": "string"}`, ""},
		},
	},
	{name: "EventStream", status: 200,
		text: "Server-Sent Events, until the exit. Each has `event:`, `id:` (its seq; not for `meta`) and one " +
			"`data:` line of JSON. A comment comes every 15 seconds without an event.\n\n| event | data | when |\n| " +
			"--- | --- | --- |\n| `snapshot` | EventSnapshot | first on every connect; again whenever this viewer " +
			"missed something |\n| `resume` | EventResume | in the place of the first snapshot, when `since` can be " +
			"continued |\n| `data` | EventData | output since |\n| `resize` | EventResize | in its place in the " +
			"stream |\n| `meta` | EventMeta | title, directory, bell, notification, viewers, size owner |\n| `exit` " +
			"| EventExit | last, after all output |\n| `expired` | EventExpired | last, when the ticket or the login " +
			"has ended |\n\nWith `since` the header Last-Event-ID counts when it is " +
			"larger, so that an EventSource that reconnects by itself resumes; without `since` it means nothing. An " +
			"EventSource that connects again by itself asks for the same URL, so put `since` only into one that you " +
			"close at its first error.",
		headers: []header{
			{name: "X-Accel-Buffering", text: "`no`: proxies must pass events on at once.",
				schema: `{"type": "string", "const": "no"}`},
		},
		other: []content{
			{"text/event-stream", `{"type": "string"}`, "event: snapshot\nid: 5\ndata: " +
				"{\"cols\":80,\"rows\":24,\"seq\":5,\"unicode\":\"11\"," +
				"\"reason\":\"connect\",\"data\":\"\\u0018hello\\u001b[20l\\u001b[?25h\\u001b[1;6H\"}\n\nevent: " +
				"data\nid: 7\ndata: {\"seq\":7,\"data\":\"\\r\\n\"}\n\n"},
		},
		events: slices.Concat(streamEvents, []event{{"expired", wire.EventExpired{}}}),
	},
	{name: "TerminalSocket", status: 101,
		text: "A WebSocket of one terminal, until the exit (close 1000), the end of the server (close 1001) or of " +
			"the ticket or login (close 4401). One that a cookie opens needs `auth` as its first message within 5 " +
			"seconds (else close 4401); what is wrong with its request follows as an `error` (close 1008). A " +
			"message may have 1 MiB (else close 1009); a ping frame comes every 15 seconds, and a viewer that " +
			"answers none for 45 is closed.\n\n`format=json`: text frames. From the server one event each, with its " +
			"kind in `event` and the terminal's id in `pty`, and `error` and `pong`; from the client one command " +
			"each, named by `type`.\n\n| event | data | when |\n| --- | --- | --- |\n| `snapshot` | EventSnapshot | " +
			"first on every connect; again whenever this viewer missed something |\n| `resume` | EventResume | in " +
			"the place of the first snapshot, when `since` can be continued |\n| `data` | EventData | output since " +
			"|\n| `resize` | EventResize | in its place in the stream |\n| `meta` | EventMeta | title, directory, " +
			"bell, notification, viewers, size owner |\n| `exit` | EventExit | last, after all output " +
			"|\n\n`format=binary`: from the server 0x01 + u16be cols + u16be rows + u64be seq + ANSI (snapshot), " +
			"0x02 + u64be seq + output (data), 0x03 + JSON (everything else); from the client 0x00 + input bytes, " +
			"0x03 + JSON command.\n\nA viewer with the role read gets `error` READ_ONLY for input; its resize and " +
			"focus change nothing.",
		events:   slices.Concat(streamEvents, socketEvents),
		commands: socketCommands,
	},
	{name: "PageSocket", status: 101,
		text: "A WebSocket of any number of terminals, because a browser opens only six connections to one server. " +
			"Text frames, `auth` and 4401 as on a terminal's own WebSocket; events and commands name the terminal in " +
			"`pty`. `list` " +
			"comes first; `attach` begins and `detach` ends the watching of a terminal; after a reconnect attach " +
			"again, with `since` to go on.",
		events: slices.Concat([]event{{"list", wire.EventList{}}}, streamEvents, socketEvents),
		commands: slices.Concat([]event{{"attach", wire.CommandAttach{}}, {"detach", wire.CommandDetach{}}},
			socketCommands),
	},
	{name: "NotModified", status: 304,
		text: "The file is still the one that If-None-Match names (RFC 9110).",
	},
	{name: "Ticket", status: 201, text: "The ticket. Its secret is told only here.", json: []any{wire.Ticket{}}},
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
	{name: "Started", status: 201, text: "It runs.", json: []any{wire.Terminal{}}},
	{name: "Root", status: 200,
		text: "The page, or the list. After a login by a link on another site: a page that goes on to `/#page=…`, " +
			"with the cookie.",
		json:  []any{wire.RouteList{}},
		other: []content{{"text/html", ``, ""}},
	},
	{name: "LoggedIn", status: 303,
		text: "Logged in; go on to `/#page=SECRET`. The secret and the cookie are the two halves of the login.",
		headers: []header{
			{name: "Location", text: "`/#page=SECRET`; `/` where there is no Set-Cookie.",
				schema: `{"type": "string"}`, required: true},
			{name: "Set-Cookie",
				text: "The session; absent with --auth none, and for who was logged in already and opens a used link " +
					"again.",
				schema: `{"type": "string"}`},
		},
	},
	{name: "LoggedOut", status: 200, text: "Ended.",
		headers: []header{
			{name: "Set-Cookie", text: "Removes the cookie, if the request had one.", schema: `{"type": "string"}`},
		},
		json: []any{wire.Done{}},
	},
	{name: "PageFile", status: 200,
		text: "The file, compressed with gzip when the client takes it.",
		headers: []header{
			{name: "ETag", text: "Names this content, for If-None-Match.",
				schema: `{"type": "string"}`, required: true},
		},
		other: []content{{"*/*", ``, ""}},
	},
	{name: "Health", status: 200, text: "It lives.", json: []any{wire.Health{}}},
	{name: "Ready", status: 200, text: "It does; only the status is given.", json: []any{wire.Health{}}},
	{name: "Metrics", status: 200,
		text:  "Counters and gauges, without ids of terminals.",
		other: []content{{"text/plain", `{"type": "string"}`, ""}},
	},
	{name: "Document", status: 200,
		text:  "OpenAPI 3.1.",
		other: []content{{"application/json", `{"type": "object"}`, ""}},
	},
	{name: "Version", status: 200, text: "What is running.", json: []any{wire.Version{}}},
}
