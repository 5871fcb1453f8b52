package thread

import (
	"fmt"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// Local is the provider that runs processes on this machine. It is never paused to save compute.
const Local = "local"

// Observed is the state of the compute behind a lease, as its provider reported it last.
type Observed = provider.State

// The states of compute.
const (
	Running = provider.Running
	Frozen  = provider.Paused
	Dead    = provider.Dead // also: there was none yet
	Unknown = provider.Unknown
)

// leaseArrows is the whole state machine of compute. Every state may also be seen again.
var leaseArrows = arrows[Observed]{
	Dead:    {Running, Unknown},
	Running: {Frozen, Dead, Unknown},
	Frozen:  {Running, Dead, Unknown},
	Unknown: {Running, Frozen, Dead},
}

// ParseObserved understands the words of providers and of older records. Errors: ErrInvalid.
func ParseObserved(word string) (Observed, error) {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "running", "started":
		return Running, nil
	case "paused", "archived":
		return Frozen, nil
	case "dead", "stopped", "deleted", "detached", "destroyed":
		return Dead, nil
	case "unknown":
		return Unknown, nil
	}
	return Unknown, fmt.Errorf("%w: %.80q is no state of an instance", ErrInvalid, word)
}

// Desired is what somebody wants the compute behind a lease to do.
type Desired string

// What can be wanted.
const (
	WantRunning   Desired = "running"
	WantPaused    Desired = "paused"
	WantDestroyed Desired = "destroyed"
)

// LeaseStatus says what becomes of a lease.
type LeaseStatus string

// The statuses of a lease. An expired one becomes active again with the next use.
const (
	LeaseActive     LeaseStatus = "active"
	LeaseRecovering LeaseStatus = "recovering" // an instance is being made
	LeaseExpired    LeaseStatus = "expired"    // destroyed
)

// MaxError is how many bytes are kept of a provider's error text.
const MaxError = 500

// Lease is the durable handle of compute.
type Lease struct {
	ID           string
	Provider     string
	Thread       string // that it was made for; "" when it was asked for by itself
	Desired      Desired
	Observed     Observed
	Status       LeaseStatus
	Instance     string // Instance.ID of the newest instance; "" before the first
	Version      int64  // grows with every event
	LastError    string
	NeedsRefresh bool // what was observed may be old: ask before believing it
	ObservedAt   time.Time
	Config       string // JSON of the provider's own; "" is none
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Instance is one piece of compute that was behind a lease. Those that ended stay.
type Instance struct {
	ID        string // ours
	Lease     string
	Session   string // the provider's own id
	State     Observed
	CreatedAt time.Time
	SeenAt    time.Time
	EndedAt   time.Time // zero until it is dead
}

// The events of a lease: what somebody wanted, what was seen, and what failed.
const (
	IntentRunning = "intent.ensure_running"
	IntentPause   = "intent.pause"
	IntentResume  = "intent.resume"
	IntentDestroy = "intent.destroy"
	ObserveStatus = "observe.status"
	ProviderError = "provider.error"
)

// LeaseEvent is one entry of a lease's event log, which only grows.
type LeaseEvent struct {
	Seq      int64 // grows; of one store
	Lease    string
	Type     string
	Source   string // who: api, reaper, use, webhook, recovery
	From     Observed
	To       Observed
	Instance string
	Error    string // why it did not happen
	At       time.Time
}

// Allowed refuses a state that cannot follow. Errors: ErrTransition.
func (l Lease) Allowed(to Observed) error { return leaseArrows.check("lease", l.ID, l.Observed, to) }

// Clip cuts text to n bytes at a character.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// CutShort says that a pause was begun and never known to be done.
func (l Lease) CutShort() bool { return l.Desired == WantPaused && l.Observed == Running }
