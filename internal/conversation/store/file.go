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

// Save replaces ID.json by b as a whole: whoever reads sees the old or the new, also after a crash
// of the machine. A file under the name that is no conversation is not written over but set aside
// as ID.damaged.json, whose name is aside then, for the log. Before that the file becomes ID.1.json
// and the older ones move on by one, when
//   - it or b has reached the limit, and
//   - there is no ID.1.json yet, or the conversation grew by limit/2 since the last rotation,
//     or now shrinks by that much (a compaction).
//
// So a conversation that has outgrown the limit is not rotated with every save. Errors: ErrInvalid
// (an id that is no file name), ErrTooLarge (MaxDocument), ErrDamaged (something damaged is set
// aside already, or it is no file that stands there), what the disk says; ID.json is as it was
// then.
func (f *Files) Save(id string, b []byte) (aside string, err error) {
	if aside, err = f.replace(id, b, true); err != nil {
		return aside, err
	}
	return aside, datadir.SyncDir(f.dir)
}

// SaveQuick is Save that does not wait for the disk: after a crash of the machine, not of this
// process, the file may be empty until Sync has returned.
func (f *Files) SaveQuick(id string, b []byte) (aside string, err error) {
	return f.replace(id, b, false)
}

// Sync makes durable what SaveQuick has written, also while the next save of the conversation runs.
// It is no error when there is no file.
func (f *Files) Sync(id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	file, err := f.dir.OpenFile(id+suffix, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close(), datadir.SyncDir(f.dir))
}

// Stamp sets the time of modification of ID.json, which Save has written.
func (f *Files) Stamp(id string, at time.Time) error {
	if err := CheckID(id); err != nil {
		return err
	}
	if err := f.dir.Chtimes(id+suffix, at, at); err != nil {
		return err
	}
	f.mu.Lock()
	base := f.known[id].base
	f.mu.Unlock()
	f.remember(id, base)
	return nil
}

// replace writes the file of a conversation; durable has its bytes on the disk before it gets its
// name.
func (f *Files) replace(id string, b []byte, durable bool) (aside string, err error) {
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
	if err := f.writeNew(tmp, b, durable); err != nil {
		return aside, errors.Join(err, f.dir.RemoveAll(tmp))
	}
	base, err := f.rotate(id, old, int64(len(b)))
	if err == nil {
		err = f.dir.Rename(tmp, id+suffix)
	}
	if err != nil {
		return aside, errors.Join(err, f.dir.RemoveAll(tmp))
	}
	f.remember(id, base)
	return aside, nil
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
	f.mu.Lock()
	last := f.known[id].file
	f.mu.Unlock()
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
	f.mu.Lock()
	k, seen := f.known[id]
	f.mu.Unlock()
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
	if err := f.dir.Link(id+suffix, rotated(id, 1)); err != nil { // as on a file system without links
		err = f.dir.Rename(id+suffix, rotated(id, 1))
		return size, err
	}
	return size, nil
}

func (f *Files) remember(id string, base int64) {
	info, err := f.dir.Lstat(id + suffix)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil { // the next save reads it
		info = nil
	}
	f.known[id] = known{file: info, base: base}
}

// Loaded is a conversation as it was found in a file.
type Loaded struct {
	conversation.Document
	Name    string // of the file
	Damaged error  // what was wrong with newer files of the conversation, with their names; nil when Name is the newest
}

// Load reads ID.json or, when that is missing or damaged, the newest rotation that is good. Errors:
// ErrNotFound (no file), ErrDamaged (none is good), ErrInvalid.
func (f *Files) Load(id string) (Loaded, error) {
	if err := CheckID(id); err != nil {
		return Loaded{}, err
	}
	var wrong error
	for n := range Rotations + 1 {
		name := rotated(id, n)
		d, err := f.decode(name)
		if err == nil {
			return Loaded{Document: d, Name: name, Damaged: wrong}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			wrong = errors.Join(wrong, err)
		}
	}
	if wrong == nil {
		return Loaded{}, fmt.Errorf("%w: %s has no file", conversation.ErrNotFound, id)
	}
	return Loaded{}, wrong
}

func (f *Files) decode(name string) (conversation.Document, error) {
	b, err := f.read(name)
	if err != nil {
		return conversation.Document{}, err
	}
	d, err := conversation.DecodeDocument(b)
	if err != nil {
		// not ErrInvalid: it is not the caller's value
		return conversation.Document{}, fmt.Errorf("%w: %s: %v", conversation.ErrDamaged, name, err) //nolint:errorlint
	}
	return d, nil
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

// writeNew writes a file in place of whatever has the name.
func (f *Files) writeNew(name string, b []byte, durable bool) error {
	file, err := datadir.CreateFile(f.dir, name)
	if err != nil {
		return err
	}
	_, err = file.Write(b)
	if err == nil && durable {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
