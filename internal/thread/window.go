package thread

import (
	"time"

	"github.com/evertty/evertty/wire"
)

// Status is the state of a session.
type Status = wire.SessionStatus

// The statuses. Active, Idle and Paused are live; a thread has at most one live session.
const (
	Active = wire.SessionStatusActive
	Idle   = wire.SessionStatusIdle // it is announced that it expires; the next activity makes it active
	Paused = wire.SessionStatusPaused
	Closed = wire.SessionStatusClosed
	Failed = wire.SessionStatusFailed // its compute could not be had
)

// sessionArrows is the whole state machine of a session. Every status may also stay.
var sessionArrows = arrows[Status]{
	Active: {Idle, Paused, Closed, Failed},
	Idle:   {Active, Paused, Closed, Failed},
	Paused: {Active, Closed, Failed},
	Failed: {Closed},
	Closed: {},
}

// Why sessions were closed.
const (
	ReasonIdle       = "idle_timeout"
	ReasonMax        = "max_duration"
	ReasonBudget     = "budget"
	ReasonDestroyed  = "destroyed"
	ReasonSuperseded = "superseded"
	ReasonDeleted    = "thread_deleted"
	ReasonProvider   = "provider"
)

// Reasons are all of them.
var Reasons = [...]string{ReasonIdle, ReasonMax, ReasonBudget, ReasonDestroyed, ReasonSuperseded, ReasonDeleted,
	ReasonProvider}

// Session is a policy window of a thread: while it is live, processes of the thread may live.
type Session struct {
	ID           string
	Thread       string
	Status       Status
	Policy       Policy
	Used         Usage
	StartedAt    time.Time
	LastActiveAt time.Time
	WarnedFor    time.Time // the expiry that was announced last; zero is none
	EndedAt      time.Time // zero while it is live
	CloseReason  string
}

// Live reports whether the session still lets processes live. One whose time is over is live until
// somebody closes it.
func (s Session) Live() bool { return s.Status == Active || s.Status == Idle || s.Status == Paused }

// ExpiresAt is when the session is over unless something happens in it: min(last activity + idle,
// start + max). While it is paused the idle time stands still, because somebody wanted it to be
// quiet.
func (s Session) ExpiresAt() time.Time {
	end := s.StartedAt.Add(s.Policy.Max)
	if idle := s.LastActiveAt.Add(s.Policy.Idle); s.Status != Paused && idle.Before(end) {
		return idle
	}
	return end
}

// Expired says why the session is over at an instant, "" when it is not. The instant of ExpiresAt
// itself is still inside.
func (s Session) Expired(now time.Time) (reason string) {
	switch {
	case s.Used.Beyond(s.Policy.Budget):
		return ReasonBudget
	case now.Sub(s.StartedAt) > s.Policy.Max:
		return ReasonMax
	case s.Status != Paused && now.Sub(s.LastActiveAt) > s.Policy.Idle:
		return ReasonIdle
	}
	return ""
}

// To returns the session in another status. Errors: ErrTransition.
func (s Session) To(next Status) (Session, error) {
	if err := sessionArrows.check("session", s.ID, s.Status, next); err != nil {
		return s, err
	}
	s.Status = next
	return s, nil
}

// Warnings come this long before an expiry, or a third of the idle time when that is less.
const warnAhead = time.Minute

// WarnAhead is how long before its expiry a session is announced as expiring.
func (s Session) WarnAhead() time.Duration { return min(warnAhead, min(s.Policy.Idle, s.Policy.Max)/3) }
