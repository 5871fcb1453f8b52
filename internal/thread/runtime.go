package thread

import (
	"time"
)

// RuntimeState says where a process is in its life.
type RuntimeState string

// The states of a runtime. The first three are live; a terminal has at most one live runtime.
const (
	Starting RuntimeState = "starting"
	Up       RuntimeState = "running"
	Adopted  RuntimeState = "adopted" // it outlived the server that started it
	Exited   RuntimeState = "exited"
	Lost     RuntimeState = "lost" // it is gone and nobody saw how
)

var runtimeArrows = arrows[RuntimeState]{
	Starting: {Up, Adopted, Exited, Lost},
	Up:       {Adopted, Exited, Lost},
	Adopted:  {Exited, Lost},
	Exited:   {},
	Lost:     {},
}

// Runtime is one process generation of a terminal.
type Runtime struct {
	ID         string
	Terminal   string
	Session    string // the window that it began in; "" when there was none
	Generation int64  // from 1
	PID        int
	// start time of the process in clock ticks since boot: with Boot what tells it from a later
	// owner of the PID
	PIDStart  int64
	Boot      string // id of the machine's boot
	State     RuntimeState
	ExitCode  *int   // nil while it lives, and when nobody knows
	Signal    string // that ended it; "" is none
	StartedAt time.Time
	EndedAt   time.Time
}

// Live reports whether the process may be there.
func (r Runtime) Live() bool { return r.State == Starting || r.State == Up || r.State == Adopted }

// To returns the process in the next state. Errors: ErrTransition.
func (r Runtime) To(next RuntimeState) (Runtime, error) {
	if err := runtimeArrows.check("runtime", r.ID, r.State, next); err != nil {
		return r, err
	}
	r.State = next
	return r, nil
}
