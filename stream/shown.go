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
	var modes vt.Modes
	f, atRest := &h.facts, false
	if h.engine != nil {
		modes, atRest = h.engine.Modes(), h.engine.AtRest()
		f.AltScreen, f.Memory = modes.AltScreen, h.engine.Memory()
	} else {
		f.AltScreen, f.Memory = h.final.Alt != nil, h.final.Memory()
	}
	f.Seq, f.Viewers, f.Attached, f.Cols, f.Rows, f.Finished = h.applied(), h.viewers, len(h.subs), h.cols, h.rows,
		h.exit != nil
	s := &h.shown
	s.mu.Lock()
	s.facts, s.modes, s.seq, s.atRest = h.facts, modes, h.seq, atRest
	s.mu.Unlock()
}

// Facts returns what is known besides the screen, as of the end of the last step.
func (h *Hub) Facts() Facts {
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

// AtRest is the position up to which everything was written, when nothing is unfinished there: no sequence and no
// character (vt.Engine.AtRest). ok is false else, and once finished.
func (h *Hub) AtRest() (seq uint64, ok bool) {
	h.shown.mu.Lock()
	defer h.shown.mu.Unlock()
	return h.shown.seq, h.shown.atRest
}
