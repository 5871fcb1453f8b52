// Package journal keeps everything that a terminal has printed, with its times and
// resizes, in the terminal's directory of a data directory.
//
// A Journal appends; a Reader gives the entries back in order, also while the journal
// grows. What a full or broken disk leaves out, and what is found damaged, is told by
// position: no byte is made up and none is given twice.
package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/snapshot"
)

// ErrNotKept is returned for a position that the journal does not hold: dropped
// by a quota, or not written yet.
var ErrNotKept = errors.New("position not kept in the journal")

// errReadingOnly: the journal was opened by Read.
var errReadingOnly = errors.New("journal open for reading only")

// SyncMode says when the journal asks the disk to keep what was written. What
// the system was given survives any crash of evertty in all of them; they differ
// in what a crash of the machine may take.
type SyncMode string

// The modes of --sync.
const (
	SyncNone     SyncMode = "none"     // never ask
	SyncInterval SyncMode = "interval" // by Journal.Sync, which is called once a second
	SyncAlways   SyncMode = "always"   // before Append and the writers of records return
)

// Options are how a journal is written.
type Options struct {
	Sync SyncMode // "" is SyncInterval
	// Segment is how many bytes a data file gets before the next is begun; 0
	// is DefaultSegment.
	Segment int64
	// Cols and Rows are the terminal's size at the start of a new journal; 0 when
	// not known.
	Cols, Rows int
	Input      bool // record what is typed, passwords too
	// Unknown is where a journal begins whose files are all missing: a position that a journal under this
	// id cannot have reached. 0 for a new terminal.
	Unknown uint64
}

const (
	// DefaultSegment is the size of a data file in bytes: small enough that a
	// quota frees in useful steps, large enough that a flood does not make files
	// all the time.
	DefaultSegment = 8 << 20
	// maxIndex is how many bytes an index gets before the next segment is begun,
	// so that reading from a position never takes more than one such index. Only
	// a program that writes a few bytes every 10 ms gets there.
	maxIndex = 1 << 20
	// retryPause is how long the disk is left alone when it refused. Trying costs
	// a failing open of a file; what comes meanwhile is not in the journal.
	retryPause = time.Second
	// markEvery is how much time output has in common in the index. It is what
	// a recording can be exact to; a person sees no difference below.
	markEvery = 10 * time.Millisecond
)

// Journal is the output of one terminal on disk, with when it came and what
// happened between, as a sequence of segments:
//
//	DIR/terminals/ID/data.N       the bytes from position N on; data.N.zst when compressed
//	DIR/terminals/ID/index.N      the records (see index.go and docs/reference/journal-format.md)
//
// A position is a number of output bytes since the terminal's first start. Bytes
// in a data file are good bytes, with or without records, so a process that is
// killed at any instant loses nothing that was moved there. When the disk
// refuses, output goes on without being kept: positions grow, and the journal
// has a gap.
//
// All methods may be called at the same time, but Append by one caller at a
// time. Start, End, Bytes, LastAnswered, Size and Resized never wait for the
// disk. A journal that is open for appending has two files open, one for reading
// none.
type Journal struct {
	store  *datadir.Store
	id     string
	opt    Options
	writes bool
	damage error // of the files when they were opened

	start, end atomic.Uint64
	bytes      atomic.Int64
	answered   atomic.Uint64

	records recordBuffer

	// maintaining is held by Trim, Compress and Sync, which take long, and guards retired.
	maintaining sync.Mutex
	retired     bool

	mu        sync.Mutex
	closed    bool
	segments  []segment // ascending; never empty when open != nil
	open      *openSegment
	trouble   error     // why there is no open segment
	retry     time.Time // when the disk is tried again
	mark      marking
	positions positions
	rest      resting
	losses    losses // what was lost or found damaged since
	unsynced  unsynced
	late      error  // what went wrong with a segment that was left; Sync returns it
	serial    uint64 // of the newest segment
}

// openSegment is the files of the last segment.
type openSegment struct {
	data, index *os.File
	marked      uint64 // position of the last mark in the index file
	// unsure: records were lost that the index file cannot tell of any more.
	unsure bool
}

// marking is the output since the last mark.
type marking struct {
	crc  uint32
	from uint64    // position of the last mark
	last time.Time // when it was made
	came time.Time // when the newest output came
}

// unsynced is what was written since the last fdatasync(2).
type unsynced struct {
	data, index, dir bool
	sealed           []string // files that are not open any more
}

// Open opens the journal of id for appending and creates it when there is
// none. It goes on exactly where the data end. An index is cut at its first bad
// record; a data file that is longer than its index knows is kept whole; when it
// is shorter, or when its index cannot be gone on with, a new segment is begun
// where the old one was known to end, so that no position is given out twice.
// Damage says so.
//
// A disk that refuses is no error: the journal has a gap until it does not. One
// Journal for appending may be open per terminal. The caller must Close it,
// before the Store.
func Open(s *datadir.Store, id string, o Options) (*Journal, error) {
	d, err := s.Make(id)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if o.Sync == "" {
		o.Sync = SyncInterval
	}
	if o.Segment <= 0 {
		o.Segment = DefaultSegment
	}
	f, err := findSegments(d)
	if err != nil {
		return nil, fmt.Errorf("journal of %s: %w", id, err)
	}
	j := newJournal(s, id, o, f)
	j.writes = true
	if len(f.segments) == 0 {
		j.records.now.cols, j.records.now.rows = o.Cols, o.Rows
	}
	for _, o := range f.orphans {
		_ = d.RemoveAll(datadir.SegmentFile(datadir.IndexFile, o.offset))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.positions.last = f.issued
	known := f.issuedUpTo()
	if f.issued.serial == 0 && len(f.segments) == 0 {
		known = o.Unknown
	}
	if err := j.positions.provide(d, max(j.end.Load(), known)); err == nil {
		if err := j.resume(d, f); err != nil {
			j.damage = errors.Join(j.damage, err)
		}
	}
	if known > j.end.Load() {
		_ = j.skip(known) // the reason stays in trouble
	}
	if j.open == nil {
		if err := j.begin(time.Now()); err != nil {
			j.damage = errors.Join(j.damage, err)
		}
	}
	return j, nil
}

// Read opens the journal of a terminal that nobody appends to, for
// reading and for Trim and Compress. Errors wrap ErrNotFound when there is none,
// and ErrCorrupt too when there was one that has lost everything.
// The caller should Close it; it holds no file open.
func Read(s *datadir.Store, id string) (*Journal, error) {
	d, err := s.Open(id)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	f, err := findSegments(d)
	if err == nil && len(f.segments) == 0 {
		if err = datadir.ErrNotFound; f.issuedUpTo() > 0 {
			err = fmt.Errorf("%w: its data files are gone: %w", snapshot.ErrCorrupt, err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("journal of %s: %w", id, err)
	}
	j := newJournal(s, id, Options{}, f)
	if seq, end := f.issuedUpTo(), j.end.Load(); seq > end {
		j.end.Store(seq)
		j.losses.gap(end, seq)
	}
	return j, nil
}

// Issued is the highest position that a journal may have issued, as far as that is known without its data
// files.
func Issued(s *datadir.Store, id string) (pos uint64, known bool) {
	d, err := s.Open(id)
	if err != nil {
		return 0, false
	}
	defer d.Close()
	g := readPositions(d)
	return g.pos, g.serial > 0
}

func newJournal(s *datadir.Store, id string, o Options, f *found) *Journal {
	j := &Journal{store: s, id: id, opt: o, segments: f.segments}
	if len(f.damage) > 0 {
		j.damage = fmt.Errorf("journal of %s: %w", id, errors.Join(f.damage...))
	}
	j.end.Store(f.end)
	j.start.Store(f.end)
	if len(f.segments) > 0 {
		j.start.Store(f.segments[0].offset)
	}
	for i := range j.segments {
		j.serial++
		j.segments[i].serial = j.serial
	}
	j.records.now = f.state
	j.answered.Store(f.state.answered)
	j.count()
	return j
}

// Damage says what was wrong with the files when they were opened, nil when
// nothing was. A gap that a full disk left is part of it.
func (j *Journal) Damage() error { return j.damage }

// Losses says what was lost since the journal was opened, and what readers have found damaged since then; nil when
// nothing was.
func (j *Journal) Losses() error { return j.losses.err() }

// Start is the first position that is kept. Output of [Start, End) can be read.
func (j *Journal) Start() uint64 { return j.start.Load() }

// End is the position after the last byte, kept or lost.
func (j *Journal) End() uint64 { return j.end.Load() }

// Bytes is what the journal takes on disk. Records that wait are not counted yet.
func (j *Journal) Bytes() int64 { return j.bytes.Load() }

// LastAnswered is the highest position given to Answered, in this process or
// one before.
func (j *Journal) LastAnswered() uint64 { return j.answered.Load() }

// Size is the terminal's size at the end, 0, 0 when not known.
func (j *Journal) Size() (cols, rows int) {
	p := j.records.state()
	return p.cols, p.rows
}

// Close writes what waits and releases the files. With SyncAlways and
// SyncInterval the disk has it before. Readers go on. A second call does nothing.
func (j *Journal) Close() error {
	err := j.Sync()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	if j.open != nil {
		err = errors.Join(err, j.flush(), j.closeOpen())
	}
	if j.writes {
		j.noteExactEnd()
	}
	return err
}

// Retire makes Trim and Compress do nothing from now on, and waits for those that are under way: the files are somebody
// else's, or about to be removed. With false they work again. Readers go on.
func (j *Journal) Retire(away bool) {
	j.maintaining.Lock()
	defer j.maintaining.Unlock()
	j.retired = away
}

// closeOpen closes the files of the open segment, if there is one still.
func (j *Journal) closeOpen() error {
	o := j.open
	if o == nil {
		return nil
	}
	j.open = nil
	j.last().length = j.end.Load() - j.last().offset
	return errors.Join(o.data.Close(), o.index.Close())
}

func (j *Journal) last() *segment { return &j.segments[len(j.segments)-1] }

// count adds up what is on disk.
func (j *Journal) count() {
	d, err := j.store.Open(j.id)
	if err != nil {
		return
	}
	defer d.Close()
	var n int64
	for i := range j.segments {
		s := &j.segments[i]
		s.disk = s.diskSize(d)
		n += s.disk
	}
	j.bytes.Store(n)
}

// directory opens the terminal's directory, which is not kept open.
func (j *Journal) directory() (*os.Root, error) {
	d, err := j.store.Open(j.id)
	if errors.Is(err, datadir.ErrNotFound) {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return d, err
}

// wrap names the journal in an error.
func (j *Journal) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("journal of %s: %w", j.id, datadir.NoSpace(err))
}
