package journal

import (
	"time"
)

const (
	// restEvery is the output between two records of rest, in bytes. It bounds what a viewer that
	// comes back parses again to reach the state at its position.
	restEvery = 512 << 10
	// restWait is how much longer a segment may become so that it ends where the output is at
	// rest, in bytes. When every other piece ends inside a sequence, a few pieces are enough.
	restWait = 1 << 20
)

// resting is where the terminal's parser was at rest last, as Rested said. The zero value is never.
type resting struct {
	known bool
	at    uint64 // the last such position
	due   uint64 // the next record is due from here on
}

// room is how many bytes a segment of this size may get, as of end.
func (r *resting) room(size, end uint64) uint64 {
	if r.known && r.at != end {
		size += restWait
	}
	return size
}

// Rested says that no sequence is unfinished at seq, the end of the output, so that a reader may
// begin there: only the character that seq may cut is lost to it. It takes memory only. The
// caller of Append calls it.
func (j *Journal) Rested(seq uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if w := &j.writer; seq == j.End() {
		w.rest.known, w.rest.at = true, seq
		w.noteRest()
	}
}

// noteRest makes a record of rest where one is due.
func (w *writer) noteRest() {
	end := w.segments.end.Load()
	if w.open == nil || !w.rest.known || w.rest.at != end || end < w.rest.due {
		return
	}
	w.rest.due = end + restEvery
	w.records.add(&record{kind: recordRest, pos: end, time: micros(time.Now())})
}

// RestBefore returns the last position at or before pos where the output is known to be at rest.
// ok is false when none is known nearby, as in a journal of an older release. It reads one index
// or two.
func (j *Journal) RestBefore(pos uint64) (at uint64, ok bool) {
	for v := j.segmentAt(pos); v.found; v = j.segmentBefore(v.serial) {
		s, err := newSegmentReader(j, v)
		if err != nil {
			return 0, false
		}
		s.readIndex()
		for _, r := range s.rests { // ascending
			if r <= pos {
				at, ok = r, true
			}
		}
		if err := s.close(); ok || err != nil || v.offset+restEvery < pos {
			return at, ok && err == nil
		}
	}
	return 0, false
}
