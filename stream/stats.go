package stream

import (
	"sync"
	"time"

	"github.com/evertty/evertty/vt"
)

// Stats are what a hub knows of its terminal besides the screen.
type Stats struct {
	Title     string
	Cwd       string // reported by the program (OSC 7) for its own machine, "" when never
	Bells     uint64
	Mark      vt.PromptMark // the last shell integration mark; Kind 0 when never
	Output    time.Time     // when the last output came
	Seq       uint64        // output bytes applied
	Viewers   int           // without hidden ones, see Subscription.Hide
	Attached  int           // viewers with hidden ones
	Cols      int
	Rows      int
	Finished  bool
	AltScreen bool // the alternate screen is shown, or was at the end
	// Memory is how many bytes the emulator takes, once finished its last screen. During a step it
	// may be a value from at most maxStep bytes of output before.
	Memory int
	// Work is the work of all steps, in the unit of vt.Engine.Work.
	Work int
}

// stats are the hub's own, guarded by its lock.
type stats struct {
	Stats
	changed   bool   // more than position, time and work changed in this step
	measureAt uint64 // position at which Memory is measured again
}

// published is a copy of the hub's stats at the end of its last step, so that readers never wait
// for the emulator. Its lock is a leaf and held for a copy alone.
type published struct {
	mu     sync.Mutex
	stats  Stats
	modes  vt.Modes
	seq    uint64 // output bytes written
	atRest bool
	parked bool
}

// publishStats brings all stats up to date and publishes them. The hub's lock is held.
func (h *Hub) publishStats() {
	s := &h.stats
	if h.engine == nil {
		s.AltScreen, s.Memory = h.final.Alt != nil, h.final.Memory()
	} else {
		s.Memory = h.engine.Memory()
	}
	s.Viewers, s.Attached = h.viewers.visible, len(h.viewers.subs)
	s.Cols, s.Rows, s.Finished = h.cols, h.rows, h.exit != nil
	s.measureAt, s.changed = h.seq+maxStep, true
	h.publishPosition()
}

// publishPosition publishes what every step changes, and the rest of stats only when it changed.
func (h *Hub) publishPosition() {
	p := &h.published
	p.mu.Lock()
	if h.stats.changed {
		p.stats, h.stats.changed = h.stats.Stats, false
	}
	if p.modes = (vt.Modes{}); h.engine != nil {
		p.modes = h.engine.Modes()
		p.stats.AltScreen = p.modes.AltScreen
	}
	p.seq, p.atRest = h.seq, h.engine != nil && h.engine.AtRest()
	p.stats.Seq, p.stats.Output, p.stats.Work = h.applied(), h.stats.Output, h.stats.Work
	p.mu.Unlock()
}

// measure publishes how much memory the emulator takes now, unless a step runs.
func (h *Hub) measure() {
	if !h.mu.TryLock() {
		return
	}
	defer h.mu.Unlock()
	if h.engine == nil {
		return
	}
	n := h.engine.Memory()
	h.published.mu.Lock()
	h.published.stats.Memory = n
	h.published.mu.Unlock()
}

// Stats returns the stats as of the end of the last step.
func (h *Hub) Stats() Stats {
	h.measure()
	h.published.mu.Lock()
	defer h.published.mu.Unlock()
	return h.published.stats
}

// Lag is how far the slowest viewer is behind: the most bytes that wait for one, and since when the longest has not
// taken anything. It waits for a step of the emulator.
func (h *Hub) Lag() (bytes int, age time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for _, s := range h.viewers.subs {
		if bytes = max(bytes, s.queued); !s.since.IsZero() {
			age = max(age, now.Sub(s.since))
		}
	}
	return bytes, age
}

// Modes are the modes that input depends on, as of the end of the last step; the zero value once
// finished.
func (h *Hub) Modes() vt.Modes {
	h.Wake() // one that was restored parked has none
	h.published.mu.Lock()
	defer h.published.mu.Unlock()
	return h.published.modes
}

// AtRest returns how many output bytes were written. ok is false when an escape sequence is
// unfinished there (vt.Engine.AtRest), and once finished.
func (h *Hub) AtRest() (seq uint64, ok bool) {
	h.published.mu.Lock()
	defer h.published.mu.Unlock()
	return h.published.seq, h.published.atRest
}
