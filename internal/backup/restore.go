package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/datadir"
)

// Restore makes the data directory dir, which is absent or empty, from the backup in file. The directory gets an
// identity of its own with its first server. It appears complete or not at all; a file that is damaged is found before
// anything is written. Errors: ErrDamaged, ErrNewer, ErrNotEmpty, ErrNoRoom, context.Cause(ctx).
func Restore(ctx context.Context, file, dir string) (Summary, error) {
	s, err := restore(ctx, file, dir)
	if err != nil {
		return s, fmt.Errorf("restore: %w", datadir.NoSpace(err))
	}
	return s, nil
}

func restore(ctx context.Context, file, dir string) (s Summary, err error) {
	if err := checkEmpty(dir); err != nil {
		return s, err
	}
	if dir, err = behindLinks(dir); err != nil {
		return s, err
	}
	f, err := openRegular(file)
	if err != nil {
		return s, err
	}
	defer f.Close()
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return s, err
	}
	room, err := freeSpace(parent)
	if err != nil {
		return s, err
	}
	if s, err = read(ctx, f, room, nil); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	tmp, err := newPartialDir(dir)
	if err != nil {
		return s, err
	}
	defer tmp.remove()
	if s, err = read(ctx, f, room, tmp.root); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	if err := datadir.MarkCopied(tmp.root); err != nil {
		return s, err
	}
	return s, tmp.rename(dir)
}

// checkEmpty refuses a directory with something in it, and what is no directory.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%w: %s has %s", ErrNotEmpty, dir, entries[0].Name())
	}
	return err
}

// behindLinks is what a link to an empty directory means, as /var/lib/evertty on another disk is; a link itself cannot
// be replaced by a directory.
func behindLinks(dir string) (string, error) {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	dir, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("it is a link to what is not there: %w", err)
	}
	return dir, err
}

// openRegular opens a regular file: it is read twice.
func openRegular(name string) (*os.File, error) {
	if name == "-" {
		return nil, errors.New("standard input cannot be read twice: a regular file is needed")
	}
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: a regular file is needed", name)
	}
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}

// freeSpace is the room on the file system of a directory, in bytes.
func freeSpace(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("%s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil //nolint:unconvert // sizes differ between architectures
}
