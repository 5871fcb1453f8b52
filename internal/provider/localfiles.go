package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// path is a path of the machine: a relative one begins where an instance does.
func (l *Local) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(l.cfg.Dir, name)
}

// ReadFile reads a regular file; what is none (a pipe, a terminal) would make it wait.
func (l *Local) ReadFile(_ context.Context, id, name string, most int64) ([]byte, error) {
	if _, err := l.at(id); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(l.path(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, localFile(err)
	}
	defer f.Close()
	return readRegular(f, most)
}

// readRegular reads a whole file of at most so many bytes.
func readRegular(f fs.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, localFile(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file", ErrProvider, info.Name())
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, localFile(err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%w: %s has more than %d bytes", ErrTooLarge, info.Name(), most)
	}
	return data, nil
}

// WriteFile makes or replaces a file, and the directories above it. One that exists keeps its mode, owner and links.
func (l *Local) WriteFile(_ context.Context, id, name string, data []byte) error {
	if _, err := l.running(id); err != nil {
		return err
	}
	name = l.path(name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return localFile(err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return localFile(err)
	}
	_, err = f.Write(data)
	return localFile(errors.Join(err, f.Close()))
}

// ListDir lists a directory by name. What a link leads to is not looked at.
func (l *Local) ListDir(_ context.Context, id, name string) ([]File, error) {
	if _, err := l.at(id); err != nil {
		return nil, err
	}
	name = l.path(name)
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, localFile(err)
	}
	files := make([]File, 0, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // gone meanwhile
			files = append(files, fileOf(name, info))
		}
	}
	return files, nil
}

// fileOf is an entry of a directory.
func fileOf(dir string, info fs.FileInfo) File {
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

// localFile gives the errors of files their sentinels.
func localFile(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %w", ErrNoFile, err)
	}
	return fmt.Errorf("%w: %w", ErrProvider, err)
}
