package journal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/evertty/evertty/internal/datadir"
)

// resume opens the last segment to continue it. It opens none when that segment is complete or
// its end is not certain; then a new one has to begin.
func (w *writer) resume(d *os.Root, f *found) error {
	if len(w.segments.list) == 0 {
		return nil
	}
	s := w.segments.last()
	if s.packed || s.sealed || s.newer || s.gone || s.index == 0 || f.end > s.end() {
		return nil
	}
	o, err := reopen(d, s)
	if err != nil {
		return w.dir.wrap(err)
	}
	w.open, o.marked = o, f.marked
	w.records.resume(f.base)
	w.mark = marking{from: f.marked}
	if err := w.markFound(f.unsure); err != nil {
		return w.fail(err)
	}
	return w.flush()
}

// reopen opens the files of a segment and cuts its index behind the last good record.
func reopen(d *os.Root, s *segment) (o *openSegment, err error) {
	o = &openSegment{}
	if o.data, _, err = datadir.OpenFile(d, s.dataName(), os.O_RDWR); err == nil {
		o.index, _, err = datadir.OpenFile(d, s.indexName(), os.O_RDWR)
	}
	if err == nil {
		err = o.index.Truncate(s.index)
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

// markFound makes marks for data that have none, because the process was killed before it wrote
// them. unsure says that the index was damaged: the data may be too.
func (w *writer) markFound(unsure bool) error {
	s, end := w.segments.last(), w.segments.end.Load()
	info, err := w.open.data.Stat()
	if err != nil || end == w.mark.from {
		return err
	}
	w.mark.came = info.ModTime()
	if unsure {
		w.records.add(&record{kind: recordUnsure, pos: end, time: micros(w.mark.came)})
		w.mark.from = end
		return nil
	}
	buf := make([]byte, maxRange)
	for w.mark.from < end {
		p := buf[:min(uint64(len(buf)), end-w.mark.from)]
		if _, err := w.open.data.ReadAt(p, int64(w.mark.from-s.offset)); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", s.dataName(), err)
		}
		w.mark.crc = crc32.Checksum(p, castagnoli)
		w.setMark(w.mark.from+uint64(len(p)), w.mark.came)
	}
	return nil
}
