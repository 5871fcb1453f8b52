package output

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

const (
	// copyPiece is how much one splice moves at most, in bytes: what a FIFO of fifoBytes holds, so
	// that CopyWaiting never waits for more than this.
	copyPiece = 1 << 20
	// fifoBytes is the room that a FIFO gets once a command proves to print much, in bytes: most of
	// what saves wake-ups. It is the default of /proc/sys/fs/pipe-max-size, what any user may have.
	fifoBytes = 1 << 20
	// fifoMuch is how many bytes at once say that a command prints much: all that a FIFO holds at
	// first.
	fifoMuch = 64 << 10
	// plainPiece is how much goes through memory at a time where splice does not work or output is
	// dropped, in bytes.
	plainPiece = 128 << 10
)

// plainBuffers are shared by all copiers: only those that move bytes this moment hold one.
var plainBuffers = sync.Pool{New: func() any { return new([plainPiece]byte) }}

// Copier moves what a command writes from a FIFO to the end of a log, by one goroutine that sleeps
// in Go's poller. Without unspliced the bytes never are in this process's memory: at any instant
// each of them is in the FIFO or in the log, so a killed server neither loses nor doubles one.
//
// A FIFO that no process has opened for writing yet is not at its end: the copier waits for the
// first writer. The end comes when the last one has closed it.
type Copier struct {
	fifo    *os.File
	conn    syscall.RawConn // of fifo
	log     *Log
	over    chan struct{}
	forNext atomic.Bool // the log goes on after the end, see detach

	// guards the fields below and the order of moves: its holder moves, and moves only bytes that
	// are there
	mu    sync.Mutex
	plain bool // splice is not used, or did not work
	wide  bool // the FIFO has been made larger, or cannot be
	eof   bool
}

// Start takes over the reading end of a FIFO: the copier closes it, also when this fails (hand it
// to the keeper before). It moves into l until the end of the FIFO or stop, and finishes l then.
// unspliced makes it read and write instead of splice.
func Start(fifo *os.File, l *Log, unspliced bool) (*Copier, error) {
	own, err := pollable(fifo)
	_ = fifo.Close()
	if err != nil {
		l.Finish()
		return nil, fmt.Errorf("shell: reading end of %q: %w", fifo.Name(), err)
	}
	conn, _ := own.SyscallConn() // fails of no open file
	p := &Copier{fifo: own, conn: conn, log: l, over: make(chan struct{}), plain: unspliced}
	go p.run()
	return p, nil
}

// pollable is a copy of a descriptor for Go's poller.
func pollable(file *os.File) (*os.File, error) {
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	var failed error
	err = conn.Control(func(from uintptr) {
		if fd, failed = unix.FcntlInt(from, unix.F_DUPFD_CLOEXEC, 0); failed == nil {
			failed = unix.SetNonblock(fd, true)
		}
	})
	if err = errors.Join(err, failed); err != nil {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		return nil, err
	}
	return os.NewFile(uintptr(fd), file.Name()), nil
}

// run copies until the end.
func (p *Copier) run() {
	defer close(p.over)
	defer func() {
		if !p.forNext.Load() {
			p.log.Finish()
		}
	}()
	defer p.fifo.Close()
	for {
		end := false
		// Returning false sleeps until the FIFO has something new. The error says that stop has
		// closed it.
		err := p.conn.Read(func(fd uintptr) bool {
			moved, why := p.move(int(fd), copyPiece)
			end = errors.Is(why, io.EOF)
			return moved > 0 || end
		})
		if err != nil || end {
			return
		}
	}
}

// CopyWaiting copies the bytes that the FIFO has now, and reports whether its end was reached. It
// does not wait for writers. After Stop it returns false.
func (p *Copier) CopyWaiting() (eof bool) {
	if p.conn.Control(func(fd uintptr) { eof = p.copyWaiting(int(fd)) }) != nil { // closed, by the end or by stop
		return p.ended()
	}
	return eof
}

// copyWaiting is CopyWaiting with the descriptor. It copies the bytes of that moment, so it ends
// also while a writer goes on.
func (p *Copier) copyWaiting(fd int) (eof bool) {
	waiting, err := unix.IoctlGetInt(fd, unix.TIOCINQ) // which is FIONREAD
	if err != nil {
		waiting = copyPiece
	}
	// One byte more than there is: that finds the end, when it has been reached.
	for rest := waiting + 1; rest > 0; {
		moved, why := p.move(fd, rest)
		if why != nil {
			return errors.Is(why, io.EOF)
		}
		rest -= moved
	}
	return false
}

// ended reports whether the end of the FIFO was reached.
func (p *Copier) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.eof
}

// Done is closed when the copier has ended; the log is finished and the descriptors are closed
// then.
func (p *Copier) Done() <-chan struct{} { return p.over }

// Stop ends the copier and waits for its end. The content of the FIFO stays, for others who hold
// it.
func (p *Copier) Stop() {
	_ = p.fifo.Close()
	<-p.over
}

// StopForNext is Stop for a log that another copier continues.
func (p *Copier) StopForNext() {
	p.forNext.Store(true)
	p.Stop()
}

// move moves up to limit bytes from the FIFO into the log, or drops them when the log takes no
// more. Errors: io.EOF at the end of the FIFO, unix.EAGAIN when nothing is there, both with nothing
// moved.
func (p *Copier) move(fd, limit int) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.eof {
		n, err := p.moveOnce(fd, min(limit, copyPiece))
		switch {
		case n > 0:
			p.widen(fd, n)
			return n, nil
		case errors.Is(err, unix.EINTR), errors.Is(err, errAgain):
			continue
		case errors.Is(err, unix.EAGAIN):
			return 0, unix.EAGAIN
		case err == nil:
			// The last writer may have written and gone since the look.
			if waiting, gone := shelldir.Poll(fd); waiting {
				continue
			} else if !gone {
				return 0, unix.EAGAIN
			}
		}
		p.eof = true // of an unreadable FIFO too, which there is none of
	}
	return 0, io.EOF
}

// errAgain has the caller try again, in another way.
var errAgain = errors.New("again")

// moveOnce makes one call that copies.
func (p *Copier) moveOnce(fd, limit int) (int, error) {
	// The file of the log is made for a first byte, not for the look whether there is one.
	if !p.log.open() && empty(fd) {
		return 0, nil
	}
	file, at, room := p.log.room()
	switch {
	case file == nil:
		return p.copy(fd, nil, 0, limit)
	case p.plain:
		return p.copy(fd, file, at, int(min(int64(limit), room)))
	}
	n, err := unix.Splice(fd, nil, int(file.Fd()), &at, int(min(int64(limit), room)), unix.SPLICE_F_NONBLOCK)
	runtime.KeepAlive(file)
	switch {
	case n > 0:
		p.log.added(n)
		return int(n), nil
	case err == nil, errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return 0, err
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		p.plain = true
	default:
		p.log.Drop(err)
	}
	return 0, errAgain
}

// copy moves output through memory, into the log's file or, without one, nowhere.
func (p *Copier) copy(fd int, file *os.File, at int64, limit int) (int, error) {
	buffer := plainBuffers.Get().(*[plainPiece]byte)
	defer plainBuffers.Put(buffer)
	n, err := unix.Read(fd, buffer[:min(limit, plainPiece)])
	if n <= 0 {
		return 0, err
	}
	put := 0
	if file != nil {
		put, err = file.WriteAt(buffer[:n], at)
		p.log.added(int64(put))
	}
	if put < n {
		p.log.count(int64(n - put))
		p.log.Drop(err)
	}
	return n, nil
}

// widen enlarges the FIFO of a command that prints much, where the user may (pipe-user-pages-soft,
// pipe(7)).
func (p *Copier) widen(fd, moved int) {
	if p.wide || moved < fifoMuch {
		return
	}
	p.wide = true
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, fifoBytes)
}

// empty reports whether a FIFO is empty.
func empty(fd int) bool {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	return err == nil && n == 0
}

// Follow waits until one of the logs has more than the given bytes, or both are finished: then more
// is false. Either may be nil. Errors: ctx.Err().
func Follow(ctx context.Context, a, b *Log, atA, atB int64) (more bool, err error) {
	for {
		first, second := a.changed(atA), b.changed(atB)
		switch {
		case a.has(atA) || b.has(atB):
			return true, nil
		case first == nil && second == nil:
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-first:
		case <-second:
		}
	}
}
