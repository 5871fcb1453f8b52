package journal

import (
	"cmp"
	"slices"
)

// segmentView is a reader's copy of a segment's state, as of one instant.
type segmentView struct {
	segment
	found bool
	final bool   // no more output will be appended
	next  bool   // another segment follows
	last  uint64 // position where the next segment begins, or the journal ends
	bound uint64 // position up to which there are data
	tail  int64  // when the newest data came, 0 when not known
	wait  []byte // records that are not in the index file yet
}

// segmentAt returns the segment where reading from a position begins. One that ends exactly
// there may have events of that position.
func (j *Journal) segmentAt(pos uint64) segmentView {
	j.mu.Lock()
	defer j.mu.Unlock()
	i, _ := slices.BinarySearchFunc(j.segments.list, pos,
		func(a segment, b uint64) int { return cmp.Compare(a.offset, b) })
	return j.view(max(i, 1)-1, 0)
}

// segmentAfter returns the first segment with a higher serial.
func (j *Journal) segmentAfter(serial uint64) segmentView {
	j.mu.Lock()
	defer j.mu.Unlock()
	i, _ := j.segments.find(serial + 1)
	return j.view(i, 0)
}

// segmentBefore returns the last segment with a lower serial.
func (j *Journal) segmentBefore(serial uint64) segmentView {
	j.mu.Lock()
	defer j.mu.Unlock()
	i, _ := j.segments.find(serial)
	return j.view(i-1, 0)
}

// viewOf returns a segment whose reader has so many bytes of its index; not found when it was
// dropped.
func (j *Journal) viewOf(serial uint64, have int64) segmentView {
	j.mu.Lock()
	defer j.mu.Unlock()
	if i, ok := j.segments.find(serial); ok {
		return j.view(i, have)
	}
	return segmentView{}
}

// view copies segment i, if there is one, with the waiting records behind have bytes of the
// index. The caller holds the lock.
func (j *Journal) view(i int, have int64) segmentView {
	list := j.segments.list
	if i < 0 || i >= len(list) {
		return segmentView{}
	}
	s, w := list[i], &j.writer
	v := segmentView{segment: s, found: true, bound: s.end(), last: j.End(), final: true}
	if i < len(list)-1 {
		v.last, v.next = list[i+1].offset, true
		return v
	}
	v.final = w.refuses != nil
	if w.open != nil {
		v.bound = v.last
		v.wait = w.records.copyFrom(max(0, int(have-s.index)))
		if !w.mark.came.IsZero() {
			v.tail = micros(w.mark.came)
		}
	}
	return v
}
