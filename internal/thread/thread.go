package thread

import "time"

// Thread is who owns terminals. It lasts until somebody deletes it.
type Thread struct {
	ID        string
	Provider  string // of leases that are made for it
	Lease     string // of terminals that are made in it
	Policy    Policy // of sessions that begin
	Chosen    bool   // somebody asked for that policy; else it is what the server gives to all
	Default   string // the terminal that was first; "" until there is one
	Active    string // the terminal that is meant when none is named
	Events    int64  // the number of its newest event
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Clock tells the time; time.Now is the usual one. It may be called from several goroutines at
// once.
type Clock func() time.Time
