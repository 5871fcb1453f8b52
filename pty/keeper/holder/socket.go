package holder

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// socket is the listening socket, and its name in the directory. Only the goroutine of accept makes, uses and removes
// it; gone and wake are safe for concurrent use.
type socket struct {
	dir string // constant

	mu       sync.Mutex // guards the rest, which only the goroutine of accept changes; a leaf
	listener *os.File
	raw      syscall.RawConn // of listener
	id       protocol.FileID // of the file that listener is bound to
}

// listen makes the socket, in the place of one that a dead keeper has left.
func (s *socket) listen() error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	var id protocol.FileID
	err = protocol.AtSocket(s.dir, func(path string) error {
		if err := unix.Unlink(path); err != nil && err != unix.ENOENT {
			return err
		}
		// A socket has the mode of its inode when it is bound: no other user can connect meanwhile.
		if err := unix.Fchmod(fd, 0o600); err != nil {
			return err
		}
		if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
			return err
		}
		if err := unix.Chmod(path, 0o600); err != nil {
			return err
		}
		if id, err = protocol.SocketAt(path); err != nil {
			return err
		}
		return unix.Listen(fd, unix.SOMAXCONN)
	})
	if err != nil {
		_ = unix.Close(fd)
		return fmt.Errorf("listen on %s: %w", protocol.SocketName, err)
	}
	return s.bind(fd, id)
}

// bind notes the listening socket, and closes the one before. It owns fd.
func (s *socket) bind(fd int, id protocol.FileID) error {
	listener, raw, err := proc.Pollable(fd, protocol.SocketName)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener != nil {
		_ = s.listener.Close()
	}
	s.listener, s.raw, s.id = listener, raw, id
	return nil
}

// next waits for a connection. Errors: os.ErrDeadlineExceeded at the time given to wake.
func (s *socket) next() (int, error) {
	fd := -1
	var got error
	err := s.raw.Read(func(l uintptr) bool {
		fd, _, got = unix.Accept4(int(l), unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
		return got != unix.EAGAIN && got != unix.EINTR && got != unix.ECONNABORTED
	})
	return fd, errors.Join(err, got)
}

// wake ends next at a time; the zero time is never.
func (s *socket) wake(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.listener.SetReadDeadline(at)
}

// gone reports whether the socket's name is not the keeper's any more.
func (s *socket) gone() bool {
	id, err := protocol.SocketOf(s.dir)
	s.mu.Lock()
	defer s.mu.Unlock()
	return err == nil && id != s.id
}

// unlink removes the socket, unless another one has its name: the socket of a keeper whose directory was made in the
// place of this one's.
func (s *socket) unlink() error {
	err := protocol.AtSocket(s.dir, func(path string) error {
		if id, err := protocol.SocketAt(path); err != nil || id != s.id {
			return err
		}
		return unix.Unlink(path)
	})
	if err == unix.ENOENT { // neither the directory
		return nil
	}
	return err
}

// ask is SIGUSR1: accept looks whether the socket can be found.
func (k *keeper) ask() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked = true
	k.socket.wake(time.Now())
}

// takeAsked reports, once, whether SIGUSR1 has come.
func (k *keeper) takeAsked() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	asked := k.asked
	k.asked = false
	return asked
}

// listenAgain makes the socket again when it was removed. Not in a directory that is another keeper's, which
// has another lock.
func (k *keeper) listenAgain() {
	if !sameFile(filepath.Join(k.Dir, protocol.LockName), k.lock.fd()) || !k.socket.gone() {
		return
	}
	if err := k.socket.listen(); err != nil {
		k.log.Error("the socket is gone and cannot be made again", "error", err)
		return
	}
	k.log.Warn("the socket was gone and was made again")
}

// sameFile reports whether a path leads to an open file.
func sameFile(path string, fd int) bool {
	var a, b unix.Stat_t
	return unix.Stat(path, &a) == nil && unix.Fstat(fd, &b) == nil && protocol.IDOf(a) == protocol.IDOf(b)
}

// callKeeper asks the keeper that has the lock of a directory to make its socket again, when that is not there. The
// lock's file has its process id; that the number is still the keeper's is certain when it has the lock: then no signal
// gets to anybody else, nor does it end one that knows no SIGUSR1 (Go's runtime catches it).
func callKeeper(dir string, lock *os.File) error {
	id, err := protocol.SocketOf(dir)
	if err != nil || id != (protocol.FileID{}) {
		return err
	}
	text := make([]byte, 16)
	n, _ := lock.ReadAt(text, 0)
	pid, err := strconv.Atoi(string(bytes.TrimSpace(text[:n])))
	if err != nil || pid <= 1 {
		return fmt.Errorf("%s: no process id in %q", protocol.LockName, text[:n])
	}
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	defer func() { _ = unix.Close(pidfd) }()
	if !hasLock(pid, lock) {
		return errors.New("process " + strconv.Itoa(pid) + " does not have " + protocol.LockName)
	}
	return unix.PidfdSendSignal(pidfd, unix.SIGUSR1, nil, 0)
}

// hasLock reports whether a process has the flock(2) of a file: /proc/locks says so of every process; where it is not
// readable, the process's descriptors do, which only processes of root and older keepers show.
func hasLock(pid int, lock *os.File) bool {
	var st unix.Stat_t
	if unix.Fstat(int(lock.Fd()), &st) != nil {
		return false
	}
	if text, err := os.ReadFile("/proc/locks"); err == nil && lists(text, pid, st.Ino) {
		return true
	}
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
	return slices.ContainsFunc(files, func(path string) bool { return sameFile(path, int(lock.Fd())) })
}

// lists reports whether a text of the form of proc_locks(5) has a flock of a process on the file with that number. The
// device is not compared: some file systems show another one than stat(2).
func lists(text []byte, pid int, inode uint64) bool {
	suffix := ":" + strconv.FormatUint(inode, 10)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line) // 1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF
		if len(f) >= 6 && f[1] == "FLOCK" && f[3] == "WRITE" && f[4] == strconv.Itoa(pid) &&
			strings.HasSuffix(f[5], suffix) {
			return true
		}
	}
	return false
}
