package stream

// Compact compresses what of the history does not change any more, unless the hub is parked, and
// returns how many bytes that frees. The lock is held for a snapshot, not for the work.
func (h *Hub) Compact() (freed int) {
	h.mu.Lock()
	if h.parked != nil {
		h.mu.Unlock()
		return 0
	}
	s := h.snapshotLocked()
	h.mu.Unlock()
	freed = s.Frame.History.Compact()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.parked == nil {
		h.publishStats()
	}
	return freed
}
