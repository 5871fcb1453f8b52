package thread

import (
	"encoding/json"
	"time"
)

// The replies about a thread. The keys of the first block of each are a contract with clients that
// were written before this server; the others are ours.

// SessionReply is a session (GET /api/threads/:id/session).
type SessionReply struct {
	Thread       string    `json:"thread_id"`
	ID           string    `json:"session_id"`
	Terminal     string    `json:"terminal_id"`
	Status       Status    `json:"status"`
	CreatedAt    time.Time `json:"created_at"`
	LastActiveAt time.Time `json:"last_active_at"`
	ExpiresAt    time.Time `json:"expires_at"`

	IdleSeconds float64   `json:"idle_seconds"`
	MaxSeconds  float64   `json:"max_seconds"`
	Budget      *Usage    `json:"budget,omitempty"`
	Used        *Usage    `json:"used,omitempty"`
	EndedAt     time.Time `json:"ended_at,omitzero"`
	CloseReason string    `json:"close_reason,omitempty"`
}

// TerminalReply is a terminal (GET /api/threads/:id/terminal).
type TerminalReply struct {
	Thread    string            `json:"thread_id"`
	ID        string            `json:"terminal_id"`
	Lease     string            `json:"lease_id"`
	Cwd       string            `json:"cwd"`
	Env       map[string]string `json:"env_delta"`
	Version   int64             `json:"version"`
	CreatedAt time.Time         `json:"created_at"`
	UpdatedAt time.Time         `json:"updated_at"`

	StateVersion int64    `json:"state_version"` // the same number under its other name
	Unset        []string `json:"env_unset"`
	Kind         Kind     `json:"kind"`
	Name         string   `json:"name"`
	Active       bool     `json:"active"`
}

// InstanceReply is the compute in a LeaseReply.
type InstanceReply struct {
	ID        string    `json:"instance_id"` // the provider's
	State     Observed  `json:"state"`
	StartedAt time.Time `json:"started_at"`
}

// LeaseReply is a lease (GET /api/threads/:id/lease, /api/leases/:id).
type LeaseReply struct {
	Thread    string         `json:"thread_id,omitempty"`
	ID        string         `json:"lease_id"`
	Provider  string         `json:"provider_name"`
	Instance  *InstanceReply `json:"instance"` // null before the first
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`

	Desired   Desired     `json:"desired_state"`
	Observed  Observed    `json:"observed_state"`
	Status    LeaseStatus `json:"status"`
	Version   int64       `json:"version"`
	LastError string      `json:"last_error"`
}

// SandboxReply is where a thread's processes run, in a Reply.
type SandboxReply struct {
	Type     string `json:"type"`
	Status   Status `json:"status"`
	Session  string `json:"session_id"`
	Terminal string `json:"terminal_id"`
}

// Reply is a thread (GET /api/threads/:id). Messages are the thread record's; never nil.
type Reply struct {
	ID       string            `json:"thread_id"`
	Messages []json.RawMessage `json:"messages"`
	Sandbox  SandboxReply      `json:"sandbox"`

	Lease     string    `json:"lease_id"`
	Policy    Policy    `json:"policy"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// SessionReply is the reply about the session. Session.ID is "" when the thread never had one,
// which is for the caller to refuse.
func (l Layers) SessionReply() SessionReply {
	s := l.Session
	r := SessionReply{Thread: l.Thread.ID, ID: s.ID, Terminal: l.Terminal.ID, Status: s.Status, CreatedAt: s.StartedAt,
		LastActiveAt: s.LastActiveAt, ExpiresAt: s.ExpiresAt(),
		IdleSeconds: s.Policy.Idle.Seconds(), MaxSeconds: s.Policy.Max.Seconds(), EndedAt: s.EndedAt,
		CloseReason: s.CloseReason}
	if s.Policy.Budget != (Usage{}) {
		r.Budget = &s.Policy.Budget
	}
	if s.Used != (Usage{}) {
		r.Used = &s.Used
	}
	return r
}

// TerminalReply is the reply about the terminal.
func (l Layers) TerminalReply() TerminalReply {
	t := l.Terminal
	return TerminalReply{Thread: l.Thread.ID, ID: t.ID, Lease: t.Lease, Cwd: t.State.Cwd, Env: t.State.Env,
		Version: t.State.Version, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
		StateVersion: t.State.Version, Unset: t.State.Unset, Kind: t.Kind, Name: t.Name,
		Active: l.Thread.Active == t.ID}
}

// LeaseReply is the reply about the lease.
func (l Layers) LeaseReply() LeaseReply {
	e := l.Lease
	r := LeaseReply{Thread: l.Thread.ID, ID: e.ID, Provider: e.Provider, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
		Desired: e.Desired, Observed: e.Observed, Status: e.Status, Version: e.Version, LastError: e.LastError}
	if i := l.Instance; i.ID != "" {
		r.Instance = &InstanceReply{ID: i.Session, State: i.State, StartedAt: i.CreatedAt}
	}
	return r
}

// ThreadReply is the reply about the thread, without messages.
func (l Layers) ThreadReply() Reply {
	return Reply{ID: l.Thread.ID, Messages: []json.RawMessage{}, Lease: l.Terminal.Lease, Policy: l.Thread.Policy,
		CreatedAt: l.Thread.CreatedAt, UpdatedAt: l.Thread.UpdatedAt,
		Sandbox: SandboxReply{Type: l.Lease.Provider, Status: l.Session.Status, Session: l.Session.ID,
			Terminal: l.Terminal.ID}}
}
