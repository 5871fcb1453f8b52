//go:build unix

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
	in          *os.File
	awake, wake *os.File // a pipe: closing its write end ends read
}

// newStoppable makes a reader of in. Whoever calls stop calls close later.
func newStoppable(in *os.File) (s stoppable, err error) {
	s.in = in
	s.awake, s.wake, err = os.Pipe()
	return s, err
}

// stop ends a pending and every later read.
func (s *stoppable) stop() { _ = s.wake.Close() }

// close lets go of what stop has ended; no read may be pending.
func (s *stoppable) close() { _ = s.awake.Close() }

// read waits for input, at most so many milliseconds; negative: without limit. ready is false when there was none. At
// the end of the file n is 0, after stop the error is io.EOF.
func (s *stoppable) read(p []byte, milliseconds int) (n int, ready bool, err error) {
	in, wake := int(s.in.Fd()), int(s.awake.Fd())
	for {
		ended := false
		if n, ended, err = awaitInput(in, wake, milliseconds); errors.Is(err, unix.EINTR) {
			continue
		}
		switch {
		case err != nil || n == 0:
			return 0, false, err
		case ended:
			return 0, true, io.EOF
		}
		n, err = unix.Read(in, p)
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return n, true, err
		}
	}
}
