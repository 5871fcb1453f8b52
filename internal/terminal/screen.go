package terminal

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// screen is the hub of a terminal. One that came back from disk reads its screen at the first call of
// Hub, and again when nobody has used it for a while: a server with many ended terminals starts at
// once and stays small. loading is held while the screen is read; everything else is atomic, or
// set before the terminal is published.
type screen struct {
	t *Terminal

	live     atomic.Pointer[stream.Hub] // of a program that this server has run
	startSeq atomic.Uint64              // position of the output at the program's start, or of this server's

	restored  *meta              // its record, when it came back from disk
	loadHub   func() *stream.Hub // reads the screen when live is nil
	loading   sync.Mutex
	loaded    atomic.Pointer[weak.Pointer[stream.Hub]]
	last      atomic.Pointer[stream.Stats] // of the loaded one, once there was one
	replaying atomic.Bool                  // a hub is made from the journal
	replayed  chan struct{}                // closed when the screen of one that ran was made again; nil for others
	readFrom  atomic.Pointer[time.Time]    // when replayed was closed

	compacted uint64 // position when compactQuiet looked last
}

// Hub is the terminal's screen and its viewers. The first call for a terminal that came back from
// disk waits until its screen was made again. What is not about this one terminal uses facts.
func (s *screen) Hub() *stream.Hub {
	if h := s.now(); h != nil {
		return h
	}
	s.loading.Lock()
	defer s.loading.Unlock()
	h := s.now()
	if h == nil {
		h = s.loadHub()
		f := h.Stats()
		f.Memory = 0
		s.last.Store(&f)
		s.loaded.Store(new(weak.Make(h)))
	}
	return h
}

// now is the hub that is in memory, nil when none is.
func (s *screen) now() *stream.Hub {
	if h := s.live.Load(); h != nil {
		return h
	}
	if p := s.loaded.Load(); p != nil {
		return p.Value()
	}
	return nil
}

// AwaitScreen waits until the screen was made again of a terminal that ran when this server
// started. Errors: context.Cause(ctx).
func (s *screen) AwaitScreen(ctx context.Context) error {
	if s.replayed == nil {
		return nil
	}
	select {
	case <-s.replayed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// settleTime is how long it may take to read what a program printed while no server ran, from when its screen was made
// again.
const settleTime = 2 * time.Second

// Settling reports whether Printed may still lack what the program printed while no server ran. It waits for nothing.
func (s *screen) Settling() bool {
	if s.replayed == nil {
		return false
	}
	from := s.readFrom.Load()
	return from == nil || time.Since(*from) < settleTime
}

// facts are the hub's. They wait for nothing: while it is not in memory they are the last ones known,
// before the first time as in the record.
func (s *screen) facts() (f stream.Stats) {
	if h := s.now(); h != nil {
		return h.Stats()
	}
	if last := s.last.Load(); last != nil {
		return *last
	}
	r := s.restored
	if r == nil {
		return f
	}
	f = stream.Stats{Title: r.Title, Bells: r.Bells, Seq: r.Seq, Cols: r.Cols, Rows: r.Rows, AltScreen: r.AltScreen}
	if r.LastOutput != nil {
		f.Output = *r.LastOutput
	}
	if s.t.journal != nil {
		f.Seq = max(f.Seq, s.t.journal.End())
	}
	return f
}

// EngineConfig is what the terminal's emulator is made with, in the size of its creation.
func (s *screen) EngineConfig() vt.Config {
	m := s.t.registry.cfg
	return vt.Config{Cols: *s.t.spec.Cols, Rows: *s.t.spec.Rows, Scrollback: *s.t.spec.Scrollback,
		Unicode: m.Unicode, Memory: m.Memory}
}

// options are the hub's, whose viewers resume from j.
func (s *screen) options(j *journal.Journal) stream.Options {
	m := s.t.registry.cfg
	o := stream.Options{
		ID:     s.t.ID,
		Engine: m.Engine,
		Policy: stream.Policy(s.t.Spec().SizePolicy),
		Config: s.EngineConfig(),
		Large:  s.t.registry.large,
		Hooks: stream.Hooks{
			Snapshot: m.Metrics.Snapshot,
			Resync:   s.resynced,
			Caught:   m.Metrics.ViewerCaught,
			Changed:  s.t.registry.changes.Notify,
			Marked:   s.t.marked,
			Held:     s.t.holderChanged,
			Reply:    func(report []byte) { s.t.input.reply(report, 0, groupNow) },

			InputMode: s.t.inputMode,
		},
		Journal: j,
	}
	if s.t.journal != nil {
		o.Hooks.Resized = s.t.resized
	}
	if s.t.spec.Provider == "" { // the names of a machine at a provider are unknown
		o.OwnHost = s.t.registry.names.own
	}
	if m.Verify {
		o.Hooks.Differs = s.differs
	}
	return o
}

// differs counts and logs a snapshot that does not reproduce the screen.
func (s *screen) differs(seq uint64, differences []string) {
	const shown = 5 // of at most 20
	s.t.registry.cfg.Metrics.BadSnapshots.Inc()
	s.t.registry.cfg.Log.Warn("a snapshot differs from the screen it was made of", "id", s.t.ID, "seq", seq,
		"differences", len(differences), "first", strings.Join(differences[:min(shown, len(differences))], "; "))
}

// resynced counts a viewer's snapshot. The first viewer of a terminal connects, every
// other one reconnects.
func (s *screen) resynced(r stream.Reason) {
	s.t.mu.Lock()
	again := s.t.hadViewer
	s.t.hadViewer = true
	s.t.mu.Unlock()
	s.t.registry.cfg.Metrics.Resync(r, again)
}

// Printed is how much the program has printed under this server, in bytes. It waits for nothing.
func (s *screen) Printed() uint64 {
	if s.now() == nil {
		return 0
	}
	seq := s.facts().Seq
	return seq - min(seq, s.startSeq.Load())
}

// AttachedViewers is the number of viewers, hidden ones included.
func (s *screen) AttachedViewers() int { return s.facts().Attached }
