package datadir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/evertty/evertty/snapshot"
)

// Names of leftovers.
const (
	tmpFile    = ".tmp-"             // a file that is being written
	copyPrefix = tmpFile + "backup-" // a copy of the database
	GoneDir    = ".gone-"            // a terminal that is being removed
)

// CreateCopy makes an empty file of its own at the top of the data directory, which Open removes: the caller does so
// when it has opened it.
func CreateCopy(d *os.Root) (name string, f *os.File, err error) {
	name = copyPrefix + rand.Text()
	f, err = CreateFile(d, name)
	return name, f, err
}

// ErrNotFile is returned when a path that must be a file or directory is something else, for
// example a symbolic link.
var ErrNotFile = errors.New("not a regular file or directory of ours")

// writeFile makes or replaces a file in d so that a crash at any instant leaves
// the old content or the new: written beside, synced, renamed, and the
// directory synced. On an error the old content stays.
func writeFile(d *os.Root, name string, p []byte) error {
	return WriteFileBy(d, name, bytesTo(p))
}

// bytesTo writes p.
func bytesTo(p []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(p)
		return err
	}
}

// WriteFileBy is writeFile of what write writes.
func WriteFileBy(d *os.Root, name string, write func(io.Writer) error) error {
	tmp := tmpFile + name
	err := writeNew(d, tmp, write)
	if err == nil {
		err = d.Rename(tmp, name)
	}
	if err == nil {
		return NoSpace(SyncDir(d))
	}
	return NoSpace(errors.Join(err, d.RemoveAll(tmp)))
}

// writeNew writes and syncs a file that did not exist before. O_EXCL also keeps
// it from writing through a link that stands under the name.
func writeNew(d *os.Root, name string, write func(io.Writer) error) error {
	f, err := CreateFile(d, name)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// CreateFile makes a file, in the place of whatever has the name, and opens it
// for reading and writing.
func CreateFile(d *os.Root, name string) (*os.File, error) {
	const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL
	f, err := d.OpenFile(name, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if err = d.RemoveAll(name); err == nil {
			f, err = d.OpenFile(name, flags, 0o600)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// OpenFile opens a regular file, for writing too when flag says so. It
// compares the opened file with the name, so it refuses a link or a device.
func OpenFile(d *os.Root, name string, flag int) (*os.File, os.FileInfo, error) {
	seen, err := d.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%w: %s is %w", snapshot.ErrCorrupt, name, ErrNotFile)
	}
	f, err := d.OpenFile(name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(seen, info) {
		err = fmt.Errorf("%w: %s is %w", snapshot.ErrCorrupt, name, ErrNotFile)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// ReadFile reads a regular file of at most limit bytes. A longer file wraps
// ErrCorrupt.
func ReadFile(d *os.Root, name string, limit int64) ([]byte, error) {
	return readFileIn(nil, d, name, limit)
}

// readFileIn is ReadFile into the memory of buf, if that is enough.
func readFileIn(buf []byte, d *os.Root, name string, limit int64) ([]byte, error) {
	f, info, err := OpenFile(d, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%w: %s has %d bytes, at most %d are read", snapshot.ErrCorrupt, name, info.Size(),
			limit)
	}
	if int64(cap(buf)) < info.Size() {
		buf = make([]byte, info.Size())
	}
	b := buf[:info.Size()]
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

// makeDir makes a directory of mode 0700 whatever the umask.
func makeDir(d *os.Root, name string) error {
	err := d.Mkdir(name, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.Chmod(name, 0o700)
}

// openDir opens a directory in d that is not reached through a link.
func openDir(d *os.Root, name string) (*os.Root, error) {
	seen, err := d.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, fmt.Errorf("%s is %w", name, ErrNotFile)
	}
	sub, err := d.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if info, err := sub.Stat("."); err != nil || !os.SameFile(seen, info) {
		_ = sub.Close()
		return nil, errors.Join(err, fmt.Errorf("%s is %w", name, ErrNotFile))
	}
	return sub, nil
}

// ReadDir returns the entries of d by name.
func ReadDir(d *os.Root) ([]fs.DirEntry, error) {
	f, err := d.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Control calls do with the descriptor of a file, which stays open and non-blocking. Errors: that it is closed, do's.
func Control(f *os.File, do func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) { failed = do(int(fd)) })
	return errors.Join(err, failed)
}

// SyncDir makes the names in d durable.
func SyncDir(d *os.Root) error {
	f, err := d.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
