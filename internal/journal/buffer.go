package journal

import (
	"sync"
	"time"
)

const (
	// flushSize is how many bytes of records may wait before Append writes them:
	// the marks of 10 MB of a flood, or of some 200 keys.
	flushSize = 4 << 10
	// maxWaiting bounds them when nobody flushes, in bytes. What comes on top is
	// left out; size and generation are in the start of the next segment all
	// the same.
	maxWaiting = 256 << 10
)

// recordBuffer is the records of the open segment that are not in its index yet.
// Its lock is held for memory only, never over the disk, so that Resized may be
// called under the lock of a hub.
type recordBuffer struct {
	mu     sync.Mutex
	open   bool // there is a segment to keep records for
	base   indexBase
	wait   []byte        // whole frames
	spare  []byte        // memory for the next wait
	urgent bool          // a resize waits: it must be on disk before output that follows it
	now    terminalState // of the terminal, with what waits
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

// waiting is how many bytes wait, and whether output must wait for them.
func (b *recordBuffer) waiting() (n int, urgent bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.wait), b.urgent
}

// take hands out what waits. It is valid until the next call of take.
func (b *recordBuffer) take() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.wait
	b.wait, b.spare, b.urgent = b.spare[:0], p, false
	return p
}

// begin makes the buffer one for a segment at offset, with its start in it.
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

// resume makes the buffer one for a segment that exists.
func (b *recordBuffer) resume(base indexBase) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open, b.base, b.wait = true, base, b.wait[:0]
}

// end takes the last records of a segment: what waits and seal. From now on
// records only count for the start of the next one.
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

// copyFrom appends to p what waits, from the n-th byte on.
func (b *recordBuffer) copyFrom(p []byte, n int) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append(p, b.wait[min(n, len(b.wait)):]...)
}

func (b *recordBuffer) state() terminalState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

// drop forgets what waits.
func (b *recordBuffer) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wait, b.urgent = b.wait[:0], false
}
