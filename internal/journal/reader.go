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

// Reader gives the entries of a journal in order. It is not for
// concurrent use; several may read one journal while it is written, and while its
// segments are dropped and compressed. It has at most two files open.
type Reader struct {
	j    *Journal
	pos  uint64
	seg  *segmentReader // nil between segments
	done uint64         // serial of the last segment that was read to its end
	time int64          // of the newest entry
	size terminalState  // what was passed
	err  error          // closed
}

// Read returns a reader that stands at from. Errors wrap ErrNotKept when from is
// outside [Start, End]. Resizes and other events that stand exactly at from are
// part of what it gives. The caller must Close it, before or after the Journal.
func (j *Journal) Read(from uint64) (*Reader, error) {
	if from < j.Start() || from > j.End() {
		return nil, j.wrap(fmt.Errorf("%w: %d is not in [%d, %d]", ErrNotKept, from, j.Start(), j.End()))
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

// Time is when the output up to where the reader stands came, as far as is known;
// before the first call of Next not more than the beginning of a segment tells.
// The zero value when nothing is.
func (r *Reader) Time() time.Time {
	if r.time == 0 {
		return time.Time{}
	}
	return time.UnixMicro(r.time).UTC()
}

// Seq is the position where the reader stands.
func (r *Reader) Seq() uint64 { return r.pos }

// Close releases the reader's files. A second call does nothing.
func (r *Reader) Close() error {
	r.err = fmt.Errorf("journal: reader of a journal: %w", os.ErrClosed)
	return r.exit()
}

func (r *Reader) exit() error {
	if r.seg == nil {
		return nil
	}
	err := r.seg.close()
	r.seg = nil
	return err
}

// Next returns the next entry; io.EOF at the end as of now, and it may be called
// again when more was appended. Bytes that cannot be read are a gap. Errors wrap
// ErrNotKept when the journal was trimmed beyond the reader's position.
//
// An entry of output ends at 64 KiB, where another time begins, and where
// something happened. A resize that was noted while the reader was at a later
// position already comes when it is known.
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

// passed puts an entry in order: neither time nor position go back.
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

// enter opens a segment; io.EOF when there is none, which is also so at the end
// of a journal that has lost its last output.
func (r *Reader) enter(v segmentView) error {
	for {
		if !v.found {
			if r.pos < r.j.Start() {
				return r.j.wrap(fmt.Errorf("%w: %d was dropped", ErrNotKept, r.pos))
			}
			return io.EOF
		}
		if v.segment.offset > r.pos && r.j.Start() > r.pos {
			return r.j.wrap(fmt.Errorf("%w: %d was dropped", ErrNotKept, r.pos))
		}
		s, err := newSegmentReader(r.j, v)
		if err == nil {
			r.seg = s
			s.begin(r)
			return nil
		}
		now := r.j.viewOf(v.serial, 0)
		if !errors.Is(err, fs.ErrNotExist) || now.found && now.packed == v.packed {
			return r.j.wrap(err)
		}
		if v = now; !v.found { // dropped, or replaced when it was empty
			v = r.j.segmentAfter(v.serial)
		}
	}
}

// toEntry makes an entry of a record of an event.
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
