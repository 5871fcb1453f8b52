package journal

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// segments lists the segments of a journal. The journal's mutex guards list and serial; the
// positions and bytes may be read without it.
type segments struct {
	start, end atomic.Uint64 // the first position that is kept, and the one after the last byte
	bytes      atomic.Int64  // on disk

	list   []segment // ascending
	serial uint64    // of the newest segment
}

func (s *segments) last() *segment { return &s.list[len(s.list)-1] }

// lastLength is how many bytes of output came since the last segment began.
func (s *segments) lastLength() uint64 { return s.end.Load() - s.last().offset }

// add appends a segment under a serial of its own.
func (s *segments) add(new segment) {
	s.serial++
	new.serial = s.serial
	s.list = append(s.list, new)
	s.start.Store(s.list[0].offset)
	s.bytes.Add(new.disk)
}

// forgetEmpty removes a last segment without data: the next one takes its place.
func (s *segments) forgetEmpty() {
	if n := len(s.list); n > 0 && s.lastLength() == 0 {
		s.bytes.Add(-s.last().disk)
		s.list = s.list[:n-1]
	}
}

// dropOldest removes the first segment from the list, if it ends at or before keepFrom and the
// journal has more than limit bytes. The last one stays.
func (s *segments) dropOldest(keepFrom uint64, limit int64) (oldest segment, ok bool) {
	if len(s.list) < 2 || s.list[1].offset > keepFrom || s.bytes.Load() <= limit {
		return oldest, false
	}
	oldest = s.list[0]
	s.list = slices.Delete(s.list, 0, 1)
	s.start.Store(s.list[0].offset)
	s.bytes.Add(-oldest.disk)
	return oldest, true
}

// replace puts a changed copy of a segment in its place, unless it was dropped.
func (s *segments) replace(changed segment) {
	if i, ok := s.find(changed.serial); ok {
		s.bytes.Add(changed.disk - s.list[i].disk)
		s.list[i] = changed
	}
}

// find returns the index of the first segment with this serial or a higher one; ok says that it
// is this one.
func (s *segments) find(serial uint64) (i int, ok bool) {
	return slices.BinarySearchFunc(s.list, serial, func(a segment, b uint64) int { return cmp.Compare(a.serial, b) })
}
