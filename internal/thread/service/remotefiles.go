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

// Files are the files of a shell at a provider. Paths are absolute. Refusals are *fs.PathError with
// the system's own error, as on this machine; other errors are any of hooks.openThread and of the
// provider.
type Files struct {
	remote *remote
	shell  *registry.Shell
}

// Files returns the files of a shell at a provider; nil of a shell on this machine.
func (r *remote) Files(s *registry.Shell) *Files {
	if s.Spec().Provider == "" {
		return nil
	}
	return &Files{r, s}
}

// at returns the provider and its id of the instance, which runs.
func (f *Files) at(ctx context.Context) (provider.Provider, string, error) {
	name := f.shell.Spec().Provider
	l, err := f.remote.hooks.openShell(ctx, f.shell)
	if err != nil {
		return nil, "", err
	}
	p := f.remote.remotes[name]
	if !p.Capabilities().Files {
		return nil, "", fmt.Errorf("%w: %s has no files", thread.ErrUnsupported, name)
	}
	return p.Provider, l.Instance.Session, nil
}

// refused gives a provider's error the form of the system's.
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

// Write replaces the content of a file.
func (f *Files) Write(ctx context.Context, path string, b []byte) error {
	p, id, err := f.at(ctx)
	if err != nil {
		return err
	}
	return refused("write", path, p.WriteFile(ctx, id, path, b))
}

// List returns a directory.
func (f *Files) List(ctx context.Context, path string) ([]provider.File, error) {
	p, id, err := f.at(ctx)
	if err != nil {
		return nil, err
	}
	list, err := p.ListDir(ctx, id, path)
	return list, refused("list", path, err)
}

// Scripts for what providers have no call for. Their exit codes are Linux error numbers.
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

// Mkdir makes a directory; all makes its parents too.
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
