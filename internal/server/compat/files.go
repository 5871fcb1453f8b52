package compat

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/wire"
)

// files are those that the shell of a request sees: of this machine, or of the place where the thread's processes run.
type files interface {
	read(ctx context.Context, path string) ([]byte, error) // EFBIG beyond maxFile
	write(ctx context.Context, path string, p []byte) error
	mkdir(ctx context.Context, path string, all bool) error
	remove(ctx context.Context, path string) error
	rename(ctx context.Context, from, to string) error
	exists(ctx context.Context, path string) (bool, error)
	// list fills in a reply that has the path.
	list(ctx context.Context, l *wire.CompatFiles, recursive, hidden bool) error
}

// filesOf are the files of a shell.
func (s *Service) filesOf(sh *registry.Shell) files {
	if f := s.Threads.Files(sh); f != nil {
		return remoteFiles{f}
	}
	return localFiles{}
}

// localFiles are this machine's.
type localFiles struct{}

func (localFiles) read(_ context.Context, path string) ([]byte, error) {
	f, err := openFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readWhole(f, path)
}

// readWhole reads what a file has. Its size says nothing of one that grows, or of one in /proc.
func readWhole(f io.Reader, path string) ([]byte, error) {
	p, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(p) > maxFile {
		return nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EFBIG}
	}
	return p, err
}

func (localFiles) write(_ context.Context, path string, p []byte) error { return writeFile(path, p) }

func (localFiles) mkdir(_ context.Context, path string, all bool) error {
	if err := checkOutside(path); err != nil {
		return err
	}
	if all {
		return os.MkdirAll(path, 0o777)
	}
	return os.Mkdir(path, 0o777)
}

func (localFiles) remove(_ context.Context, path string) error {
	if err := checkEntry(path); err != nil {
		return err
	}
	return os.Remove(path)
}

func (localFiles) rename(_ context.Context, from, to string) error {
	for _, path := range [...]string{from, to} {
		if err := checkEntry(path); err != nil {
			return err
		}
	}
	return os.Rename(from, to)
}

func (localFiles) exists(_ context.Context, path string) (bool, error) {
	err := checkOutside(path)
	if err == nil {
		_, err = os.Lstat(path)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}

func (localFiles) list(_ context.Context, l *wire.CompatFiles, recursive, hidden bool) (err error) {
	if err := checkOutside(l.Path); err != nil {
		return err
	}
	if l.Path, err = filepath.EvalSymlinks(l.Path); err != nil {
		return err
	}
	return walk(l, recursive, hidden)
}

// remoteFiles are the files of a provider.
type remoteFiles struct{ *service.Files }

func (r remoteFiles) read(ctx context.Context, path string) ([]byte, error) {
	return r.Read(ctx, path, maxFile)
}

func (r remoteFiles) write(ctx context.Context, path string, p []byte) error {
	return r.Write(ctx, path, p)
}

func (r remoteFiles) mkdir(ctx context.Context, path string, all bool) error {
	return r.Mkdir(ctx, path, all)
}

func (r remoteFiles) remove(ctx context.Context, path string) error { return r.Remove(ctx, path) }

func (r remoteFiles) rename(ctx context.Context, from, to string) error {
	return r.Rename(ctx, from, to)
}

func (r remoteFiles) exists(ctx context.Context, path string) (bool, error) {
	return r.Exists(ctx, path)
}

// list asks once for each directory. What cannot be read below the first is left out.
func (r remoteFiles) list(ctx context.Context, l *wire.CompatFiles, recursive, hidden bool) error {
	var walk func(dir, relative string) error
	walk = func(dir, relative string) error {
		entries, err := r.List(ctx, dir)
		if err != nil {
			return err
		}
		for _, f := range entries {
			if !hidden && strings.HasPrefix(f.Name, ".") {
				continue
			}
			if len(l.Files) == maxEntries {
				l.Truncated = true
				return nil
			}
			e := entryOf(f, dir, relative)
			l.Files = append(l.Files, e)
			if recursive && f.Dir {
				_ = walk(e.AbsolutePath, e.RelativePath)
			}
		}
		return nil
	}
	return walk(l.Path, "")
}

func entryOf(f provider.File, dir, relative string) wire.CompatEntry {
	e := wire.CompatEntry{Name: f.Name, AbsolutePath: filepath.Join(dir, f.Name),
		RelativePath: filepath.Join(relative, f.Name), Type: "file", Size: f.Size,
		ModifiedAt: f.MTime.UTC(), Mode: octal(f.Mode)}
	switch {
	case f.Dir:
		e.Type = "directory"
	case strings.HasPrefix(f.Mode, "l"):
		e.Type = "symlink"
	case f.Mode != "" && !strings.HasPrefix(f.Mode, "-"):
		e.Type = "other"
	}
	return e
}

// octal is the permissions of -rw-r--r-- as 0644; "" of what is no such text.
func octal(mode string) string {
	if len(mode) < len("-rwxrwxrwx") {
		return ""
	}
	digits := []byte("0000")
	for i := range 9 {
		if c := mode[1+i]; c != '-' && c != 'S' && c != 'T' {
			digits[1+i/3] += 4 >> (i % 3)
		}
	}
	return string(digits)
}
