package stream

// AtRest is the position up to which everything was written, when nothing is unfinished there: no sequence and no
// character (vt.Engine.AtRest). ok is false else, and once finished.
func (h *Hub) AtRest() (seq uint64, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seq, h.engine != nil && h.engine.AtRest()
}
