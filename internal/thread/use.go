package thread

// Use is what somebody is about to do in a thread. The zero Use takes the layers that exist.
type Use struct {
	Kind     Kind   // of the terminal; "" is any, and Shell for one that is made
	Terminal string // its id; "" is the active one, or another of that kind
	New      bool   // probably none of this has rows yet: what would find them is left out
	// What a terminal is made with. None of it changes one that is there.
	Name string // "" is its id
	Cmd  []string
	Cols int
	Rows int
	Cwd  string // absolute; "" is the provider's
	Env  map[string]string
	// Process runs in it; nil is none. Only PID, PIDStart and Boot count.
	Process *Runtime
	// What a thread is made with. Lease is also of a terminal that is made: an existing one, to be
	// shared; "" is the thread's.
	Lease    string
	Provider string // "" is the lease's, or the Manager's
	Policy   *Policy
}

// Layers is everything that belongs to one terminal of a thread.
type Layers struct {
	Thread   Thread
	Session  Session // the live one, or the newest; the zero one when there was none
	Terminal Terminal
	Lease    Lease
	Instance Instance // the newest of the lease; the zero one when there was none
	// What this call has made. A row that was missing and was made again under its old id counts.
	NewThread, NewSession, NewTerminal, NewLease bool
}
