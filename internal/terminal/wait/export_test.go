package wait

import (
	"time"

	"github.com/evertty/evertty/internal/terminal"
)

// MaxWaitsOf is how many waits a terminal has at once.
const MaxWaitsOf = maxWaitsOf

// of is the followers of t, nil when nobody waits for it.
func (s *Service) of(t *terminal.Terminal) *followers {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terminals[t]
}

// WaitsOf is how many waits for t go on.
func WaitsOf(s *Service, t *terminal.Terminal) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.terminals[t]; l != nil {
		return l.waits
	}
	return 0
}

// FollowersOf is how many followers of t may be joined.
func FollowersOf(s *Service, t *terminal.Terminal) int {
	l := s.of(t)
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}

// HoldFollower has the newest of them apply nothing until release is called.
func HoldFollower(s *Service, t *terminal.Terminal) (release func()) {
	o := s.of(t).newest()
	o.driver.lock()
	return o.driver.release
}

// WaitersOf is how many waiters share the newest of them, and for how many of those it has
// not come to their place yet.
func WaitersOf(s *Service, t *terminal.Terminal) (all, early int) {
	l := s.of(t)
	if l == nil {
		return 0, 0
	}
	o := l.newest()
	if o == nil {
		return 0, 0
	}
	o.lock.lock()
	defer o.lock.release()
	for _, w := range o.waiters {
		if !w.reached {
			early++
		}
	}
	return len(o.waiters), early
}

// PauseOf is how long a wait for t pauses now after work that took so long.
func PauseOf(t *terminal.Terminal, worked time.Duration) time.Duration {
	j, _ := t.Journal()
	return (&follower{t: t, journal: j}).pause(worked)
}
