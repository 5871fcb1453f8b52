package pty

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// Read waits until the terminal has output and then takes all there is, up to len(p) bytes. The kernel gives at most 4
// KiB at a time, so a p of 64 KiB saves most of the wake-ups in a flood. p is not retained.
//
// It returns io.EOF at the end of the output (see the package comment) and ErrClosed after Close. While the child lives
// an EIO is not the end: the kernel says it when no process holds the terminal open, and wakes the poller when one has
// opened it again and writes.
func (m *Master) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return m.output("read", func(fd int) (int, error) { return take(fd, p) })
}

// taker takes what output there is from the non-blocking descriptor of a master, somewhere. When it takes nothing the
// error says why: unix.EAGAIN for no output as yet, unix.EIO for a far end that no process holds open.
type taker func(fd int) (int, error)

// output is the one way to output, of Read and Fill: it waits until take gets some, or until the end. What names the
// caller in errors.
func (m *Master) output(what string, take taker) (int, error) {
	m.reading.Lock()
	defer m.reading.Unlock()
	for !isClosed(m.ended) {
		if isClosed(m.gone) {
			return m.outputRest(what, take)
		}
		n, err := m.await(take)
		switch {
		case n > 0:
			return n, nil
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, m.failed(what, err)
		case m.interrupted.Swap(false):
			_ = m.file.SetReadDeadline(time.Time{}) // also the one of Drain: all who wait look at gone before
			return 0, m.failed(what, ErrInterrupted)
		}
	}
	if isClosed(m.closed) {
		return 0, m.failed(what, os.ErrClosed)
	}
	return 0, io.EOF
}

// await waits for output and takes it. It returns 0 bytes and no error when the far end is closed and the child has
// exited, and os.ErrDeadlineExceeded when Drain wants the reader's attention or the time set by awaitRest is over.
func (m *Master) await(take taker) (n int, err error) {
	var readErr error
	err = m.conn.Read(func(fd uintptr) bool {
		n, readErr = take(int(fd))
		wait := readErr == unix.EAGAIN || readErr == unix.EIO && !isClosed(m.gone)
		return n > 0 || !wait
	})
	if err == nil && readErr != unix.EIO {
		err = readErr
	}
	return n, err
}

// outputRest is output after the child's exit, when other processes may still hold the terminal open.
func (m *Master) outputRest(what string, take taker) (int, error) {
	for {
		if m.rest.over(time.Now()) {
			m.end()
			return 0, io.EOF
		}
		n := 0
		err := proc.Control(m.conn, func(fd int) (err error) {
			n, err = take(fd)
			return err
		})
		switch {
		case n > 0:
			m.rest.took(n, time.Now())
			return n, nil
		case err == unix.EIO || err == nil:
			m.end()
			return 0, io.EOF
		case err != unix.EAGAIN:
			return 0, m.failed(what, err)
		}
		m.rest.dry(time.Now())
		if n, err := m.awaitRest(what, take); n > 0 || err != nil {
			return n, err
		}
	}
}

// awaitRest waits for output until the output counts as ended. It returns 0 bytes and no error when it is time to look
// again.
func (m *Master) awaitRest(what string, take taker) (int, error) {
	if err := m.file.SetReadDeadline(m.rest.limit()); err != nil {
		return 0, m.failed(what, err)
	}
	n, err := m.await(take)
	if n > 0 {
		m.rest.took(n, time.Now())
		return n, nil
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return 0, m.failed(what, err)
	}
	return 0, nil
}

// take reads from a non-blocking descriptor until p is full or nothing is left. The error says why it stopped when it
// took nothing; EIO stands for a far end that no process holds open, which some kernels tell as 0 bytes.
func take(fd int, p []byte) (int, error) {
	n, err := repeat(len(p), func(done int) (int, error) { return proc.ReadNow(fd, p[done:]) })
	switch {
	case n > 0:
		return n, nil
	case err == nil:
		return 0, unix.EIO
	}
	return 0, err
}

// repeat calls a system call again, with the number of bytes done, until all n are done or it does none. err is the
// last call's; EINTR is none.
func repeat(n int, call func(done int) (int, error)) (done int, err error) {
	for done < n {
		got, err := call(done)
		if err == unix.EINTR {
			continue
		}
		if got <= 0 {
			return done, err
		}
		done += got
	}
	return done, nil
}
