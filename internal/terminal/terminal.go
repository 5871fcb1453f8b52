package terminal

import (
	"cmp"
	"slices"
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

// The states. A generation never goes back to an earlier one.
const (
	StateRunning State = "running"
	StateExited  State = "exited" // its end was seen
	StateLost    State = "lost"   // its process went, and nobody saw how: with keeper and server, or the machine
)

// Terminal is one live or ended terminal. All methods are safe for concurrent use.
type Terminal struct {
	ID string
	// Data is the hooks' own, see Hooks.NewData.
	Data any

	registry *Registry
	spec     Spec // complete; Cols and Rows are those at creation
	created  time.Time

	generation int // of its process, from 1; a restart makes a new Terminal of the next one
	generations       *generations

	// The process and what its output goes through; nil when the terminal had
	// ended before this server came.
	process *pty.Process
	pipe    *pty.Pipe
	input   *input
	journal *journal.Journal
	typed   echo.Typed
	mark    atomic.Pointer[PromptMark]
	flooded atomic.Int64  // when more output waited than is taken from a silent terminal, in ns since 1970
	ended   chan struct{} // closed when the state is not running any more and all output was applied

	cwdChecked  time.Time // of apply's goroutine
	replaying bool      // the hub is being made from the journal; only before anybody can find the terminal

	started func() // ends what was begun with lifetime.Start
	startSeq   uint64 // position where the program began, or this server; not changed once it can be found

	restored *meta // what its record said, when it came back from disk
	screen   lazyHub
	endedJournal     endedJournal

	resizing  sync.Mutex // held over the PTY's and the hub's resize
	saving    sync.Mutex // held over writes of its files and the look at what is written; taken before mu
	purged    bool       // its files are gone for good, or another generation's; guarded by saving
	kept      [2]uint64  // positions of the snapshots on disk, the older first; guarded by saving
	diskBytes atomic.Int64
	checkpointing    atomic.Bool // a snapshot is being made because of the journal's quota
	active  atomic.Bool // something happened since the last look of tend

	failures [failureKinds]atomic.Pointer[string] // what could not be written, nil for what could

	mu           sync.Mutex
	cwd        cwdState
	fallback     string // the directory that was wanted when the program had to start in another
	state        State
	exit         *stream.Exit
	killed       bool // somebody asked for the end
	lastActivity time.Time
	endedAt      time.Time // zero while it runs
	deleted      time.Time // zero while it is listed
	damage       string    // what was wrong with its files
	saved        uint64    // change number of the last snapshot on disk
	savedSeq     uint64    // its position
	changes      uint64    // grows with each change worth a snapshot
	hadViewer    bool
	expiring  bool          // its end for lack of use has begun
	lastDetach         time.Time     // when the last viewer left, or this server came; zero before the first
	pausedFor        time.Duration // how long its thread was paused since its creation
}

func sortByAge(ts []*Terminal) {
	slices.SortFunc(ts, func(a, b *Terminal) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.ID, b.ID))
	})
}

// Hub is the terminal's screen and its viewers.
func (t *Terminal) Hub() *stream.Hub { return t.screen.get() }

// lazyHub is the hub of a terminal; one that came back from disk reads its
// screen when somebody first asks, so that a server with many ended terminals
// starts at once and stays small.
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

// viewers is the number of viewers that somebody looks at, 0 while nobody has asked
// for the screen.
func (l *lazyHub) viewers() int {
	if h := l.hub.Load(); h != nil {
		return h.Facts().Viewers
	}
	return 0
}

// attached is the number of viewers with those that nobody looks at.
func (l *lazyHub) attached() int {
	if h := l.hub.Load(); h != nil {
		return h.Facts().Attached
	}
	return 0
}

func (t *Terminal) In(session string) bool { return session == "" || t.spec.Session == session }

// Cwd is the last known directory of the program.
func (t *Terminal) Cwd() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cwd.dir
}

func (t *Terminal) Deleted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.deleted.IsZero()
}

func (t *Terminal) Running() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state == StateRunning
}

// touch notes that something happened: activity of a person or a program that
// uses the terminal.
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
	if m.Verify {
		o.Observe.Differs = t.differs
	}
	return o
}

// resized notes a resize in its place in the output.
func (t *Terminal) resized(seq uint64, cols, rows int) {
	if !t.replaying {
		t.journal.Resized(seq, cols, rows)
	}
}

// differs counts and logs a snapshot that did not make the screen again.
func (t *Terminal) differs(seq uint64, differences []string) {
	const shown = 5 // of at most 20
	t.registry.cfg.Metrics.BadSnapshots.Inc()
	t.registry.cfg.Log.Warn("a snapshot differs from the screen it was made of", "id", t.ID, "seq", seq,
		"differences", len(differences), "first", strings.Join(differences[:min(shown, len(differences))], "; "))
}

// resynced counts a viewer's snapshot; a connect to a terminal that somebody
// watched before is a reconnect.
func (t *Terminal) resynced(r stream.Reason) {
	t.mu.Lock()
	again := t.hadViewer
	t.hadViewer = true
	t.mu.Unlock()
	t.registry.cfg.Metrics.Resync(r, again)
}

// Spec is what the terminal was created from. Its maps and slices are the terminal's.
func (t *Terminal) Spec() Spec { return t.spec }

// Session is the session that the terminal belongs to.
func (t *Terminal) Session() string { return t.spec.Session }

// Process is the program; nil when it had ended before this server came.
func (t *Terminal) Process() *pty.Process { return t.process }

// Done is closed when the program has ended and all of its output was applied.
func (t *Terminal) Done() <-chan struct{} { return t.ended }

// Exit is how the program ended, nil while it runs.
func (t *Terminal) Exit() *stream.Exit {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.exit
}

// StartSeq is the position in the output where the program began, or this server.
func (t *Terminal) StartSeq() uint64 { return t.startSeq }

// WasRunning tells of a terminal that came back from disk whether its program ran when that was written.
func (t *Terminal) WasRunning() bool { return t.restored != nil && t.restored.State == StateRunning }

// AttachedViewers is the number of viewers, with those that nobody looks at.
func (t *Terminal) AttachedViewers() int { return t.screen.attached() }
