package proc

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// awaitedAtOnce is how many descriptors one system call tells of; more take another one.
const awaitedAtOnce = 64

// Wait is a wait for a descriptor, see Await. It is safe for concurrent use.
type Wait struct {
	set  *awaiting
	key  uint64
	conn syscall.RawConn
	f    func()
}

// awaiting is a set of waits: an epoll(7) set that is itself in Go's network poller, and one goroutine. It lives while
// there is a wait.
type awaiting struct {
	file  *os.File
	conn  syscall.RawConn
	waits map[uint64]*Wait // by what the kernel tells; guarded by awaited
}

// awaited is the set of this process.
var awaited struct {
	sync.Mutex // a leaf
	last       uint64
	set        *awaiting // nil while nothing waits
}

// Await calls f once, from a goroutine that waits for all, when a descriptor can be read, has an error or was hung up.
// f must not block. It may be called early, and before Await returns. A goroutine for each would keep some 4 KB of
// stack, which is too much for thousands that are silent. Errors: the kernel's when it has no further descriptor or
// memory; then f is not called.
func Await(conn syscall.RawConn, f func()) (*Wait, error) {
	awaited.Lock()
	defer awaited.Unlock()
	if awaited.set == nil {
		set, err := newAwaiting()
		if err != nil {
			return nil, err
		}
		awaited.set = set
		go set.run()
	}
	awaited.last++
	w := &Wait{set: awaited.set, key: awaited.last, conn: conn, f: f}
	w.set.waits[w.key] = w
	if err := w.control(unix.EPOLL_CTL_ADD); err != nil {
		w.set.remove(w.key)
		return nil, err
	}
	return w, nil
}

// Now calls f, unless it was called.
func (w *Wait) Now() {
	if w.set.take(w.key) != nil {
		w.f()
	}
}

// control changes what the kernel knows of the wait.
func (w *Wait) control(op int) error {
	return Control(w.set.conn, func(set int) error {
		return Control(w.conn, func(fd int) error {
			return unix.EpollCtl(set, op, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT,
				Fd: int32(w.key), Pad: int32(w.key >> 32)})
		})
	})
}

// newAwaiting makes an empty set.
func newAwaiting() (*awaiting, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	file, conn, err := Pollable(fd, "epoll")
	if err != nil {
		return nil, err
	}
	return &awaiting{file: file, conn: conn, waits: map[uint64]*Wait{}}, nil
}

// run calls whom the kernel tells of, until nothing waits. Where it cannot wait it calls all: they look themselves.
func (s *awaiting) run() {
	_ = s.conn.Read(func(fd uintptr) bool { return !s.callReady(int(fd)) })
	for _, w := range s.leave() {
		w.f()
	}
	_ = s.file.Close()
}

// callReady calls those that are ready, and reports whether others can be waited for.
func (s *awaiting) callReady(set int) bool {
	var events [awaitedAtOnce]unix.EpollEvent
	for {
		n, err := unix.EpollWait(set, events[:], 0)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 {
			return err == nil
		}
		for _, e := range events[:n] {
			if w := s.take(uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32); w != nil {
				w.f()
			}
		}
	}
}

// take ends a wait; nil when it has ended before.
func (s *awaiting) take(key uint64) *Wait {
	awaited.Lock()
	defer awaited.Unlock()
	w := s.waits[key]
	if w != nil {
		_ = w.control(unix.EPOLL_CTL_DEL) // fails with a closed descriptor alone, which is in no set
		s.remove(key)
	}
	return w
}

// remove takes a wait out, and ends the goroutine behind the last one. awaited is locked.
func (s *awaiting) remove(key uint64) {
	delete(s.waits, key)
	if len(s.waits) == 0 && awaited.set == s {
		awaited.set = nil
		_ = s.file.SetReadDeadline(time.Now())
	}
}

// leave takes all waits out.
func (s *awaiting) leave() []*Wait {
	awaited.Lock()
	defer awaited.Unlock()
	var all []*Wait
	for _, w := range s.waits {
		all = append(all, w)
	}
	clear(s.waits)
	if awaited.set == s {
		awaited.set = nil
	}
	return all
}
