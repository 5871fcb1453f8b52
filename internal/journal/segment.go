package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/snapshot"
)

// maxIndexRead bounds how much of an index is read, in bytes. Sixteen times what
// is written: a longer one is not ours.
const maxIndexRead = 16 * maxIndex

// segment is a stretch of a journal: one data file and its index.
type segment struct {
	offset uint64        // position of the first byte, and the files' name
	length uint64        // bytes of data; of the open segment see Journal.end
	disk   int64         // bytes on disk, of both files, when last looked at
	index  int64         // good bytes of the index file
	sealed bool          // the index says that the data are complete
	packed bool          // data are compressed
	newer  bool          // index of a newer version: not for us to write to
	gone   bool          // there is an index, but no data file
	first  terminalState // where the terminal was at its offset
	serial uint64        // ascends in a Journal, also for segments of one offset
}

// terminalState is what a journal knows of a terminal at a position besides its output.
type terminalState struct {
	cols, rows int
	generation int
	answered   uint64
	time       int64 // of the last record, microseconds since 1970 UTC
}

// apply applies a record.
func (s *terminalState) apply(r *record) {
	switch r.kind {
	case recordStart:
		if r.cols > 0 && r.rows > 0 {
			s.cols, s.rows = r.cols, r.rows
		}
		s.generation, s.answered = max(s.generation, r.generation), max(s.answered, r.answered)
	case recordResize, recordRestart:
		s.cols, s.rows = r.cols, r.rows
		s.generation = max(s.generation, r.generation)
	case recordAnswered:
		s.answered = max(s.answered, r.answered)
	}
	if r.kind <= lastRecord {
		s.time = r.time
	}
}

// dataName is the name of the file with the segment's data.
func (s *segment) dataName() string {
	name := datadir.SegmentFile(datadir.DataFile, s.offset)
	if s.packed {
		name += datadir.PackedEnd
	}
	return name
}

func (s *segment) indexName() string { return datadir.SegmentFile(datadir.IndexFile, s.offset) }

// end is the position after the segment's last byte.
func (s *segment) end() uint64 { return s.offset + s.length }

// found is what stands in a terminal's directory of a journal.
type found struct {
	segments []segment     // ascending
	end      uint64        // the highest position that is known
	orphans  []orphan      // indexes without data that know of none
	state    terminalState // at the end
	base     indexBase     // of the last segment's index
	marked   uint64        // position of the last mark of the last segment
	unsure   bool          // the last segment's index ends in damage
	issued   issued
	damage   []error
}

// orphan is an index that has no data and knows of none.
type orphan struct {
	offset uint64
	good   bool // it is an index of that offset
}

// issuedUpTo is the position up to which positions were issued, surely or possibly, as far as the file of positions
// knows more than the segments. A bound counts when data at the end are lost: their file is gone, or shorter than its
// index knows.
func (f *found) issuedUpTo() uint64 {
	if f.issued.exact {
		return f.issued.pos
	}
	n := len(f.segments)
	if n == 0 || f.segments[n-1].gone || f.segments[n-1].sealed || f.end > f.segments[n-1].end() {
		return f.issued.pos
	}
	return 0
}

// findSegments looks at all segments, their indexes too, and reads no data.
func findSegments(d *os.Root) (*found, error) {
	entries, err := datadir.ReadDir(d)
	if err != nil {
		return nil, err
	}
	f := &found{issued: readPositions(d)}
	var indexes []uint64
	for _, e := range entries {
		if offset, _, ok := datadir.SegmentOffset(datadir.IndexFile, e.Name()); ok {
			indexes = append(indexes, offset)
		} else if offset, packed, ok := datadir.SegmentOffset(datadir.DataFile, e.Name()); ok {
			f.add(e, segment{offset: offset, packed: packed})
		}
	}
	// By name the plain file comes before the compressed one, which stays so: when both are there a crash was between
	// making the one and removing the other.
	slices.SortStableFunc(f.segments, byOffset)
	f.segments = slices.CompactFunc(f.segments, func(a, b segment) bool { return a.offset == b.offset })
	f.findGone(d, indexes)
	for i := range f.segments {
		f.inspect(d, i)
	}
	f.checkEnds()
	f.checkOrphans()
	return f, nil
}

func byOffset(a, b segment) int { return cmp.Compare(a.offset, b.offset) }

// damaged notes damage.
func (f *found) damaged(format string, args ...any) {
	f.damage = append(f.damage, fmt.Errorf(format, args...))
}

func (f *found) add(e fs.DirEntry, s segment) {
	if info, err := e.Info(); err != nil || !info.Mode().IsRegular() {
		f.damaged("%s: %w", e.Name(), errors.Join(err, datadir.ErrNotFile))
		return
	}
	f.segments = append(f.segments, s)
}

// inspect reads the index of segment i, and fills the segment from it and from the data file.
func (f *found) inspect(d *os.Root, i int) {
	s := &f.segments[i]
	size, err := dataLength(d, s)
	if err != nil {
		f.damaged("%s: %w", s.dataName(), err)
	}
	if s.gone {
		f.damaged("%w: %s has no data", snapshot.ErrCorrupt, s.indexName())
	}
	s.length = uint64(size)
	s.first = f.state
	var scan indexScan
	known, err := f.readIndex(d, s, &scan)
	f.unsure = err != nil && !errors.Is(err, errTorn)
	s.newer = errors.Is(err, snapshot.ErrVersion)
	if err != nil {
		f.damaged("%s: %w", s.indexName(), err)
	}
	f.base, f.marked, s.sealed = scan.base, scan.marked, scan.sealed
	switch {
	case s.packed && scan.sealed:
		s.length = known - s.offset
	case s.gone:
	case known > s.end():
		f.damaged("%w: %s has %d bytes, its index knows %d", snapshot.ErrCorrupt, s.dataName(), s.length,
			known-s.offset)
	case scan.sealed && known < s.end():
		f.damaged("%w: %s has %d bytes, it was sealed with %d", snapshot.ErrCorrupt, s.dataName(), s.length,
			known-s.offset)
		s.length = known - s.offset
	}
	f.end = max(f.end, known, s.end())
}

// readIndex scans the index of s and returns the highest position it knows. An
// error says why it was not read to its end, or not at all.
func (f *found) readIndex(d *os.Root, s *segment, scan *indexScan) (known uint64, err error) {
	b, err := datadir.ReadFile(d, s.indexName(), maxIndexRead)
	known = s.offset
	for err == nil && int(s.index) < len(b) {
		var r record
		var n int
		if r, n, err = scan.next(b[s.index:]); err != nil {
			break
		}
		if r.kind == recordStart && r.pos != s.offset {
			scan.started = false
			return known, fmt.Errorf("%w: index of offset %d", errBadFrame, r.pos)
		}
		s.index += int64(n)
		f.state.apply(&r)
		if r.kind == recordStart {
			s.first = f.state
		} else {
			known = max(known, r.pos)
		}
	}
	if err == nil && !scan.started {
		err = errTorn
	}
	if !scan.started {
		scan.marked = s.offset
	}
	return known, err
}

// checkEnds compares where segments end with where the next begin.
func (f *found) checkEnds() {
	for i := range len(f.segments) - 1 {
		s, next := &f.segments[i], f.segments[i+1].offset
		switch {
		case s.end() > next:
			f.damaged("%w: %s has %d bytes, the next begins after %d", snapshot.ErrCorrupt, s.dataName(), s.length,
				next-s.offset)
			s.length = next - s.offset
		case s.end() < next:
			f.damaged("%d bytes behind %s are missing", next-s.end(), s.dataName())
		case !s.sealed && !s.newer:
			f.damaged("%w: %s was not sealed", snapshot.ErrCorrupt, s.indexName())
		}
	}
}

// findGone looks for indexes without data. A crash leaves one that knows of no output at the end, where a segment was
// being begun: an orphan. What drops a segment leaves none, see segment.remove. From any other data are gone, and it
// stays a segment of which only that is known.
func (f *found) findGone(d *os.Root, indexes []uint64) {
	for _, offset := range indexes {
		if slices.ContainsFunc(f.segments, func(s segment) bool { return s.offset == offset }) {
			continue
		}
		s := segment{offset: offset, gone: true}
		var scan indexScan
		known, _ := (&found{}).readIndex(d, &s, &scan)
		last := !slices.ContainsFunc(f.segments, func(s segment) bool { return s.offset > offset })
		if last && known == offset {
			f.orphans = append(f.orphans, orphan{offset, scan.started})
			continue
		}
		f.segments = append(f.segments, segment{offset: offset, gone: true})
	}
	slices.SortFunc(f.segments, byOffset)
}

// checkOrphans looks at the offsets of orphans: data before one are gone when they do not reach to it.
func (f *found) checkOrphans() {
	for _, o := range f.orphans {
		if o.offset > f.end && (o.good || len(f.segments) > 0) {
			f.damaged("%w: %s has no data", snapshot.ErrCorrupt, datadir.SegmentFile(datadir.IndexFile, o.offset))
			f.end = o.offset
		}
	}
}

// dataLength is how many bytes of data a segment has by its data file.
func dataLength(d *os.Root, s *segment) (int64, error) {
	if s.gone {
		return 0, nil
	}
	f, info, err := datadir.OpenFile(d, s.dataName(), os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if s.packed {
		return packedLength(f)
	}
	return info.Size(), nil
}

// segmentData is the data of a segment, read by offset in it.
type segmentData interface {
	io.ReaderAt
	io.Closer
}

// openData opens the data of a segment for reading.
func openData(d *os.Root, s *segment) (segmentData, error) {
	if s.gone {
		return noData{}, nil
	}
	f, _, err := datadir.OpenFile(d, s.dataName(), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	if s.packed {
		return newPackedData(f)
	}
	return f, nil
}

// diskSize is what the files of a segment take.
func (s *segment) diskSize(d *os.Root) (n int64) {
	plain := datadir.SegmentFile(datadir.DataFile, s.offset)
	for _, name := range []string{plain, plain + datadir.PackedEnd, s.indexName()} {
		if info, err := d.Lstat(name); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}

// remove deletes the files of a segment. The data get another name first, so that a crash in the middle differs from
// a removal by another program: see sweepDropped.
func (s *segment) remove(d *os.Root) error {
	plain, dropped := datadir.SegmentFile(datadir.DataFile, s.offset), datadir.GoneDir+s.dataName()
	err := d.Rename(s.dataName(), dropped)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, d.RemoveAll(plain), d.RemoveAll(plain+datadir.PackedEnd), d.RemoveAll(s.indexName()),
		d.RemoveAll(dropped))
}
