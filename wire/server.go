package wire

import "time"

// Health is the health of the server. Without credentials, and for a user who is no administrator, it is only the
// status.
//
//schema:reply "It lives."
type Health struct {
	// `ok`, or `degraded`: it works, but see `reasons`.
	Status string `json:"status" enum:"ok,degraded"`
	// Whether no byte of output is lost when the server is killed at this moment. False while there
	// is no keeper, a journal cannot be written, or the system cannot move output to the disk past
	// the server's memory; `reasons` says which. Absent without credentials.
	Lossless *bool `json:"lossless,omitempty"`
	// Why it is degraded, one sentence each. Absent without credentials; absent or empty when it is
	// not degraded.
	Reasons []string `json:"reasons,omitzero"`
	// How many terminals have a gap or damage in what is kept of them: see `damage` of each. That
	// alone is no reason to be degraded. Absent without credentials.
	Damaged *int `json:"damaged,omitempty" minimum:"0"`
	// The server's version. Absent without credentials.
	Version string `json:"version,omitempty"`
	// Its process id. Absent without credentials.
	PID int `json:"pid,omitempty" minimum:"1"`
	// When it began to answer. Absent without credentials.
	StartedAt *time.Time `json:"started_at,omitempty"`
}

// Version is the version of the server.
//
//schema:reply "What is running."
type Version struct {
	// The program.
	Name string `json:"name" const:"evertty"`
	// The server's version; `dev` when it was built without one.
	Version string `json:"version"`
	// Version of this contract; it grows when a name changes its meaning.
	API int `json:"api" minimum:"1"`
}

// RouteList has the routes of the server.
type RouteList struct {
	// The program.
	Name string `json:"name" const:"evertty"`
	// The server's version.
	Version string `json:"version"`
	// All routes.
	Routes []RouteLine `json:"routes"`
}

// RouteLine is one route.
type RouteLine struct {
	// HTTP method.
	Method string `json:"method"`
	// Path; `:sid` and `:id` are parameters, `*` is the rest.
	Path string `json:"path"`
	// What it is for.
	Does string `json:"does"`
}

// Error is the body of a request that failed.
type Error struct {
	// One sentence for a person. It may change between versions.
	Error string `json:"error"`
	// What programs compare.
	Code string `json:"code" pattern:"^[A-Z][A-Z_]*$"`
	// With NEEDS_APPROVAL: the approval that somebody has to decide; `details` has it too.
	ApprovalID string       `json:"approval_id,omitempty"`
	Details    ErrorDetails `json:"details"`
}

// ErrorDetails has more for programs; `{}` when there is nothing more.
type ErrorDetails struct {
	// With METHOD_NOT_ALLOWED: the methods that the path takes.
	Allow []string `json:"allow,omitempty"`
	// With NEEDS_APPROVAL: the approval.
	ApprovalID string `json:"approval_id,omitempty"`
	// With INPUT_BLOCKED: how many bytes the program took. With LINE_TOO_LONG: those of the line.
	Bytes *int `json:"bytes,omitempty" minimum:"0"`
	// With AMBIGUOUS: terminals that may be meant, as SESSION/NAME or ids.
	Choices []string `json:"choices,omitempty" owned:"session"`
	// With errors of a command that was given: its id.
	CommandID string `json:"command_id,omitempty"`
	// With NOT_KEPT of a recording: the last position.
	End *uint64 `json:"end,omitempty"`
	// The field of the body, or the parameter of the query, that is wrong.
	Field *string `json:"field,omitempty"`
	// With NAME_TAKEN: the terminal that has the name.
	ID string `json:"id,omitempty"`
	// With TOO_LARGE: bytes that a body may have. With LINE_TOO_LONG: bytes that a line may have.
	Limit int `json:"limit,omitempty"`
	// With a provider that is not set up: those that are.
	Providers []string `json:"providers,omitempty"`
	// With status 500: the header X-Request-Id, under which the server's log says why.
	RequestID string `json:"request_id,omitempty"`
	// With TIMEOUT and EXITED of a wait: its position in the output. With INPUT_BLOCKED: the
	// position before the input.
	Seq *uint64 `json:"seq,omitempty" minimum:"0"`
	// With errors of a session: its name.
	Session string `json:"session,omitempty" owned:"session"`
	// With UNSUPPORTED_API_VERSION: the versions that this server speaks.
	Spoken []int `json:"spoken,omitempty"`
	// With NOT_KEPT of a recording: the first position that is kept.
	Start *uint64 `json:"start,omitempty"`
	// With TIMEOUT and EXITED of a wait: history and screen at that moment.
	Text *string `json:"text,omitempty"`
}
