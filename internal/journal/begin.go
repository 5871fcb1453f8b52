package journal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/snapshot"
)

// begin makes a segment at the end and opens it. When that fails, the disk is left
// alone for retryPause, and the error stays in trouble meanwhile.
func (j *Journal) begin(now time.Time) error {
	j.forgetEmpty()
	s, o, err := j.create(now)
	if err != nil {
		j.trouble, j.retry = j.wrap(fmt.Errorf("beginning a segment: %w", err)), time.Now().Add(retryPause)
		return j.trouble
	}
	j.serial++
	s.serial = j.serial
	j.segments = append(j.segments, s)
	j.start.Store(j.segments[0].offset)
	j.bytes.Add(s.index)
	j.open, j.trouble = o, nil
	j.mark = marking{from: s.offset, came: now}
	j.unsynced.index, j.unsynced.dir = true, true
	j.rest.due = s.offset
	j.noteRest()
	return nil
}

// forgetEmpty forgets a last segment without data, in whose place the next one
// comes.
func (j *Journal) forgetEmpty() {
	if n := len(j.segments); n > 0 && j.last().offset == j.end.Load() {
		j.bytes.Add(-j.last().disk)
		j.segments = j.segments[:n-1]
	}
}

// create makes the files of a segment at the end. The index comes before the data, with
// its start, so that data always have one. The file of positions comes before both: without it
// nothing tells the next server what was shown after the disk refused more data.
func (j *Journal) create(now time.Time) (segment, *openSegment, error) {
	d, err := j.directory()
	if err != nil {
		return segment{}, nil, err
	}
	defer d.Close()
	s := segment{offset: j.end.Load(), first: j.records.state()}
	if s.offset >= maxPosition {
		return s, nil, fmt.Errorf("%w: position %d", snapshot.ErrCorrupt, s.offset)
	}
	if err := j.positions.provide(d, s.offset); err != nil {
		return s, nil, err
	}
	o := &openSegment{marked: s.offset}
	if o.index, err = datadir.CreateFile(d, s.indexName()); err == nil {
		j.records.begin(s.offset, now)
		var n int
		n, err = o.index.WriteAt(j.records.take(), 0)
		s.index = int64(n)
	}
	if err == nil {
		o.data, err = datadir.CreateFile(d, s.dataName())
	}
	if err == nil {
		return s, o, nil
	}
	j.records.end(&record{kind: recordSeal})
	for _, f := range []*os.File{o.index, o.data} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return s, nil, errors.Join(err, s.remove(d))
}

// sealOpen seals the open segment and closes its files. Whatever fails, there is no
// open segment afterwards.
func (j *Journal) sealOpen() error {
	o, s, end := j.open, j.last(), j.end.Load()
	if o.unsure {
		if j.records.drop(); end > o.marked {
			j.records.add(&record{kind: recordUnsure, pos: end, time: micros(j.mark.came)})
		}
	} else {
		j.markRest()
	}
	// Until the next segment is there. A sealed end says that data behind it are gone when the bound is all that is
	// known.
	j.noteExactEnd()
	err := j.writeIndex(j.records.end(&record{kind: recordSeal, pos: end, time: micros(time.Now())}))
	s.sealed = err == nil
	s.length = end - s.offset
	if j.opt.Sync != SyncNone {
		j.unsynced.sealed = append(j.unsynced.sealed, s.dataName(), s.indexName())
	}
	j.unsynced.data, j.unsynced.index = false, false
	j.open = nil
	s.disk = int64(s.length) + s.index
	return j.wrap(errors.Join(err, o.data.Close(), o.index.Close()))
}

// fail gives up the open segment because of err, until retryPause is over.
func (j *Journal) fail(err error) error {
	j.trouble, j.retry = j.wrap(err), time.Now().Add(retryPause)
	if j.open != nil {
		// A failed write may have left more than it said.
		_ = j.open.data.Truncate(int64(j.end.Load() - j.last().offset))
		j.late = errors.Join(j.late, j.sealOpen())
	}
	return j.trouble
}

// flush writes the records that wait to the index. When that fails they are lost,
// and so the segment is left.
func (j *Journal) flush() error {
	if j.open == nil {
		return j.trouble
	}
	marked := j.mark.from
	if err := j.writeIndex(j.records.take()); err != nil {
		j.open.unsure = true
		return j.fail(err)
	}
	j.open.marked = marked
	return nil
}

// writeIndex writes whole frames to the end of the index with one write(2), or
// nothing.
func (j *Journal) writeIndex(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	s := j.last()
	if _, err := j.open.index.WriteAt(p, s.index); err != nil {
		return fmt.Errorf("%s: %w", s.indexName(), errors.Join(err, j.open.index.Truncate(s.index)))
	}
	s.index += int64(len(p))
	j.bytes.Add(int64(len(p)))
	j.unsynced.index = true
	return nil
}

// resume opens the last segment to go on with it. It does not when that would
// write to a segment that is complete or whose end is not certain; then a new one
// has to be begun.
func (j *Journal) resume(d *os.Root, f *found) error {
	if len(j.segments) == 0 {
		return nil
	}
	s := j.last()
	if s.packed || s.sealed || s.newer || s.gone || s.index == 0 || f.end > s.end() {
		return nil
	}
	o, err := reopen(d, s)
	if err != nil {
		return j.wrap(err)
	}
	j.open, o.marked = o, f.marked
	j.records.resume(f.base)
	j.mark = marking{from: f.marked}
	if err := j.markFound(f.unsure); err != nil {
		return j.fail(err)
	}
	return j.flush()
}

// reopen opens the files of a segment and cuts its index to what is good of it.
func reopen(d *os.Root, s *segment) (*openSegment, error) {
	data, _, err := datadir.OpenFile(d, s.dataName(), os.O_RDWR)
	if err != nil {
		return nil, err
	}
	index, _, err := datadir.OpenFile(d, s.indexName(), os.O_RDWR)
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	if err := index.Truncate(s.index); err != nil {
		return nil, errors.Join(err, data.Close(), index.Close())
	}
	return &openSegment{data: data, index: index}, nil
}

// markFound makes marks for data that were written before and have none, because
// the process was killed before it wrote them. When the index was damaged nobody
// knows whether the data are.
func (j *Journal) markFound(unsure bool) error {
	s, end := j.last(), j.end.Load()
	info, err := j.open.data.Stat()
	if err != nil || end == j.mark.from {
		return err
	}
	j.mark.came = info.ModTime()
	if unsure {
		j.records.add(&record{kind: recordUnsure, pos: end, time: micros(j.mark.came)})
		j.mark.from = end
		return nil
	}
	buf := make([]byte, maxRange)
	for j.mark.from < end {
		p := buf[:min(uint64(len(buf)), end-j.mark.from)]
		if _, err := j.open.data.ReadAt(p, int64(j.mark.from-s.offset)); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", s.dataName(), err)
		}
		j.mark.crc = crc32.Checksum(p, castagnoli)
		j.setMark(j.mark.from+uint64(len(p)), j.mark.came)
	}
	return nil
}

// SkipTo moves the end to seq, when it is before it, and begins a segment there:
// the output between is lost. It is for a snapshot that is ahead of the journal,
// after a crash of the machine or on a disk that refused, so that positions are
// not given out twice.
func (j *Journal) SkipTo(seq uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if seq <= j.end.Load() {
		return nil
	}
	switch {
	case !j.writes:
		return j.wrap(errReadingOnly)
	case j.closed:
		return j.wrap(os.ErrClosed)
	}
	return j.skip(seq)
}

// skip is SkipTo of an end that is before seq, under the lock.
func (j *Journal) skip(seq uint64) error {
	var err error
	if j.open != nil {
		err = j.sealOpen()
	}
	j.losses.gap(j.end.Load(), seq)
	j.end.Store(seq)
	j.noteExactEnd()
	return errors.Join(err, j.begin(time.Now()))
}
