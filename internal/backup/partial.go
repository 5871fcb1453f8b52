package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/datadir"
)

// partial ends the names of what is being written. What a kill leaves under them goes with the next call of the same
// kind: nobody has it locked.
const partial = ".partial"

// WriteFile makes the file name of what write writes, which has to be a whole backup, and reads it again before it gets
// its name. It has mode 0600 and replaces an older file. Errors: ErrDamaged, write's, the file system's.
func WriteFile(ctx context.Context, name string, write func(io.Writer) error) (s Summary, err error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return s, fmt.Errorf("backup: %s is no regular file; - stands for standard output", name)
	}
	dir, base := filepath.Split(name)
	dir = filepath.Clean(dir)
	sweep(dir, base)
	f, err := os.CreateTemp(dir, "."+base+".*"+partial)
	if err != nil {
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			failed.Path = name // the other one is ours alone
		}
		return s, fmt.Errorf("backup: %w", datadir.NoSpace(err))
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
		_ = f.Close()
	}()
	if err = lock(f); err == nil {
		err = write(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		s, err = Check(ctx, f)
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return s, datadir.NoSpace(err)
	}
	return s, syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func lock(f *os.File) error {
	return datadir.Control(f, func(fd int) error { return syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) })
}

// sweep removes what earlier calls for the same name have left. It drops errors: a leftover does no harm.
func sweep(dir, base string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if ok, _ := filepath.Match("."+escape(base)+".*"+partial, e.Name()); !ok {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		if lock(f) == nil {
			_ = os.RemoveAll(path)
		}
		_ = f.Close()
	}
}

// escape is base as a part of a pattern of filepath.Match.
func escape(base string) string {
	var b []byte
	for _, c := range []byte(base) {
		b = append(b, '\\', c)
	}
	return string(b)
}

// partialDir is a directory that gets its name when it is complete.
type partialDir struct {
	root *os.Root
	lock *os.File
}

// newPartialDir makes a directory beside dir, of mode 0700. The caller calls remove in any case.
func newPartialDir(dir string) (*partialDir, error) {
	parent, base := filepath.Split(dir)
	sweep(filepath.Clean(parent), base)
	path, err := os.MkdirTemp(parent, "."+base+".*"+partial)
	if err != nil {
		return nil, err
	}
	d := &partialDir{}
	if d.root, err = os.OpenRoot(path); err == nil {
		d.lock, err = os.Open(path)
	}
	if err == nil {
		err = lock(d.lock)
	}
	if err != nil {
		d.remove()
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return d, nil
}

// rename syncs all that is in the directory and makes it dir, which is absent or empty.
func (d *partialDir) rename(dir string) error {
	if err := datadir.Control(d.lock, unix.Syncfs); err != nil {
		return err
	}
	err := unix.Rename(d.root.Name(), dir) // os.Rename takes no empty directory
	if errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("%s is a mount point; restore to a directory below it", dir)
	}
	if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %s", ErrNotEmpty, dir)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: d.root.Name(), New: dir, Err: err}
	}
	return syncDir(filepath.Dir(dir))
}

// remove removes the directory, unless it was renamed.
func (d *partialDir) remove() {
	if d.root != nil {
		_ = os.RemoveAll(d.root.Name())
		_ = d.root.Close()
	}
	_ = d.lock.Close()
}
