package pty

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	creack "github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// Master is the near end of a pseudo-terminal. All methods may be called at the same time from several goroutines; one
// Read and one Write run at a time, further ones wait for them.
type Master struct {
	file *os.File
	conn syscall.RawConn // the only way to the descriptor: file.Fd would make it blocking
	path string          // of the far end, /dev/pts/N

	reading     sync.Mutex    // excludes readers from each other; guards rest
	rest        drainTimer    // what Read knows of the time after Drain
	interrupted atomic.Bool   // Interrupt was called, and no Read has ended for it
	awaiting    sync.Mutex    // guards awaited; proc's lock is taken under it
	awaited     *proc.Wait    // of the last Await; nil once it was woken
	writing     chan struct{} // holds one value while a Write runs
	lineMu      sync.Mutex    // a leaf
	line        inputLine     // guarded by lineMu

	gone      chan struct{} // closed by Drain: the child has exited
	drainOnce sync.Once
	ended     chan struct{} // closed when Read told io.EOF, or by Close
	endOnce   sync.Once
	closed    chan struct{}
	closeOnce sync.Once
}

// OpenPair opens a pseudo-terminal of the given size with UTF-8 aware line editing (IUTF8) and returns both ends. The
// far end is for Spawn; the caller closes it after that, or the output never ends. Errors: ErrBadSize, ErrNoPTY.
func OpenPair(cols, rows int) (*Master, *os.File, error) {
	if err := checkSize(cols, rows); err != nil {
		return nil, nil, fmt.Errorf("pty: open: %w", err)
	}
	near, far, err := creack.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("pty: open: %w: %w", ErrNoPTY, err)
	}
	fd, err := duplicate(near)
	// near is done with: creack/pty has set it to blocking, and only a file made from a non-blocking descriptor waits
	// in the poller.
	_ = near.Close()
	if err != nil {
		_ = far.Close()
		return nil, nil, fmt.Errorf("pty: open: %w: %w", ErrNoPTY, err)
	}
	m, err := NewMaster(fd)
	if err == nil {
		err = m.prepare(cols, rows)
	}
	if err != nil {
		if m != nil {
			_ = m.Close()
		}
		_ = far.Close()
		return nil, nil, err
	}
	return m, far, nil
}

// firstOwn is the first descriptor that is no standard file.
const firstOwn = 3

// duplicate returns a close-on-exec duplicate of a file's descriptor.
func duplicate(f *os.File) (int, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd := -1
	err = proc.Control(conn, func(old int) (err error) {
		fd, err = unix.FcntlInt(uintptr(old), unix.F_DUPFD_CLOEXEC, firstOwn)
		return err
	})
	return fd, err
}

// NewMaster makes a Master of a descriptor of a master that is open already, for example one received from another
// process. It owns fd from now on, also when it fails, and makes it non-blocking and close-on-exec. Who uses a received
// Master has to tell it of the child's exit with Drain. Errors: ErrNotMaster.
func NewMaster(fd int) (*Master, error) {
	number, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("pty: descriptor %d: %w: %w", fd, ErrNotMaster, err)
	}
	path := "/dev/pts/" + strconv.Itoa(int(number))
	file, conn, err := proc.Pollable(fd, path)
	if err != nil {
		return nil, fmt.Errorf("pty: descriptor %d: %w: %w", fd, ErrNotMaster, err)
	}
	return &Master{
		file: file, conn: conn, path: path,
		writing: make(chan struct{}, 1), gone: make(chan struct{}), ended: make(chan struct{}),
		closed: make(chan struct{}),
	}, nil
}

// prepare sets the first size and IUTF8 (termios(3)), without which erasing a character in canonical mode erases one
// byte of it.
func (m *Master) prepare(cols, rows int) error {
	if err := m.Resize(cols, rows); err != nil {
		return err
	}
	return m.control("set IUTF8", func(fd int) error {
		mode, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err != nil {
			return err
		}
		mode.Iflag |= unix.IUTF8
		return unix.IoctlSetTermios(fd, unix.TCSETS, mode)
	})
}

// Resize sets the size in cells; when it differs from the one before, the kernel sends SIGWINCH to the foreground
// process group (TIOCSWINSZ, ioctl_tty(2)). Errors: ErrBadSize, ErrClosed.
func (m *Master) Resize(cols, rows int) error {
	if err := checkSize(cols, rows); err != nil {
		return fmt.Errorf("pty: resize: %w", err)
	}
	return m.control("resize", func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)})
	})
}

// Size returns the size in cells. Errors: ErrClosed.
func (m *Master) Size() (cols, rows int, err error) {
	err = m.control("get size", func(fd int) error {
		size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err == nil {
			cols, rows = int(size.Col), int(size.Row)
		}
		return err
	})
	return cols, rows, err
}

// Foreground returns the process group that has the terminal's foreground, 0 when there is none (TIOCGPGRP,
// ioctl_tty(2)). Errors: ErrClosed.
func (m *Master) Foreground() (int, error) {
	return m.group("get foreground group", unix.TIOCGPGRP)
}

// session returns the session that has this terminal as its controlling one, 0 when there is none. Unlike tty_nr in
// /proc it cannot be mistaken for the same number in a container's own /dev/pts. Errors: ErrClosed.
func (m *Master) session() (int, error) {
	sid, err := m.group("get session", unix.TIOCGSID)
	if errors.Is(err, unix.ENOTTY) {
		return 0, nil
	}
	return sid, err
}

// group runs one of the requests that answer with a process id.
func (m *Master) group(what string, request uint) (int, error) {
	var id uint32
	err := m.control(what, func(fd int) (err error) {
		id, err = proc.Uint32Now(fd, request)
		return err
	})
	return int(id), err
}

// SyscallConn gives the descriptor to those who have to pass it to another process (SCM_RIGHTS, unix(7)). O_NONBLOCK
// belongs to the descriptor and all its duplicates together and must stay set.
func (m *Master) SyscallConn() syscall.RawConn {
	return m.conn
}

// Drain tells that the child has exited: Read ends with io.EOF once all output was read, and Write no longer waits for
// anybody. Calling it again does nothing.
func (m *Master) Drain() {
	m.drainOnce.Do(func() {
		close(m.gone)
		// Wakes both sides; they look at gone before they wait again.
		_ = m.file.SetDeadline(time.Now())
		m.wake()
	})
}

// Close closes this end. A pending Read or Write returns ErrClosed; the kernel sends SIGHUP to the session on the far
// end. Closing again does nothing.
func (m *Master) Close() error {
	var err error
	m.closeOnce.Do(func() {
		close(m.closed)
		m.wake()
		err = m.file.Close()
		m.end()
	})
	if err != nil {
		return fmt.Errorf("pty: close: %w", err)
	}
	return nil
}

// end records that nobody will get further output.
func (m *Master) end() {
	m.endOnce.Do(func() { close(m.ended) })
}

// control calls f with the descriptor, which stays open meanwhile.
func (m *Master) control(what string, f func(fd int) error) error {
	if err := proc.Control(m.conn, f); err != nil {
		return m.failed(what, err)
	}
	return nil
}

// failed names what could not be done, with ErrClosed where that is the reason.
func (m *Master) failed(what string, err error) error {
	if isClosed(m.closed) {
		return fmt.Errorf("pty: %s: %w", what, ErrClosed)
	}
	return fmt.Errorf("pty: %s: %w", what, reason(err))
}
