package stream

// Skip moves the position over n bytes of output that are lost: nobody knows what
// they would have done to the screen. A character that the bytes before them left
// incomplete is flushed. Viewers that are there get a snapshot.
func (h *Hub) Skip(n uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.engine != nil {
		h.flush()
	}
	h.seq += n
	h.version++
	for _, s := range h.subs {
		s.drop(ReasonRestore)
		wake(s.wake)
	}
	h.show()
}
