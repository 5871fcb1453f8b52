package openapi

import (
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// refusal is the reply of a request that fails. Its body is a wire.Error with one of the codes.
type refusal struct {
	name    string
	status  int
	text    string
	headers []httpapi.Header
	codes   string // with spaces between
	example string // CODE: sentence
	details wire.ErrorDetails
	of      []error // sentinels of a route for which it is; nil is all
	limit   int64   // bytes of the body of a route for which it is; 0 is all
	media   []httpapi.Media
}

// implied are the refusals that any route may answer with; a route that names another response
// for the status has that.
var implied = []string{"Unauthorized", "Forbidden", "TooMany", "Failed"}

// refusals are described for every route that has exactly their codes.
var refusals = []refusal{
	{name: "Invalid", status: 400,
		text: "VALIDATION: something in the request is not allowed; the sentence says what, where, and what is. " +
			"`details.field` names the field when it is one; `details.providers` are those that are set up, when " +
			"another one was named.",
		codes:   "VALIDATION",
		example: "VALIDATION: rows 0: 1 to 1000 are allowed",
	},
	{name: "CannotType", status: 400,
		text: "VALIDATION as elsewhere. LINE_TOO_LONG: the program reads whole lines (canonical mode), and of one of " +
			"more than 4095 bytes it would get only a part; nothing was typed. `details` has `bytes` of the line and " +
			"the `limit`.",
		codes: "VALIDATION LINE_TOO_LONG",
		example: "LINE_TOO_LONG: a line is too long for a program that reads whole lines: it has 6000 bytes, 4095 " +
			"are allowed",
		details: wire.ErrorDetails{Bytes: new(6000), Limit: 4095},
	},
	{name: "CannotStart", status: 400,
		text: "VALIDATION as elsewhere. NO_COMMAND: the program does not exist or cannot be executed. NO_DIRECTORY: " +
			"the working directory does not exist or cannot be entered. LINE_TOO_LONG: `stdin` of a command with " +
			"`tty` has a line of more than 4095 bytes.",
		codes:   "VALIDATION NO_COMMAND NO_DIRECTORY LINE_TOO_LONG",
		example: `NO_COMMAND: command cannot be run: "nope": not found in PATH`,
	},
	{name: "Unauthorized", status: 401,
		text: "UNAUTHORIZED: no credentials, or wrong ones. The same for every path, so that nobody learns what " +
			"exists. A browser gets a page that says how to log in.",
		headers: []httpapi.Header{
			{Name: "WWW-Authenticate", Text: "The scheme to use (RFC 6750).",
				Schema: `{"type": "string"}`, Required: true, Example: "Bearer realm=\"evertty\""},
		},
		codes:   "UNAUTHORIZED",
		example: "UNAUTHORIZED: the bearer token is not this server's; the right one is in its token file",
		media:   []httpapi.Media{{Type: "text/html"}},
	},
	{name: "Forbidden", status: 403,
		text: "FORBIDDEN_HOST: the server does not answer for this Host. FORBIDDEN_ORIGIN: a page of another origin " +
			"asks. READ_ONLY: the ticket may only look. SCOPE: it is for administrators of the server. DENIED: the " +
			"permissions of the thread, or somebody who was asked, do not allow this; the sentence says which mode or " +
			"rule. KICKED: somebody has removed the viewer that acts.",
		codes: "FORBIDDEN_HOST FORBIDDEN_ORIGIN READ_ONLY SCOPE DENIED KICKED",
		example: "FORBIDDEN_HOST: this server does not answer for the host \"evil.com\"; start it with " +
			"--allowed-host and that name if it is meant to",
	},
	{name: "NotFound", status: 404, text: "NOT_FOUND: there is no such terminal, shell, command or route.",
		codes:   "NOT_FOUND",
		example: `NOT_FOUND: no such terminal: "build"`,
	},
	{name: "NotKept", status: 404,
		text: "NOT_FOUND: there is no such terminal. NO_JOURNAL: nothing is kept of it but the screen. NOT_KEPT: not " +
			"from this position; the sentence says what is kept, and for a recording `details` has its `start` and " +
			"`end`.",
		codes:   "NOT_FOUND NO_JOURNAL NOT_KEPT",
		example: "NOT_KEPT: from 5: position not kept in the journal, which has 100 to 2000",
		details: wire.ErrorDetails{Start: new(uint64(100)), End: new(uint64(2000))},
	},
	{name: "NotRead", status: 404,
		text:    "NOT_FOUND: there is no such terminal. NO_JOURNAL: nothing is kept of it but the screen.",
		codes:   "NOT_FOUND NO_JOURNAL",
		example: `NOT_FOUND: no such terminal: "build"`,
	},
	{name: "Dropped", status: 410,
		text:    "NOT_KEPT: the output from this position on is not kept any more; `details` says what is.",
		codes:   "NOT_KEPT",
		example: "NOT_KEPT: since 5: position not kept in the journal, which has 100 to 2000",
		details: wire.ErrorDetails{Start: new(uint64(100)), End: new(uint64(2000))},
	},
	{name: "NoFile", status: 404, of: httpapi.NoFile,
		text:    "NOT_FOUND: there is no such file. The reply may also be a line of plain text.",
		codes:   "NOT_FOUND",
		example: "NOT_FOUND: no such file",
		media:   []httpapi.Media{{Type: "text/plain"}},
	},
	{name: "MethodNotAllowed", status: 405,
		text: "METHOD_NOT_ALLOWED: the path does not take this method. HEAD is not taken.",
		headers: []httpapi.Header{
			{Name: "Allow", Text: "The methods the path takes.", Schema: `{"type": "string"}`, Required: true},
		},
		codes:   "METHOD_NOT_ALLOWED",
		example: `METHOD_NOT_ALLOWED: "/pty" does not take PUT; it takes OPTIONS, GET`,
		details: wire.ErrorDetails{Allow: []string{"OPTIONS", "GET"}},
	},
	{name: "TimedOut", status: 408,
		text:    "TIMEOUT: the condition did not come true in time; `details` has the screen as it was then.",
		codes:   "TIMEOUT",
		example: "TIMEOUT: the condition was not met in time: no text within 5s",
		details: wire.ErrorDetails{Seq: new(uint64(5)), Text: new("hello\n")},
	},
	{name: "NotShown", status: 409,
		text: "AMBIGUOUS: terminals of several sessions have this name; use the id, or the path with the session. " +
			"CYCLE: the viewer runs in the terminal that it wants to show, itself or through others. NESTED: it runs " +
			"inside another terminal and `nested` is missing.",
		codes:   "AMBIGUOUS CYCLE NESTED",
		example: "CYCLE: a terminal cannot be shown inside itself: this viewer runs in terminal 3k1vsxn9xqz9tc0h4q8g",
	},
	{name: "NotShownInSession", status: 409,
		text: "CYCLE: the viewer runs in the terminal that it wants to show, itself or through others. NESTED: it " +
			"runs inside another terminal and `nested` is missing.",
		codes:   "CYCLE NESTED",
		example: "CYCLE: a terminal cannot be shown inside itself: this viewer runs in terminal 3k1vsxn9xqz9tc0h4q8g",
	},
	{name: "Ambiguous", status: 409,
		text:    "AMBIGUOUS: terminals of several sessions have this name; use the id, or the path with the session.",
		codes:   "AMBIGUOUS",
		example: `AMBIGUOUS: the name is not unique: "build" names terminals of several sessions; use the id`,
	},
	{name: "NameTaken", status: 409,
		text:  "NAME_TAKEN: a listed terminal of the session has this name. DELETING: the thread is being deleted.",
		codes: "NAME_TAKEN DELETING",
		example: "NAME_TAKEN: the name is taken: session \"dev\" has a terminal \"build\" (tz65gjhf8fx4b8cm52eg); " +
			"delete it or choose another name",
	},
	{name: "StillRuns", status: 409,
		text:    "RUNNING: the program has not ended. DELETING: the thread is being deleted. AMBIGUOUS: see GET.",
		codes:   "RUNNING DELETING AMBIGUOUS",
		example: "RUNNING: the program still runs: terminal tz65gjhf8fx4b8cm52eg: process 4242",
	},
	{name: "Ended", status: 409, of: httpapi.TimedOut,
		text: "EXITED: the program has ended, or ended during a wait for something else than its end (then `details` " +
			"has the screen). AMBIGUOUS: see GET.",
		codes:   "EXITED AMBIGUOUS",
		example: "EXITED: the program has ended: terminal tz65gjhf8fx4b8cm52eg is exited",
	},
	{name: "NotControlled", status: 409,
		text: "NOT_LOCKED: the terminal is open, everybody who may type does. NO_REQUEST: no viewer, or not this one, " +
			"asks for the keyboard. EXITED: the program has ended. AMBIGUOUS: see GET.",
		codes:   "NOT_LOCKED NO_REQUEST EXITED AMBIGUOUS",
		example: "NOT_LOCKED: the terminal is not locked: everybody who may type does",
	},
	{name: "NotControlledInSession", status: 409,
		text: "NOT_LOCKED: the terminal is open, everybody who may type does. NO_REQUEST: no viewer, or not this one, " +
			"asks for the keyboard. EXITED: the program has ended.",
		codes:   "NOT_LOCKED NO_REQUEST EXITED",
		example: "NOT_LOCKED: the terminal is not locked: everybody who may type does",
	},
	{name: "NotIdle", status: 409,
		text: "IN_USE: somebody watches it or waits for it, the program prints all the time, or its output cannot be " +
			"written to the disk. EXITED: the program has ended. AMBIGUOUS: see GET.",
		codes:   "IN_USE EXITED AMBIGUOUS",
		example: "IN_USE: the terminal is in use: terminal tz65gjhf8fx4b8cm52eg is watched",
	},
	{name: "NotTaken", status: 409,
		text:    "EXITED: the program has ended. AMBIGUOUS: see GET.",
		codes:   "EXITED AMBIGUOUS",
		example: "EXITED: the program has ended: terminal tz65gjhf8fx4b8cm52eg is exited",
	},
	{name: "TooLarge", status: 413, text: "TOO_LARGE: the body has more than 1 MiB (of a part of " +
		"a record 9 MiB, of a record 16 MiB), or more than 4194304 values, of which an object counts as 16, or an " +
		"object of more than 65536 keys.",
		codes:   "TOO_LARGE",
		example: "TOO_LARGE: the body is larger than the 1048576 bytes this request may carry",
		details: wire.ErrorDetails{Limit: 1048576},
	},
	{name: "NotJSON", status: 415,
		text: "UNSUPPORTED_MEDIA_TYPE: the header Content-Type is not application/json. That is asked for even where " +
			"the body may be empty, because a foreign page can send every other type.",
		codes: "UNSUPPORTED_MEDIA_TYPE",
		example: "UNSUPPORTED_MEDIA_TYPE: the request needs the header Content-Type: application/json, not " +
			"\"text/plain\"",
	},
	{name: "UpgradeRequired", status: 426,
		text: "UPGRADE_REQUIRED: this is a WebSocket, and the request is not a handshake.",
		headers: []httpapi.Header{
			{Name: "Upgrade", Text: "`websocket`.", Schema: `{"type": "string", "const": "websocket"}`, Required: true},
		},
		codes:   "UPGRADE_REQUIRED",
		example: "UPGRADE_REQUIRED: this is a WebSocket: connect with an upgrade request",
	},
	{name: "TooMany", status: 429,
		text: "LIMIT: too many terminals run (10000 or --max-ptys, or --max-ptys-per-session of the session), there " +
			"are too many shells (1000 or --max-shells, 64 of a session), too many viewers are connected " +
			"(--max-viewers), too many commands wait in the shell (64), too many tickets wait (4096), too many waits " +
			"go on (100 of a terminal, 1000 in all), too many approvals of a thread wait (32), or wrong credentials come too " +
			"fast. QUEUE_TIMEOUT: the " +
			"command did not get its turn within its `queue_timeout_ms`, and never runs. BUDGET: the session of the " +
			"thread has used up what its policy allows; it closes within a second, and the next use begins another.",
		headers: []httpapi.Header{
			{Name: "Retry-After", Text: "Seconds to wait.",
				Schema: `{"type": "integer", "minimum": 1}`, Required: true},
		},
		codes: "LIMIT QUEUE_TIMEOUT BUDGET",
		example: "LIMIT: 100 terminals are running, the most that this server holds (max_ptys); end one, or " +
			"try again later",
	},
	{name: "Failed", status: 500,
		text: "INTERNAL: a mistake of ours; the log says more under `details.request_id`. SURVIVED: processes of the " +
			"terminal or shell are still there after SIGKILL. DAMAGED: files of a shell cannot be read.",
		codes:   "INTERNAL SURVIVED DAMAGED",
		example: "INTERNAL: the server failed at this request; its log says why under the request id",
		details: wire.ErrorDetails{RequestID: "09acbb1746ffe59e"},
	},
	{name: "CannotTypeNow", status: 503,
		text: "INPUT_BLOCKED: the program did not read its input for 10 seconds. `details` has `bytes`, what it took " +
			"before, and `seq`, the position of the output before that: repeat only the rest. CLOSING, " +
			"CANCELED, DEADLINE, NO_DESCRIPTORS: as elsewhere.",
		codes:   "INPUT_BLOCKED CLOSING CANCELED DEADLINE NO_DESCRIPTORS",
		example: "INPUT_BLOCKED: 4095 of 100000 bytes were taken: program does not read its input",
		details: wire.ErrorDetails{Bytes: new(4095), Seq: new(uint64(5))},
	},
	{name: "CannotStartNow", status: 503,
		text: "NO_KEEPER: the process that starts and holds programs is not there; the server is starting another " +
			"one, and what runs goes on. FIFO_CREATE_FAILED: the files and FIFOs of a shell or command cannot be " +
			"made in the data directory. NO_PTY: the system has no further pseudo-terminal. CLOSING: the server is " +
			"shutting down. CANCELED, DEADLINE: the request ended before it was done. NO_DESCRIPTORS: the server has " +
			"few file descriptors left, and keeps them for what runs; NO_MEMORY: the system has no memory left for " +
			"this. Both come with Retry-After.",
		codes:   "NO_KEEPER FIFO_CREATE_FAILED NO_PTY NO_DESCRIPTORS NO_MEMORY CLOSING CANCELED DEADLINE",
		example: `NO_KEEPER: keeper: start "bash": no keeper: no answer in 30s`,
	},
	{name: "Unavailable", status: 503,
		text: "CLOSING: the server is shutting down. CANCELED, DEADLINE: the request ended before it was done. " +
			"NO_DESCRIPTORS, NO_MEMORY: a new viewer has to wait, because the server has few file descriptors left, " +
			"or has used most of its memory (serve --memory).",
		codes:   "CLOSING CANCELED DEADLINE NO_DESCRIPTORS NO_MEMORY",
		example: "CLOSING: the server is shutting down",
	},
	{name: "NoSpace", status: 507, text: "NO_SPACE: the disk is full.",
		codes:   "NO_SPACE",
		example: "NO_SPACE: no space left to write a snapshot",
	},
	{name: "TooLargeExec", status: 413, limit: 8 << 20, text: "TOO_LARGE: the body has more than 8 MiB.",
		codes:   "TOO_LARGE",
		example: "TOO_LARGE: the body is larger than the 8388608 bytes this request may carry",
		details: wire.ErrorDetails{Limit: 8388608},
	},
	{name: "UnsupportedVersion", status: 400,
		text:  "UNSUPPORTED_API_VERSION: the header X-Evertty-API names a version that this server does not speak.",
		codes: "UNSUPPORTED_API_VERSION",
		example: "UNSUPPORTED_API_VERSION: this server speaks version 1 of its API, not \"7\"; leave the header " +
			"X-Evertty-API out or say 1",
	},
	{name: "ShellExists", status: 409,
		text:    "SESSION_ALREADY_EXISTS: there is a shell with that id. DELETING: the thread is being deleted.",
		codes:   "SESSION_ALREADY_EXISTS DELETING",
		example: "SESSION_ALREADY_EXISTS: the shell exists already",
	},
	{name: "CommandRuns", status: 409,
		text:    "RUNNING: with `purge`, the command, or something that it started and that may print, has not ended.",
		codes:   "RUNNING",
		example: "RUNNING: the command, or something that it started, still runs",
	},
	{name: "DirectoryChanged", status: 409,
		text: "DIRECTORY_CHANGED: the command was approved in another directory than the one in which it would have " +
			"begun in its turn; it was not run, and the approval is used.",
		codes:   "DIRECTORY_CHANGED",
		example: "DIRECTORY_CHANGED: the shell has left the directory that the command was approved in; it was not run",
	},
	{name: "ShellGone", status: 410,
		text: "SESSION_DESTROYED: the shell was deleted before the command got a result. SESSION_TERMINATED: the " +
			"shell has ended and cannot be started again.",
		codes:   "SESSION_DESTROYED SESSION_TERMINATED",
		example: "SESSION_DESTROYED: the shell was deleted",
	},
	{name: "NoStdin", status: 409,
		text:    "NO_STDIN: the command has no open input: it was not given stdin_open, or its end was written.",
		codes:   "NO_STDIN",
		example: "NO_STDIN: the command's standard input is not open",
	},
	{name: "CommandFinished", status: 410,
		text:    "COMMAND_FINISHED: the command has ended. SESSION_DESTROYED: its shell was deleted.",
		codes:   "COMMAND_FINISHED SESSION_DESTROYED",
		example: "COMMAND_FINISHED: the command has ended",
	},
	{name: "NoSession", status: 404,
		text:    "SESSION_NOT_FOUND: there is no such session. NOT_FOUND: there is none for this access.",
		codes:   "SESSION_NOT_FOUND NOT_FOUND",
		example: `SESSION_NOT_FOUND: there is no session "ci"; POST /api/session/create makes one`,
	},
	{name: "NoProcess", status: 404,
		text:    "PROCESS_NOT_FOUND: there is no such process. NOT_FOUND: there is none for this access.",
		codes:   "PROCESS_NOT_FOUND NOT_FOUND",
		example: `PROCESS_NOT_FOUND: there is no process "x"`,
	},
	{name: "FileNotFound", status: 404,
		text:    "FILE_NOT_FOUND: there is no such file. SESSION_NOT_FOUND: there is no such session.",
		codes:   "FILE_NOT_FOUND SESSION_NOT_FOUND NOT_FOUND",
		example: "FILE_NOT_FOUND: open /tmp/x: no such file or directory",
	},
	{name: "FileForbidden", status: 403, text: "PERMISSION_DENIED: the system refuses it. The others as everywhere.",
		codes:   "PERMISSION_DENIED FORBIDDEN_HOST FORBIDDEN_ORIGIN READ_ONLY DENIED",
		example: "PERMISSION_DENIED: open /etc/shadow: permission denied",
	},
	{name: "FileConflict", status: 409,
		text: "FILE_EXISTS, NOT_EMPTY, IS_DIRECTORY, NOT_DIRECTORY, NOT_FILE (a device, FIFO or socket), NOT_TEXT " +
			"(read it as base64), NOT_POSSIBLE (between file systems, into itself).",
		codes:   "FILE_EXISTS NOT_EMPTY IS_DIRECTORY NOT_DIRECTORY NOT_FILE NOT_TEXT NOT_POSSIBLE",
		example: "FILE_EXISTS: mkdir /tmp: file exists",
	},
	{name: "FileTooLarge", status: 413, of: httpapi.FileTooLarge,
		text:    "TOO_LARGE: the body has more than 8 MiB, or the file that is read more than 10 MiB.",
		codes:   "TOO_LARGE",
		example: "TOO_LARGE: the file has 20971520 bytes; at most 10485760 are read at once",
	},
	{name: "RecordExists", status: 409,
		text:    "ALREADY_EXISTS: another record has the id, or others compact it all the time.",
		codes:   "ALREADY_EXISTS",
		example: "ALREADY_EXISTS: exists already: record 20260407T120000Z-1a2b3c4d of thread build",
	},
	{name: "NoRecord", status: 404, of: httpapi.NoRecord,
		text:    "NOT_FOUND: there is no such thread, or it has no such record. What writes makes both.",
		codes:   "NOT_FOUND",
		example: "NOT_FOUND: there is no such record: thread build",
	},
	{
		name:    "NoThread",
		status:  404,
		of:      httpapi.NoThread,
		text:    "NOT_FOUND: there is no such thread, terminal of it, version or lease.",
		codes:   "NOT_FOUND",
		example: "NOT_FOUND: thread build: not found",
	},
	{name: "Lifecycle", status: 409,
		text: "ILLEGAL_TRANSITION: the state does not allow it, as to pause what is dead. IN_USE: another thread " +
			"needs it, or a process runs in it. SESSION_EXPIRED: the session is over; the next use makes another " +
			"one. ALREADY_EXISTS: the id or name is taken, or belongs to another thread.",
		codes:   "ILLEGAL_TRANSITION IN_USE SESSION_EXPIRED ALREADY_EXISTS",
		example: "ILLEGAL_TRANSITION: not possible in this state: lease lease-8b1d4c3a2f10 is dead",
	},
	{name: "Incapable", status: 501, text: "CAPABILITY: the provider cannot do this; see GET /api/sandbox/types.",
		codes:   "CAPABILITY",
		example: "CAPABILITY: the provider cannot do this: metrics",
	},
	{name: "NoCompute", status: 503,
		text: "PROVIDER: the provider failed or cannot be reached. NO_RECORDS: the database of threads cannot be " +
			"used; terminals and shells work without it. CLOSING, CANCELED, DEADLINE: as elsewhere.",
		codes:   "PROVIDER NO_RECORDS CLOSING CANCELED DEADLINE",
		example: "PROVIDER: the provider failed: resume of lease lease-0123456789ab: connection refused",
	},
	{name: "NeedsApproval", status: 423,
		text: "NEEDS_APPROVAL: the permissions of the thread want somebody to be asked. When the approval is " +
			"approved (POST /api/threads/{id}/approvals/{aid}), the identical call is let through once, within 10 " +
			"minutes.",
		codes: "NEEDS_APPROVAL",
		example: "NEEDS_APPROVAL: somebody has to approve this first (approval apr_6f1c9a0b7d5e4f3a2b1c0d9e): the " +
			"thread's ask rule {\"tool\":\"exec\"}",
		details: wire.ErrorDetails{ApprovalID: "apr_6f1c9a0b7d5e4f3a2b1c0d9e"},
	},
	{name: "Locked", status: 423,
		text:    "LOCKED: another viewer holds the keyboard of the terminal.",
		codes:   "LOCKED",
		example: "LOCKED: the terminal is locked: another viewer holds the keyboard; ask for it with request",
	},
	{name: "NotTyped", status: 423,
		text: "LOCKED: another viewer holds the keyboard of the terminal. NEEDS_APPROVAL: the permissions of the " +
			"thread want somebody to be asked; when the approval is approved (POST " +
			"/api/threads/{id}/approvals/{aid}), the identical call is let through once, within 10 minutes.",
		codes:   "LOCKED NEEDS_APPROVAL",
		example: "LOCKED: the terminal is locked: another viewer holds the keyboard; ask for it with request",
	},
	{name: "Decided", status: 409,
		text: "DECIDED: somebody has answered already, the call has been let through, or nobody answered in time. " +
			"UNSEEN: nobody has looked at the hidden values of the call.",
		codes:   "DECIDED UNSEEN",
		example: "DECIDED: this approval has been decided already: approval apr_6f1c9a0b7d5e4f3a2b1c0d9e is used",
	},
}
