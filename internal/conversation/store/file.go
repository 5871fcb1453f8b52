package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/datadir"
)

// DefaultRotateBytes is the size of a conversation file at which it is rotated, Loader's.
const DefaultRotateBytes = 256 << 10

// Rotations is how many old files of a conversation are kept.
const Rotations = 3

// Files is the directory of the conversation files: ID.json is what was saved last, ID.1.json,
// ID.2.json and ID.3.json had its name before, the newest first. It is safe for concurrent use, but
// the files of one record are for one goroutine at a time.
type Files struct {
	dir   *os.Root
	limit int64

	mu    sync.Mutex
	known map[string]known // the records that were saved since the start, by id
}

// known describes a conversation's file without a read of it.
type known struct {
	file os.FileInfo // as it was saved; a file that differs was written by another program
	base int64       // the least size since the last rotation
}

// OpenFiles opens dir, which it makes when it is not there (mode 0700), and removes what a killed
// server left half written. limit is the size at which a file is rotated, in bytes; 0 is
// DefaultRotateBytes.
func OpenFiles(dir string, limit int64) (*Files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = DefaultRotateBytes
	}
	f := &Files{dir: root, limit: limit, known: map[string]known{}}
	if err := f.sweep(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return f, nil
}

// Close gives the directory back. It must not be called while another method runs.
func (f *Files) Close() error { return f.dir.Close() }

// Save replaces ID.json by b, with a time of modification: whoever reads sees the old or the new, also after a
// crash of the machine if durable, else only of this process until Sync has returned. A file under the name that is
// no conversation is not written over but set aside as ID.damaged.json, whose name is aside then, for the log.
// Before that the file becomes ID.1.json and the older ones move on by one, when
//   - it or b has reached the limit, and
//   - there is no ID.1.json yet, or the conversation grew by limit/2 since the last rotation,
//     or now shrinks by that much (a compaction).
//
// So a conversation that has outgrown the limit is not rotated with every save. Errors: ErrInvalid
// (an id that is no file name), ErrTooLarge (MaxDocument), ErrDamaged (something damaged is set
// aside already, or no regular file stands there), any of the disk; ID.json is as it was then.
func (f *Files) Save(id string, b []byte, at time.Time, durable bool) (aside string, err error) {
	if err := CheckID(id); err != nil {
		return "", err
	}
	if len(b) > conversation.MaxDocument {
		return "", fmt.Errorf("%w: the file of %s would have %d bytes, at most %d are written",
			conversation.ErrTooLarge, id, len(b), conversation.MaxDocument)
	}
	old, aside, err := f.present(id)
	if err != nil {
		return "", err
	}
	tmp := partial + id
	base := int64(0)
	if err = f.writeNew(tmp, b, at, durable); err == nil {
		base, err = f.rotate(id, old, int64(len(b)))
	}
	if err == nil {
		err = f.dir.Rename(tmp, id+suffix)
	}
	if err != nil {
		return aside, errors.Join(err, f.dir.RemoveAll(tmp))
	}
	f.remember(id, base)
	if durable {
		err = datadir.SyncDir(f.dir)
	}
	return aside, err
}

// Sync makes durable what Save has written, also while the next save of the conversation runs.
// It is no error when there is no file.
func (f *Files) Sync(id string) error {
	file, err := f.dir.OpenFile(id+suffix, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close(), datadir.SyncDir(f.dir))
}

// present is the file of a conversation as it stands, nil when there is none. One that is no
// conversation is set aside.
func (f *Files) present(id string) (info os.FileInfo, aside string, err error) {
	name := id + suffix
	info, err = f.dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	if !info.Mode().IsRegular() {
		return nil, "", fmt.Errorf("%w: %s is no regular file", conversation.ErrDamaged, name)
	}
	k, _ := f.lookup(id)
	last := k.file
	if last != nil && os.SameFile(last, info) && last.Size() == info.Size() && last.ModTime().Equal(info.ModTime()) {
		return info, "", nil
	}
	b, err := f.read(name)
	if err == nil && conversation.IsObject(b) {
		return info, "", nil
	}
	if err != nil && !errors.Is(err, conversation.ErrDamaged) {
		return nil, "", err
	}
	aside = id + damaged
	if _, err := f.dir.Lstat(aside); !errors.Is(err, fs.ErrNotExist) {
		return nil, "", errors.Join(err, fmt.Errorf("%w: neither %s nor %s is a record; look at them and remove one",
			conversation.ErrDamaged, name, aside))
	}
	return nil, aside, f.dir.Rename(name, aside)
}

// rotate moves the old files of a conversation on when it is time, and returns the least size since
// the last time. ID.json itself stays: it gets its second name by a link, so there is no moment
// without it.
func (f *Files) rotate(id string, old os.FileInfo, size int64) (base int64, err error) {
	if old == nil {
		return size, nil
	}
	k, seen := f.lookup(id)
	first, err := f.dir.Lstat(rotated(id, 1))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	base = k.base
	if !seen && first != nil {
		base = min(first.Size(), old.Size())
	}
	due := first == nil || size-base >= f.limit/2 || old.Size()-size >= f.limit/2
	if max(size, old.Size()) < f.limit || !due {
		return min(base, size), nil
	}
	for n := Rotations - 1; n > 0; n-- {
		if err := f.dir.Rename(rotated(id, n), rotated(id, n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	err = f.dir.Link(id+suffix, rotated(id, 1))
	if err != nil { // as on a file system without links
		err = f.dir.Rename(id+suffix, rotated(id, 1))
	}
	return size, err
}

func (f *Files) lookup(id string) (k known, seen bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k, seen = f.known[id]
	return k, seen
}

func (f *Files) remember(id string, base int64) {
	info, _ := f.dir.Lstat(id + suffix) // nil: the next save reads it
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known[id] = known{file: info, base: base}
}

// Remove deletes all files of a conversation, a damaged one too. It is no error when there are
// none.
func (f *Files) Remove(id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	f.mu.Lock()
	delete(f.known, id)
	f.mu.Unlock()
	err := f.dir.RemoveAll(id + damaged)
	for n := Rotations; n >= 0; n-- { // the newest last: a crash does not bring an older one to its place
		err = errors.Join(err, f.dir.RemoveAll(rotated(id, n)))
	}
	return errors.Join(err, f.dir.RemoveAll(partial+id), datadir.SyncDir(f.dir))
}

// read reads a regular file of ours that is not reached through a link. ErrDamaged: it is none, or
// longer than MaxDocument.
func (f *Files) read(name string) ([]byte, error) {
	seen, err := f.dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file", conversation.ErrDamaged, name)
	}
	file, err := f.dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, conversation.MaxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > conversation.MaxDocument {
		return nil, fmt.Errorf("%w: %s has more than %d bytes", conversation.ErrDamaged, name, conversation.MaxDocument)
	}
	return b, nil
}

// writeNew writes a file in place of whatever has the name; durable has its bytes on the disk.
func (f *Files) writeNew(name string, b []byte, at time.Time, durable bool) error {
	file, err := datadir.CreateFile(f.dir, name)
	if err != nil {
		return err
	}
	_, err = file.Write(b)
	if err == nil {
		err = f.dir.Chtimes(name, at, at)
	}
	if err == nil && durable {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
