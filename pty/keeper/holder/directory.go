package holder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty/keeper/protocol"
)

// watchDirectory looks after the directory until the process ends. It has a goroutine of its own: a file system that
// hangs must not keep the keeper from reaping.
func (k *keeper) watchDirectory() {
	before := k.acts.Load()
	for now := range time.Tick(checkEvery) {
		k.checkDirectory(now)
		acts := k.acts.Load()
		if acts == before { // nothing else happens: the look should not cost memory
			releaseProgram()
		}
		before = acts
	}
}

// checkDirectory is what the keeper does every checkEvery: it makes its socket again when that was removed, and
// ends when its directory has been gone for Options.Gone and no server is there. now is the time of the look. Only
// watchDirectory calls it.
func (k *keeper) checkDirectory(now time.Time) {
	// A lock is not made again while another process may be removing the rest of the directory.
	k.unlocked = k.lost(k.unlocked)
	lost := k.unlocked
	hidden := !lost && k.socketGone()
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.leaving:
	case !lost || k.server != nil:
		k.missing = time.Time{}
		if hidden {
			k.asked = true
			_ = k.listener.SetReadDeadline(time.Now())
		}
	case k.missing.IsZero():
		k.missing = now
		k.log.Warn("the data directory is gone; programs end unless it comes back", "dir", k.Dir, "after", k.Gone)
	case now.Sub(k.missing) >= k.Gone:
		k.leave("the data directory is gone")
	}
}

// socketGone reports whether the socket's name is not the keeper's any more.
func (k *keeper) socketGone() bool {
	id, err := protocol.SocketOf(k.Dir)
	k.mu.Lock()
	defer k.mu.Unlock()
	return err == nil && id != k.socket
}

// lost reports whether no server can find this keeper: its lock is nowhere, and with again none could be taken in its
// directory.
func (k *keeper) lost(again bool) bool {
	k.locking.Lock()
	defer k.locking.Unlock()
	return !k.lockReleased && k.lockRemoved() && (!again || !k.relock())
}

// lockRemoved reports whether the file with the lock is at no path any more: it was removed, or its file system is not
// mounted. That of a directory that was renamed is at another one, which the kernel knows (proc_pid_fd(5)). What cannot
// be told is not removed.
func (k *keeper) lockRemoved() bool {
	lock := int(k.lockFile().Fd())
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

// relock takes a new lock where the directory is there and has no other keeper, and reports whether it did: then
// servers
// find this keeper.
func (k *keeper) relock() bool {
	lock, err := lockAgain(k.Dir)
	if err != nil {
		if !errors.Is(err, errSecond) && !errors.Is(err, fs.ErrNotExist) {
			k.log.Warn("the lock is gone and cannot be taken again", "err", err)
		}
		return false
	}
	k.mu.Lock()
	old := k.lock
	k.lock = lock
	k.mu.Unlock()
	_ = old.Close()
	k.log.Warn("the lock was gone and was taken again", "dir", k.Dir)
	return true
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
	return takeLock(dir)
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
