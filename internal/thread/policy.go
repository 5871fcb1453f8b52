package thread

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/evertty/evertty/wire"
)

// Defaults of a Policy and its end.
const (
	DefaultIdle = 1800 * time.Second
	DefaultMax  = 86400 * time.Second
	maxPolicy   = 10 * 365 * 24 * time.Hour // beyond it a deadline is a typing mistake
)

// Policy says how long a session may live. In JSON it is {"idle_seconds", "max_seconds", "budget"};
// a key that is absent leaves what was there.
type Policy struct {
	Idle   time.Duration // without activity; 0 expires at once
	Max    time.Duration // in all
	Budget Usage         // 0 of something is as much as it likes
}

// DefaultPolicy is 30 minutes without activity and a day in all, without a budget.
func DefaultPolicy() Policy { return Policy{Idle: DefaultIdle, Max: DefaultMax} }

// Usage is what a session may use, or has used.
type Usage struct {
	CPUSeconds float64 `json:"cpu_seconds,omitempty"` // of all its processes
	Commands   int64   `json:"commands,omitempty"`    // that were started
	Bytes      int64   `json:"bytes,omitempty"`       // of output
}

// Plus adds v to u.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.CPUSeconds + v.CPUSeconds, u.Commands + v.Commands, u.Bytes + v.Bytes}
}

// Beyond reports whether u is more than the budget allows.
func (u Usage) Beyond(budget Usage) bool {
	return budget.CPUSeconds > 0 && u.CPUSeconds > budget.CPUSeconds ||
		budget.Commands > 0 && u.Commands > budget.Commands ||
		budget.Bytes > 0 && u.Bytes > budget.Bytes
}

// Check returns an error that names the first invalid value of a budget.
func (u Usage) Check() error {
	for _, n := range []struct {
		name string
		of   float64
	}{{"cpu_seconds", u.CPUSeconds}, {"commands", float64(u.Commands)}, {"bytes", float64(u.Bytes)}} {
		if math.IsNaN(n.of) || math.IsInf(n.of, 0) || n.of < 0 {
			return fmt.Errorf("%w: budget.%s %v: 0 or more is allowed, 0 is any number", ErrInvalid, n.name, n.of)
		}
	}
	return nil
}

// Check refuses what cannot be a policy. Errors: ErrInvalid.
func (p Policy) Check() error {
	for _, d := range []struct {
		name string
		of   time.Duration
	}{{"idle_seconds", p.Idle}, {"max_seconds", p.Max}} {
		if d.of < 0 || d.of > maxPolicy {
			return fmt.Errorf("%w: %s is 0..%d", ErrInvalid, d.name, int64(maxPolicy/time.Second))
		}
	}
	return p.Budget.Check()
}

// MarshalJSON implements json.Marshaler.
func (p Policy) MarshalJSON() ([]byte, error) { return json.Marshal(p.Wire()) }

// UnmarshalJSON implements json.Unmarshaler, as With does. p is changed only without an error.
func (p *Policy) UnmarshalJSON(b []byte) error {
	var change wire.SetPolicy
	if err := json.Unmarshal(b, &change); err != nil {
		return fmt.Errorf("%w: policy: %w", ErrInvalid, err)
	}
	q, err := p.With(change)
	if err == nil {
		*p = q
	}
	return err
}

// With returns p with what a change gives. Errors: ErrInvalid.
func (p Policy) With(change wire.SetPolicy) (Policy, error) {
	for _, d := range []struct {
		name string
		from *float64
		to   *time.Duration
	}{{"idle_seconds", change.IdleSeconds, &p.Idle}, {"max_seconds", change.MaxSeconds, &p.Max}} {
		if d.from == nil {
			continue
		}
		if !(*d.from >= 0 && *d.from <= maxPolicy.Seconds()) {
			return p, fmt.Errorf("%w: %s %v: 0 to %d are allowed", ErrInvalid, d.name, *d.from,
				int64(maxPolicy/time.Second))
		}
		*d.to = time.Duration(math.Round(*d.from*1e6)) * time.Microsecond
	}
	if change.Budget != nil {
		p.Budget = Usage(*change.Budget)
	}
	return p, p.Check()
}
