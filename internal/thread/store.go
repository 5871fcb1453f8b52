package thread

import "time"

// Store keeps the records. It does not know the rules; it holds that ids are unique and that what a
// row points at exists.
//
// View gives a consistent picture, Update changes all or nothing and returns when the change
// survives a kill of this process. One Update runs at a time; a View never waits for it. The Tx is
// valid until fn returns; neither is called from inside the other's fn or its own. Errors: what fn
// returns, ErrConflict (an id or name twice), ErrInUse (something points at what is deleted),
// ErrNotFound, ErrNoSpace, ErrDamaged.
type Store interface {
	View(fn func(Tx) error) error
	Update(fn func(Tx) error) error
}

// Tx is the records as of one instant. Put writes a row, new or not; a row that a getter does not
// find is ErrNotFound.
type Tx interface {
	threadRows
	terminalRows
	sessionRows
	leaseRows
	processRows
}

type threadRows interface {
	Thread(id string) (Thread, error)
	Threads(after string, limit int) ([]Thread, error) // by id, those behind after
	PutThread(Thread) error                            // without Events, which AddEvent counts
	DeleteThread(id string) error                      // and all that is the thread's own
	// DropHistory deletes commands and events of a thread, at most limit of each; more says that
	// there are others.
	DropHistory(thread string, limit int) (more bool, err error)
	AddEvent(Event) (seq int64, err error)
	Events(thread string, after int64, limit int) ([]Event, error) // ascending
}

type terminalRows interface {
	Terminal(id string) (Terminal, error)
	Terminals(thread string) ([]Terminal, error) // the oldest first
	// TerminalPart is those behind the one with the id after, from the first for "", at most limit.
	TerminalPart(thread, after string, limit int) ([]Terminal, error)
	PutTerminal(Terminal) error
	DeleteTerminal(id string) error
	PutState(terminal string, s State) error
	State(terminal string, version int64) (State, error)
	LastState(terminal string) (State, error) // also of a terminal whose row is missing
	States(terminal string) ([]State, error)  // the newest first
	TrimStates(terminal string, upTo int64) error
}

type sessionRows interface {
	Session(id string) (Session, error)
	LastSession(thread string) (Session, error) // the live one, or the newest
	Sessions(thread string) ([]Session, error)  // the newest first
	LiveSessions() ([]Session, error)
	PutSession(Session) error
	// Pulse writes activity and usage of a session that is live; neither ever shrinks.
	Pulse(id string, active time.Time, used Usage) error
}

type leaseRows interface {
	Lease(id string) (Lease, error)
	Leases(provider string) ([]Lease, error) // "" is all; by creation
	LeasePart(LeaseQuery) ([]Lease, error)   // by creation, any limit
	PutLease(Lease) error
	DeleteLease(id string) error
	Instance(id string) (Instance, error)
	Instances(lease string) ([]Instance, error) // the newest first
	FindInstance(provider, session string) (Instance, error)
	PutInstance(Instance) error
	AddLeaseEvent(LeaseEvent) error
	LeaseEvents(lease string, after int64, limit int) ([]LeaseEvent, error) // ascending
	// that have a terminal on the lease, or would make one there
	LeaseThreads(lease string) ([]string, error)
	AddProviderEvent(ProviderEvent) error
	ProviderEvents(limit int) ([]ProviderEvent, error) // the newest first
}

type processRows interface {
	Runtime(id string) (Runtime, error)
	LastRuntime(terminal string) (Runtime, error)
	LiveRuntimes(thread string) ([]Runtime, error) // "" is of all threads
	PutRuntime(Runtime) error
	Command(id string) (Command, error)
	Commands(CommandQuery) ([]Command, error)
	PutCommand(Command) error
	ForgetCommand(id string) error                 // and its text in events and approvals
	OpenCommands(thread string) ([]Command, error) // that have not ended; "" is of all threads
	LeaseCommands(lease string) (running int, err error)
}

// CommandQuery asks for commands, the newest Limit of those before Before, in the order in which
// they began.
type CommandQuery struct {
	Thread   string
	Terminal string // "" is all of the thread
	Before   string // a command's id; "" is the end
	Limit    int    // 1..MaxPage; 0 is MaxPage
}

// MaxPage is the most rows that one question is answered with.
const MaxPage = 1000

// ProviderEvent is what a provider told by itself.
type ProviderEvent struct {
	Seq      int64     `json:"seq"`
	Provider string    `json:"provider_name"`
	Instance string    `json:"instance_id"`
	Type     string    `json:"event_type"`
	Payload  string    `json:"-"`
	Lease    string    `json:"matched_lease_id,omitempty"`
	At       time.Time `json:"created_at"`
}

// LeaseQuery asks for leases in the order of their making.
type LeaseQuery struct {
	Provider string // "" is all
	After    string // a lease's id: those behind it; "" is the beginning
	Limit    int    // 1..MaxPage; 0 is MaxPage
}
