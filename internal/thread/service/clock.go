package service

import (
	"sync"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

// grain is what times are rounded down to: what the Store keeps of them.
const grain = time.Microsecond

// steady is a clock that never goes back and never stands still: when the clock under it is set
// back, time goes on from where it was. So no window expires early or lives on because somebody
// corrected the date. It follows jumps forward, because a machine that slept has aged.
type steady struct {
	mu     sync.Mutex
	clock  thread.Clock
	last   time.Time // what clock said last, without its monotonic reading, which stops while a machine sleeps
	offset time.Duration
}

func (s *steady) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.clock().UTC().Truncate(grain)
	if back := s.last.Sub(t); !s.last.IsZero() && back > 0 {
		s.offset += back
	}
	s.last = t
	return t.Add(s.offset)
}
