package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/thread"
)

// Files are those that a shell elsewhere sees. Paths are absolute. Refusals are *fs.PathError with
// the system's own error, as here; other errors are those of ready and of the provider.
type Files struct {
	service *Service
	shell   *registry.Shell
}

// Files are the files of a shell elsewhere; nil of one here, whose files are this machine's.
func (d *Service) Files(s *registry.Shell) *Files {
	if s.Spec().Provider == "" {
		return nil
	}
	return &Files{d, s}
}

// at is the provider and the instance, which runs.
func (f *Files) at(ctx context.Context) (provider.Provider, string, error) {
	place := f.shell.Spec().Provider
	l, err := f.service.openThread(ctx, f.shell.Session, useOfShell(f.shell), place)
	if err != nil {
		return nil, "", err
	}
	p := f.service.cfg.Providers[place]
	if !p.Capabilities().Files {
		return nil, "", fmt.Errorf("%w: %s has no files", thread.ErrUnsupported, place)
	}
	return p.Provider, l.Instance.Session, nil
}

// refused gives a provider's words the form that the system's have.
func refused(op, path string, err error) error {
	switch {
	case errors.Is(err, provider.ErrNoFile):
		return &fs.PathError{Op: op, Path: path, Err: syscall.ENOENT}
	case errors.Is(err, provider.ErrTooLarge):
		return &fs.PathError{Op: op, Path: path, Err: syscall.EFBIG}
	}
	return err
}

// Read reads a file of at most limit bytes; a larger one is EFBIG.
func (f *Files) Read(ctx context.Context, path string, limit int64) ([]byte, error) {
	p, id, err := f.at(ctx)
	if err != nil {
		return nil, err
	}
	b, err := p.ReadFile(ctx, id, path, limit)
	return b, refused("read", path, err)
}

// Write replaces what a file has.
func (f *Files) Write(ctx context.Context, path string, b []byte) error {
	p, id, err := f.at(ctx)
	if err != nil {
		return err
	}
	return refused("write", path, p.WriteFile(ctx, id, path, b))
}

// List is a directory.
func (f *Files) List(ctx context.Context, path string) ([]provider.File, error) {
	p, id, err := f.at(ctx)
	if err != nil {
		return nil, err
	}
	list, err := p.ListDir(ctx, id, path)
	return list, refused("list", path, err)
}

// The scripts of what providers have no call for. Their codes are numbers of errors, as everywhere
// on Linux.
const (
	makeScript    = `[ -e "$1" ] && exit 17; mkdir -- "$1" 2>/dev/null || { [ -d "${1%/*}/" ] && exit 13; exit 2; }`
	makeAllScript = `[ -d "$1" ] || mkdir -p -- "$1" 2>/dev/null || { [ -e "$1" ] && exit 17; exit 13; }`
	removeScript  = `[ -e "$1" ] || [ -L "$1" ] || exit 2; if [ -d "$1" ] && [ ! -L "$1" ]; then rmdir -- "$1" ` +
		`2>/dev/null || exit 39; else rm -f -- "$1" 2>/dev/null || exit 13; fi`
	renameScript = `[ -e "$1" ] || [ -L "$1" ] || exit 2; [ -d "${2%/*}/" ] || exit 2; mv -fT -- "$1" "$2" ` +
		`2>/dev/null || exit 13`
	existsScript = `[ -e "$1" ] || [ -L "$1" ] || exit 2`
)

// do runs a script with paths.
func (f *Files) do(ctx context.Context, op, script string, paths ...string) error {
	p, id, err := f.at(ctx)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("set --")
	for _, path := range paths {
		b.WriteString(" '" + strings.ReplaceAll(path, "'", `'\''`) + "'")
	}
	r, err := p.Exec(ctx, id, provider.ExecRequest{Command: b.String() + "\n" + script}, io.Discard, io.Discard)
	if err == nil && r.ExitCode != 0 {
		err = &fs.PathError{Op: op, Path: paths[0], Err: syscall.Errno(r.ExitCode)}
	}
	return err
}

// Mkdir makes a directory, with all those above it when all says so.
func (f *Files) Mkdir(ctx context.Context, path string, all bool) error {
	script := makeScript
	if all {
		script = makeAllScript
	}
	return f.do(ctx, "mkdir", script, path)
}

// Remove removes a file or an empty directory.
func (f *Files) Remove(ctx context.Context, path string) error {
	return f.do(ctx, "remove", removeScript, path)
}

// Rename moves a file or directory.
func (f *Files) Rename(ctx context.Context, from, to string) error {
	return f.do(ctx, "rename", renameScript, from, to)
}

// Exists reports whether there is something.
func (f *Files) Exists(ctx context.Context, path string) (bool, error) {
	err := f.do(ctx, "stat", existsScript, path)
	if errors.Is(err, syscall.ENOENT) {
		return false, nil
	}
	return err == nil, err
}
