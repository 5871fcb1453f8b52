package thread

import "time"

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
	Seq      int64
	Provider string
	Instance string
	Type     string
	Payload  string
	Lease    string
	At       time.Time
}

// LeaseQuery asks for leases in the order of their making.
type LeaseQuery struct {
	Provider string // "" is all
	Prefix   string // with which the ids begin
	After    string // a lease's id: those behind it; "" is the beginning
	Limit    int    // 1..MaxPage; 0 is MaxPage
}
