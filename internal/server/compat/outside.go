package compat

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// errProcess refuses what processes have in /proc: a caller would read the files of the server, the keeper and the
// relays, which are closed to programs (proc.Private). A command reads what programs have.
var errProcess = fmt.Errorf("%w: files of processes in /proc are for commands", fs.ErrPermission)

// processPath is a path in a process's directory of a procfs.
var processPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/[0-9]+(/|$)`) })

// openOutside is os.OpenFile for what no process has in /proc, whatever way leads there. Links of the kernel (proc(5):
// fd, root, cwd, exe) are not followed. Errors: errProcess.
func openOutside(path string, flags int, mode fs.FileMode) (*os.File, error) {
	how := &unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Mode: uint64(mode), Resolve: unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, how)
	for errors.Is(err, unix.EINTR) {
		fd, err = unix.Openat2(unix.AT_FDCWD, path, how)
	}
	// Before Linux 5.6, or where a filter forbids calls that it does not know, links of the kernel are followed.
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		fd, err = unix.Open(path, flags|unix.O_CLOEXEC, uint32(mode))
	}
	if errors.Is(err, unix.ELOOP) {
		if _, loop := os.Stat(path); !errors.Is(loop, unix.ELOOP) {
			err = errProcess
		}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	var in unix.Statfs_t
	if unix.Fstatfs(fd, &in) == nil && in.Type == unix.PROC_SUPER_MAGIC {
		at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		if err != nil || processPath().MatchString(at) {
			_ = f.Close()
			return nil, &fs.PathError{Op: "open", Path: path, Err: errProcess}
		}
	}
	return f, nil
}

// checkOutside refuses a path that leads to what processes have in /proc, also where nothing is there. Errors:
// errProcess.
func checkOutside(path string) error {
	for ; path != ""; path = parentOf(path) {
		f, err := openOutside(path, unix.O_PATH, 0)
		if err == nil {
			return f.Close()
		}
		if errors.Is(err, errProcess) {
			return err
		}
	}
	return nil // the call itself fails
}

// checkEntry is checkOutside for what removes or moves an entry of a directory: a link is meant itself, but not those
// that the system has in /dev and /proc. Errors: errProcess.
func checkEntry(path string) error {
	dir := parentOf(path)
	if at, err := filepath.EvalSymlinks(dir); err == nil && (at == "/dev" || at == "/proc") {
		dir = path
	}
	return checkOutside(dir)
}

// parentOf is the directory that has the last name of a path, with its links and dots; "" of "/".
func parentOf(path string) string {
	return path[:strings.LastIndexByte(strings.TrimRight(path, "/"), '/')+1]
}
