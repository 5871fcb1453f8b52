package mux

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// State says how alive a terminal is.
type State string

// The states. A terminal never goes back to an earlier one.
const (
	StateRunning State = "running"
	StateExited  State = "exited" // its end was seen
	StateLost    State = "lost"   // its process went with a server or a machine
)

// Terminal is one live or ended terminal. All methods are safe for concurrent use.
type Terminal struct {
	ID      string
	mux     *Mux
	spec    Spec // complete; Cols and Rows are those at creation
	created time.Time

	process *pty.Process  // nil when the terminal came back from disk
	input   *input        // nil when the terminal came back from disk
	ended   chan struct{} // closed when the state is not running any more and all output was applied

	restored *record // what its record said, when it came back from disk
	screen   lazyHub

	resizing  sync.Mutex // held over the PTY's and the hub's resize
	saving    sync.Mutex // held over writes of its files and the look at what is written; taken before mu
	purged    bool       // its files are gone for good; guarded by saving
	diskBytes atomic.Int64

	mu           sync.Mutex
	lastCwd      string // of the running program when somebody last looked
	state        State
	exit         *stream.Exit
	killed       bool // somebody asked for the end
	lastActivity time.Time
	endedAt      time.Time // zero while it runs
	deleted      time.Time // zero while it is listed
	damage       string    // what was wrong with its files
	saved        uint64    // change number of the last snapshot on disk
	changes      uint64    // grows with each change worth a snapshot
	hadViewer    bool
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

// viewers is the number of viewers, 0 while nobody has asked for the screen.
func (l *lazyHub) viewers() int {
	if h := l.hub.Load(); h != nil {
		return h.Facts().Viewers
	}
	return 0
}

func (t *Terminal) in(session string) bool { return session == "" || t.spec.Session == session }

func (t *Terminal) isDeleted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.deleted.IsZero()
}

func (t *Terminal) running() bool {
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
}

// options are the hub's.
func (t *Terminal) options() stream.Options {
	m := t.mux.cfg
	o := stream.Options{
		ID:     t.ID,
		Engine: m.Engine,
		Policy: t.spec.SizePolicy,
		Config: vt.Config{Cols: t.spec.Cols, Rows: t.spec.Rows, Scrollback: *t.spec.Scrollback, Unicode: m.Unicode},
		Observe: stream.Observe{
			Snapshot: m.Metrics.snapshot,
			Resync:   t.resynced,
			Changed:  t.mux.changes.notify,
		},
	}
	if m.Verify {
		o.Observe.Differs = t.differs
	}
	return o
}

// differs counts and logs a snapshot that did not make the screen again.
func (t *Terminal) differs(seq uint64, differences []string) {
	const shown = 5 // of at most 20
	t.mux.cfg.Metrics.badSnapshots.Inc()
	t.mux.cfg.Log.Warn("a snapshot differs from the screen it was made of", "id", t.ID, "seq", seq,
		"differences", len(differences), "first", strings.Join(differences[:min(shown, len(differences))], "; "))
}

// resynced counts a viewer's snapshot; a connect to a terminal that somebody
// watched before is a reconnect.
func (t *Terminal) resynced(r stream.Reason) {
	t.mu.Lock()
	again := t.hadViewer
	t.hadViewer = true
	t.mu.Unlock()
	t.mux.cfg.Metrics.resync(r, again)
}
