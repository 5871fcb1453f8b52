// Package stream brings one terminal to many viewers.
//
// A Hub owns the emulator of one terminal. A viewer is stale when it has just connected, fell
// behind its limit, or its stream cannot be continued; there is no other case. A stale viewer
// gets a snapshot at position S and then everything after S. So no viewer ever has a gap or sees
// a byte twice, and the terminal never waits for a viewer. A viewer that reconnects with its
// position gets what it missed from the journal instead, if that has it.
//
// Positions count the output bytes of a terminal from 0 at its creation, over all generations.
package stream

import (
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/evertty/evertty/internal/notify"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// Limits of a hub.
const (
	// MaxQueue bounds what may wait for one viewer, in bytes of output plus messageCost for each
	// message. Past it the viewer gets a snapshot instead, which is about as large, so waiting
	// longer would cost more than it saves.
	MaxQueue = 1 << 20
	// messageCost is what a queued message costs besides its text, in bytes.
	messageCost = 256
	// maxStep bounds the output that is applied under one hold of the lock, in bytes, so that a
	// flood does not keep connecting viewers out.
	maxStep = 64 << 10
	// stepWork bounds a step in the unit of vt.Engine.WriteSome: some 2 ms of work, whatever the
	// output costs. A caller that waits for the lock gets it two steps later (sync.Mutex,
	// starvation mode).
	stepWork = 512 << 10
	// usualRows is the height up to which a step is maxStep.
	usualRows = 64
)

// Hub applies the output of one terminal to its emulator and publishes it to the viewers. All
// methods are safe for concurrent use, except that Write, Resize and Finish have one caller at a
// time, the owner of the PTY. A hub has no goroutine, and nothing blocks while its mutex is held. A step of
// Write holds it for some 2 ms, a snapshot and a change of size for as long as they take. Stats,
// AtRest and, unless the hub is parked, Modes never wait for it.
type Hub struct {
	// Constant.
	id      string
	hooks   Hooks
	verify  *verifier // nil without Hooks.Differs
	large   *Large
	ownHost func(host string) bool

	// mu guards everything below and the second half of Subscription. One mutex, so that an event
	// and the snapshot of a viewer that connects meanwhile cannot overlap.
	mu sync.Mutex

	// The terminal: an engine while the program runs, afterwards its last screen and exit.
	engine     vt.Engine // nil while parked and once finished
	parked     *parked   // nil while it is not
	final      *vt.Frame // nil until finished
	exit       *Exit
	cols, rows int
	seq        uint64 // output bytes written

	// The snapshot that callers at the same version share; version grows with every change.
	version  uint64
	snapshot weak.Pointer[SharedSnapshot]

	// effects are the engine's callbacks; they collect in pending what a step publishes at its end.
	effects *vt.Effects
	pending pending

	viewers viewers         // who watches, who types, and whose size counts
	input   *wire.InputMode // what viewers know of Hooks.InputMode; nil before the first
	resume  resumeLog       // what viewers that reconnect need besides the journal

	// stats are copied to published at the end of a step, so that Stats never waits for mu.
	stats      stats
	workBefore int // work of engines before this one, see Park
	published  published
	// settled is the viewer that was active last, if nothing has changed since that decides the size; else 0. It is set
	// with mu held.
	settled atomic.Uint64
	// typist is the viewer that alone types, 0 for everybody; crowd how many viewers there are; inputDue that
	// lookAtInput comes. So no key waits for a step.
	typist   atomic.Uint64
	crowd    atomic.Int32
	inputDue atomic.Bool
	looking  sync.Mutex      // held by lookAtInput, before mu
	changes  notify.Notifier // for Watch; its lock is a leaf
}

// New makes the hub of a running terminal. Effects of o.Config are replaced by the hub's own.
func New(o Options) *Hub {
	h := newHub(o)
	h.connectEffects()
	size := o.Config.Clamped()
	h.cols, h.rows = size.Cols, size.Rows
	h.resume.resizes = resizes{first: Size{Cols: h.cols, Rows: h.rows}}
	h.publishStats()
	return h
}

// newHub returns a hub with a new engine, whose effects are not connected yet.
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
	newEngine := func(cols, rows int) vt.Engine {
		return o.Engine(vt.Config{Cols: cols, Rows: rows, Unicode: o.Config.Unicode})
	}
	h := &Hub{id: o.ID, effects: &vt.Effects{}, hooks: o.Hooks, verify: newVerifier(o), large: o.Large,
		ownHost: o.OwnHost, viewers: viewers{policy: o.Policy},
		resume: resumeLog{journal: o.Journal, newEngine: newEngine}}
	cfg := o.Config
	cfg.Effects = h.effects
	h.engine = o.Engine(cfg)
	return h
}

// Write applies output of the program and returns the emulator's replies to its queries, which
// the caller writes to the PTY once. p is not retained; the reply is the caller's.
func (h *Hub) Write(p []byte) (reply []byte) {
	h.WriteFunc(p, func(r []byte, _ uint64) { reply = append(reply, r...) })
	return reply
}

// WriteFunc is Write that calls onReply with the replies to queries before position seq, before
// a viewer sees the output around them: input that a viewer then types comes behind them.
// onReply is called with the hub's lock held and must return at once; it owns the reply.
func (h *Hub) WriteFunc(p []byte, onReply func(reply []byte, seq uint64)) {
	for len(p) > 0 {
		p = p[h.step(p, onReply):]
	}
}

// step applies the first n bytes of p.
func (h *Hub) step(p []byte, onReply func(reply []byte, seq uint64)) (n int) {
	h.lock()
	defer h.unlock()
	if h.engine == nil {
		return len(p)
	}
	h.pending.reply, h.pending.held = nil, h.engine.Held()
	text, n := h.engine.WriteSome(p[:min(len(p), stepSize(h.rows))], stepWork)
	h.seq += uint64(n)
	h.version++
	h.stats.Output, h.stats.Work = time.Now(), h.workBefore+h.engine.Work()
	if len(h.pending.reply) > 0 {
		onReply(h.pending.reply, h.seq)
	}
	switch {
	case h.engine.TextDropped(): // no text takes viewers from before this step further
		h.viewers.makeStale(ReasonLag)
	case len(text) > 0:
		h.viewers.publish(func() *Message { return dataMessage(h.id, text, h.applied()) })
	}
	h.publishPending()
	return n
}

// stepSize bounds the output of a step on a screen of so many rows, in bytes. It is less on a
// tall screen, where a sequence can cost more and become more text for viewers.
func stepSize(rows int) int { return maxStep / max(1, rows/usualRows) }

// applied is the number of output bytes that are part of the state.
func (h *Hub) applied() uint64 {
	if h.engine == nil {
		return h.seq
	}
	return h.seq - uint64(h.engine.Held())
}

// Resize changes the emulator's screen and publishes the change. The caller has resized the PTY
// before.
func (h *Hub) Resize(cols, rows int) {
	if h.hasSize(cols, rows) {
		return // also while parked
	}
	h.lock()
	defer h.unlock()
	if h.engine == nil || cols == h.cols && rows == h.rows {
		return
	}
	exact := h.engine.Resize(cols, rows)
	h.cols, h.rows = cols, rows
	h.settled.Store(0)
	h.version++
	h.resume.resizes.add(resize{at: h.seq, event: h.applied(), Size: Size{Cols: cols, Rows: rows}, exact: exact})
	if h.hooks.Resized != nil {
		h.hooks.Resized(h.seq, cols, rows)
	}
	m := placeMessage(KindResize, h.id, Size{Cols: cols, Rows: rows}, h.applied())
	for _, s := range h.viewers.subs {
		s.resized(m, exact)
	}
	h.publishStats()
	h.changes.Notify()
}

func (h *Hub) hasSize(cols, rows int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return cols == h.cols && rows == h.rows
}

// Flush ends a character whose first bytes were written last, because the process that printed
// them has ended. Each of these bytes becomes one U+FFFD, on the screen and for the viewers.
func (h *Hub) Flush() {
	h.lock()
	defer h.unlock()
	if h.engine != nil {
		h.flushLocked()
	}
}

// flushLocked is Flush of a hub that has an engine. The hub's lock is held.
func (h *Hub) flushLocked() {
	if h.engine.Held() == 0 {
		return
	}
	h.pending.reply = nil
	text := h.engine.Flush()
	h.version++
	h.viewers.publish(func() *Message { return dataMessage(h.id, text, h.seq) })
	h.publishPending()
}

// Finish ends the terminal: its program has ended and all output was written. An incomplete
// character is flushed. The engine is freed; the last screen stays. Later calls are ignored.
func (h *Hub) Finish(e Exit) {
	h.lock()
	defer h.unlock()
	if h.exit != nil {
		return
	}
	h.flushLocked()
	if h.viewers.control.holder != 0 {
		h.hold(nil)
	}
	h.final = h.engine.Freeze()
	h.engine = nil
	h.exit = &e
	h.version++
	for _, s := range h.viewers.subs {
		if s.lag.behind {
			s.catchUp() // nothing more comes that it could be behind
		}
	}
	h.viewers.publish(func() *Message { return exitMessage(h.id, e, h.seq) })
	for _, s := range h.viewers.subs {
		s.exitQueued = s.stale == ""
	}
	h.publishStats()
	h.changes.Notify()
	h.notifyChanged()
}

// Skip moves the position over n bytes of output that are lost, whose effect on the screen is
// unknown. A character that is incomplete before them is flushed. All viewers get a snapshot.
func (h *Hub) Skip(n uint64) {
	h.lock()
	defer h.unlock()
	if h.engine != nil {
		h.flushLocked()
	}
	h.seq += n
	h.version++
	for _, s := range h.viewers.subs {
		s.makeStale(ReasonRestore)
	}
	h.publishStats()
}

func (h *Hub) notifyChanged() {
	if h.hooks.Changed != nil {
		h.hooks.Changed()
	}
}

// unlock releases mu, and then wakes the viewers that something has come for. They may send it in this goroutine.
func (h *Hub) unlock() {
	var woken []*Subscription
	if h.viewers.woken {
		h.viewers.woken = false
		woken = h.viewers.subs
	}
	h.mu.Unlock()
	wakeAll(woken)
}

// Watch returns a channel that gets a value after every change of the terminal; changes in quick
// succession share one. stop ends it. Until then the hub is not parked.
func (h *Hub) Watch() (changed <-chan struct{}, stop func()) {
	h.lock()
	defer h.unlock()
	return h.changes.Watch()
}

// order numbers viewers and their acts over all hubs, so that a page that watches several
// terminals can tell viewers apart.
var order atomic.Uint64

// firstOrder is where the numbers begin: no server counts as fast as its clock, so a number from before a restart is
// never that of another viewer. It is exact in JavaScript.
var firstOrder = uint64(time.Now().UnixMilli())

func nextOrder() uint64 { return firstOrder + order.Add(1) }
