package holder

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty/keeper/protocol"
)

// dirLock is the keeper's lock on its directory (flock(2)), held as long as the process lives. Safe for concurrent use.
type dirLock struct {
	dir string // constant, as log is
	log *slog.Logger

	checking sync.Mutex // held while the lock is looked for and taken again; taken before all other locks
	released bool       // it is not this keeper's any more, so it is not checked; guarded by checking

	mu   sync.Mutex // guards file; a leaf
	file *os.File
}

// take takes the lock. Errors: errSecond.
func (l *dirLock) take() (err error) {
	l.file, err = takeLock(l.dir)
	return err
}

// lost reports whether no server can find this keeper: its lock is nowhere, and with again none could be taken in its
// directory.
func (l *dirLock) lost(again bool) bool {
	l.checking.Lock()
	defer l.checking.Unlock()
	return !l.released && l.removed() && (!again || !l.retake())
}

// removed reports whether the file with the lock is at no path any more: it was removed, or its file system is not
// mounted. The lock of a directory that was renamed is at another one, which the kernel knows (proc_pid_fd(5)). A lock
// about which nothing can be told is not removed.
func (l *dirLock) removed() bool {
	lock := l.fd()
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(lock))
	if err != nil {
		return false
	}
	var st, now unix.Stat_t
	if err := unix.Stat(path, &now); err != nil {
		return err == unix.ENOENT || err == unix.ENOTDIR
	}
	return unix.Fstat(lock, &st) == nil && protocol.IDOf(st) != protocol.IDOf(now)
}

// retake takes a new lock where the directory is there and has no other keeper, and reports whether it did: then
// servers find this keeper.
func (l *dirLock) retake() bool {
	lock, err := lockAgain(l.dir)
	if err != nil {
		if !errors.Is(err, errSecond) && !errors.Is(err, fs.ErrNotExist) {
			l.log.Warn("the lock is gone and cannot be taken again", "error", err)
		}
		return false
	}
	l.mu.Lock()
	old := l.file
	l.file = lock
	l.mu.Unlock()
	_ = old.Close()
	l.log.Warn("the lock was gone and was taken again", "directory", l.dir)
	return true
}

// release gives the lock up at the end, unless watchDirectory checks it just now: a file system may hang, and the end
// of the process does it too.
func (l *dirLock) release() {
	if !l.checking.TryLock() {
		return
	}
	defer l.checking.Unlock()
	l.released = true
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.file.Close()
}

// fd is the descriptor of the file with the lock.
func (l *dirLock) fd() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.file.Fd())
}

// lockAgain takes the lock of a directory of this user. Errors: errSecond, fs.ErrNotExist, errNotOurs.
func lockAgain(dir string) (*os.File, error) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 {
		return nil, errNotOurs
	}
	if lock, err := newLock(dir); err == nil {
		return lock, nil
	}
	return takeLock(dir) // there is one, or the file system cannot do it
}

// newLock makes the file of the lock where there is none. It is locked before it has its name: a server that finds it
// without a lock would start another keeper.
func newLock(dir string) (*os.File, error) {
	lock, err := os.CreateTemp(dir, "."+protocol.LockName+"-*")
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		_, err = fmt.Fprintln(lock, os.Getpid())
	}
	if err == nil {
		err = unix.Renameat2(unix.AT_FDCWD, lock.Name(), unix.AT_FDCWD, filepath.Join(dir, protocol.LockName),
			unix.RENAME_NOREPLACE)
	}
	if err != nil {
		_ = os.Remove(lock.Name())
		_ = lock.Close()
		return nil, err
	}
	return lock, nil
}

// errNotOurs means that in the place of the data directory there is something that others can write to.
var errNotOurs = errors.New("this is no directory of this user alone")

// takeLock takes the lock of a directory and writes the process id into it. Errors: errSecond.
func takeLock(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, protocol.LockName), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer lock.Close()
		if err == unix.EWOULDBLOCK {
			return nil, errors.Join(errSecond, callKeeper(dir, lock))
		}
		return nil, fmt.Errorf("%s: %w", protocol.LockName, err)
	}
	// For people who look, and callKeeper.
	err = lock.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintln(lock, os.Getpid())
	}
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	return lock, nil
}
