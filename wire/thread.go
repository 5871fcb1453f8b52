package wire

import (
	"encoding/json"
	"time"
)

// SessionStatus is the state of a session. `idle`: it expires soon for want of activity. `failed`:
// its compute could not be had.
type SessionStatus string

// The values of SessionStatus.
const (
	SessionStatusActive SessionStatus = "active"
	SessionStatusIdle   SessionStatus = "idle"
	SessionStatusPaused SessionStatus = "paused"
	SessionStatusClosed SessionStatus = "closed"
	SessionStatusFailed SessionStatus = "failed"
)

// ComputeState is the last observed state of compute. `dead`: it is gone, or there was none yet.
type ComputeState string

// The values of ComputeState.
const (
	ComputeStateRunning ComputeState = "running"
	ComputeStatePaused  ComputeState = "paused"
	ComputeStateDead    ComputeState = "dead"
	ComputeStateUnknown ComputeState = "unknown"
)

// Budget is what one session may use, or has used. What is absent is not limited, or is none.
type Budget struct {
	// Processor time of all its processes, in seconds.
	CPUSeconds float64 `json:"cpu_seconds,omitempty" minimum:"0"`
	// Commands that were started.
	Commands int64 `json:"commands,omitempty" minimum:"0"`
	// Bytes of output.
	Bytes int64 `json:"bytes,omitempty" minimum:"0"`
}

// Policy says how long sessions of the thread may live.
type Policy struct {
	// Without activity: commands, input, output, files, viewers, touch. 0 expires at once.
	IdleSeconds float64 `json:"idle_seconds" minimum:"0" maximum:"315360000"`
	// In all.
	MaxSeconds float64 `json:"max_seconds" minimum:"0" maximum:"315360000"`
	Budget     *Budget `json:"budget,omitempty"`
}

// SetPolicy changes a policy. A field that is absent stays as it was; a budget is given as a whole,
// and 0 in it is no limit.
type SetPolicy struct {
	// Without activity: commands, input, output, files, viewers, touch. 0 expires at once.
	IdleSeconds *float64 `json:"idle_seconds,omitempty" minimum:"0" maximum:"315360000"`
	// In all.
	MaxSeconds *float64 `json:"max_seconds,omitempty" minimum:"0" maximum:"315360000"`
	Budget     *Budget  `json:"budget,omitempty"`
}

// CreateThread asks for a new thread.
type CreateThread struct {
	// The thread's name, which is also the session's in /session/{sid}; empty or absent: the server
	// chooses one.
	ID string `json:"id,omitempty" pattern:"^[A-Za-z0-9._-]{0,64}$" owned:"thread,space"`
	// The provider on which its processes run; absent: the lease's, or this machine (`local`).
	Sandbox string `json:"sandbox,omitempty"`
	// An existing lease, to share its compute with other threads.
	LeaseID string     `json:"lease_id,omitempty" owned:"lease"`
	Policy  *SetPolicy `json:"policy,omitempty"`
}

// Thread owns terminals and outlives their processes.
//
//schema:reply "The thread."
type Thread struct {
	// Its name.
	ThreadID string `json:"thread_id" owned:"thread"`
	// What its agent and user said.
	//schema:items {"type": "object", "description": "A message."}
	Messages []json.RawMessage `json:"messages"`
	Sandbox  ThreadSandbox     `json:"sandbox"`
	// The lease of the active terminal.
	LeaseID string `json:"lease_id" owned:"lease"`
	Policy  Policy `json:"policy"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// When its record changed last.
	UpdatedAt time.Time `json:"updated_at"`
	// How many messages come before these: GET …/messages has them. Absent in lists, which have no
	// messages.
	MessagesOmitted *uint64 `json:"messages_omitted,omitempty"`
}

// ThreadSandbox says where the processes of a thread run.
type ThreadSandbox struct {
	// The provider's name.
	Type string `json:"type"`
	// The session's status; empty when there never was one.
	Status string `json:"status" enum:",active,idle,paused,closed,failed"`
	// Its session: the live one, or the newest; empty when it never had one.
	SessionID string `json:"session_id"`
	// Its active terminal.
	TerminalID string `json:"terminal_id"`
}

// ThreadList has threads.
//
//schema:reply "Threads."
type ThreadList struct {
	// By id.
	Threads []Thread `json:"threads"`
	// `after` of the next part; absent at the end.
	Next string `json:"next,omitempty" owned:"thread"`
}

// ThreadSession is a session: while it is live, processes of the thread may live.
//
//schema:reply "The session."
type ThreadSession struct {
	// Its thread.
	ThreadID string `json:"thread_id" owned:"thread"`
	// Its id; null when there is none yet.
	SessionID *string `json:"session_id"`
	// The thread's active terminal.
	TerminalID string `json:"terminal_id"`
	// Its status; null when the thread never had a session.
	Status *SessionStatus `json:"status"`
	// When it began; null when there is none yet.
	CreatedAt *time.Time `json:"created_at"`
	// The last activity; null when there is none yet.
	LastActiveAt *time.Time `json:"last_active_at"`
	// When it is over unless something happens: the earlier of last_active_at + idle_seconds and
	// created_at + max_seconds. While it is paused only the latter counts; null when there is none
	// yet.
	ExpiresAt *time.Time `json:"expires_at"`
	// Of its policy.
	IdleSeconds float64 `json:"idle_seconds"`
	// Of its policy.
	MaxSeconds float64 `json:"max_seconds"`
	Budget     *Budget `json:"budget,omitempty"`
	Used       *Budget `json:"used,omitempty"`
	// When it was over; absent while it is live.
	EndedAt time.Time `json:"ended_at,omitzero"`
	// Why it is over.
	//schema:enum ["idle_timeout", "max_duration", "budget", "destroyed", "superseded",
	//schema:and "thread_deleted", "provider"]
	CloseReason string `json:"close_reason,omitempty"`
}

// ThreadTerminal is the part of a terminal that outlives its processes.
//
//schema:reply "The terminal."
type ThreadTerminal struct {
	// Its thread.
	ThreadID string `json:"thread_id" owned:"thread"`
	// Its id.
	TerminalID string `json:"terminal_id"`
	// Where it runs.
	LeaseID string `json:"lease_id" owned:"lease"`
	// Its directory.
	Cwd string `json:"cwd"`
	// Variables that were changed or added against the environment at the first start.
	EnvDelta map[string]string `json:"env_delta"`
	// The number of this state; a change makes the next one.
	Version int64 `json:"version" minimum:"0" nullable:"false"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// When its state changed last.
	UpdatedAt time.Time `json:"updated_at"`
	// The same as version.
	StateVersion int64 `json:"state_version" minimum:"0"`
	// Variables that were removed, ascending.
	EnvUnset []string `json:"env_unset"`
	// A shell for commands, or a program on a pseudo-terminal.
	Kind string `json:"kind" enum:"shell,pty"`
	// Its name; unique in the thread.
	Name string `json:"name"`
	// It is the one that is meant when none is named.
	Active bool `json:"active"`
}

// RolledBack is a terminal after a rollback.
//
//schema:reply "The terminal, in a new version."
type RolledBack struct {
	ThreadTerminal
	// What its running process learnt: `now` it is there, `queued` it will be when the commands
	// before are done, `next` the next process starts there.
	Applied string `json:"applied" enum:"now,queued,next"`
	// The directory of the version, when it is gone. A shell is in the nearest one above it, which
	// is cwd once it has got there.
	CwdFallback string `json:"cwd_fallback,omitempty"`
}

// ThreadTerminals has the terminals of a thread.
//
//schema:reply "The terminals."
type ThreadTerminals struct {
	// The oldest first.
	Terminals []ThreadTerminal `json:"terminals"`
	// `after` of the next part, with limit; absent at the end.
	Next string `json:"next,omitempty"`
}

// TerminalStates has the versions of a terminal's state.
//
//schema:reply "The versions."
type TerminalStates struct {
	// The newest first, at most 1000.
	States []TerminalState `json:"states"`
}

// TerminalState is one version of a terminal's state.
type TerminalState struct {
	// The directory.
	Cwd string `json:"cwd"`
	// Variables that were changed or added against the environment at the first start.
	EnvDelta map[string]string `json:"env_delta"`
	// Variables that were removed.
	EnvUnset []string `json:"env_unset"`
	// The same.
	StateVersion int64 `json:"state_version" minimum:"0"`
	// Since when.
	At time.Time `json:"at"`
	// Its number.
	Version int64 `json:"version" minimum:"0"`
}

// Rollback says to which version to go back.
type Rollback struct {
	ThreadTerminalRef
	// The number of an earlier state.
	Version *int64 `json:"version" minimum:"0" nullable:"false"`
}
