package shelldir

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// WriteFile is Write for given content.
func WriteFile(path string, content []byte) error {
	return Write(path, func(w *bufio.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Write writes a file so that its path has either the old content or the new one. It does not sync.
// Errors: ErrNoSpace, as write.
func Write(path string, write func(w *bufio.Writer) error) error {
	beside := path + ".part"
	file, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return SpaceError(err)
	}
	w := bufio.NewWriter(file)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(beside, path)
	}
	if err == nil {
		return nil
	}
	_ = os.Remove(beside)
	return SpaceError(err)
}

// Rewrite gives a file other content in place, which nobody may read meanwhile. It neither replaces
// a file nor makes one empty, which some file systems write to the disk at once. Errors: ErrNoSpace.
func Rewrite(path, content string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return SpaceError(err)
	}
	if _, err = file.WriteString(content); err == nil {
		err = file.Truncate(int64(len(content)))
	}
	return SpaceError(errors.Join(err, file.Close()))
}

// Exchange exchanges the names of two files. Errors: the kernel's, where it cannot.
func Exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// Touch makes an empty file with mode 0600 unless it exists.
func Touch(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return SpaceError(err)
	}
	return file.Close()
}

// WriteSynced writes a file and waits until the disk has it.
func WriteSynced(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// SyncDir waits until the disk has the names in a directory.
func SyncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// MakeDir makes a directory, and its parent when that is not there yet.
func MakeDir(parent, dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.Mkdir(parent, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			err = os.Mkdir(dir, 0o700)
		}
	}
	return SpaceError(err)
}

// Nearest is path if it is a directory that can be entered, else the nearest parent that is.
func Nearest(path string) string {
	if !filepath.IsAbs(path) {
		return "/" // "" would be this process's own
	}
	path = filepath.Clean(path)
	for !enterable(path) {
		up := filepath.Dir(path)
		if up == path {
			return "/"
		}
		path = up
	}
	return path
}

// enterable reports whether this process may enter a directory.
func enterable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && unix.Access(path, unix.X_OK) == nil
}

// IsWritten reports whether a process has the file open for writing: the kernel then gives no lease
// to read it (fcntl(2), F_SETLEASE). It is true also where the file system has no leases, and false
// for a file that cannot be opened.
func IsWritten(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // and the lease ends
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return err != nil
}
