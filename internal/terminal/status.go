package terminal

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/stream"
)

// The states of a terminal. A process never goes back to an earlier one.
const (
	StateRunning = "running"
	StateExited  = "exited" // its exit status is known, or at least that it ended
	StateLost    = "lost"   // it ended while neither keeper nor server ran: they, or the machine, went down
)

// status is the state of a terminal that changes with its life. mu guards all of it and is never held
// over I/O.
type status struct {
	mu sync.Mutex

	// Its life.
	state  string
	exit   *stream.Exit
	killed bool // HangUp was called
	// The line above the output of a restarted program until it is in the journal: it is in the record before the
	// program starts, so that a server that is killed in between leaves it to the next one.
	restartLine string
	endedAt     time.Time // zero while it runs
	deleted     time.Time // zero while it is listed
	damage      string    // of its files when they were read

	// After a crash of the machine.
	restoreDue     bool   // its program is lost and another one has not been started
	restoreFailure string // why none was started

	// What CleanPolicy counts as use.
	lastActivity time.Time
	hadViewer    bool
	lastDetach   time.Time     // when a viewer left last, or this server started; zero before the first
	pausedFor    time.Duration // pauses since its creation, which do not count
	expiring     bool          // it is being deleted for lack of use
	wokenAt      time.Time     // when its screen was needed while it was parked

	baseSize stream.Size // its size without viewers; zero for that of its creation

	// Its directory. A reported one is checked by a goroutine: a path may be on a mount that hangs.
	cwd         cwdState
	cwdRead     atomic.Int64  // when it was read last, in ns since 1970; guarded by nothing
	cwdSaved    string        // the directory in the record on disk
	cwdChecking chan struct{} // closed when no check of a reported directory runs any more; nil without one
	cwdNext     *cwdReading   // the newest one during a check
	fallback    string        // the wanted directory, when the program had to start in another
}

// Cwd is the last known directory of the program.
func (s *status) Cwd() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cwd.dir
}

// Deleted reports whether the terminal was taken off the lists.
func (s *status) Deleted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.deleted.IsZero()
}

// State is one of the states above.
func (s *status) State() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Running reports whether the program runs, as far as is known.
func (s *status) Running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == StateRunning
}

// Exit is how the program ended, nil while it runs.
func (s *status) Exit() *stream.Exit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exit
}

// EndedAt is when the program ended, zero while it runs.
func (s *status) EndedAt() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.endedAt
}
