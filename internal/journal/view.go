package journal

// segmentView is what a reader needs to know of a segment, as of now.
type segmentView struct {
	segment
	found bool
	final bool   // nothing is appended any more
	next  bool   // there is a segment behind it
	last  uint64 // position where the next segment begins, or the journal ends
	bound uint64 // position up to which there are data
	tail  int64  // when the newest data came, 0 when not known
	wait  []byte // records that are not in the index file yet
}

// segmentAt is the segment where reading from a position begins. One that ends
// exactly there may have events that belong to it.
func (j *Journal) segmentAt(pos uint64) segmentView {
	j.mu.Lock()
	defer j.mu.Unlock()
	at := -1
	for i := range j.segments {
		if i == 0 || j.segments[i].offset < pos {
			at = i
		}
	}
	return j.view(at, 0)
}

// segmentAfter is the first segment behind that one.
func (j *Journal) segmentAfter(serial uint64) segmentView {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.segments {
		if j.segments[i].serial > serial {
			return j.view(i, 0)
		}
	}
	return segmentView{}
}

// viewOf is a segment of which have bytes of the index are known, not found when it was dropped.
func (j *Journal) viewOf(serial uint64, have int64) segmentView {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.segments {
		if j.segments[i].serial == serial {
			return j.view(i, have)
		}
	}
	return segmentView{}
}

func (j *Journal) view(i int, have int64) segmentView {
	if i < 0 || i >= len(j.segments) {
		return segmentView{}
	}
	s := j.segments[i]
	v := segmentView{segment: s, found: true, bound: s.end(), last: j.end.Load(), final: true}
	if i < len(j.segments)-1 {
		v.last, v.next = j.segments[i+1].offset, true
		return v
	}
	v.final = !j.writes || j.closed
	if j.open != nil {
		v.bound = v.last
		v.wait = j.records.copyFrom(nil, max(0, int(have-s.index)))
		if !j.mark.came.IsZero() {
			v.tail = micros(j.mark.came)
		}
	}
	return v
}
