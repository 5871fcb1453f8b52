package pty

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lookup finds the executable file of command as the child would: with a slash relative to dir, else in the list path,
// whose relative entries are relative to dir too (POSIX XBD 8.3). Errors: ErrNoCommand, with the most telling reason
// met.
func lookup(command, dir, path string) (string, error) {
	if strings.Contains(command, "/") {
		file := within(dir, command)
		if _, err := executable(file); err != nil {
			return "", fmt.Errorf("%w: %q: %w", ErrNoCommand, command, err)
		}
		return file, nil
	}
	var met error
	for _, entry := range filepath.SplitList(path) {
		file := filepath.Join(within(dir, entry), command)
		found, err := executable(file)
		if err == nil {
			return file, nil
		}
		if found && met == nil {
			met = fmt.Errorf("%s: %w", file, err)
		}
	}
	if met != nil {
		return "", fmt.Errorf("%w: %q: %w", ErrNoCommand, command, met)
	}
	return "", fmt.Errorf("%w: %q: not found in PATH %s", ErrNoCommand, command, path)
}

// within is path, in dir when it is relative.
func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// executable returns why file cannot be executed by this process, or nil, and whether there is such a file at all.
func executable(file string) (found bool, why error) {
	info, err := os.Stat(file)
	if err != nil {
		return false, reason(err)
	}
	if info.IsDir() {
		return true, unix.EISDIR
	}
	if !info.Mode().IsRegular() {
		return true, unix.EACCES
	}
	return true, unix.Faccessat(unix.AT_FDCWD, file, unix.X_OK, unix.AT_EACCESS)
}

// reason strips the operation and path that package os adds, because our messages name them already.
func reason(err error) error {
	if wrapped, ok := errors.AsType[*fs.PathError](err); ok {
		return wrapped.Err
	}
	return err
}
