package stream

import (
	"sync"

	"github.com/evertty/evertty/vt"
)

// shown is what a hub was at the end of its last step, for those who only look: they
// never wait for the emulator. Its lock is a leaf and held for a copy alone.
type shown struct {
	mu     sync.Mutex
	facts  Facts
	modes  vt.Modes
	seq    uint64 // output bytes written
	atRest bool
}

// show has Facts, Modes and AtRest say what is so now. The hub's lock is held.
func (h *Hub) show() {
	f := &h.facts
	if h.engine == nil {
		f.AltScreen, f.Memory = h.final.Alt != nil, h.final.Memory()
	} else {
		f.Memory = h.engine.Memory()
	}
	f.Viewers, f.Attached, f.Cols, f.Rows, f.Finished = h.viewers, len(h.subs), h.cols, h.rows, h.exit != nil
	h.measureAt, h.learned = h.seq+maxStep, true
	h.showPosition()
}

// showPosition is show of what each step changes, the rest only when it was learned.
func (h *Hub) showPosition() {
	s := &h.shown
	s.mu.Lock()
	if h.learned {
		s.facts, h.learned = h.facts, false
	}
	if s.modes = (vt.Modes{}); h.engine != nil {
		s.modes = h.engine.Modes()
		s.facts.AltScreen = s.modes.AltScreen
	}
	s.seq, s.atRest = h.seq, h.engine != nil && h.engine.AtRest()
	s.facts.Seq, s.facts.Output, s.facts.Worked = h.applied(), h.facts.Output, h.facts.Worked
	s.mu.Unlock()
}

// measure has Facts say how much memory the emulator takes now, unless it is at work.
func (h *Hub) measure() {
	if !h.mu.TryLock() {
		return
	}
	defer h.mu.Unlock()
	if h.engine == nil {
		return
	}
	n := h.engine.Memory()
	h.shown.mu.Lock()
	h.shown.facts.Memory = n
	h.shown.mu.Unlock()
}

// Facts returns what is known besides the screen, as of the end of the last step.
func (h *Hub) Facts() Facts {
	h.measure()
	h.shown.mu.Lock()
	defer h.shown.mu.Unlock()
	return h.shown.facts
}

// Modes is what input has to know, as of the end of the last step; the zero value
// once finished.
func (h *Hub) Modes() vt.Modes {
	h.shown.mu.Lock()
	defer h.shown.mu.Unlock()
	return h.shown.modes
}

// AtRest is the position up to which everything was written, when no sequence is unfinished there (vt.Engine.AtRest).
// ok is false else, and once finished.
func (h *Hub) AtRest() (seq uint64, ok bool) {
	h.shown.mu.Lock()
	defer h.shown.mu.Unlock()
	return h.shown.seq, h.shown.atRest
}
