package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/snapshot"
)

// Trim drops the oldest segments that end at or before keepFrom while the
// journal takes more than limit bytes on disk, and returns how many bytes that freed.
// The last segment stays: it says where the output ended. Readers of a dropped
// segment go on to its end.
func (j *Journal) Trim(keepFrom uint64, limit int64) (freed int64, err error) {
	j.maintaining.Lock()
	defer j.maintaining.Unlock()
	if j.retired {
		return 0, nil
	}
	d, err := j.directory()
	if err != nil {
		return 0, j.wrap(err)
	}
	defer d.Close()
	for {
		s, ok := j.dropOldest(keepFrom, limit)
		if !ok {
			return freed, nil
		}
		n := s.diskSize(d)
		if err := s.remove(d); err != nil {
			return freed, j.wrap(fmt.Errorf("drop %s: %w", s.dataName(), err))
		}
		freed += n
	}
}

// dropOldest forgets the first segment if it may go.
func (j *Journal) dropOldest(keepFrom uint64, limit int64) (s segment, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.segments) < 2 || j.segments[1].offset > keepFrom || j.bytes.Load() <= limit {
		return s, false
	}
	s = j.segments[0]
	j.segments = slices.Delete(j.segments, 0, 1)
	j.start.Store(j.segments[0].offset)
	j.bytes.Add(-s.disk)
	return s, true
}

// Roll begins a new segment, so that Trim may drop all output up to now. It does nothing when nobody writes to the
// journal or its last segment is empty.
func (j *Journal) Roll() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.open == nil || j.last().offset == j.end.Load() {
		return nil
	}
	if err := j.sealOpen(); err != nil {
		return err
	}
	return j.begin(time.Now())
}

// Compress replaces the data of sealed segments that were not written to for
// cold by compressed ones, and returns how many bytes that saved. It reads the
// result back before it believes it. When nobody appends to the journal, its
// last segment counts as sealed too. It takes some 10 ms per MB, no lock that
// Append needs, and 16 MB of memory.
func (j *Journal) Compress(cold time.Duration) (saved int64, err error) {
	j.maintaining.Lock()
	defer j.maintaining.Unlock()
	if j.retired {
		return 0, nil
	}
	d, err := j.directory()
	if err != nil {
		return 0, j.wrap(err)
	}
	defer d.Close()
	for _, s := range j.compressible() {
		info, err := d.Lstat(s.dataName())
		if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < cold {
			continue // damage is reported when it is read
		}
		if !s.sealed {
			if err := j.seal(d, &s); err != nil {
				return saved, j.wrap(err)
			}
		}
		n, err := j.compress(d, s)
		if err != nil {
			return saved, j.wrap(fmt.Errorf("compress %s: %w", s.dataName(), err))
		}
		saved += n
	}
	return saved, nil
}

// compressible are the segments that could be compressed.
func (j *Journal) compressible() (list []segment) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, s := range j.segments {
		last := i == len(j.segments)-1
		may := s.sealed || last && !j.writes && s.index > 0 && s.end() == j.end.Load()
		if may && !s.packed && !s.newer && s.length > 0 && !(last && j.open != nil) {
			list = append(list, s)
		}
	}
	return list
}

// seal seals the last segment of a journal that nobody appends to, because what is compressed
// has to say how long it was.
func (j *Journal) seal(d *os.Root, s *segment) error {
	f, err := findSegments(d)
	if err != nil {
		return err
	}
	if len(f.segments) == 0 || f.segments[len(f.segments)-1].offset != s.offset {
		return fmt.Errorf("%w: %s", fs.ErrNotExist, s.dataName())
	}
	w := newJournal(j.store, j.id, Options{Sync: SyncInterval}, f)
	w.writes = true
	w.mu.Lock()
	defer w.mu.Unlock()
	if err = w.resume(d, f); err == nil && w.open != nil {
		w.positions.last = f.issued
		err = errors.Join(w.sealOpen(), syncFile(d, s.indexName()))
	}
	if err != nil || !w.last().sealed {
		return errors.Join(err, fmt.Errorf("%s cannot be sealed", s.dataName()))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	s.sealed, s.index = true, w.last().index
	j.replace(*s)
	return nil
}

func syncFile(d *os.Root, name string) error {
	f, _, err := datadir.OpenFile(d, name, os.O_RDONLY)
	if err != nil {
		return err
	}
	return errors.Join(syncData(f), f.Close())
}

// replace puts s in the place of the segment it was a copy of; false when that
// was dropped.
func (j *Journal) replace(s segment) bool {
	for i := range j.segments {
		if j.segments[i].serial == s.serial {
			j.bytes.Add(s.disk - j.segments[i].disk)
			j.segments[i] = s
			return true
		}
	}
	return false
}

// compress writes the compressed data of s beside, checks them, and lets readers
// know before the plain ones go.
func (j *Journal) compress(d *os.Root, s segment) (saved int64, err error) {
	plain := s.dataName()
	raw, _, err := datadir.OpenFile(d, plain, os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer raw.Close()
	packed := s
	packed.packed = true
	err = datadir.WriteFileBy(d, packed.dataName(), func(w io.Writer) error {
		return pack(w, io.NewSectionReader(raw, 0, int64(s.length)), int64(s.length))
	})
	if err == nil {
		err = j.same(d, &packed, raw)
	}
	if err != nil {
		return 0, errors.Join(err, d.RemoveAll(packed.dataName()))
	}
	before := s.diskSize(d)
	info, err := d.Lstat(packed.dataName())
	if err != nil {
		return 0, err
	}
	packed.disk = s.index + info.Size()
	j.mu.Lock()
	j.replace(packed)
	j.mu.Unlock()
	if err := d.RemoveAll(plain); err != nil {
		return 0, err
	}
	return before - info.Size() - packed.disk, datadir.SyncDir(d)
}

// same reports whether compressed data are the plain ones.
func (j *Journal) same(d *os.Root, packed *segment, raw io.ReaderAt) error {
	data, err := openData(d, packed)
	if err != nil {
		return err
	}
	defer data.Close()
	a, b := make([]byte, maxRange), make([]byte, maxRange)
	for off := uint64(0); off < packed.length; off += maxRange {
		n := min(maxRange, packed.length-off)
		_, err1 := data.ReadAt(a[:n], int64(off))
		_, err2 := raw.ReadAt(b[:n], int64(off))
		if err := errors.Join(ignoreEOF(err1), ignoreEOF(err2)); err != nil {
			return err
		}
		if string(a[:n]) != string(b[:n]) {
			return fmt.Errorf("%w: compressed data differ at %d", snapshot.ErrCorrupt, off)
		}
	}
	return nil
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
