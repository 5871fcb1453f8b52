package terminal

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/terminal/echo"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// State says how alive a terminal is.
type State string

// The states. A process never goes back to an earlier one.
const (
	StateRunning State = "running"
	StateExited  State = "exited" // its exit status is known, or at least that it ended
	StateLost    State = "lost"   // it ended while neither keeper nor server ran: they, or the machine, went down
)

// Terminal is one live or ended terminal: one process of it. A restart makes a new Terminal
// under the same id. All methods are safe for concurrent use.
type Terminal struct {
	ID string
	// Data belongs to the hooks, see Hooks.NewData.
	Data any

	registry *Registry
	spec     Spec // complete; Cols and Rows are those at creation
	created  time.Time

	generation  int // number of the process, from 1
	generations *generations

	// The process and the path of its output; nil when the terminal had ended before this
	// server started.
	process *pty.Process
	pipe    *pty.Pipe
	input   *input
	journal *journal.Journal
	typed   echo.Typed
	mark    atomic.Pointer[PromptMark]
	flooded atomic.Int64  // when a read last filled idleBuffer, in ns since 1970
	ended   chan struct{} // closed when the program has ended and all output was applied

	cwdLate    bool      // the last call of maintain found activity; owned by its goroutine
	cwdChecked time.Time // when apply last read the program's directory; owned by its goroutine
	replaying  bool      // the hub is made from the journal; only before the terminal is published

	started  func() // ends what lifetime.Start began
	startSeq uint64 // see StartSeq; constant once the terminal is published

	restored     *meta // its record, when it came back from disk
	screen       lazyHub
	endedJournal endedJournal

	resizing      sync.Mutex // held over the PTY's and the hub's resize
	saving        sync.Mutex // held while its files and what goes into them are read or written; taken before mu
	purged        bool       // its files are removed, or belong to the next generation; guarded by saving
	kept          [2]uint64  // positions of the snapshots on disk, the older first; guarded by saving
	diskBytes     atomic.Int64
	checkpointing atomic.Bool // enforceQuota writes a snapshot
	active        atomic.Bool // something happened since the last call of maintain

	failures [failureKinds]atomic.Pointer[string] // what cannot be written, nil for what can

	mu           sync.Mutex
	cwd          cwdState
	cwdSaved     string        // the directory in the record on disk
	cwdChecking  chan struct{} // closed when no check of a reported directory runs any more; nil without one
	cwdNext      *cwdReading   // the newest one during a check
	fallback     string        // the wanted directory, when the program had to start in another
	state        State
	exit         *stream.Exit
	killed       bool // HangUp was called
	lastActivity time.Time
	endedAt      time.Time // zero while it runs
	deleted      time.Time // zero while it is listed
	damage       string    // what was wrong with its files when they were read
	changes      uint64    // grows with each change worth a snapshot
	saved        uint64    // value of changes at the newest snapshot on disk
	savedSeq     uint64    // position of that snapshot
	hadViewer    bool
	expiring     bool          // it is being deleted for lack of use
	lastDetach   time.Time     // when a viewer left last, or this server started; zero before the first
	pausedFor    time.Duration // how long its thread was paused since its creation
}

// Hub is the terminal's screen and its viewers.
func (t *Terminal) Hub() *stream.Hub { return t.screen.get() }

// lazyHub is the hub of a terminal. One that came back from disk reads its screen with the
// first get, so that a server with many ended terminals starts at once and stays small.
type lazyHub struct {
	once sync.Once
	load func() *stream.Hub
	hub  atomic.Pointer[stream.Hub]
}

func (l *lazyHub) get() *stream.Hub {
	if h := l.hub.Load(); h != nil {
		return h
	}
	l.once.Do(func() { l.hub.Store(l.load()) })
	return l.hub.Load()
}

// facts are the hub's, zero before the first get.
func (l *lazyHub) facts() (f stream.Facts) {
	if h := l.hub.Load(); h != nil {
		f = h.Facts()
	}
	return f
}

// In reports whether the terminal belongs to a session; every one belongs to "".
func (t *Terminal) In(session string) bool { return session == "" || t.spec.Session == session }

// Cwd is the last known directory of the program.
func (t *Terminal) Cwd() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cwd.dir
}

// Deleted reports whether the terminal was taken off the lists.
// Deleted reports whether the terminal was taken off the lists.
func (t *Terminal) Deleted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.deleted.IsZero()
}

// Running reports whether the program runs, as far as is known.
// Running reports whether the program runs, as far as is known.
func (t *Terminal) Running() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state == StateRunning
}

// touch notes activity of a user.
func (t *Terminal) touch() {
	now := time.Now()
	t.mu.Lock()
	t.lastActivity = now
	t.changes++
	t.mu.Unlock()
	t.active.Store(true)
}

// EngineConfig is what the terminal's emulator is made with, in the size of its creation.
func (t *Terminal) EngineConfig() vt.Config {
	m := t.registry.cfg
	return vt.Config{Cols: t.spec.Cols, Rows: t.spec.Rows, Scrollback: *t.spec.Scrollback,
		Unicode: m.Unicode, Memory: m.Memory}
}

// options are the hub's.
func (t *Terminal) options() stream.Options {
	m := t.registry.cfg
	o := stream.Options{
		ID:     t.ID,
		Engine: m.Engine,
		Policy: t.spec.SizePolicy,
		Config: t.EngineConfig(),
		Large:  t.registry.large,
		Observe: stream.Observe{
			Snapshot: m.Metrics.Snapshot,
			Resync:   t.resynced,
			Changed:  t.registry.changes.Notify,
			Marked:   t.marked,
		},
		Journal: t.journal,
	}
	if t.journal != nil {
		o.Observe.Resized = t.resized
	}
	if t.spec.Provider == "" { // the names of a machine at a provider are unknown
		o.OwnHost = t.registry.names.own
	}
	if m.Verify {
		o.Observe.Differs = t.differs
	}
	return o
}

// resized writes a resize to the journal at its position in the output.
func (t *Terminal) resized(seq uint64, cols, rows int) {
	if !t.replaying {
		t.journal.Resized(seq, cols, rows)
	}
}

// differs counts and logs a snapshot that does not reproduce the screen.
func (t *Terminal) differs(seq uint64, differences []string) {
	const shown = 5 // of at most 20
	t.registry.cfg.Metrics.BadSnapshots.Inc()
	t.registry.cfg.Log.Warn("a snapshot differs from the screen it was made of", "id", t.ID, "seq", seq,
		"differences", len(differences), "first", strings.Join(differences[:min(shown, len(differences))], "; "))
}

// resynced counts a viewer's snapshot. The first viewer of a terminal connects, every
// other one reconnects.
func (t *Terminal) resynced(r stream.Reason) {
	t.mu.Lock()
	again := t.hadViewer
	t.hadViewer = true
	t.mu.Unlock()
	t.registry.cfg.Metrics.Resync(r, again)
}

// Spec is what the terminal was created from. Its maps and slices are the terminal's.
func (t *Terminal) Spec() Spec { return t.spec }

// Thread is the id of the terminal's thread, which is the name of its session.
func (t *Terminal) Thread() string { return t.spec.Session }

// Process is the program; nil when it had ended before this server started.
func (t *Terminal) Process() *pty.Process { return t.process }

// Done is closed when the program has ended and all of its output was applied.
func (t *Terminal) Done() <-chan struct{} { return t.ended }

// Exit is how the program ended, nil while it runs.
func (t *Terminal) Exit() *stream.Exit {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.exit
}

// StartSeq is the position of the output at the start of the program, or of this server if
// that came later.
func (t *Terminal) StartSeq() uint64 { return t.startSeq }

// WasRunning reports whether the terminal came back from disk with a record that says running.
func (t *Terminal) WasRunning() bool { return t.restored != nil && t.restored.State == StateRunning }

// AttachedViewers is the number of viewers, hidden ones included.
func (t *Terminal) AttachedViewers() int { return t.screen.facts().Attached }
