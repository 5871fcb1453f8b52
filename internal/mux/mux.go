// Package mux is the live side: it starts, finds, checkpoints, recovers and
// ends terminals and exec shells, and owns every long-lived goroutine of the server.
//
// Locks are taken in this order and never the other way: Mux.mu, Terminal.mu,
// the hub's own. No program output, disk or network is waited for under one.
package mux

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// Limits of a server.
const (
	// MaxTerminals bounds the live terminals: half of what Linux hands out by
	// default in a large container, and well above what two cores can serve.
	MaxTerminals = 10_000
	// maxDead bounds the ended terminals whose screens stay readable; beyond
	// it the ones that ended first are purged.
	maxDead = 1000
	// deadFor is how long a deleted terminal stays readable by its id.
	deadFor = 24 * time.Hour
	// DefaultInterval is the time between two snapshots on disk of a terminal
	// that changed.
	DefaultInterval = 60 * time.Second
)

// Sentinels of the package; the api package maps them to status codes.
var (
	ErrNotFound  = errors.New("no such terminal")
	ErrExited    = errors.New("the program has ended")
	ErrNameTaken = errors.New("the name is taken")
	ErrAmbiguous = errors.New("the name is not unique")
	ErrInvalid   = errors.New("invalid request")
	ErrLimit     = errors.New("limit reached")
	ErrClosing   = errors.New("the server is shutting down")
	ErrTimeout   = errors.New("the condition was not met in time")
	ErrJournal   = errors.New("the terminal has no journal")
	ErrRunning   = errors.New("the program still runs")
)

// Config is what a Mux is made of.
type Config struct {
	Engine  vt.EngineFunc
	Unicode vt.Unicode
	// Memory bounds what the state of one terminal may take, see vt.Config.
	Memory int
	Store  *datadir.Store
	// Keeper holds the processes. The Mux closes it.
	Keeper *keeper.Client
	// Unspliced says why output cannot go from a terminal to the disk without
	// passing through this process's memory; nil when it can.
	Unspliced error
	Sync      journal.SyncMode // "" means snapshot.SyncInterval
	// Address is how programs reach this server: an http URL or unix:///PATH, without
	// a secret. "" tells them nothing.
	Address string
	Clean   Clean
	// Records are the threads with their rows; nil is none, and NoRecords why: then nothing is durable but screens and shells.
	Records   thread.Store
	NoRecords error
	// Record is what records of harnesses are kept with; its Store is of the same database, or nil for none. Notify and Failed are the Mux's.
	Record conversation.Config
	// Policy is that of threads that bring none; nil is session.DefaultPolicy. PolicyChosen says that somebody wanted it: see durable.end.
	Policy       *thread.Policy
	PolicyChosen bool
	// Providers are where processes can run beside this machine, by name. With any of them Relay is needed.
	Providers map[string]RemoteProvider
	Relay     Relay
	// RecordInput has what is typed written to the journal, passwords too.
	RecordInput bool
	// Interval is the time between two snapshots on disk of a terminal that
	// changed; 0 means DefaultInterval.
	Interval time.Duration
	// Verify has every snapshot for viewers checked against a fresh engine and
	// a difference logged. It is for debugging: viewers wait for the check.
	Verify bool
	Log    *slog.Logger
	// Metrics may be nil.
	Metrics *Metrics
}

// Mux holds the terminals and shells of one server. All methods are safe for concurrent use.
type Mux struct {
	cfg     Config
	large   *stream.Large
	changes notifier
	records *durable
	guard   *conversation.Guard

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	opening context.Context // ends when Close begins, which waits for what is starting: that does not wait for a provider any more
	shut    context.CancelCauseFunc
	work    sync.WaitGroup // all goroutines that end by themselves once ctx has ended

	mu       sync.Mutex
	byID     map[string]*Terminal   // what can be found
	starting map[*Terminal]struct{} // what is being created
	shells   shells
	nesting  nesting
	starts   sync.WaitGroup // terminals and shells that are starting; Add under mu and not when closing
	closing  bool

	space       execSpace
	descriptors descriptors

	uncleaned atomic.Pointer[string] // why space could not be freed, nil when it could
	looked    time.Time              // when the files were looked at last; of tend's goroutine

	waits   atomic.Int32 // waits for terminals
	looking slots        // waits that go through output now: half of the processors', the rest is for terminals
}

// New makes a Mux and brings back the terminals and shells of the store: those whose
// process the keeper holds go on as if nothing had happened, the other terminals are
// ended or lost, with their last screen, the other shells come back with their next command.
// It returns when every running terminal shows its true screen and every shell can be found.
func New(cfg Config) (*Mux, error) {
	cfg.complete()
	m := &Mux{cfg: cfg, large: stream.NewLarge(), looking: make(slots, max(1, runtime.GOMAXPROCS(0)/2)), guard: cfg.Record.Guard, byID: map[string]*Terminal{}, starting: map[*Terminal]struct{}{},
		shells: shells{byKey: map[string]*Shell{}, damaged: map[string]damagedShell{}}}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.opening, m.shut = context.WithCancelCause(m.ctx)
	if err := m.openRelay(); err != nil {
		m.cancel()
		return nil, err
	}
	m.openRecords()
	if err := m.recover(); err != nil {
		m.cancel()
		return nil, err
	}
	m.records.begin()
	m.work.Go(m.checkpoints)
	m.work.Go(m.tend)
	m.work.Go(m.inspectEnded)
	if cfg.Clean.ShellIdle > 0 {
		m.work.Go(m.retireShells)
	}
	return m, nil
}

func (c *Config) complete() {
	if c.Interval <= 0 {
		c.Interval = DefaultInterval
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Record.Guard == nil {
		c.Record.Guard = conversation.NewGuard(conversation.Rules{})
	}
	if c.Metrics == nil {
		c.Metrics = NewMetrics()
	}
	if c.Policy == nil {
		p := thread.DefaultPolicy()
		c.Policy = &p
	}
	c.Clean.complete()
}

// Close leaves: it writes every terminal's snapshot and waits for everything the
// Mux has started. Programs and commands go on running; the keeper holds them for the next
// server. Viewers have to be gone before.
func (m *Mux) Close() {
	m.mu.Lock()
	m.closing = true
	m.mu.Unlock()
	m.shut(ErrClosing)
	m.starts.Wait() // from here on every process is a terminal's that can be found
	m.cancel()
	list := m.all()
	for _, t := range list {
		if t.running() {
			_ = t.process.Close() // ends run; the keeper has the terminal open too
		}
	}
	m.work.Wait()
	m.checkpointAll()
	for _, t := range list {
		t.leave()
	}
	m.leaveShells()
	m.records.close()
	if err := m.cfg.Keeper.Close(); err != nil {
		m.cfg.Log.Warn("leaving the keeper", "error", err)
	}
}

// leave closes what a running terminal has open. What waits in its pipe stays there
// for the next server.
func (t *Terminal) leave() {
	if !t.running() {
		return
	}
	if err := t.journal.Close(); err != nil {
		t.failed(troubleJournal, err)
	}
	_ = t.pipe.Close()
}

// Find returns the terminal with that id or name. In session "" every
// session's terminals are meant. Errors: ErrNotFound, ErrAmbiguous.
func (m *Mux) Find(session, ref string) (*Terminal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.byID[ref]; t != nil && t.in(session) {
		return t, nil
	}
	var found *Terminal
	for _, t := range m.byID {
		if t.spec.Name != ref || ref == "" || !t.in(session) || t.isDeleted() {
			continue
		}
		if found != nil {
			return nil, wrapf(ErrAmbiguous, "%q names terminals of several sessions; use the id", ref)
		}
		found = t
	}
	if found == nil {
		return nil, wrapf(ErrNotFound, "%q", ref)
	}
	return found, nil
}

// List returns the terminals of a session, all for "", oldest first. Deleted
// ones are left out.
func (m *Mux) List(session string) []*Terminal {
	var out []*Terminal
	for _, t := range m.all() {
		if t.in(session) && !t.isDeleted() {
			out = append(out, t)
		}
	}
	return out
}

// unsorted returns every terminal, deleted ones too, in no order.
func (m *Mux) unsorted() []*Terminal {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.byID))
}

// all returns every terminal, deleted ones too, oldest first.
func (m *Mux) all() []*Terminal {
	out := m.unsorted()
	sortByAge(out)
	return out
}

// Changed returns a channel that gets a value when the list of terminals or
// something shown in it changed, and a function that ends it.
func (m *Mux) Changed() (changed <-chan struct{}, stop func()) { return m.changes.watch() }
