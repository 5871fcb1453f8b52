package journal

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/snapshot"
)

// errSegmentEnd: a segment was read to its end.
var errSegmentEnd = errors.New("end of the segment")

// segmentReader reads one segment in order.
type segmentReader struct {
	j     *Journal
	view  segmentView
	data  segmentData
	index *os.File // nil when there is none

	scan   indexScan
	taken  int64 // bytes of the index that were decoded, those that only wait included
	broken bool  // the index is damaged from there on

	ranges []dataRange // not passed yet
	events []record    // not passed yet, by position
	rests  []uint64    // where the parser of a terminal was at rest, ascending

	buf    []byte
	loaded dataRange // what is in buf
	good   bool      // and its checksum is right
}

// dataRange is data with a time and a checksum.
type dataRange struct {
	from, to uint64
	time     int64
	crc      uint32
	marked   bool // it has a checksum
	unsure   bool
}

// newSegmentReader opens the files, also when the data are being compressed and so get another
// name. Errors wrap fs.ErrNotExist when the segment was dropped.
//
// The two files are opened one after the other, and between them Trim may remove both or begin
// may put others in their place. So they count only when the segment is still listed afterwards:
// a segment leaves the list before its files are removed.
func newSegmentReader(j *Journal, v segmentView) (*segmentReader, error) {
	for {
		s, err := openSegmentReader(j, v)
		now := j.viewOf(v.serial, 0)
		switch {
		case !now.found:
			if err == nil {
				err = s.close()
			}
			return nil, errors.Join(fs.ErrNotExist, err)
		case !errors.Is(err, fs.ErrNotExist) || now.packed == v.packed:
			return s, err
		}
		v = now
	}
}

func openSegmentReader(j *Journal, v segmentView) (*segmentReader, error) {
	d, err := j.dir.open()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	s := &segmentReader{j: j, view: v}
	if s.data, err = openData(d, &v.segment); err != nil {
		return nil, err
	}
	s.index, _, err = datadir.OpenFile(d, v.indexName(), os.O_RDONLY)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, snapshot.ErrCorrupt) {
		return nil, errors.Join(err, s.data.Close())
	}
	return s, nil
}

func (s *segmentReader) close() error {
	err := s.data.Close()
	if s.index != nil {
		err = errors.Join(err, s.index.Close())
	}
	return err
}

// begin reads the index and skips everything before the reader's position.
func (s *segmentReader) begin(r *Reader) {
	s.readIndex()
	size := s.view.first
	for len(s.events) > 0 && s.events[0].pos < r.pos {
		size.apply(&s.events[0])
		s.events = s.events[1:]
	}
	for len(s.ranges) > 0 && s.ranges[0].to <= r.pos {
		size.time = max(size.time, s.ranges[0].time)
		s.ranges = s.ranges[1:]
	}
	if r.time = max(r.time, size.time); r.done == 0 {
		r.size.cols, r.size.rows = size.cols, size.rows
		return
	}
	if size.cols > 0 && (size.cols != r.size.cols || size.rows != r.size.rows) { // a resize was lost in a gap
		s.events = slices.Insert(s.events, 0,
			record{kind: recordResize, pos: s.view.offset, time: size.time, cols: size.cols, rows: size.rows})
	}
}

// refresh updates the view. It returns false when nothing was appended.
func (s *segmentReader) refresh() bool {
	if s.view.final {
		return false
	}
	before, serial := s.view, s.view.serial
	v := s.j.viewOf(serial, s.taken)
	if !v.found { // dropped: the open files have the rest
		v = before
		v.final, v.wait, v.index = true, nil, maxIndexRead
		if f, ok := s.data.(*os.File); ok {
			if info, err := f.Stat(); err == nil {
				v.bound = max(v.bound, v.offset+uint64(info.Size()))
			}
		}
		v.last = v.bound
	}
	s.view = v
	got := s.readIndex()
	return got || v.bound != before.bound || v.last != before.last || v.final != before.final
}

// readIndex decodes new records of the index and reports whether there were any.
func (s *segmentReader) readIndex() bool {
	b := s.newRecords()
	got := false
	for len(b) > 0 && !s.broken {
		from := s.scan.marked
		r, n, err := s.scan.next(b)
		if err == nil && r.kind == recordStart && r.pos != s.view.offset {
			err = errBadFrame
		}
		if err != nil {
			s.broken = !errors.Is(err, errTorn)
			break
		}
		s.keep(&r, from)
		s.taken += int64(n)
		b = b[n:]
		got = true
	}
	return got
}

// newRecords returns the bytes of the index that were not decoded: in the file, and waiting.
func (s *segmentReader) newRecords() []byte {
	limit := s.view.index
	if s.view.final {
		limit = maxIndexRead // a damaged rest has to be seen
	}
	var b []byte
	if s.index != nil && s.taken < limit {
		var err error
		b, err = io.ReadAll(io.NewSectionReader(s.index, s.taken, limit-s.taken))
		s.broken = s.broken || err != nil
	}
	if s.index == nil && s.view.index > 0 {
		s.broken = true
	}
	return append(b, s.view.wait...)
}

// keep sorts a record in; from is the position of the mark before it.
func (s *segmentReader) keep(r *record, from uint64) {
	switch r.kind {
	case recordStart:
		s.view.first.apply(r)
	case recordMark, recordUnsure:
		s.ranges = append(s.ranges, dataRange{from: from, to: r.pos, time: r.time, crc: r.crc,
			marked: r.kind == recordMark, unsure: r.kind == recordUnsure})
	case recordRest:
		s.rests = append(s.rests, r.pos)
	case recordResize, recordInput, recordExit, recordRestart:
		at, _ := slices.BinarySearchFunc(s.events, r.pos+1, func(e record, pos uint64) int {
			return cmp.Compare(e.pos, pos)
		})
		own := *r
		own.text = slices.Clone(r.text)
		s.events = slices.Insert(s.events, at, own)
	}
}

// next returns the next entry of the segment; errSegmentEnd, or io.EOF when more
// may come.
func (s *segmentReader) next(r *Reader) (Entry, error) {
	for {
		if len(s.events) > 0 && min(s.events[0].pos, s.view.last) <= r.pos {
			e := toEntry(&s.events[0])
			e.Seq = r.pos
			s.events = s.events[1:]
			return e, nil
		}
		bound := min(s.view.bound, s.view.last)
		if r.pos < bound {
			if e, ok := s.output(r, bound); ok {
				return e, nil
			}
			continue
		}
		switch {
		case s.refresh():
		case r.pos < s.view.last:
			return lost(r.pos, s.view.last, false), nil
		case s.view.final:
			return Entry{}, errSegmentEnd
		default:
			return Entry{}, io.EOF
		}
	}
}

func lost(from, to uint64, damaged bool) Entry {
	return Entry{Kind: EntryGap, Seq: to, Bytes: to - from, Damaged: damaged}
}

// output is the data at the reader's position; ok is false when more became
// known of them, so that it has to be tried again.
func (s *segmentReader) output(r *Reader, bound uint64) (e Entry, ok bool) {
	for len(s.ranges) > 0 && s.ranges[0].to <= r.pos {
		s.ranges = s.ranges[1:]
	}
	if len(s.ranges) == 0 && s.refresh() {
		return Entry{}, false
	}
	have := dataRange{from: r.pos, to: min(bound, r.pos+maxRange), time: s.view.tail, unsure: s.unsure()}
	if len(s.ranges) > 0 {
		have = s.ranges[0]
	}
	if have.unsure && have.to-have.from > maxRange {
		have.from, have.to = r.pos, min(have.to, r.pos+maxRange)
	}
	whole := have.to <= bound
	to := min(have.to, bound)
	if len(s.events) > 0 {
		to = min(to, max(s.events[0].pos, r.pos+1))
	}
	p, good, err := s.load(have, min(have.to, bound))
	if err != nil {
		return lost(r.pos, to, true), true
	}
	return Entry{
		Kind: EntryOutput, Seq: to, Time: timeOf(have.time), Data: p[r.pos-have.from : to-have.from],
		Damaged: have.unsure || have.marked && !(whole && good),
	}, true
}

// unsure reports whether data behind the last mark may be anything: their index is
// damaged, or its end is missing.
func (s *segmentReader) unsure() bool {
	return s.broken || s.view.final && !s.scan.started || s.view.next && !s.scan.sealed
}

// load reads the data of a range up to a position and checks them.
func (s *segmentReader) load(have dataRange, to uint64) (p []byte, good bool, err error) {
	if s.buf == nil {
		s.buf = make([]byte, maxRange)
	}
	if n := to - have.from; n > uint64(len(s.buf)) {
		return nil, false, fmt.Errorf("%w: a range of %d bytes", snapshot.ErrCorrupt, n)
	}
	p = s.buf[:to-have.from]
	if s.loaded.from == have.from && s.loaded.to == to {
		return p, s.good, nil
	}
	s.loaded = dataRange{}
	if n, err := s.data.ReadAt(p, int64(have.from-s.view.offset)); n < len(p) {
		return nil, false, errors.Join(err, io.ErrUnexpectedEOF)
	}
	s.loaded = dataRange{from: have.from, to: to}
	s.good = !have.marked || crc32.Checksum(p, castagnoli) == have.crc
	return p, s.good, nil
}

// timeOf is the time of a record, zero when there is none.
func timeOf(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us)
}
