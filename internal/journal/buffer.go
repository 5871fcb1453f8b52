package journal

import (
	"slices"
	"sync"
	"time"
)

const (
	// flushSize is how many bytes of records may wait before Append writes them:
	// the marks of 10 MB of a flood, or of some 200 keys.
	flushSize = 4 << 10
	// maxWaiting bounds them in bytes, while no flush comes. Records on top of it are
	// dropped; size and generation still reach the start of the next segment.
	maxWaiting = 256 << 10
)

// recordBuffer has the records of the open segment that are not in its index yet.
// Its lock is a leaf and never held over the disk, so that Resized may be
// called under the lock of a hub.
type recordBuffer struct {
	mu     sync.Mutex
	open   bool // a segment is open
	base   indexBase
	wait   []byte        // whole frames
	spare  []byte        // memory for the next wait
	urgent bool          // a resize waits: it must be on disk before output that follows it
	now    terminalState // with the waiting records applied
}

// add appends r, whose position is clamped to the open segment.
func (b *recordBuffer) add(r *record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now.apply(r)
	if !b.open || len(b.wait) > maxWaiting {
		return
	}
	b.wait = appendFrame(b.wait, b.base, r)
	b.urgent = b.urgent || r.kind == recordResize
}

// waiting returns how many bytes wait, and whether they must be on disk before more output.
func (b *recordBuffer) waiting() (n int, urgent bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.wait), b.urgent
}

// take returns the waiting frames, valid until the next take, and keeps none.
func (b *recordBuffer) take() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.wait
	b.wait, b.spare, b.urgent = b.spare[:0], p, false
	return p
}

// begin is for a new segment at offset: its start waits.
func (b *recordBuffer) begin(offset uint64, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open, b.urgent = true, false
	b.base = indexBase{offset, micros(at)}
	b.wait = appendFrame(b.wait[:0], b.base, &record{
		kind: recordStart, pos: offset, time: b.base.time,
		cols: b.now.cols, rows: b.now.rows, generation: b.now.generation, answered: b.now.answered,
	})
}

// resume is for a segment that exists.
func (b *recordBuffer) resume(base indexBase) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open, b.base, b.wait = true, base, b.wait[:0]
}

// end returns the last frames of a segment: the waiting ones and seal. Until the next begin
// records change only the state.
func (b *recordBuffer) end(seal *record) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.wait
	if b.open {
		p = appendFrame(p, b.base, seal)
	}
	b.open, b.urgent, b.wait, b.spare = false, false, b.spare[:0], p
	return p
}

// copyFrom copies the waiting frames from the n-th byte on.
func (b *recordBuffer) copyFrom(n int) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.wait[min(n, len(b.wait)):])
}

func (b *recordBuffer) state() terminalState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

// drop removes the waiting frames.
func (b *recordBuffer) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wait, b.urgent = b.wait[:0], false
}
