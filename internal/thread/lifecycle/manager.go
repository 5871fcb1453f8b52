package lifecycle

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/thread"
)

// Config is what a Manager needs. Store and Providers must be given.
type Config struct {
	Store     thread.Store
	Clock     thread.Clock                  // nil is time.Now
	Policy    *thread.Policy                // of threads that bring none; nil is DefaultPolicy
	Chosen    bool                          // somebody asked for Policy: see Thread.Chosen
	Providers map[string]provider.Lifecycle // by name; instances have the name of their lease
	// ProviderSetup says how to set up each provider that a server can have, by name.
	ProviderSetup map[string]string
	Provider      string // of threads that name none; "" is Local
	// Cwd is where the first process of a terminal starts when nobody said it; nil is "/".
	Cwd func(provider string) string
	// InUse says whether somebody looks at a thread or its programs print, which Touch may not
	// have told yet; nil is never. Called under no lock but the thread's own.
	InUse func(thread string) bool
	// Settle returns when the store has every process that began before the call, or when ctx ends.
	// nil does nothing. Called as End is.
	Settle func(ctx context.Context)
	// End ends processes because their session is over, and returns when they are gone or ctx is.
	// The Manager is told of their ends by EndRuntime as of any other. nil does nothing. Called
	// under no lock but the thread's own: it may call everything but what opens, pauses, resumes,
	// destroys or deletes the thread.
	End func(ctx context.Context, thread string, processes []thread.Runtime, reason string) error
	// ComputeChanged is told the state of a lease's compute: Frozen before it is paused, and any
	// state after another change and after its provider was asked. nil does nothing. Called under
	// the lease's own lock.
	ComputeChanged func(l thread.Lease, s thread.Observed)
	// Notify tells every event after it is kept, of a thread in the order of its numbers. nil does
	// nothing. It must return at once and must not call the Manager.
	Notify func(thread.Event)
}

// Manager joins threads, sessions, terminals, leases and what runs in them. Safe for concurrent
// use.
//
// Locks: a thread's own, then a lease's own, both held over calls to providers; then writing, then
// mu, under which nothing waits but the Store.
type Manager struct {
	cfg     Config
	clock   steady
	threads locks
	leases  locks
	writing sync.Mutex // one change at a time, so that events are told in their order
	mu      sync.Mutex
	live    map[string]*window   // the live session of a thread
	fresh   map[string]time.Time // when a lease's provider last said that it is running
	busy    map[string]rate      // versions of a terminal
	stats   Stats
}

// window is a live session. Its activity and usage are newer than the Store's until Flush.
type window struct {
	thread.Session
	dirty bool
}

// NewManager begins with what the store has. Errors: those of the store.
func NewManager(cfg Config) (*Manager, error) {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Policy == nil {
		p := thread.DefaultPolicy()
		cfg.Policy = &p
	}
	if cfg.Provider == "" {
		cfg.Provider = thread.Local
	}
	if cfg.Cwd == nil {
		cfg.Cwd = func(string) string { return "/" }
	}
	if cfg.InUse == nil {
		cfg.InUse = func(string) bool { return false }
	}
	if cfg.Settle == nil {
		cfg.Settle = func(context.Context) {}
	}
	if cfg.End == nil {
		cfg.End = func(context.Context, string, []thread.Runtime, string) error { return nil }
	}
	if cfg.ComputeChanged == nil {
		cfg.ComputeChanged = func(thread.Lease, thread.Observed) {}
	}
	if cfg.Notify == nil {
		cfg.Notify = func(thread.Event) {}
	}
	m := &Manager{cfg: cfg, clock: steady{clock: cfg.Clock}, live: map[string]*window{}, fresh: map[string]time.Time{},
		busy: map[string]rate{}}
	m.stats.SessionsClosed = map[string]int64{}
	return m, m.load()
}

// load takes the live sessions into memory. One that began in the future, because the clock was set
// back while nobody ran, begins now: else it would not end for as long as the clock was wrong.
func (m *Manager) load() error {
	return m.update(func(c *change) error {
		list, err := c.LiveSessions()
		if err != nil {
			return err
		}
		for _, s := range list {
			m.live[s.Thread] = &window{Session: s}
			if s.StartedAt.After(c.now) || s.LastActiveAt.After(c.now) {
				s.StartedAt = earlier(s.StartedAt, c.now)
				s.LastActiveAt = earlier(s.LastActiveAt, c.now)
				m.live[s.Thread].Session = s
				if err := c.PutSession(s); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// change is one transaction with what follows it.
type change struct {
	thread.Tx
	m       *Manager
	now     time.Time
	events  []thread.Event
	after   []func() // under mu, when it is kept
	refused error    // for the caller, although what says so is kept
}

// update makes a change, then makes it seen.
func (m *Manager) update(fn func(*change) error) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	c := &change{m: m, now: m.clock.now()}
	err := m.cfg.Store.Update(func(tx thread.Tx) error {
		c.Tx = tx
		return fn(c)
	})
	if err != nil {
		return err
	}
	m.mu.Lock()
	for _, f := range c.after {
		f()
	}
	m.mu.Unlock()
	for _, e := range c.events {
		m.cfg.Notify(e)
	}
	return c.refused
}

func (m *Manager) view(fn func(thread.Tx) error) error { return m.cfg.Store.View(fn) }

// emit adds an event to a thread's own.
func (c *change) emit(threadID, kind string, d thread.Detail) error {
	e := thread.Event{Thread: threadID, Type: kind, At: c.now, Data: d}
	seq, err := c.AddEvent(e)
	e.Seq = seq
	c.events = append(c.events, e)
	return err
}

// window is the live session of a thread with its newest activity.
func (m *Manager) window(threadID string) (thread.Session, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.live[threadID]; w != nil {
		return w.Session, true
	}
	return thread.Session{}, false
}

// putSession writes a session and what is remembered of it.
func (c *change) putSession(s thread.Session) error {
	if err := c.PutSession(s); err != nil {
		return err
	}
	c.after = append(c.after, func() { c.m.remember(s) })
	return nil
}

func (m *Manager) remember(s thread.Session) {
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

// Stats is what has been counted since the Manager began.
type Stats struct {
	SessionsLive    int
	SessionsCreated int64
	SessionsClosed  map[string]int64 // by reason
	SessionSeconds  float64          // lifetimes of the closed ones together
	StateUpdates    int64            // new versions
	StateUnchanged  int64            // saves that changed nothing
	StateTooOften   int64            // TerminalBusy
	Instances       int64            // made
	InstanceErrors  int64            // that could not be made
	Commands        int64
}

// Stats is the counts as of now.
func (m *Manager) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats
	s.SessionsClosed = maps.Clone(s.SessionsClosed)
	s.SessionsLive = len(m.live)
	return s
}

// count changes the stats when the change is kept.
func (c *change) count(f func(*Stats)) {
	c.after = append(c.after, func() { f(&c.m.stats) })
}

func missing(err error) bool { return errors.Is(err, thread.ErrNotFound) }

// noProvider says that a provider is not set up.
func (m *Manager) noProvider(given string) error {
	return &thread.NoProvider{Given: given, Known: slices.Sorted(maps.Keys(m.cfg.Providers)),
		Setup: m.cfg.ProviderSetup[given]}
}
