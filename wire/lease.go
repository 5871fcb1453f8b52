package wire

import (
	"encoding/json"
	"time"
)

// Lease is the durable handle of compute.
//
//schema:reply "The lease."
type Lease struct {
	// The thread it was made for; absent when it was asked for by itself.
	ThreadID string `json:"thread_id,omitempty" owned:"thread"`
	// Its id.
	LeaseID string `json:"lease_id" owned:"lease"`
	// Its provider.
	ProviderName string `json:"provider_name"`
	// The newest compute behind it; null before the first.
	Instance *Instance `json:"instance"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// When it changed last.
	UpdatedAt time.Time `json:"updated_at"`
	// What was asked for last.
	DesiredState  string       `json:"desired_state" enum:"running,paused,destroyed"`
	ObservedState ComputeState `json:"observed_state"`
	// `recovering`: compute is being made. `expired`: destroyed; the next use makes other compute.
	Status string `json:"status" enum:"active,recovering,expired"`
	// Grows with every event.
	Version int64 `json:"version" minimum:"0"`
	// What the provider failed at last; empty when it did not.
	LastError string `json:"last_error"`
}

// Instance is the newest compute behind it; null before the first.
type Instance struct {
	// The provider's own id.
	InstanceID string       `json:"instance_id"`
	State      ComputeState `json:"state"`
	// When it was made.
	StartedAt time.Time `json:"started_at"`
}

// LeaseList has leases.
//
//schema:reply "The leases."
type LeaseList struct {
	// The oldest first.
	Leases []Lease `json:"leases"`
	// The `after` of the next part; absent at the end.
	Next string `json:"next,omitempty" owned:"lease"`
}

// CreateLease asks for a new lease. Nothing runs until it is used.
type CreateLease struct {
	// Its id; empty or absent: the server chooses one.
	ID string `json:"id,omitempty" pattern:"^[A-Za-z0-9._-]{0,64}$" owned:"lease,space"`
	// Its provider; absent: this machine (`local`).
	ProviderName string `json:"provider_name,omitempty"`
	// Settings of the provider's own. Never told again.
	Config map[string]json.RawMessage `json:"config,omitempty"`
}

// LeaseEvent is an entry of a lease's log: what was requested, observed or failed.
type LeaseEvent struct {
	// Its number.
	Seq int64 `json:"seq" minimum:"1"`
	// The lease.
	LeaseID string `json:"lease_id" owned:"lease"`
	// What happened.
	//schema:enum ["intent.ensure_running", "intent.pause", "intent.resume", "intent.destroy",
	//schema:and "observe.status", "provider.error"]
	Type string `json:"type"`
	// Who: api, reaper, use, webhook, recovery.
	Source string       `json:"source"`
	From   ComputeState `json:"from"`
	To     ComputeState `json:"to"`
	// The provider's id of the compute.
	InstanceID string `json:"instance_id,omitempty"`
	// Why it did not happen.
	Error string `json:"error,omitempty"`
	// When.
	At time.Time `json:"at"`
}

// LeaseEvents is the log of a lease.
//
//schema:reply "The book."
type LeaseEvents struct {
	// The lease.
	LeaseID string `json:"lease_id" owned:"lease"`
	// The oldest first.
	Events []LeaseEvent `json:"events"`
}

// ComputeMetrics is what compute uses; null is not known.
//
//schema:reply "What it uses."
type ComputeMetrics struct {
	// Of one processor.
	CPUPercent *float64 `json:"cpu_percent"`
	// Memory in use, in MB.
	MemoryUsedMb *float64 `json:"memory_used_mb"`
	// Memory there is, in MB.
	MemoryTotalMb *float64 `json:"memory_total_mb"`
	// Disk in use, in GB.
	DiskUsedGb *float64 `json:"disk_used_gb"`
	// Disk there is, in GB.
	DiskTotalGb *float64 `json:"disk_total_gb"`
	// Received, in kbit/s.
	NetworkRxKbps *float64 `json:"network_rx_kbps"`
	// Sent, in kbit/s.
	NetworkTxKbps *float64 `json:"network_tx_kbps"`
}

// SandboxTypes has the providers.
//
//schema:reply "The providers."
type SandboxTypes struct {
	// This machine first, then by name.
	Types []SandboxType `json:"types"`
}

// SandboxType is a provider.
type SandboxType struct {
	// Its name.
	Name string `json:"name"`
	// It can be used now.
	Available    bool         `json:"available"`
	Capabilities Capabilities `json:"capabilities"`
}

// Capabilities say what a provider can do.
type Capabilities struct {
	// It can pause.
	CanPause bool `json:"can_pause"`
	// It can resume.
	CanResume bool `json:"can_resume"`
	// It can destroy.
	CanDestroy bool `json:"can_destroy"`
	// It tells by webhooks what happens.
	SupportsWebhook bool `json:"supports_webhook"`
	// It can be asked how compute is.
	SupportsStatusProbe bool `json:"supports_status_probe"`
	// It has terminals.
	PTY bool `json:"pty"`
	// It has files.
	Files bool `json:"files"`
	// It tells what compute uses.
	Metrics bool `json:"metrics"`
	// Processes of paused compute go on when it is resumed.
	MemoryKept bool `json:"memory_kept"`
	// How processes run there.
	RuntimeKind string `json:"runtime_kind"`
}

// SandboxSessions has leases with the threads that use them.
//
//schema:reply "The leases."
type SandboxSessions struct {
	// The oldest first.
	Sessions []SandboxSession `json:"sessions"`
	// The `after` of the next part; absent at the end.
	Next string `json:"next,omitempty" owned:"lease"`
}

// SandboxSession is a lease with the threads that use it.
type SandboxSession struct {
	// Its name in the paths below: the lease's id.
	SessionID string `json:"session_id" owned:"lease"`
	Lease
	// Threads that use it; none: nobody does.
	Threads []string `json:"threads" owned:"thread"`
}

// ThreadCommands has commands of all terminals of a thread.
//
//schema:reply "The commands."
type ThreadCommands struct {
	// In the order in which they began.
	Commands []ThreadCommand `json:"commands"`
}

// ThreadCommand is a command of a terminal of a thread.
type ThreadCommand struct {
	// Its id.
	CommandID string `json:"command_id"`
	// Its terminal.
	TerminalID string `json:"terminal_id"`
	// The process that ran it.
	RuntimeID string `json:"runtime_id,omitempty"`
	// Its text.
	Command string `json:"command"`
	// Where it ran.
	Cwd string `json:"cwd"`
	// Its caller did not wait.
	Background bool `json:"background"`
	// Its process.
	PID    int           `json:"pid,omitempty" minimum:"0"`
	Status CommandStatus `json:"status"`
	// Null until it has one.
	ExitCode *int `json:"exit_code"`
	// What it wrote.
	StdoutBytes int64 `json:"stdout_bytes" minimum:"0"`
	// What it wrote to stderr.
	StderrBytes int64 `json:"stderr_bytes" minimum:"0"`
	// Why the end of its session ended it: idle_timeout, max_duration, budget, destroyed or
	// thread_deleted. Absent when it ended otherwise.
	Reason string `json:"reason,omitempty"`
	// When it began.
	StartedAt time.Time `json:"started_at,omitzero"`
	// When it ended.
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// ThreadEvent is one thing that happened to a thread.
type ThreadEvent struct {
	// The thread.
	ThreadID string `json:"thread_id" owned:"thread"`
	// Its number: 1, 2, 3, … A gap at the beginning means that older ones are no longer kept. 0:
	// thread.deleted, which is told and not kept.
	Seq int64 `json:"seq" minimum:"0"`
	// What happened: thread.*, session.*, terminal.*, lease.*, runtime.*, command.*, permission.*,
	// approval.*.
	Type string `json:"type" pattern:"^[a-z]+\\.[a-z_]+$"`
	// When.
	At   time.Time       `json:"at"`
	Data ThreadEventData `json:"data"`
}

// ThreadEventData is the subject of an event; its fields depend on the type.
type ThreadEventData struct {
	// A session.
	SessionID string `json:"session_id,omitempty"`
	// A terminal.
	TerminalID string `json:"terminal_id,omitempty"`
	// A lease.
	LeaseID string `json:"lease_id,omitempty" owned:"lease"`
	// Compute.
	InstanceID string `json:"instance_id,omitempty"`
	// A process of a terminal.
	RuntimeID string `json:"runtime_id,omitempty"`
	// A command.
	CommandID string `json:"command_id,omitempty"`
	// The first 1024 bytes of its text.
	Command string `json:"command,omitempty"`
	// The state before.
	From string `json:"from,omitempty"`
	// The state after.
	To string `json:"to,omitempty"`
	// Who, a provider, or a tool.
	Source string `json:"source,omitempty"`
	// Why.
	Reason string `json:"reason,omitempty"`
	// What failed.
	Error string `json:"error,omitempty"`
	// A directory.
	Cwd string `json:"cwd,omitempty"`
	// Of a terminal's state, or the generation of a process.
	Version int64 `json:"version,omitempty"`
	// Of the process.
	PID int `json:"pid,omitempty"`
	// How it ended.
	ExitCode *int `json:"exit_code,omitempty"`
	// What ended it.
	Signal string `json:"signal,omitempty"`
	// An approval.
	ApprovalID string `json:"approval_id,omitempty"`
	// When the session is over.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

// ThreadEvents has events of a thread.
type ThreadEvents struct {
	// The thread.
	ThreadID string `json:"thread_id" owned:"thread"`
	// The oldest first.
	Events []ThreadEvent `json:"events"`
}

// Matched is the reply to a webhook.
//
//schema:reply "Taken."
type Matched struct {
	// It was about an instance of this server's.
	Matched bool `json:"matched"`
}

// HookEvents has the webhooks that came.
//
//schema:reply "The webhooks."
type HookEvents struct {
	// The newest first.
	Events []HookEvent `json:"events"`
}

// HookEvent is a webhook that came.
type HookEvent struct {
	// Its number.
	Seq int64 `json:"seq" minimum:"1"`
	// Who told it.
	ProviderName string `json:"provider_name"`
	// Of which compute, in the provider's words; empty when it did not say.
	InstanceID string `json:"instance_id"`
	// What happened, in the provider's words.
	EventType string `json:"event_type"`
	// The lease whose compute it is; absent when it is none of ours.
	MatchedLeaseID string `json:"matched_lease_id,omitempty" owned:"lease"`
	// When it came.
	CreatedAt time.Time `json:"created_at"`
}

// Webhook is the body of a webhook, in the words of the provider.
//
//schema:examples [{"instance_id": "sbx-1", "event_type": "sandbox.lifecycle.paused"}]
type Webhook map[string]any
