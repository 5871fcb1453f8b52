// Package terminal is the live side of terminals: it starts, finds, checkpoints,
// recovers, restarts and ends them, and keeps what they print. It knows no threads:
// it calls the owner of the sessions by Hooks.
//
// Locks are taken in this order and never the other way: Registry.mu, Terminal.mu,
// the hub's own. No program output, disk or network is waited for under one.
package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/confine"
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
	// MaxTerminals bounds the live terminals: half of the pseudo-terminals that Linux has
	// by default in a large container, and well above what two cores can serve.
	MaxTerminals = 10_000
	// maxEnded bounds the ended terminals whose screens stay readable; of more the
	// oldest are purged.
	maxEnded = 1000
	// deletedFor is how long a deleted terminal stays readable by its id.
	deletedFor = 24 * time.Hour
	// DefaultInterval is the time between two snapshots on disk of a terminal
	// that changed.
	DefaultInterval = 60 * time.Second
)

// Errors of the package and of its callers; the server maps them to status codes.
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
	ErrInUse     = errors.New("the terminal is in use")
)

// Invalid is a field of a request that is wrong. It matches ErrInvalid.
type Invalid struct {
	Field string // of the body
	err   error
}

func (e *Invalid) Error() string { return e.err.Error() }

// Unwrap returns the reason.
func (e *Invalid) Unwrap() error { return e.err }

// NameTaken is ErrNameTaken with the terminal that has the name.
type NameTaken struct{ Session, Name, ID string }

func (e *NameTaken) Error() string {
	return fmt.Sprintf("%v: session %q has a terminal %q (%s); delete it or choose another name", ErrNameTaken,
		e.Session, e.Name, e.ID)
}

// Unwrap returns ErrNameTaken.
func (e *NameTaken) Unwrap() error { return ErrNameTaken }

// Hooks are the calls to the owner of the sessions.
type Hooks struct {
	// NewData returns the Data of a new terminal, before that is published.
	NewData func(*Terminal) any
	// Enter comes before a terminal of a session is started, and leave when it is published or has
	// failed. An error refuses the start: the session is being deleted.
	Enter func(session string) (leave func(), err error)
	// Provider names the provider that terminals of a session run at, "" for this machine.
	Provider func(session string) (string, error)
	// Program is the process that the keeper starts for a terminal at a provider.
	// DropProgram removes the files that Program has made.
	Program     func(*Terminal, Spec) (pty.Spec, error)
	DropProgram func(*Terminal)
	// Authorize comes before input, and after a start. An error refuses the input and ends
	// the started program.
	Authorize func(context.Context, *Terminal) error
	// MayType is Authorize where that takes no time, before input; false says that Authorize is to be asked.
	MayType func(*Terminal) bool
	// Paused reports whether the processes of a session are stopped on purpose.
	Paused func(session string) bool
	// Next returns the directory and environment for the next program of an ended terminal.
	Next func(*Terminal) (dir string, env map[string]string)
	// MayRestore reports whether a command may be started in a terminal after a crash, when nobody can be asked.
	MayRestore func(t *Terminal, cmd []string) error
	// HideSecrets is env without the values of variables that probably have secrets.
	HideSecrets func(env map[string]string) map[string]string
	// Moved has the program's directory, whether it changed or not, and Exited its end, in
	// order. Neither may block.
	Moved  func(t *Terminal, dir string)
	Exited func(*Terminal, stream.Exit)
	// Removed comes when a terminal is taken off the lists, and again when its files are
	// removed.
	Removed func(*Terminal)
}

// Config has the settings of a Registry and the parts it works with.
type Config struct {
	Life    *lifetime.Lifetime
	Hooks   Hooks
	Engine  vt.EngineFunc
	Unicode vt.Unicode
	// Memory bounds the state of one terminal in bytes, see vt.Config.
	Memory int
	Store  *datadir.Store
	// Identity is the data directory's, see datadir.Identify.
	Identity string
	// Copied says that the data directory is a copy of another one: nothing is started in it by itself.
	Copied bool
	// Keeper holds the processes.
	Keeper *keeper.Client
	// Descriptors limits the file descriptors in use; a new terminal takes some.
	Descriptors *descriptors.Budget
	// SpliceErr is why output cannot go from a terminal to the disk by splice, without passing
	// through this process's memory; nil: splice works.
	SpliceErr error
	Sync      journal.SyncMode // "" means journal.SyncInterval
	// Address is how programs reach this server: an http URL or unix:///PATH, without
	// a secret. With "" their environment does not have it.
	Address string
	// Socket is the path of the socket in the data directory, "" for none. Their environment has it too.
	Socket string
	Clean  CleanPolicy
	// Max bounds the running terminals; 0 means MaxTerminals. MaxOf bounds those of a user; nil, and 0, are no bound of
	// their own.
	Max   int
	MaxOf func(user string) int
	// RecordInput writes input to the journal, passwords too.
	RecordInput bool
	// Interval is the time between two snapshots on disk of a terminal that
	// changed; 0 means DefaultInterval.
	Interval time.Duration
	// ParkAfter is how long a terminal is idle before it is parked, see Terminal.Park; 0 is never.
	ParkAfter time.Duration
	// Verify checks every snapshot for viewers with a new engine and logs a difference.
	// It is for debugging: viewers wait for the check.
	Verify bool
	// AfterClean is called every cleanInterval, after the quotas were enforced; may be nil.
	AfterClean func()
	Log        *slog.Logger
	Metrics    *metrics.Set
}

// Registry holds the terminals of one server. All methods are safe for concurrent use.
type Registry struct {
	// Settings and parts of others. They never change.
	cfg   Config
	hooks *Hooks
	life  *lifetime.Lifetime
	ctx   context.Context // of life
	large *stream.Large
	names hostnames // of this machine

	changes notify.Notifier // of what ListJSON returns

	mu       sync.Mutex
	byID     map[string]*Terminal   // published
	starting map[*Terminal]struct{} // reserved, not published yet
	running  running
	nesting  nesting // has its own lock

	// The start of a server: programs get input at once, screens come one after the other.
	replays   sync.WaitGroup // screens of running terminals that are not made again yet
	replaying chan struct{}  // has a value for each of them that is being made
	alone     sync.RWMutex   // held by each replay, for writing by one that may end the server

	syncs, upkeep  *rounds
	grown, printed *due
	open           *due // whose journals may have open files
	loose          *due // whose history is not compressed
	parking        *parking
	groups         *confine.Groups // of terminals with limits
	cleaner
}

// New returns a Registry without terminals; Recover adds the terminals of the store.
func New(cfg Config) *Registry {
	cfg.Interval = cmp.Or(cfg.Interval, DefaultInterval)
	cfg.Max = cmp.Or(cfg.Max, MaxTerminals)
	cfg.Clean.SetDefaults()
	r := &Registry{cfg: cfg, hooks: &cfg.Hooks, life: cfg.Life, ctx: cfg.Life.Context(), large: stream.NewLarge(),
		byID: map[string]*Terminal{}, starting: map[*Terminal]struct{}{}, running: running{of: map[string]int{}},
		names: readHostnames("/etc/hosts"), replaying: make(chan struct{}, runtime.GOMAXPROCS(0)),
		syncs: newRounds(), upkeep: newRounds(), grown: newDue(), printed: newDue(), open: newDue(), loose: newDue(),
		parking: newParking(),
		groups:  &confine.Groups{Prefix: groupPrefix(cfg.Identity), Keeper: cfg.Keeper.LastPID}}
	r.cleaner.registry = r
	return r
}

// Run starts the goroutines that maintain the terminals until the lifetime ends.
func (r *Registry) Run() {
	r.life.Go(r.checkpoints)
	r.life.Go(func() { r.whenDue(r.syncs.due, maintainInterval, r.syncJournals) })
	r.life.Go(func() { r.whenDue(r.open, quietFor, r.closeQuiet) })
	r.life.Go(func() { r.whenDue(r.upkeep.due, maintainInterval, r.maintainAll) })
	if r.cfg.Clean.Idle > 0 || r.cfg.Clean.Unattached > 0 {
		r.life.Go(func() { r.every(maintainInterval, r.endExpired) })
	}
	if r.cfg.ParkAfter > 0 {
		r.life.Go(func() { r.every(maintainInterval, r.parkIdle) })
	}
	r.life.Go(func() { r.whenDue(r.loose, compactInterval, r.compactQuiet) })
	r.life.Go(r.releaseParked)
	r.life.Go(func() { r.every(cleanInterval, r.cleanFiles) })
	r.life.Go(r.restoreLost)
	r.life.Go(r.inspectEnded)
}

// CloseProcesses closes this server's side of the running programs' terminals, which ends
// the goroutines that read them. The keeper has them open too, so the programs go on.
// It is called once the lifetime is shut.
func (r *Registry) CloseProcesses() {
	for _, t := range r.All() {
		if t.Running() {
			_ = t.process.Close()
		}
	}
}

// Close writes every terminal's snapshot and closes its files, after all goroutines of the
// lifetime have ended.
func (r *Registry) Close() {
	r.checkpointAll()
	for _, t := range r.All() {
		t.closeFiles()
	}
}

// closeFiles closes the files of a running terminal. Output in its pipe stays there for the
// next server.
func (f *files) closeFiles() {
	if !f.t.Running() {
		return
	}
	if err := f.journal.Close(); err != nil {
		f.failed(journalFailure, err)
	}
	_ = f.t.pipe.Close()
}

// Unsorted returns every terminal, deleted ones too, in no order.
func (r *Registry) Unsorted() []*Terminal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.byID))
}

// All returns every terminal, deleted ones too, oldest first.
func (r *Registry) All() []*Terminal {
	out := r.Unsorted()
	slices.SortFunc(out, func(a, b *Terminal) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// TakePrinted returns the terminals that may have printed since the last call, in no order. It has one caller.
func (r *Registry) TakePrinted() []*Terminal {
	list := r.printed.take()
	for _, t := range list {
		t.printed.Store(false)
	}
	return list
}

// SomePrinted gets a value when TakePrinted may return a terminal.
func (r *Registry) SomePrinted() <-chan struct{} { return r.printed.some }

// RoomForViewer reports whether one more viewer has descriptors. Errors: descriptors.ErrExhausted.
func (r *Registry) RoomForViewer() error { return r.cfg.Descriptors.RoomForViewer() }

// Changed returns a channel that gets a value when what ListJSON returns may have changed,
// and a function that ends that.
func (r *Registry) Changed() (changed <-chan struct{}, stop func()) { return r.changes.Watch() }

// Running returns the terminals of a thread whose programs run, in no order.
func (r *Registry) Running(thread string) []*Terminal {
	return slices.DeleteFunc(r.Unsorted(), func(t *Terminal) bool {
		return t.spec.Session != thread || t.process == nil || !t.Running()
	})
}
