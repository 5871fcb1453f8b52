// Package terminal is the live side of terminals: it starts, finds, checkpoints,
// recovers, restarts and ends them, and keeps what they print. It knows no threads:
// whoever owns the sessions is told, and asked, by Hooks.
//
// Locks are taken in this order and never the other way: Registry.mu, Terminal.mu,
// the hub's own. No program output, disk or network is waited for under one.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/descriptors"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/lifetime"
	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/notify"
	"github.com/evertty/evertty/pty"
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

// Hooks are what the owner of the sessions is told of terminals and asked for them.
type Hooks struct {
	// NewData returns what becomes Terminal.Data of a new terminal, before anybody finds it.
	NewData func(*Terminal) any
	// Provider names the provider that terminals of a session run at, "" for this machine.
	Provider func(session string) (string, error)
	// Program is what the keeper starts for a terminal at a provider, and DropProgram removes what that left behind.
	Program     func(*Terminal, Spec) (pty.Spec, error)
	DropProgram func(*Terminal)
	// Authorize comes before input, and after a start. An error refuses the input and ends what was started.
	Authorize func(context.Context, *Terminal) error
	// Paused tells whether the processes of a session are stopped on purpose.
	Paused func(session string) bool
	// Next is where the next program of an ended terminal starts, and with which environment.
	Next func(*Terminal) (dir string, env map[string]string)
	// Moved tells of the directory of the program, and Exited of its end, in order. Neither may block.
	Moved  func(t *Terminal, dir string)
	Exited func(*Terminal, stream.Exit)
	// Removed comes when a terminal was taken off the lists, and again when its files go.
	Removed func(*Terminal)
}

// Config is what a server is made of.
type Config struct {
	Life    *lifetime.Lifetime
	Hooks   Hooks
	Engine  vt.EngineFunc
	Unicode vt.Unicode
	// Memory bounds what the state of one terminal may take, see vt.Config.
	Memory int
	Store  *datadir.Store
	// Keeper holds the processes.
	Keeper *keeper.Client
	// Descriptors are what new terminals need some of.
	Descriptors *descriptors.Budget
	// Unspliced says why output cannot go from a terminal to the disk without
	// passing through this process's memory; nil when it can.
	Unspliced error
	Sync      journal.SyncMode // "" means journal.SyncInterval
	// Address is how programs reach this server: an http URL or unix:///PATH, without
	// a secret. "" tells them nothing.
	Address string
	Clean   CleanPolicy
	// RecordInput has what is typed written to the journal, passwords too.
	RecordInput bool
	// Interval is the time between two snapshots on disk of a terminal that
	// changed; 0 means DefaultInterval.
	Interval time.Duration
	// Verify has every snapshot for viewers checked against a fresh engine and
	// a difference logged. It is for debugging: viewers wait for the check.
	Verify bool
	// AfterClean is called every five seconds beside the look at the terminals' files; nil is nothing.
	AfterClean func()
	Log          *slog.Logger
	Metrics      *metrics.Set
}

// Registry holds the terminals of one server. All methods are safe for concurrent use.
type Registry struct {
	cfg     Config
	hooks   *Hooks
	life    *lifetime.Lifetime
	ctx     context.Context // of life
	large   *stream.Large
	changes notify.Notifier

	mu       sync.Mutex
	byID     map[string]*Terminal   // what can be found
	starting map[*Terminal]struct{} // what is being created
	nesting  nesting

	cleanProblem atomic.Pointer[string] // why space could not be freed, nil when it could
	filesChecked    time.Time              // when the files were looked at last; of tend's goroutine
}

// New makes a server without terminals; Recover brings back those of the store.
func New(cfg Config) *Registry {
	return &Registry{cfg: cfg, hooks: &cfg.Hooks, life: cfg.Life, ctx: cfg.Life.Context(), large: stream.NewLarge(),
		byID: map[string]*Terminal{}, starting: map[*Terminal]struct{}{}}
}

// Run begins what looks after the terminals until the lifetime ends.
func (m *Registry) Run() {
	m.life.Go(m.checkpoints)
	m.life.Go(m.maintain)
	m.life.Go(m.inspectEnded)
}

// CloseProcesses lets go of the running programs once the lifetime is shut: run ends, and the keeper has the terminals open too.
func (m *Registry) CloseProcesses() {
	for _, t := range m.All() {
		if t.Running() {
			_ = t.process.Close()
		}
	}
}

// Close writes every terminal's snapshot and closes what is open. Nothing of the lifetime works any more.
func (m *Registry) Close() {
	m.checkpointAll()
	for _, t := range m.All() {
		t.closeFiles()
	}
}

// closeFiles closes what a running terminal has open. What waits in its pipe stays there
// for the next server.
func (t *Terminal) closeFiles() {
	if !t.Running() {
		return
	}
	if err := t.journal.Close(); err != nil {
		t.failed(journalFailure, err)
	}
	_ = t.pipe.Close()
}

// Find returns the terminal with that id or name. In session "" every
// session's terminals are meant. Errors: ErrNotFound, ErrAmbiguous.
func (m *Registry) Find(session, ref string) (*Terminal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.byID[ref]; t != nil && t.In(session) {
		return t, nil
	}
	var found *Terminal
	for _, t := range m.byID {
		if t.spec.Name != ref || ref == "" || !t.In(session) || t.Deleted() {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%w: %q names terminals of several sessions; use the id", ErrAmbiguous, ref)
		}
		found = t
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %q", ErrNotFound, ref)
	}
	return found, nil
}

// List returns the terminals of a session, all for "", oldest first. Deleted
// ones are left out.
func (m *Registry) List(session string) []*Terminal {
	var out []*Terminal
	for _, t := range m.All() {
		if t.In(session) && !t.Deleted() {
			out = append(out, t)
		}
	}
	return out
}

// Unsorted returns every terminal, deleted ones too, in no order.
func (m *Registry) Unsorted() []*Terminal {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.byID))
}

// All returns every terminal, deleted ones too, oldest first.
func (m *Registry) All() []*Terminal {
	out := m.Unsorted()
	sortByAge(out)
	return out
}

// RoomForViewer tells whether there is room for one more viewer. Errors: ErrExhausted.
func (m *Registry) RoomForViewer() error { return m.cfg.Descriptors.RoomForViewer() }

// Changed returns a channel that gets a value when the list of terminals or
// something shown in it changed, and a function that ends it.
func (m *Registry) Changed() (changed <-chan struct{}, stop func()) { return m.changes.Watch() }

// Running are the terminals of a thread whose programs run, in no order.
func (m *Registry) Running(thread string) (list []*Terminal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.byID {
		if t.spec.Session == thread && t.process != nil && t.Running() {
			list = append(list, t)
		}
	}
	return list
}
