package main

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// stoppable reads a file, in whatever mode it is, until stop. Nothing is read that is not
// returned, so what comes later belongs to whoever reads the file then.
type stoppable struct {
	in   *os.File
	wake [2]int // a pipe: closing its write end ends read
}

// newStoppable makes a reader of in. Whoever calls stop calls close later.
func newStoppable(in *os.File) (stoppable, error) {
	s := stoppable{in: in}
	return s, unix.Pipe2(s.wake[:], unix.O_CLOEXEC)
}

// stop ends a pending and every later read.
func (s *stoppable) stop() { _ = unix.Close(s.wake[1]) }

// close lets go of what stop has ended; no read may be pending.
func (s *stoppable) close() { _ = unix.Close(s.wake[0]) }

// read waits for input, at most so many milliseconds; negative: without limit. ready is false when there was none. At
// the end of the file n is 0, after stop the error is io.EOF.
func (s *stoppable) read(p []byte, milliseconds int) (n int, ready bool, err error) {
	fds := []unix.PollFd{{Fd: int32(s.in.Fd()), Events: unix.POLLIN}, {Fd: int32(s.wake[0]), Events: unix.POLLIN}}
	for {
		n, err = unix.Poll(fds, milliseconds)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || n == 0:
			return 0, false, err
		case fds[1].Revents != 0:
			return 0, true, io.EOF
		}
		n, err = unix.Read(int(s.in.Fd()), p)
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return n, true, err
		}
	}
}
