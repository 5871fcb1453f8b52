package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Reader returns the entries of a journal in order. It is not for concurrent use; several may
// read one journal while it is written, and while its segments are dropped and compressed. It has
// at most two files open.
type Reader struct {
	j    *Journal
	pos  uint64
	seg  *segmentReader // nil between segments
	done uint64         // serial of the last segment that was read to its end
	time int64          // of the newest entry
	size terminalState  // after the newest entry
	err  error          // closed
}

// Read returns a reader that stands at from. Errors wrap ErrNotKept when from is
// outside [Start, End]. Resizes and other events exactly at from are returned too. The caller
// must Close it, before or after the Journal.
func (j *Journal) Read(from uint64) (*Reader, error) {
	if from < j.Start() || from > j.End() {
		return nil, j.dir.wrap(fmt.Errorf("%w: %d is not in [%d, %d]", ErrNotKept, from, j.Start(), j.End()))
	}
	r := &Reader{j: j, pos: from}
	if err := r.enter(j.segmentAt(from)); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return r, nil
}

// Size is the size of the terminal where the reader stands: before the first
// call of Next at the position that Read was given, later after the last entry.
// It is 0, 0 when not known.
func (r *Reader) Size() (cols, rows int) { return r.size.cols, r.size.rows }

// Time is when the output before the reader's position came, as far as is known. Before the
// first call of Next it may be the beginning of the segment. The zero value is unknown.
func (r *Reader) Time() time.Time {
	return timeOf(r.time).UTC()
}

// Seq is the position where the reader stands.
func (r *Reader) Seq() uint64 { return r.pos }

// Close releases the reader's files. A second call does nothing.
func (r *Reader) Close() error {
	r.err = fmt.Errorf("journal: reader of a journal: %w", os.ErrClosed)
	return r.exit()
}

func (r *Reader) exit() error {
	s := r.seg
	if r.seg = nil; s == nil {
		return nil
	}
	return s.close()
}

// Next returns the next entry. At the end as of now it returns io.EOF, and may be called again
// after more was appended. Unreadable bytes are a gap. Errors wrap ErrNotKept when the journal
// was trimmed beyond the reader's position.
//
// An entry of output ends at 64 KiB, where another time begins, and at each event. A resize that
// is recorded when the reader is already behind its position comes next.
func (r *Reader) Next() (Entry, error) {
	for r.err == nil {
		if r.seg == nil {
			if err := r.enter(r.j.segmentAfter(r.done)); err != nil {
				return Entry{}, err
			}
		}
		e, err := r.seg.next(r)
		if err == nil {
			return r.passed(e), nil
		}
		if !errors.Is(err, errSegmentEnd) {
			return Entry{}, err
		}
		r.done = r.seg.view.serial
		if err := r.exit(); err != nil {
			return Entry{}, err
		}
	}
	return Entry{}, r.err
}

// passed moves the reader behind an entry: neither time nor position go back.
func (r *Reader) passed(e Entry) Entry {
	if at := micros(e.Time); !e.Time.IsZero() {
		r.time = max(r.time, at)
	}
	e.Time = r.Time()
	r.pos = max(r.pos, e.Seq)
	e.Seq = r.pos
	if e.Damaged {
		r.j.losses.damaged(e.Seq)
	}
	if e.Kind == EntryResize || e.Kind == EntryRestart {
		r.size.cols, r.size.rows = e.Cols, e.Rows
	}
	return e
}

// enter opens a segment. It returns io.EOF when there is none, as at the end of a journal that
// has lost its last output.
func (r *Reader) enter(v segmentView) error {
	for {
		if r.pos < r.j.Start() && (!v.found || v.offset > r.pos) {
			return r.j.dir.wrap(fmt.Errorf("%w: %d was dropped", ErrNotKept, r.pos))
		}
		if !v.found {
			return io.EOF
		}
		s, err := newSegmentReader(r.j, v)
		if err == nil {
			r.seg = s
			s.begin(r)
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) || r.j.viewOf(v.serial, 0).found {
			return r.j.dir.wrap(err)
		}
		v = r.j.segmentAfter(v.serial) // dropped, or replaced when it was empty
	}
}

// toEntry converts the record of an event.
func toEntry(rec *record) Entry {
	e := Entry{Seq: rec.pos, Time: timeOf(rec.time)}
	switch rec.kind {
	case recordResize:
		e.Kind, e.Cols, e.Rows = EntryResize, rec.cols, rec.rows
	case recordRestart:
		e.Kind, e.Generation, e.Cols, e.Rows = EntryRestart, rec.generation, rec.cols, rec.rows
	case recordInput:
		e.Kind, e.Data = EntryInput, rec.text
	case recordExit:
		e.Kind, e.End = EntryExit, &End{}
		if err := json.Unmarshal(rec.text, e.End); err != nil {
			e.End = &End{Reason: "not known: " + cutText(err.Error())}
		}
	}
	return e
}
