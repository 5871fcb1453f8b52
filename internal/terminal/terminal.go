package terminal

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/terminal/echo"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// The states of a terminal. A process never goes back to an earlier one.
const (
	StateRunning = "running"
	StateExited  = "exited" // its exit status is known, or at least that it ended
	StateLost    = "lost"   // it ended while neither keeper nor server ran: they, or the machine, went down
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

	cwdLate    atomic.Bool // the last call of maintain found activity
	cwdChecked time.Time   // when apply last read the program's directory; owned by its goroutine
	replaying  bool        // the hub is made from the journal; only before Hub returns it

	started  func()        // ends what lifetime.Start began
	startSeq atomic.Uint64 // position of the output at its start, or of this server's

	restored     *meta // its record, when it came back from disk
	screen       lazyHub
	replayed     chan struct{} // closed when the screen of a terminal that ran was made again; nil for others
	endedJournal endedJournal

	typedKeeping sync.Mutex      // held while what is kept of typed on disk is changed
	typedKept    echo.Unfinished // what is kept there; guarded by typedKeeping

	resizing      sync.Mutex // held over the PTY's and the hub's resize
	saving        sync.Mutex // held while its files and what goes into them are read or written; taken before mu
	purged        bool       // its files are removed, or belong to the next generation; guarded by saving
	kept          [2]uint64  // positions of the snapshots on disk, the older first; guarded by saving
	diskBytes     atomic.Int64
	checkpointing atomic.Bool // enforceQuota writes a snapshot
	active        atomic.Bool // something happened since the last call of maintain
	unsynced      atomic.Bool // the journal may have something that the disk need not keep
	grown         atomic.Bool // its files may have changed since Registry.readUsage read their sizes

	failures [failureKinds]atomic.Pointer[string] // what cannot be written, nil for what can

	mu           sync.Mutex
	cwd          cwdState
	cwdSaved     string        // the directory in the record on disk
	cwdChecking  chan struct{} // closed when no check of a reported directory runs any more; nil without one
	cwdNext      *cwdReading   // the newest one during a check
	fallback     string        // the wanted directory, when the program had to start in another
	state        string
	exit         *stream.Exit
	killed       bool // HangUp was called
	lastActivity time.Time
	endedAt      time.Time // zero while it runs
	deleted      time.Time // zero while it is listed
	damage       string    // what was wrong with its files when they were read
	changes      uint64    // grows with each change worth a snapshot
	saved        uint64    // value of changes at the newest snapshot on disk
	savedSeq     uint64    // position of that snapshot
	savedWork    int       // stream.Stats.Work then
	hadViewer    bool
	expiring     bool          // it is being deleted for lack of use
	lastDetach   time.Time     // when a viewer left last, or this server started; zero before the first
	pausedFor    time.Duration // how long its thread was paused since its creation
}

// Hub is the terminal's screen and its viewers. The first call for a terminal that came back from
// disk waits until its screen was made again. What is not about this one terminal uses facts.
func (t *Terminal) Hub() *stream.Hub { return t.screen.get() }

// AwaitScreen waits until the screen was made again of a terminal that ran when this server
// started. Errors: the reason of ctx.
func (t *Terminal) AwaitScreen(ctx context.Context) error {
	if t.replayed == nil {
		return nil
	}
	select {
	case <-t.replayed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lazyHub is the hub of a terminal. One that came back from disk reads its screen when somebody asks for it, and again
// when nobody has used it for a while: a server with many ended terminals starts at once and stays small.
type lazyHub struct {
	live atomic.Pointer[stream.Hub] // of a program that this server has run

	load    func() *stream.Hub // of any other
	loading sync.Mutex
	loaded  atomic.Pointer[weak.Pointer[stream.Hub]]
	last    atomic.Pointer[stream.Stats] // of the loaded one, once there was one
}

func (l *lazyHub) get() *stream.Hub {
	if h := l.now(); h != nil {
		return h
	}
	l.loading.Lock()
	defer l.loading.Unlock()
	h := l.now()
	if h == nil {
		h = l.load()
		f := h.Stats()
		f.Memory = 0
		l.last.Store(&f)
		l.loaded.Store(new(weak.Make(h)))
	}
	return h
}

// now is the hub that is in memory, nil when none is.
func (l *lazyHub) now() *stream.Hub {
	if h := l.live.Load(); h != nil {
		return h
	}
	if p := l.loaded.Load(); p != nil {
		return p.Value()
	}
	return nil
}

// facts are the hub's. They wait for nothing: while it is not in memory they are the last ones known,
// before the first time those of the record.
func (t *Terminal) facts() (f stream.Stats) {
	if h := t.screen.now(); h != nil {
		return h.Stats()
	}
	if last := t.screen.last.Load(); last != nil {
		return *last
	}
	r := t.restored
	if r == nil {
		return f
	}
	f = stream.Stats{Title: r.Title, Bells: r.Bells, Seq: r.Seq, Cols: r.Cols, Rows: r.Rows, AltScreen: r.AltScreen}
	if r.LastOutput != nil {
		f.Output = *r.LastOutput
	}
	if t.journal != nil {
		f.Seq = max(f.Seq, t.journal.End())
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
func (t *Terminal) Deleted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.deleted.IsZero()
}

// Running reports whether the program runs, as far as is known.
func (t *Terminal) Running() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state == StateRunning
}

// touch notes activity of a user.
func (t *Terminal) touch() {
	t.mu.Lock()
	t.lastActivity = time.Now()
	t.mu.Unlock()
	t.changed()
}

// EngineConfig is what the terminal's emulator is made with, in the size of its creation.
func (t *Terminal) EngineConfig() vt.Config {
	m := t.registry.cfg
	return vt.Config{Cols: *t.spec.Cols, Rows: *t.spec.Rows, Scrollback: *t.spec.Scrollback,
		Unicode: m.Unicode, Memory: m.Memory}
}

// options are the hub's.
func (t *Terminal) options() stream.Options {
	m := t.registry.cfg
	o := stream.Options{
		ID:     t.ID,
		Engine: m.Engine,
		Policy: stream.Policy(t.spec.SizePolicy),
		Config: t.EngineConfig(),
		Large:  t.registry.large,
		Hooks: stream.Hooks{
			Snapshot: m.Metrics.Snapshot,
			Resync:   t.resynced,
			Changed:  t.registry.changes.Notify,
			Marked:   t.marked,
			Reply:    t.report,
		},
		Journal: t.journal,
	}
	if t.journal != nil {
		o.Hooks.Resized = t.resized
	}
	if t.spec.Provider == "" { // the names of a machine at a provider are unknown
		o.OwnHost = t.registry.names.own
	}
	if m.Verify {
		o.Hooks.Differs = t.differs
	}
	return o
}

// report sends the program a report that no output asked for.
func (t *Terminal) report(p []byte) { t.input.reply(p, 0) }

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

// Printed is how much the program has printed under this server, in bytes. It waits for nothing.
func (t *Terminal) Printed() uint64 {
	if t.screen.now() == nil {
		return 0
	}
	seq := t.facts().Seq
	return seq - min(seq, t.startSeq.Load())
}

// EndedAt is when the program ended, zero while it runs.
func (t *Terminal) EndedAt() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.endedAt
}

// AttachedViewers is the number of viewers, hidden ones included.
func (t *Terminal) AttachedViewers() int { return t.facts().Attached }
