package terminal

import "sync/atomic"

// compactFrom is from how much new output on a history is compressed, in bytes. A terminal that prints less between two
// rounds is quiet: compressing one block of history takes as long as applying a tenth of that.
const compactFrom = 32 << 10

// compaction says how far a history is compressed. One call of compact at a time changes it.
type compaction struct {
	seen atomic.Uint64 // position of the output in the last round
	done atomic.Uint64 // the same at the last compression
}

// wantsCompact reports whether much output came since the history in memory was last compressed.
func (s *screen) wantsCompact() bool {
	h := s.now()
	return h != nil && h.Stats().Seq-s.compaction.done.Load() >= compactFrom
}

// compact compresses the history when much of it is new and the program prints little: a flood replaces it soon.
func (s *screen) compact() {
	seq := s.facts().Seq
	if seq-s.compaction.seen.Swap(seq) >= compactFrom || !s.wantsCompact() {
		return
	}
	s.compaction.done.Store(seq)
	s.t.registry.parking.free(s.Hub().Compact())
}
