package journal

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/snapshot"
)

// writer is the end of a journal: the open segment, and the notes that go to disk with its output.
// The journal's mutex guards all of it but records and losses, which have locks of their own.
type writer struct {
	dir      directory // constant, as opt, segments and losses are
	opt      Options
	segments *segments
	losses   *losses

	refuses error // why nothing may be written: open for reading only, or closed
	open    *openSegment
	trouble error     // why no segment is open
	retry   time.Time // when the disk is tried again
	late    error     // an error of a segment that was sealed; the next Sync returns it

	records   recordBuffer // not in the open index yet
	mark      marking
	rest      resting
	positions positions
	unsynced  unsynced
}

// openSegment is the last segment, with its files. Those of a quiet journal are closed and nil, see CloseQuiet.
type openSegment struct {
	data, index *os.File
	marked      uint64 // position of the last mark in the index file
	unsure      bool   // records were lost, and the index file cannot say which
}

// close closes the files that are open.
func (o *openSegment) close() error {
	var err error
	for _, f := range []*os.File{o.data, o.index} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// marking is the output since the last mark.
type marking struct {
	crc  uint32
	from uint64    // position of the last mark
	last time.Time // when it was made
	came time.Time // when the newest output came
}

// start opens the end of a journal as it was found in d. Positions below known may have been
// issued. The error is the damage that it met; with a disk that refuses no segment is open.
func (w *writer) start(d *os.Root, f *found, known uint64) error {
	var damage error
	if err := w.positions.provide(d, max(w.segments.end.Load(), known)); err == nil {
		damage = w.resume(d, f)
	}
	if known > w.segments.end.Load() {
		_ = w.skip(known) // the reason stays in trouble
	}
	if w.open == nil {
		damage = errors.Join(damage, w.begin(time.Now()))
	}
	return damage
}

// ensureOpen begins a segment when none is open, at most once in retryPause while the disk
// refuses.
func (w *writer) ensureOpen(now time.Time) error {
	switch {
	case w.open != nil:
		if err := w.wake(); err != nil {
			return w.fail(err)
		}
		return nil
	case w.trouble != nil && now.Before(w.retry):
		return w.trouble
	}
	return w.begin(now)
}

// begin makes a segment at the end and opens it. After a failure the error stays in trouble, and
// the disk is not tried again for retryPause.
func (w *writer) begin(now time.Time) error {
	w.segments.forgetEmpty()
	s, o, err := w.create(now)
	if err != nil {
		return w.pause(fmt.Errorf("beginning a segment: %w", err))
	}
	w.segments.add(s)
	w.open, w.trouble = o, nil
	w.mark = marking{from: s.offset, came: now}
	w.unsynced.index, w.unsynced.dir = true, true
	w.rest.due = s.offset
	w.noteRest()
	return nil
}

// pause keeps the reason for which no segment is open, until retryPause is over.
func (w *writer) pause(err error) error {
	w.trouble, w.retry = w.dir.wrap(err), time.Now().Add(retryPause)
	return w.trouble
}

// create makes the files of a segment at the end. The index comes first, with its start, so that
// data always have one. The file of positions comes before both: without it the next server does
// not know what was shown after the disk refused more data.
func (w *writer) create(now time.Time) (segment, *openSegment, error) {
	d, err := w.dir.open()
	if err != nil {
		return segment{}, nil, err
	}
	defer d.Close()
	s := segment{offset: w.segments.end.Load(), first: w.records.state()}
	if s.offset >= maxPosition {
		return s, nil, fmt.Errorf("%w: position %d", snapshot.ErrCorrupt, s.offset)
	}
	if err := w.positions.provide(d, s.offset); err != nil {
		return s, nil, err
	}
	o := &openSegment{marked: s.offset}
	if o.index, err = datadir.CreateFile(d, s.indexName()); err == nil {
		w.records.begin(s.offset, now)
		var n int
		n, err = o.index.WriteAt(w.records.take(), 0)
		s.index = int64(n)
		s.disk = s.index
	}
	if err == nil {
		o.data, err = datadir.CreateFile(d, s.dataName())
	}
	if err == nil {
		return s, o, nil
	}
	w.records.end(&record{kind: recordSeal})
	return s, nil, errors.Join(err, o.close(), s.remove(d))
}

// sealOpen seals the open segment and closes its files. It leaves no segment open, also when it
// fails.
func (w *writer) sealOpen() error {
	o, s, end := w.open, w.segments.last(), w.segments.end.Load()
	if o.unsure {
		if w.records.drop(); end > o.marked {
			w.records.add(&record{kind: recordUnsure, pos: end, time: micros(w.mark.came)})
		}
	} else {
		w.markRest()
	}
	// Until the next segment exists. A sealed end says that data behind it are gone when only the bound is known.
	w.noteExactEnd()
	err := w.writeIndex(w.records.end(&record{kind: recordSeal, pos: end, time: micros(time.Now())}))
	s.sealed = err == nil
	s.length = end - s.offset
	if w.opt.Sync != SyncNone {
		w.unsynced.sealed = append(w.unsynced.sealed, s.dataName(), s.indexName())
	}
	w.unsynced.data, w.unsynced.index = false, false
	w.open = nil
	s.disk = int64(s.length) + s.index
	return w.dir.wrap(errors.Join(err, w.release(o)))
}

// fail seals the open segment because of err; the next one may begin after retryPause.
func (w *writer) fail(err error) error {
	_ = w.pause(err)
	if w.open != nil {
		// A failed write may have left more than it reported.
		_ = w.open.data.Truncate(int64(w.segments.lastLength()))
		w.late = errors.Join(w.late, w.sealOpen())
	}
	return w.trouble
}

// flush writes the waiting records to the index. A failure loses them, and fails the segment.
func (w *writer) flush() error {
	if w.open == nil {
		return w.trouble
	}
	marked := w.mark.from
	if err := w.writeIndex(w.records.take()); err != nil {
		w.open.unsure = true
		return w.fail(err)
	}
	w.open.marked = marked
	return nil
}

// writeIndex writes whole frames to the end of the index with one write(2), or
// nothing.
func (w *writer) writeIndex(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if err := w.wake(); err != nil {
		return err
	}
	s := w.segments.last()
	if _, err := w.open.index.WriteAt(p, s.index); err != nil {
		return fmt.Errorf("%s: %w", s.indexName(), errors.Join(err, w.open.index.Truncate(s.index)))
	}
	s.index += int64(len(p))
	w.segments.bytes.Add(int64(len(p)))
	w.unsynced.index = true
	return nil
}

// skip moves the end to seq, which is behind it, and begins a segment there.
func (w *writer) skip(seq uint64) error {
	var err error
	if w.open != nil {
		err = w.sealOpen()
	}
	w.losses.gap(w.segments.end.Load(), seq)
	w.segments.end.Store(seq)
	w.noteExactEnd()
	return errors.Join(err, w.begin(time.Now()))
}

// roll begins a new segment when the open one has data.
func (w *writer) roll() error {
	if w.open == nil || w.segments.lastLength() == 0 {
		return nil
	}
	if err := w.sealOpen(); err != nil {
		return err
	}
	return w.begin(time.Now())
}

// close writes the waiting records and closes the open segment, without a seal: the next Open
// continues it.
func (w *writer) close() error {
	w.refuses = os.ErrClosed
	var err error
	if w.open != nil {
		err = w.flush()
	}
	if o := w.open; o != nil { // flush may have sealed it
		w.open = nil
		w.segments.last().length = w.segments.lastLength()
		err = errors.Join(err, w.release(o))
	}
	w.noteExactEnd()
	return err
}
