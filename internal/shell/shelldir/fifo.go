package shelldir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// RemoveFIFOs removes the names of a command's FIFOs.
func RemoveFIFOs(dir string) {
	for _, name := range [...]string{InFIFO, OutFIFO, ErrFIFO} {
		_ = os.Remove(filepath.Join(dir, name))
	}
}

// RemoveAllFIFOs removes the FIFOs of a shell without processes.
func RemoveAllFIFOs(dir string) {
	_ = os.Remove(filepath.Join(dir, ControlFIFO))
	RemoveFIFOs(dir)
	for _, parent := range [...]string{CommandsDir, InternalDir} {
		list, _ := os.ReadDir(filepath.Join(dir, parent))
		for _, f := range list {
			RemoveFIFOs(filepath.Join(dir, parent, f.Name()))
		}
	}
}

// MakeFIFO makes a FIFO, in place of an existing file.
func MakeFIFO(path string) error {
	err := unix.Mkfifo(path, 0o600)
	if errors.Is(err, unix.EEXIST) {
		if err = os.Remove(path); err == nil {
			err = unix.Mkfifo(path, 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("make %s: %w", path, FileError(err))
	}
	return nil
}

// TakeFIFO is MakeFIFO that moves an unused FIFO from another directory, if there is one that
// nobody reads from: it is empty, and no process of an earlier command can take from it.
func TakeFIFO(unused, path string) error {
	fd, err := unix.Open(unused, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	if errors.Is(err, unix.ENXIO) && os.Rename(unused, path) == nil {
		return nil
	}
	return MakeFIFO(path)
}

// GiveFIFOs moves the FIFOs of the outputs of a command that has ended into another directory, for
// TakeFIFO. No process has them open for writing.
func GiveFIFOs(dir, unused string) {
	for _, name := range [...]string{OutFIFO, ErrFIFO} {
		_ = os.Rename(filepath.Join(dir, name), filepath.Join(unused, name))
	}
	_ = os.Remove(filepath.Join(dir, InFIFO))
}

// OpenFIFO opens a FIFO without waiting for its other end.
func OpenFIFO(path string, mode int) (*os.File, error) {
	fd, err := unix.Open(path, mode|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// OpenPath is a path to an open file, also to a removed one.
func OpenPath(f *os.File) string {
	path := "/proc/self/fd/"
	if conn, err := f.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { path += strconv.FormatUint(uint64(fd), 10) })
	}
	return path
}

// Poll reports whether a FIFO has data, and whether it had writers that have closed it. With
// neither, no writer has come yet, or it has written nothing.
func Poll(fd int) (waiting, gone bool) {
	list := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(list, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return false, true
		}
		return n > 0 && list[0].Revents&unix.POLLIN != 0, n > 0 &&
			list[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
	}
}

// Closed reports whether a channel without values is closed.
func Closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// ClosedChannel is a closed channel.
var ClosedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
