package shell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// removeFIFOs removes the names of a command's FIFOs.
func removeFIFOs(dir string) {
	for _, name := range [...]string{inFIFO, outFIFO, errFIFO} {
		_ = os.Remove(filepath.Join(dir, name))
	}
}

// sweepFIFOs removes the FIFOs of a shell that nothing runs of.
func sweepFIFOs(dir string) {
	_ = os.Remove(filepath.Join(dir, controlFIFO))
	for _, parent := range [...]string{commandsDir, hiddenDir} {
		list, _ := os.ReadDir(filepath.Join(dir, parent))
		for _, f := range list {
			removeFIFOs(filepath.Join(dir, parent, f.Name()))
		}
	}
}

// makeFIFO makes a FIFO in the place of whatever is there, and fails at once when that cannot be.
func makeFIFO(path string) error {
	err := unix.Mkfifo(path, 0o600)
	if errors.Is(err, unix.EEXIST) {
		if err = os.Remove(path); err == nil {
			err = unix.Mkfifo(path, 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("make %s: %w", path, fileError(err))
	}
	return nil
}

// openFIFO opens a FIFO without waiting for its other end.
func openFIFO(path string, mode int) (*os.File, error) {
	fd, err := unix.Open(path, mode|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openPath is a path to an open file, whether its name is there or not.
func openPath(f *os.File) string {
	path := "/proc/self/fd/"
	if conn, err := f.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { path += strconv.FormatUint(uint64(fd), 10) })
	}
	return path
}

// waits tells whether a FIFO has something to read, and whether it had writers that are gone; with neither none has come yet, or it has written nothing.
func waits(fd int) (waiting, gone bool) {
	list := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(list, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return false, true
		}
		return n > 0 && list[0].Revents&unix.POLLIN != 0, n > 0 && list[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
	}
}

// closed tells whether a channel that carries nothing was closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// closedChannel is what waits for nothing wait for.
var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
