package thread

import "github.com/evertty/evertty/wire"

// Event is one thing that happened to a thread. Numbers grow by one from 1; a gap at the beginning
// means that older ones are no longer kept. Events are kept as they are sent.
type Event = wire.ThreadEvent

// Detail is the subject of an event; which fields are set depends on its type.
type Detail = wire.ThreadEventData

// MaxLine is how many bytes of a command line an event has.
const MaxLine = 1024

// The types of events, beside the events of leases ("lease." and the state, or "lease.error").
const (
	ThreadCreated      = "thread.created"
	ThreadPolicy       = "thread.policy"
	ThreadDeleted      = "thread.deleted" // sent, not kept: its thread is gone
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
