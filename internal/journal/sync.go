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

// Flush gives the records that wait to the system, with a mark for all output so
// far. While the disk refuses it returns why.
func (j *Journal) Flush() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.settle()
}

// settle is Flush under the lock. It also tries the disk again.
func (j *Journal) settle() error {
	if !j.writes || j.closed {
		return nil
	}
	if j.open == nil {
		if j.trouble != nil && time.Now().Before(j.retry) {
			return j.trouble
		}
		return j.begin(time.Now())
	}
	j.markRest()
	return j.flush()
}

// Sync is Flush, and asks the disk to keep everything so far, unless the mode is
// SyncNone; Append goes on meanwhile. It is meant to be called once a second.
//
// When the disk says that it did not keep something, that is all that is ever
// known of it: the segment is sealed as it is, a new one is begun, and the error
// comes back once. Asking again would succeed and mean nothing (fsync(2) reports
// an error once and drops the pages).
func (j *Journal) Sync() error {
	j.maintaining.Lock()
	defer j.maintaining.Unlock()
	o, dirty, err := j.collect()
	if j.opt.Sync == SyncNone || !j.writes {
		return err
	}
	var failed []error
	for _, name := range dirty.sealed {
		failed = append(failed, j.syncSealed(name))
	}
	if dirty.dir {
		failed = append(failed, j.syncDirectory())
	}
	if o != nil {
		failed = append(failed, j.syncOpen(o, dirty))
	}
	if err != nil { // what is lost now is told by that file alone
		failed = append(failed, j.syncPositions())
	}
	return errors.Join(err, errors.Join(failed...))
}

// collect writes what waits and takes over what the disk has to be asked for.
func (j *Journal) collect() (o *openSegment, dirty unsynced, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	err = errors.Join(j.late, j.settle())
	o, dirty = j.open, j.unsynced
	j.late, j.unsynced = nil, unsynced{}
	return o, dirty, err
}

// syncSealed asks for a file that was closed meanwhile: errors that nobody was
// told of are reported to who opens it next. One that was dropped needs nothing.
func (j *Journal) syncSealed(name string) error {
	d, err := j.directory()
	if err == nil {
		defer d.Close()
		var f *os.File
		if f, _, err = datadir.OpenFile(d, name, os.O_RDONLY); err == nil {
			err = errors.Join(syncData(f), f.Close())
		}
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return j.wrap(fmt.Errorf("sync %s: %w", name, err))
}

func (j *Journal) syncDirectory() error {
	d, err := j.directory()
	if err != nil {
		return j.wrap(err)
	}
	defer d.Close()
	return j.wrap(datadir.SyncDir(d))
}

// syncOpen asks for the files of o, which may be closed meanwhile.
func (j *Journal) syncOpen(o *openSegment, dirty unsynced) error {
	var err error
	if dirty.data {
		err = syncData(o.data)
	}
	if dirty.index {
		err = errors.Join(err, syncData(o.index))
	}
	if err == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.open != o {
		if disk := syscall.Errno(0); !errors.As(err, &disk) {
			return nil // closed meanwhile, not refused: the next Sync asks for it by name
		}
		return j.wrap(fmt.Errorf("sync: %w", err))
	}
	return j.replaceUnsynced(err)
}

// replaceUnsynced seals a segment that the disk may not have kept and begins a new one.
func (j *Journal) replaceUnsynced(err error) error {
	err = fmt.Errorf("sync: %w", err)
	if j.open == nil {
		return j.wrap(err)
	}
	return errors.Join(j.wrap(err), j.sealOpen(), j.begin(time.Now()))
}

// syncNow asks for everything under the lock, for SyncAlways.
func (j *Journal) syncNow() error {
	dirty := j.unsynced
	j.unsynced.data, j.unsynced.index, j.unsynced.dir = false, false, false
	if dirty.dir {
		if err := j.syncDirectory(); err != nil {
			return j.replaceUnsynced(err)
		}
	}
	var err error
	if dirty.data {
		err = syncData(j.open.data)
	}
	if dirty.index {
		err = errors.Join(err, syncData(j.open.index))
	}
	if err != nil {
		return j.replaceUnsynced(err)
	}
	return nil
}

// syncData is fdatasync(2).
func syncData(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		for {
			if failed = unix.Fdatasync(int(fd)); failed != unix.EINTR {
				return
			}
		}
	})
	return errors.Join(err, failed)
}
