package journal

import (
	"errors"
	"io/fs"
	"time"
)

const (
	// restEvery is the output between two records of rest, in bytes: what a viewer that comes back costs at most to get
	// into the state at its position.
	restEvery = 512 << 10
	// restWait is how much longer a segment may become so that it ends where the output is at rest, in bytes: where
	// every other piece ends inside a sequence a few pieces are enough.
	restWait = 1 << 20
)

// resting is what the owner said of where the parser of the terminal was at rest. The zero value is never.
type resting struct {
	told bool
	at   uint64 // the last such position
	due  uint64 // the next record is due from here on
}

// room is how many bytes a segment of that size gets, as of end.
func (r *resting) room(size, end uint64) uint64 {
	if r.told && r.at != end {
		size += restWait
	}
	return size
}

// Rested tells that no sequence is unfinished at seq, the end of the output, so that a reader may begin there: it
// understands all behind the character that seq may cut. It only takes memory, and is called by who calls Append.
func (j *Journal) Rested(seq uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if seq != j.end.Load() {
		return
	}
	j.rest.told, j.rest.at = true, seq
	j.noteRest()
}

// noteRest makes a record of rest where one is due.
func (j *Journal) noteRest() {
	end := j.end.Load()
	if j.open == nil || !j.rest.told || j.rest.at != end || end < j.rest.due {
		return
	}
	j.rest.due = end + restEvery
	j.records.add(&record{kind: recordRest, pos: end, time: micros(time.Now())})
}

// RestBefore is the last position at or before pos at which the output is known to be at rest; ok is false when none is
// known nearby, as in a journal of an older release. It reads one index or two.
func (j *Journal) RestBefore(pos uint64) (at uint64, ok bool) {
	for v := j.segmentAt(pos); v.found; v = j.segmentBefore(v.serial) {
		s, err := j.readerOf(v)
		if err != nil {
			return 0, false
		}
		s.readIndex()
		for _, r := range s.rests {
			if r <= pos && (!ok || r > at) {
				at, ok = r, true
			}
		}
		if err := s.close(); ok || err != nil || v.offset+restEvery < pos {
			return at, ok && err == nil
		}
	}
	return 0, false
}

// readerOf is newSegmentReader, also of a segment that is compressed just now: its
// files have other names then.
func (j *Journal) readerOf(v segmentView) (*segmentReader, error) {
	for {
		s, err := newSegmentReader(j, v)
		now := j.viewOf(v.serial, 0)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || !now.found || now.packed == v.packed {
			return s, err
		}
		v = now
	}
}

// segmentBefore is the last segment in front of that one.
func (j *Journal) segmentBefore(serial uint64) segmentView {
	j.mu.Lock()
	defer j.mu.Unlock()
	at := -1
	for i := range j.segments {
		if j.segments[i].serial < serial {
			at = i
		}
	}
	return j.view(at, 0)
}
