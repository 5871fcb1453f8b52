package thread

import "time"

// Event is one thing that happened to a thread. Numbers grow by one from 1; a gap at the beginning
// means that older ones are no longer kept.
type Event struct {
	Thread string    `json:"thread_id"`
	Seq    int64     `json:"seq"`
	Type   string    `json:"type"`
	At     time.Time `json:"at"`
	Data   Detail    `json:"data"`
}

// Detail is what an event is about; which fields are there depends on its type.
type Detail struct {
	Session   string    `json:"session_id,omitempty"`
	Terminal  string    `json:"terminal_id,omitempty"`
	Lease     string    `json:"lease_id,omitempty"`
	Instance  string    `json:"instance_id,omitempty"`
	Runtime   string    `json:"runtime_id,omitempty"`
	Command   string    `json:"command_id,omitempty"`
	Line      string    `json:"command,omitempty"` // the first MaxLine bytes
	From      string    `json:"from,omitempty"`
	To        string    `json:"to,omitempty"`
	Source    string    `json:"source,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Error     string    `json:"error,omitempty"`
	Cwd       string    `json:"cwd,omitempty"`
	Version   int64     `json:"version,omitempty"`
	PID       int       `json:"pid,omitempty"`
	ExitCode  *int      `json:"exit_code,omitempty"`
	Signal    string    `json:"signal,omitempty"`
	Approval  string    `json:"approval_id,omitempty"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

// MaxLine is how many bytes of a command line an event tells.
const MaxLine = 1024

// The types of events, beside those of leases ("lease." and the state, or "lease.error").
const (
	ThreadCreated      = "thread.created"
	ThreadPolicy       = "thread.policy"
	ThreadDeleted      = "thread.deleted" // told, not kept: there is nothing left to keep it in
	TerminalCreated    = "terminal.created"
	TerminalRecreated  = "terminal.recreated" // its row was missing
	TerminalActivated  = "terminal.activated"
	TerminalState      = "terminal.state"
	TerminalRolledBack = "terminal.rolled_back"
	TerminalDeleted    = "terminal.deleted"
	TerminalBusy       = "terminal.state_too_often" // more than busyUpdates versions in a minute
	SessionCreated     = "session.created"
	SessionExpiring    = "session.expiring"
	SessionActive      = "session.active" // after it was idle
	SessionPaused      = "session.paused"
	SessionResumed     = "session.resumed"
	SessionClosed      = "session.closed"
	SessionFailed      = "session.failed"
	LeaseCreated       = "lease.created"
	LeaseRecreated     = "lease.recreated"
	LeaseError         = "lease.error"
	RuntimeStarted     = "runtime.started"
	RuntimeAdopted     = "runtime.adopted"
	RuntimeExited      = "runtime.exited"
	RuntimeLost        = "runtime.lost"
	CommandQueuedEvent = "command.queued"
	CommandStarted     = "command.started"
	CommandFinished    = "command.finished"
)
