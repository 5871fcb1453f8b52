package pty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// Pipe is where the output of one terminal waits between the kernel's terminal and the journal: both ends of one
// pipe(7), non-blocking and close-on-exec. The bytes in it belong to the kernel: when another process holds the ends
// too, they survive the death of this one.
//
// Fill, MoveTo and Read move bytes; the caller runs one of them at a time. The other methods may be called at any time.
type Pipe struct {
	mu     sync.Mutex // guards what follows; only memory is touched under it
	r, w   int        // the same descriptor, but where /proc does not open a pipe
	users  int        // calls that use the descriptors now; the last one closes them after Close
	closed bool

	// filled is how many bytes Fill has put into the kernel's pipe and MoveTo and Read have not taken, which own it;
	// below 0 for a pipe that had some before. 0 is an empty pipe.
	filled int

	plain    bool
	gathered bool   // plain, and nothing is left in the kernel's pipe
	held     []byte // plain: bytes that are in memory for the moment, the oldest first
}

// unknownFill is Pipe.filled of a pipe that another process has filled: no count of bytes makes it 0.
const unknownFill = -1 << 40

// NewPipe makes a pipe that holds pipeBytes, or as much as the system allows this user (pipe-user-pages-soft, pipe(7)).
func NewPipe() (*Pipe, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("pty: pipe: %w", err)
	}
	// A user with very many pipes gets two pages for each: less at a time, and just as right.
	_, _ = unix.FcntlInt(uintptr(ends[1]), unix.F_SETPIPE_SZ, pipeBytes)
	p := &Pipe{r: ends[0], w: ends[1]}
	p.join()
	return p, nil
}

// join makes both ends one descriptor, which may read and write (fifo(7)): a server has thousands of pipes.
func (p *Pipe) join() {
	flags, err := unix.FcntlInt(uintptr(p.r), unix.F_GETFL, 0)
	if err == nil && flags&unix.O_ACCMODE == unix.O_RDWR {
		_ = unix.Close(p.w)
		p.w = p.r
		return
	}
	both, err := unix.Open("/proc/self/fd/"+strconv.Itoa(p.r), unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_, _ = unix.Close(p.r), unix.Close(p.w)
	p.r, p.w = both, both
}

// PipeOf makes a Pipe of descriptors received from another process. It owns them from now on, also when it fails, and
// makes them non-blocking and close-on-exec. Errors: ErrNotPipe when they are not the two ends of one pipe.
func PipeOf(r, w int) (*Pipe, error) {
	p := &Pipe{r: r, w: w, filled: unknownFill}
	err := checkEnds(r, w)
	for _, fd := range [...]int{r, w} {
		if err == nil {
			err = unix.SetNonblock(fd, true)
		}
	}
	if err != nil {
		_ = p.Close()
		return nil, fmt.Errorf("pty: descriptors %d and %d: %w: %w", r, w, ErrNotPipe, err)
	}
	unix.CloseOnExec(r)
	unix.CloseOnExec(w)
	p.join()
	return p, nil
}

// checkEnds tells why r and w are not the reading and the writing end of one pipe.
func checkEnds(r, w int) error {
	if r == w {
		return unix.EBADF
	}
	var ends [2]unix.Stat_t
	for i, fd := range [...]int{r, w} {
		if err := unix.Fstat(fd, &ends[i]); err != nil {
			return err
		}
		if ends[i].Mode&unix.S_IFMT != unix.S_IFIFO {
			return unix.ESPIPE
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			return err
		}
		if mode := flags & unix.O_ACCMODE; mode != unix.O_RDWR && mode != [...]int{unix.O_RDONLY, unix.O_WRONLY}[i] {
			return unix.EBADF
		}
	}
	if ends[0].Dev != ends[1].Dev || ends[0].Ino != ends[1].Ino {
		return errors.New("ends of two different pipes")
	}
	return nil
}

// Plain makes Fill and MoveTo use read(2) and write(2) from now on, for systems whose kernel cannot splice (see
// ProbeSplice): between the two, bytes are in this process's memory only, and die with it. What is in the pipe already
// stays the first to come out.
func (p *Pipe) Plain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plain = true
}

// Control calls f with both descriptors, which stay open meanwhile, for those who pass them to another process
// (SCM_RIGHTS, unix(7)). Both must stay non-blocking. Errors: ErrClosed, and what f returns.
func (p *Pipe) Control(f func(r, w int) error) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return fmt.Errorf("pty: pipe: %w", ErrClosed)
	}
	p.users++
	p.mu.Unlock()
	defer p.leave()
	return f(p.r, p.w)
}

// leave ends a use of the descriptors.
func (p *Pipe) leave() {
	p.mu.Lock()
	p.users--
	last := p.closed && p.users == 0
	p.mu.Unlock()
	if last {
		p.shut()
	}
}

// Close closes both ends here; the bytes stay with those who hold the pipe too. A running call ends first, without
// Close waiting for it. Closing again does nothing.
func (p *Pipe) Close() error {
	p.mu.Lock()
	idle := !p.closed && p.users == 0
	p.closed = true
	p.held = nil
	p.mu.Unlock()
	if idle {
		p.shut()
	}
	return nil
}

// shut closes the descriptors. Nobody uses them any more, and pipes have no errors of closing.
func (p *Pipe) shut() {
	_ = unix.Close(p.r)
	if p.w != p.r {
		_ = unix.Close(p.w)
	}
}

// Buffered is the number of bytes that wait in the pipe. Errors: ErrClosed.
func (p *Pipe) Buffered() (int, error) {
	n := 0
	err := p.Control(func(r, _ int) (err error) {
		n, err = unix.IoctlGetInt(r, unix.TIOCINQ) // which is FIONREAD
		return err
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	return n + len(p.held), err
}

// Read takes up to len(b) bytes out of the pipe into memory, without waiting: 0 and no error mean that it is empty. It
// never returns io.EOF, for the writing end is here. Errors: ErrClosed.
func (p *Pipe) Read(b []byte) (int, error) {
	n := 0
	err := p.Control(func(r, _ int) (err error) {
		if p.isPlain() {
			if err = p.gather(r); err == nil {
				n = p.unhold(b)
			}
			return err
		}
		n, err = drainInto(r, b)
		p.filled -= n
		return err
	})
	return n, err
}

// MoveTo moves exactly n bytes from the pipe into f at off, which is a position in the file and not the end of an
// append-only file (O_APPEND is EINVAL, splice(2)). It returns how many bytes are in the file, also with an error
// (ENOSPC, EIO, EFBIG, EDQUOT); the others are still in the pipe. Errors: ErrClosed, io.ErrUnexpectedEOF when the pipe
// held less than n bytes, and as splice(2) and write(2).
func (p *Pipe) MoveTo(f *os.File, off int64, n int) (moved int, err error) {
	to, err := f.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("pty: pipe to file: %w", err)
	}
	err = p.Control(func(r, _ int) error {
		move := spliceOut
		if p.isPlain() {
			move = p.moveHeld
		}
		return proc.Control(to, func(fd int) (err error) {
			moved, err = move(r, fd, off, n)
			p.filled -= moved
			return err
		})
	})
	if err != nil {
		return moved, fmt.Errorf("pty: pipe to file, %d of %d bytes: %w", moved, n, err)
	}
	return moved, nil
}

// drainInto reads from a non-blocking pipe until b is full or nothing is left.
func drainInto(r int, b []byte) (int, error) {
	n, err := repeat(len(b), func(done int) (int, error) { return unix.Read(r, b[done:]) })
	if err == unix.EAGAIN {
		err = nil
	}
	return n, err
}

func (p *Pipe) isPlain() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plain
}

// gather takes what was in the kernel's pipe when it became plain into memory, once: nobody fills it after that.
func (p *Pipe) gather(r int) error {
	if p.gathered {
		return nil
	}
	n, err := unix.IoctlGetInt(r, unix.TIOCINQ)
	if err != nil {
		return err
	}
	b := make([]byte, n)
	if n, err = drainInto(r, b); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = append(p.held, b[:n]...)
	p.gathered = true
	return nil
}

// unhold takes bytes out of memory.
func (p *Pipe) unhold(b []byte) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := copy(b, p.held)
	p.held = slices.Delete(p.held, 0, n)
	return n
}

// moveHeld is MoveTo without splice. What the file did not take stays in memory as the pipe's.
func (p *Pipe) moveHeld(r, fd int, off int64, n int) (int, error) {
	if err := p.gather(r); err != nil {
		return 0, err
	}
	p.mu.Lock()
	b := p.held // nobody else moves bytes; Close only forgets them
	p.mu.Unlock()
	short := len(b) < n
	moved, err := writeAt(fd, b[:min(n, len(b))], off)
	p.mu.Lock()
	if !p.closed {
		p.held = slices.Delete(p.held, 0, moved)
	}
	p.mu.Unlock()
	if err == nil && short {
		err = io.ErrUnexpectedEOF
	}
	return moved, err
}

// writeAt writes all of b at off, and tells how much is written when that fails.
func writeAt(fd int, b []byte, off int64) (int, error) {
	n, err := repeat(len(b), func(done int) (int, error) { return unix.Pwrite(fd, b[done:], off+int64(done)) })
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}
