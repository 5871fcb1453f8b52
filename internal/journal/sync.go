package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/datadir"
)

// unsynced is what was written since the last fdatasync(2).
type unsynced struct {
	data, index, dir bool
	sealed           []string // names of files that are no longer open
}

// Flush writes the waiting records, with a mark for all output so far. While the disk refuses it
// returns the reason.
func (j *Journal) Flush() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.writer.settle()
}

// settle is Flush under the lock. It also tries the disk again.
func (w *writer) settle() error {
	switch {
	case w.refuses != nil:
		return nil //nolint:nilerr // Append has said it
	case w.open == nil:
		return w.ensureOpen(time.Now())
	}
	w.markRest()
	return w.flush()
}

// Sync is Flush, and syncs everything written so far, unless the mode is SyncNone. Append is not
// blocked meanwhile. It is meant to be called once a second.
//
// After a failed sync the segment is sealed as it is, a new one begins, and the error is returned
// once. A second try would succeed and mean nothing: fsync(2) reports an error once and drops the
// pages.
func (j *Journal) Sync() error {
	j.maintaining.Lock()
	defer j.maintaining.Unlock()
	o, dirty, err := j.collect()
	if j.opt.Sync == SyncNone {
		return err
	}
	failed := []error{err}
	for _, name := range dirty.sealed {
		failed = append(failed, j.dir.syncFile(name))
	}
	if dirty.dir {
		failed = append(failed, j.dir.sync())
	}
	if o != nil {
		failed = append(failed, j.syncOpen(o, dirty))
	}
	return errors.Join(failed...)
}

// collect writes the waiting records and takes over what has to be synced. After an error the
// file of positions is part of it: nothing else says how much is lost.
func (j *Journal) collect() (o *openSegment, dirty unsynced, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	w := &j.writer
	err = errors.Join(w.late, w.settle())
	if err != nil && w.positions.dirty {
		w.positions.dirty = false
		w.unsynced.sealed = append(w.unsynced.sealed, positionsFile)
	}
	o, dirty = w.open, w.unsynced
	w.late, w.unsynced = nil, unsynced{}
	return o, dirty, err
}

// syncFile syncs a file that was closed meanwhile: the system reports an error of the earlier
// writes to the next one who opens it. A dropped file needs no sync.
func (dir directory) syncFile(name string) error {
	err := dir.do(func(d *os.Root) error { return syncFile(d, name) })
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return dir.wrap(fmt.Errorf("sync %s: %w", name, err))
}

func syncFile(d *os.Root, name string) error {
	f, _, err := datadir.OpenFile(d, name, os.O_RDONLY)
	if err != nil {
		return err
	}
	return errors.Join(syncData(f), f.Close())
}

// sync makes the names in the directory durable.
func (dir directory) sync() error { return dir.wrap(dir.do(datadir.SyncDir)) }

// syncOpen syncs the files of o, which Append may close meanwhile.
func (j *Journal) syncOpen(o *openSegment, dirty unsynced) error {
	err := o.sync(dirty)
	if err == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.writer.open == o {
		return j.writer.replaceUnsynced(err)
	}
	if disk := syscall.Errno(0); !errors.As(err, &disk) {
		return nil // closed meanwhile, not refused: the next Sync syncs it by name
	}
	return j.dir.wrap(fmt.Errorf("sync: %w", err))
}

// sync syncs the files that are dirty.
func (o *openSegment) sync(dirty unsynced) (err error) {
	if dirty.data {
		err = syncData(o.data)
	}
	if dirty.index {
		err = errors.Join(err, syncData(o.index))
	}
	return err
}

// replaceUnsynced seals a segment that may be lost, because its sync failed, and begins a new one.
func (w *writer) replaceUnsynced(err error) error {
	return errors.Join(w.dir.wrap(fmt.Errorf("sync: %w", err)), w.sealOpen(), w.begin(time.Now()))
}

// syncAlways syncs everything under the lock in the mode SyncAlways, after a write that ended with err.
func (w *writer) syncAlways(err error) error {
	if err != nil || w.opt.Sync != SyncAlways {
		return err
	}
	dirty := w.unsynced
	w.unsynced.data, w.unsynced.index, w.unsynced.dir = false, false, false
	if dirty.dir {
		err = w.dir.sync()
	}
	if err == nil {
		err = w.open.sync(dirty)
	}
	if err != nil {
		return w.replaceUnsynced(err)
	}
	return nil
}

// syncData is fdatasync(2).
func syncData(f *os.File) error {
	return datadir.Control(f, func(fd int) error {
		for {
			if err := unix.Fdatasync(fd); err != unix.EINTR {
				return err
			}
		}
	})
}
