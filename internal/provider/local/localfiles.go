package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/evertty/evertty/internal/provider"
)

// path is a path of the machine: a relative one begins where an instance does.
func (l *Provider) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(l.cfg.Dir, name)
}

// ReadFile reads a regular file; what is none (a pipe, a terminal) would make it wait.
func (l *Provider) ReadFile(_ context.Context, id, name string, most int64) ([]byte, error) {
	if _, err := l.at(id); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(l.path(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, provider.FileError(err)
	}
	defer f.Close()
	return provider.ReadRegular(f, most)
}

// WriteFile makes or replaces a file, and the directories above it. One that exists keeps its mode, owner and links.
func (l *Provider) WriteFile(_ context.Context, id, name string, data []byte) error {
	if _, err := l.running(id); err != nil {
		return err
	}
	name = l.path(name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return provider.FileError(err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return provider.FileError(err)
	}
	_, err = f.Write(data)
	return provider.FileError(errors.Join(err, f.Close()))
}

// ListDir lists a directory by name. What a link leads to is not looked at.
func (l *Provider) ListDir(_ context.Context, id, name string) ([]provider.File, error) {
	if _, err := l.at(id); err != nil {
		return nil, err
	}
	name = l.path(name)
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, provider.FileError(err)
	}
	files := make([]provider.File, 0, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // gone meanwhile
			files = append(files, provider.FileOf(name, info))
		}
	}
	return files, nil
}
