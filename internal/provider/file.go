package provider

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"syscall"
)

// AbsPath is a path of an instance: a relative one begins in cwd.
func AbsPath(cwd, name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(cwd, name)
}

// ReadRegular reads a whole file of at most so many bytes. Another kind (a pipe, a terminal) could block.
// Errors: ErrNoFile, ErrTooLarge, ErrProvider.
func ReadRegular(f fs.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, FileError(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file", ErrProvider, info.Name())
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, FileError(err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%w: %s has more than %d bytes", ErrTooLarge, info.Name(), most)
	}
	return data, nil
}

// FileOf is an entry of a directory.
func FileOf(dir string, info fs.FileInfo) File {
	return File{Name: info.Name(), Path: filepath.Join(dir, info.Name()), Dir: info.IsDir(), Size: info.Size(),
		Mode: modeText(info.Mode()), MTime: info.ModTime().UTC()}
}

// modeText is a mode as ls writes it.
func modeText(m fs.FileMode) string {
	kind := "-"
	switch {
	case m.IsDir():
		kind = "d"
	case m&fs.ModeSymlink != 0:
		kind = "l"
	case m&fs.ModeNamedPipe != 0:
		kind = "p"
	case m&fs.ModeSocket != 0:
		kind = "s"
	case m&fs.ModeCharDevice != 0:
		kind = "c"
	case m&fs.ModeDevice != 0:
		kind = "b"
	}
	return kind + m.Perm().String()[1:]
}

// FileError gives an error of package os its sentinel.
func FileError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %w", ErrNoFile, err)
	}
	return fmt.Errorf("%w: %w", ErrProvider, err)
}
