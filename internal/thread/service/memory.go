package service

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/notify"
	"github.com/evertty/evertty/internal/thread"
)

// memory is newer than the rows, or is never written. The hot path of input and commands reads
// nothing else.
type memory struct {
	clock    steady
	changed  notify.Signal // a live session is another one, or has something to write: expiry.run looks
	accounts notify.Signal // a session is another one, or a command began: chargeLoop may have more to read

	mu    sync.Mutex           // a leaf
	live  map[string]*window   // the live session of a thread
	fresh map[string]time.Time // when a lease's provider last said that it is running
	busy  map[string]rate      // versions of a terminal
	stats Stats
}

func newMemory(clock thread.Clock) memory {
	return memory{clock: steady{clock: clock}, changed: notify.NewSignal(), accounts: notify.NewSignal(),
		live: map[string]*window{}, fresh: map[string]time.Time{},
		busy: map[string]rate{}, stats: Stats{SessionsClosed: map[string]int64{}}}
}

// window is a live session. Its activity and usage are newer than its row until sessions.flush.
type window struct {
	thread.Session
	dirty bool
}

// touchWindow notes activity in a live session. The mutex is held.
func (m *memory) touchWindow(w *window, now time.Time) {
	if now.After(w.LastActiveAt) {
		w.LastActiveAt = now
		m.soil(w)
	}
}

// soil notes that a live session has something to write. The mutex is held.
func (m *memory) soil(w *window) {
	if !w.dirty {
		w.dirty = true
		m.changed.Set()
	}
}

// untilSweep is how long no sweep has anything to do: until activity is to be written, a session ends, or its end is to
// be announced; at most most.
func (m *memory) untilSweep(most time.Duration) time.Duration {
	now := m.clock.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.live {
		end := w.ExpiresAt()
		left := end.Sub(now)
		if !w.WarnedFor.Equal(end) {
			left -= w.WarnAhead()
		}
		if w.dirty || w.Expired(now) != "" {
			left = 0
		}
		most = min(most, left)
	}
	return max(most, sweepEvery)
}

// window returns the live session of a thread with its newest activity.
func (m *memory) window(threadID string) (thread.Session, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.live[threadID]; w != nil {
		return w.Session, true
	}
	return thread.Session{}, false
}

// liveSessions returns the live sessions of all threads for which wanted is true, in any order.
func (m *memory) liveSessions(wanted func(*window) bool) []thread.Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]thread.Session, 0, len(m.live))
	for _, w := range m.live {
		if wanted(w) {
			list = append(list, w.Session)
		}
	}
	return list
}

// touch notes activity in the live session of a thread.
func (m *memory) touch(threadID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.live[threadID]; w != nil {
		m.touchWindow(w, m.clock.now())
	}
}

// active returns the session of a thread whose next input or command needs no look at the database:
// it is not over, idle or paused. The mutex is held. Errors: thread.ErrExpired.
func (m *memory) active(threadID string, now time.Time) (*window, error) {
	w := m.live[threadID]
	if w == nil || w.Status != thread.Active || w.Expired(now) != "" {
		return nil, fmt.Errorf("%w: thread %s", thread.ErrExpired, threadID)
	}
	return w, nil
}

// authorizeCommand lets one more command begin in a thread whose session is active: it counts
// against the budget and is activity. Errors: thread.ErrExpired (lifecycle.open first), ErrBudget
// (the command must not run; the next sweep closes the session).
func (m *memory) authorizeCommand(threadID string) error {
	now := m.clock.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	w, err := m.active(threadID, now)
	if err != nil {
		return err
	}
	m.stats.Commands++
	w.Used.Commands++
	m.soil(w)
	m.accounts.Set()
	if w.Used.Beyond(w.Policy.Budget) {
		return fmt.Errorf("%w: thread %s", thread.ErrBudget, threadID)
	}
	m.touchWindow(w, now)
	return nil
}

// touchInput notes activity of input. Errors: thread.ErrExpired, as of authorizeCommand.
func (m *memory) touchInput(threadID string) error {
	now := m.clock.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	w, err := m.active(threadID, now)
	if err == nil {
		m.touchWindow(w, now)
	}
	return err
}

// charge adds to what a thread's session has used. Errors: thread.ErrBudget, when it is now too
// much: the next sweep closes the session.
func (m *memory) charge(threadID string, u thread.Usage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.live[threadID]
	if w == nil {
		return nil // what ended cannot be charged
	}
	w.Used = w.Used.Plus(u)
	m.soil(w)
	if w.Used.Beyond(w.Policy.Budget) {
		return fmt.Errorf("%w: thread %s", thread.ErrBudget, threadID)
	}
	return nil
}

// remember follows a session whose row has changed. The mutex is held.
func (m *memory) remember(s thread.Session) {
	m.changed.Set()
	m.accounts.Set()
	w := m.live[s.Thread]
	switch {
	case !s.Live():
		if w != nil && w.ID == s.ID {
			delete(m.live, s.Thread)
		}
	case w != nil && w.ID == s.ID: // touched between the reading and now
		w.dirty = w.LastActiveAt.After(s.LastActiveAt) || w.Used != s.Used
		if w.LastActiveAt.After(s.LastActiveAt) {
			s.LastActiveAt = w.LastActiveAt
		}
		s.Used = w.Used
		w.Session = s
	default:
		m.live[s.Thread] = &window{Session: s}
	}
}

// flushed notes that activity and usage are written. The mutex is held.
func (m *memory) flushed(list []thread.Session) {
	for _, s := range list {
		if w := m.live[s.Thread]; w != nil && w.ID == s.ID && w.LastActiveAt.Equal(s.LastActiveAt) && w.Used == s.Used {
			w.dirty = false
		}
	}
}

// freshFor is how long a provider's word that an instance is running is believed without asking
// again.
const freshFor = 3 * time.Second

func (m *memory) isFresh(lease string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.fresh[lease]
	return ok && m.clock.now().Sub(at) <= freshFor
}

// believe notes what a provider said of a lease. The mutex is held.
func (m *memory) believe(l thread.Lease) {
	if l.Observed == thread.Running {
		m.fresh[l.ID] = m.clock.now()
	} else {
		delete(m.fresh, l.ID)
	}
}

// rate counts versions in the time that began at since.
type rate struct {
	since time.Time
	n     int
}

// rated counts one more version of a terminal and returns how many there are in its minute.
func (m *memory) rated(terminal string, now time.Time) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.busy[terminal]
	if now.Sub(r.since) >= busyTime {
		r = rate{since: now}
	}
	r.n++
	m.busy[terminal] = r
	return r.n
}

// forget drops counts that say nothing any more.
func (m *memory) forget() {
	now := m.clock.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.busy, func(_ string, r rate) bool { return now.Sub(r.since) >= busyTime })
	maps.DeleteFunc(m.fresh, func(_ string, at time.Time) bool { return now.Sub(at) > freshFor })
}

// Stats are counts since the server began.
type Stats struct {
	SessionsLive    int
	SessionsCreated int64
	SessionsClosed  map[string]int64 // by reason
	SessionSeconds  float64          // lifetimes of the closed ones together
	StateUpdates    int64            // new versions
	StateUnchanged  int64            // saves that changed nothing
	StateTooOften   int64            // thread.TerminalBusy
	Instances       int64            // made
	InstanceErrors  int64            // that could not be made
	Commands        int64
}

// counts returns the stats as of now.
func (m *memory) counts() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats
	s.SessionsClosed = maps.Clone(s.SessionsClosed)
	s.SessionsLive = len(m.live)
	return s
}

// count changes the stats.
func (m *memory) count(f func(*Stats)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.stats)
}
