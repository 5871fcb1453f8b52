// Package journal keeps everything that a terminal has printed, with its times and
// resizes, in the terminal's directory of a data directory.
//
// A Journal appends; a Reader returns the entries in order, also while the journal
// grows. Gaps of a full or broken disk and damage are reported by position: no byte is
// invented and none is returned twice.
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

// SyncMode says when the journal calls fdatasync(2). Written output survives any crash
// of evertty in each mode; the modes differ in what a crash of the machine may take.
type SyncMode string

// The modes of --sync.
const (
	SyncNone     SyncMode = "none"     // never
	SyncInterval SyncMode = "interval" // in Journal.Sync, once a second
	SyncAlways   SyncMode = "always"   // before Append and the writers of records return
)

// Options are how a journal is written.
type Options struct {
	Sync SyncMode // "" is SyncInterval
	// Segment is the size of a data file in bytes before the next one begins; 0
	// is DefaultSegment.
	Segment int64
	// Cols and Rows are the terminal's size at the start of a new journal; 0 when
	// not known.
	Cols, Rows int
	Input      bool // record typed bytes, passwords too
	// Sleep hears how many files CloseQuiet has closed, and with a negative number that they are open again or not
	// needed any more; nil for nobody. It must not block.
	Sleep func(files int)
	// Unknown is where a journal begins when all its files are missing: a position that no
	// journal of this id can have reached. 0 for a new terminal.
	Unknown uint64
}

const (
	// DefaultSegment is the size of a data file in bytes: small enough that a
	// quota frees in useful steps, large enough that a flood does not make files
	// all the time.
	DefaultSegment = 8 << 20
	// maxIndex is the size of an index in bytes before the next segment begins. It
	// bounds what a reader decodes to find a position. Only a program that writes a
	// few bytes every 10 ms reaches it.
	maxIndex = 1 << 20
	// retryPause is how long the journal waits before it tries a disk again that
	// refused. A try costs a failing open(2); output until then is lost.
	retryPause = time.Second
	// markEvery is the precision of times in the index, and so of recordings. A
	// person sees no difference below it.
	markEvery = 10 * time.Millisecond
)

// Journal is the output of one terminal on disk, with its times, resizes, input and exits, as a
// sequence of segments:
//
//	DIR/terminals/ID/data.N       the bytes from position N on; data.N.zst when compressed
//	DIR/terminals/ID/index.N      the records (see index.go and docs/reference/journal-format.md)
//
// A position is a number of output bytes since the terminal's first start. All bytes in a data
// file are good, with or without records, so a process that is killed at any instant loses
// nothing that it moved there. When the disk refuses, output goes on: positions grow, and the
// journal has a gap.
//
// All methods may be called concurrently, but Append by one caller at a time. Start, End, Bytes,
// LastAnswered, Size and Resized never wait for the disk. A journal for appending has two files
// open until CloseQuiet, one for reading none.
type Journal struct {
	// Set when the journal is opened, and constant from then on.
	dir    directory
	opt    Options
	damage error // of the files when they were opened

	answered atomic.Uint64
	losses   losses // since the journal was opened

	// maintaining is held by Trim, Compress and Sync, which take long, and guards retired.
	maintaining sync.Mutex
	retired     bool

	// mu guards segments and writer. It is taken after maintaining.
	mu       sync.Mutex
	segments segments
	writer   writer
}

// directory is a terminal's directory in the data directory. It holds no file open: a server has
// thousands of journals. It is constant.
type directory struct {
	store *datadir.Store
	id    string
}

// open opens the directory. Errors wrap fs.ErrNotExist when it is gone.
func (dir directory) open() (*os.Root, error) {
	d, err := dir.store.Open(dir.id)
	if errors.Is(err, datadir.ErrNotFound) {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return d, err
}

// do calls f with the opened directory. Errors: as open, and f's.
func (dir directory) do(f func(d *os.Root) error) error {
	d, err := dir.open()
	if err != nil {
		return err
	}
	defer d.Close()
	return f(d)
}

// wrap names the journal in an error; nil stays nil.
func (dir directory) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("journal of %s: %w", dir.id, datadir.NoSpace(err))
}

// Open opens the journal of id for appending and creates it when there is none. It continues
// exactly where the data end. It cuts an index at its first bad record, and keeps a data file
// whole that is longer than its index knows. When the data file is shorter, or the index cannot
// be continued, a new segment begins at the known end of the old one, so that no position is
// issued twice; Damage reports it.
//
// A disk that refuses is no error: the journal has a gap until it accepts again. One Journal for
// appending may be open per terminal. The caller must Close it, before the Store.
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
	dir := directory{s, id}
	f, err := findSegments(d)
	if err != nil {
		return nil, dir.wrap(err)
	}
	j := newJournal(d, dir, o, f)
	if len(f.segments) == 0 {
		j.writer.records.now.cols, j.writer.records.now.rows = o.Cols, o.Rows
	}
	for _, o := range f.orphans {
		_ = d.RemoveAll(datadir.SegmentFile(datadir.IndexFile, o.offset))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	known := f.issuedUpTo()
	if f.issued.serial == 0 && len(f.segments) == 0 {
		known = o.Unknown
	}
	j.damage = errors.Join(j.damage, j.writer.start(d, f, known))
	return j, nil
}

// Read opens the journal of a terminal that has no writer, for reading and for Trim and Compress.
// Errors wrap ErrNotFound when there is none, and ErrCorrupt too when there was one that has lost
// all data. The caller should Close it; it holds no file open.
func Read(s *datadir.Store, id string) (*Journal, error) {
	d, err := s.Open(id)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	dir := directory{s, id}
	f, err := findSegments(d)
	if err == nil && len(f.segments) == 0 {
		if err = datadir.ErrNotFound; f.issuedUpTo() > 0 {
			err = fmt.Errorf("%w: its data files are gone: %w", snapshot.ErrCorrupt, err)
		}
	}
	if err != nil {
		return nil, dir.wrap(err)
	}
	j := newJournal(d, dir, Options{}, f)
	j.writer.refuses = errReadingOnly
	if seq, end := f.issuedUpTo(), j.End(); seq > end {
		j.segments.end.Store(seq)
		j.losses.gap(end, seq)
	}
	return j, nil
}

// Issued returns the highest position that a journal may have issued, without a look at its data
// files. known is false when its file of positions says nothing.
func Issued(s *datadir.Store, id string) (pos uint64, known bool) {
	d, err := s.Open(id)
	if err != nil {
		return 0, false
	}
	defer d.Close()
	g := readPositions(d)
	return g.pos, g.serial > 0
}

// newJournal returns a journal of the segments that were found in d, with no segment open.
func newJournal(d *os.Root, dir directory, o Options, f *found) *Journal {
	j := &Journal{dir: dir, opt: o}
	j.writer = writer{dir: dir, opt: o, segments: &j.segments, losses: &j.losses,
		positions: positions{last: f.issued}, records: recordBuffer{now: f.state}}
	j.damage = dir.wrap(errors.Join(f.damage...))
	j.segments.start.Store(f.end)
	j.segments.end.Store(f.end)
	for _, s := range f.segments {
		s.disk = s.diskSize(d)
		j.segments.add(s)
	}
	j.answered.Store(f.state.answered)
	return j
}

// Damage says what was wrong with the files when they were opened, nil when nothing was. Gaps of
// a full disk are part of it.
func (j *Journal) Damage() error { return j.damage }

// Losses says what was lost since the journal was opened, and which output readers have found
// damaged since then; nil for none.
func (j *Journal) Losses() error { return j.losses.err() }

// Start is the first position that is kept. Output of [Start, End) can be read.
func (j *Journal) Start() uint64 { return j.segments.start.Load() }

// End is the position after the last byte, kept or lost.
func (j *Journal) End() uint64 { return j.segments.end.Load() }

// Bytes is the size of the journal on disk, without the records that wait.
func (j *Journal) Bytes() int64 { return j.segments.bytes.Load() }

// LastAnswered is the highest position given to Answered, in this process or
// one before.
func (j *Journal) LastAnswered() uint64 { return j.answered.Load() }

// Size is the terminal's size at the end, 0, 0 when not known.
func (j *Journal) Size() (cols, rows int) {
	p := j.writer.records.state()
	return p.cols, p.rows
}

// Close writes the waiting records and releases the files. In the modes SyncAlways and
// SyncInterval it syncs them before. Readers go on. A second call does nothing.
func (j *Journal) Close() error {
	err := j.Sync()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.writer.refuses != nil {
		return nil
	}
	return errors.Join(err, j.writer.close())
}

// Retire makes Trim and Compress do nothing from now on, and waits for a call that runs: another
// owner takes the files, or they are removed next. With false they work again. Readers go on.
func (j *Journal) Retire(away bool) {
	j.maintaining.Lock()
	defer j.maintaining.Unlock()
	j.retired = away
}
