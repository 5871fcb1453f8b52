// Package stream brings one terminal to many viewers.
//
// A Hub owns the emulator of one terminal. A viewer that just connected, that
// fell behind its limit, or whose stream cannot be continued is stale; there is
// no other case. A stale viewer gets a snapshot at position S and then all that
// follows S, so that no viewer ever has a gap or sees a byte twice, and the
// terminal never waits for any of them. One that says up to which position it
// has everything gets the rest from the journal instead, if that has it.
package stream

import (
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/vt"
)

// Limits of a hub.
const (
	// MaxQueue is what may wait for one viewer, in bytes of output plus
	// messageCost for each message. Past it the viewer gets a snapshot instead,
	// which is about as large, so waiting longer would cost more than it saves.
	MaxQueue = 1 << 20
	// messageCost is what a queued message costs besides its text, in bytes.
	messageCost = 256
	// maxStep bounds the output that is applied under one hold of the lock, in
	// bytes, so that a flood does not keep connecting viewers out.
	maxStep = 64 << 10
	// stepWork bounds the same in what vt.Engine.WriteSome counts, whatever the output
	// costs: some 2 ms. Who waits for the lock has it two steps later (sync.Mutex,
	// starvation mode).
	stepWork = 512 << 10
	// usualRows is the height up to which a step is maxStep.
	usualRows = 64
	// presenceWake is the number of viewers up to which a change of their
	// number wakes them; more than a team learn it with the next message, or a
	// storm of n reconnects would cost n*n wake-ups.
	presenceWake = 16
)

// Hub applies the output of one terminal to its emulator and hands it to the
// viewers. All methods are safe for concurrent use, except that Write, Resize
// and Finish have one caller at a time (whoever owns the PTY). There is no
// goroutine; nothing blocks while the mutex is held. A step of Write holds it for
// some 2 ms, a snapshot and a change of size for as long as they take. Facts, Modes
// and AtRest never wait for it.
type Hub struct {
	id      string
	observe Observe
	verify  *verifier // nil unless it is wanted
	journal *journal.Journal
	large   *Large
	fresh   func(cols, rows int) vt.Engine // an engine without history and effects
	ownHost func(host string) bool

	mu      sync.Mutex
	engine  vt.Engine // nil once finished
	effects vt.Effects
	final   *vt.Frame // the last screen, once finished
	exit    *Exit

	seq     uint64 // output bytes written
	version uint64 // grows with every change; key of the cached snapshot
	shot    weak.Pointer[Shot]

	cols, rows int
	resizes    resizes
	policy     Policy
	owner      uint64 // viewer who decides the size, 0 for none
	subs       []*Subscription
	viewers    int // of subs, those that are not hidden

	// rewidthed: the state was restored with another table of widths than it was
	// made with, so viewers of the life before, who have nothing beyond firstView,
	// the position when the first came, cannot go on.
	rewidthed, viewed bool
	firstView         uint64
	watchers          map[chan struct{}]struct{}

	held  int    // bytes of an incomplete character before this Write
	reply []byte // answers to the program, collected during one Write
	news  *Meta  // changes that are not bytes, collected during one Write
	// clipboard is the last write to it during one Write.
	clipboard *Clipboard
	facts     Facts
	learned   bool   // facts has more than a new position, collected during one Write
	measureAt uint64 // position at which Facts.Memory is due

	shown shown
}

// Facts are what a hub knows of its terminal besides the screen.
type Facts struct {
	Title     string
	Cwd       string // reported by the program (OSC 7) for its own machine, "" when never
	Bells     uint64
	Mark      vt.PromptMark // the last shell integration mark; Kind 0 when never
	Output    time.Time     // when the last output came
	Seq       uint64        // output bytes applied
	Viewers   int           // that somebody looks at, see Subscription.Hide
	Attached  int           // viewers with the hidden ones
	Cols      int
	Rows      int
	Finished  bool
	AltScreen bool // the alternate screen is or was shown at the end
	// Memory is how many bytes the emulator takes, once finished its last screen. During a
	// step it may be that of maxStep bytes of output before.
	Memory int
	// Worked is the work of all steps (vt.Engine.Work).
	Worked int
}

// Observe is told what a hub does; fields may be nil. They must be safe for
// concurrent use, and are called without the lock unless they say otherwise.
type Observe struct {
	Snapshot func(bytes int, took time.Duration) // a snapshot was encoded
	Resync   func(r Reason)                      // a viewer was given a snapshot
	// Differs: the snapshot at seq did not make a fresh engine equal to the
	// terminal; differences are those of snapshot.Differences. Setting it has
	// every snapshot checked before it is sent, which is for debugging.
	Differs func(seq uint64, differences []string)
	// Changed: something besides the screen changed (title, bell, viewers, end).
	// It is called with the hub's lock held and must return at once.
	Changed func()
	// Resized: the emulator has another size from position seq on, which counts
	// all output that was written, also the bytes of a character that is not
	// complete. It is called with the hub's lock held and must return at once.
	Resized func(seq uint64, cols, rows int)
	// Marked: the shell marked its prompt or a command (OSC 133, 633); seq is the
	// position behind the mark. It is called with the hub's lock held and must return
	// at once.
	Marked func(m vt.PromptMark, seq uint64)
	// Reply: the program is to get p, a report that no output asked for. It is called with
	// the hub's lock held and must return at once.
	Reply func(p []byte)
}

// Options of a new hub.
type Options struct {
	ID      string // named in JSON messages
	Config  vt.Config
	Engine  vt.EngineFunc
	Policy  Policy // who decides the size; "" means PolicyLatest
	Observe Observe
	// Journal is where the owner appends what it Writes, before it does. Viewers
	// that come back are given what they missed from it; nil: they get a snapshot.
	Journal *journal.Journal
	// OwnHost reports whether a directory reported for this host (OSC 7) is one of the machine
	// that the program runs on; others are no directory of the terminal. It is called with the
	// hub's lock held and must return at once. nil: every host is.
	OwnHost func(host string) bool
	// Large bounds the large snapshots of all hubs of a server; nil: of this one.
	Large *Large
}

// New makes the hub of a running terminal. Effects of o.Config are replaced by
// the hub's own.
func New(o Options) *Hub {
	h := newHub(o)
	cfg := o.Config
	cfg.Effects = &h.effects
	h.listen()
	h.engine = o.Engine(cfg)
	h.cols, h.rows = cfg.Clamped().Cols, cfg.Clamped().Rows
	h.resizes = resizes{cols: h.cols, rows: h.rows}
	h.show()
	return h
}

func newHub(o Options) *Hub {
	if o.Policy == "" {
		o.Policy = PolicyLatest
	}
	if o.OwnHost == nil {
		o.OwnHost = func(string) bool { return true }
	}
	if o.Large == nil {
		o.Large = NewLarge()
	}
	fresh := func(cols, rows int) vt.Engine {
		return o.Engine(vt.Config{Cols: cols, Rows: rows, Unicode: o.Config.Unicode})
	}
	return &Hub{id: o.ID, observe: o.Observe, verify: newVerifier(o), journal: o.Journal, large: o.Large, fresh: fresh,
		policy: o.Policy, ownHost: o.OwnHost, watchers: map[chan struct{}]struct{}{}}
}

// Write applies output of the program and returns the emulator's answers to
// its queries, which the caller writes to the PTY once. p is not retained; the
// answer is the caller's.
func (h *Hub) Write(p []byte) (reply []byte) {
	h.Answering(p, func(r []byte, _ uint64) { reply = append(reply, r...) })
	return reply
}

// Answering is Write with the answers to queries before position seq given to give, before a
// viewer sees the output around them: what somebody types then comes behind them. give is called
// with the hub's lock held and must return at once; the answers are its own.
func (h *Hub) Answering(p []byte, give func(reply []byte, seq uint64)) {
	for len(p) > 0 {
		p = p[h.step(p, give):]
	}
}

// step applies the first n bytes of p.
func (h *Hub) step(p []byte, give func(reply []byte, seq uint64)) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.engine == nil {
		return len(p)
	}
	h.reply, h.held = nil, h.engine.Held()
	text, n := h.engine.WriteSome(p[:min(len(p), stepSize(h.rows))], stepWork)
	h.seq += uint64(n)
	h.version++
	h.facts.Output, h.facts.Worked = time.Now(), h.engine.Work()
	if len(h.reply) > 0 {
		give(h.reply, h.seq)
	}
	switch {
	case h.engine.TextDropped():
		h.dropText()
	case len(text) > 0:
		h.publish(func() *Message { return dataMessage(h.id, text, h.applied()) })
	}
	h.tell()
	return n
}

// dropText makes all viewers stale that have what was written before: there is no text
// that takes them further.
func (h *Hub) dropText() {
	for _, s := range h.subs {
		if s.stale == "" {
			s.drop(ReasonLag)
			wake(s.wake)
		}
	}
}

// stepSize is how much output a step applies on a screen of so many rows: less on
// a tall one, where a sequence can cost more and become more text for viewers.
func stepSize(rows int) int { return maxStep / max(1, rows/usualRows) }

// applied is the number of output bytes that are part of the state.
func (h *Hub) applied() uint64 {
	if h.engine == nil {
		return h.seq
	}
	return h.seq - uint64(h.engine.Held())
}

// publish gives a message to all viewers that are not stale. It is only made
// when somebody takes it.
func (h *Hub) publish(make func() *Message) {
	var m *Message
	for _, s := range h.subs {
		if s.stale != "" {
			continue
		}
		if m == nil {
			m = make()
		}
		s.push(m)
	}
}

// Resize changes the emulator's screen and says so to the viewers. The caller
// has resized the PTY before.
func (h *Hub) Resize(cols, rows int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.engine == nil || cols == h.cols && rows == h.rows {
		return
	}
	exact := h.engine.Resize(cols, rows)
	h.cols, h.rows = cols, rows
	h.version++
	h.resizes.add(resize{at: h.seq, event: h.applied(), cols: cols, rows: rows, exact: exact})
	if h.observe.Resized != nil {
		h.observe.Resized(h.seq, cols, rows)
	}
	h.publish(func() *Message { return resizeMessage(h.id, cols, rows, h.applied()) })
	for _, s := range h.subs {
		if !exact || s.once {
			s.resized()
		}
	}
	h.show()
	h.wakeWatchers()
}

// Flush says that the rest of a character whose first bytes were written last
// will not come, because the process that printed them has ended. Each of these
// bytes becomes one U+FFFD, on the screen and for the viewers.
func (h *Hub) Flush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.engine != nil {
		h.flush()
	}
}

// flush is Flush while the hub's lock is held and the emulator is there.
func (h *Hub) flush() {
	if h.engine.Held() == 0 {
		return
	}
	h.reply = nil
	text := h.engine.Flush()
	h.version++
	h.publish(func() *Message { return dataMessage(h.id, text, h.seq) })
	h.tell()
}

// Finish says that the program has ended and all its output was written. What it
// left of an incomplete character is flushed. The emulator is let go; its last
// screen stays. Later calls are ignored.
func (h *Hub) Finish(e Exit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.exit != nil {
		return
	}
	h.flush()
	h.final = h.engine.Freeze()
	h.engine = nil
	h.exit = &e
	h.version++
	h.publish(func() *Message { return exitMessage(h.id, e, h.seq) })
	for _, s := range h.subs {
		s.ended = s.stale == ""
	}
	h.show()
	h.wakeWatchers()
	h.changed()
}

func (h *Hub) changed() {
	if h.observe.Changed != nil {
		h.observe.Changed()
	}
}

// Watch returns a channel that gets a value after every change of the terminal
// (changes in quick succession share one), and a function that ends it.
func (h *Hub) Watch() (changed <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	h.mu.Lock()
	h.watchers[c] = struct{}{}
	h.mu.Unlock()
	return c, func() {
		h.mu.Lock()
		delete(h.watchers, c)
		h.mu.Unlock()
	}
}

func (h *Hub) wakeWatchers() {
	for c := range h.watchers {
		wake(c)
	}
}

func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // a wake-up is waiting already
	}
}

// Shot returns the snapshot of now. Callers at the same instant share one, and
// with it its encodings; it lives as long as somebody uses it.
func (h *Hub) Shot() *Shot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shotLocked()
}

func (h *Hub) shotLocked() *Shot {
	if s := h.shot.Value(); s != nil && s.version == h.version {
		return s
	}
	s := &Shot{version: h.version, Frame: h.final, Seq: h.applied(), Dead: h.exit != nil, id: h.id,
		observe: h.observe.Snapshot, verify: h.verify, large: h.large}
	if h.engine != nil {
		s.Frame = h.engine.Freeze()
	}
	h.shot = weak.Make(s)
	return s
}

// order numbers viewers and their acts over all hubs, so that a page that
// watches several terminals can tell viewers apart.
var order atomic.Uint64
