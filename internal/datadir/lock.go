package datadir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Lock makes this process the only one that uses the data directory dir until
// release is called or the process ends, however it ends (flock(2) on DIR/lock,
// which holds the process id). The directory is made and checked as Open
// does. Errors wrap ErrLocked and name the process that has it. release may be
// called more than once; the file stays.
func Lock(dir string) (release func(), err error) { return lockFile(dir, lockName) }

// LockStart makes this process the only one that starts a server at the data directory dir, as Lock does, by
// DIR/start.lock.
func LockStart(dir string) (release func(), err error) { return lockFile(dir, startLockName) }

// The files that are locked.
const (
	lockName      = "lock"
	startLockName = "start.lock"
)

func lockFile(dir, name string) (release func(), err error) {
	root, err := openDataDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := openOwn(root, name, 0)
	if err != nil {
		return nil, refused(dir, err)
	}
	if err := claim(f); err != nil {
		_ = f.Close()
		if errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("datadir: %w: %s", err, dir)
		}
		return nil, refused(dir, err)
	}
	var once sync.Once
	return func() { once.Do(func() { _ = f.Close() }) }, nil
}

const (
	// lockRetry is how often a lock that is about to be released is tried
	// again: there is no way to wait for flock(2) with a limit.
	lockRetry = 20 * time.Millisecond
	// killTime is how long a killed process may take to release its lock.
	killTime = 5 * time.Second
)

// dyingTime is how long the lock of a process that was killed may stay: the kernel closes its files
// after everything else.
const dyingTime = 2 * time.Second

// aliveLooks is how often in a row a process has to look alive, lockRetry apart: between the
// delivery of SIGKILL and the beginning of the exit nothing shows either.
const aliveLooks = 3

// LockAfter is Lock, but waits up to 2 seconds for the lock of a process that is gone or about to
// be, as after kill -9. It returns at once when that process lives.
func LockAfter(dir string) (release func(), err error) {
	again := time.NewTicker(lockRetry)
	defer again.Stop()
	end := time.Now().Add(dyingTime)
	for alive := 0; ; <-again.C {
		release, err = Lock(dir)
		if !errors.Is(err, ErrLocked) || time.Now().After(end) {
			return release, err
		}
		pid, e := lockHolder(dir)
		if e != nil || dying(pid) {
			alive = 0
		} else if alive++; alive >= aliveLooks {
			return nil, err
		}
	}
}

// exiting is PF_EXITING of the kernel, in the flags of /proc/PID/stat (proc_pid_stat(5)).
const exiting = 0x4

// dying reports whether a process is gone, ends, or was sent SIGKILL.
func dying(pid int) bool {
	proc := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(proc + "/stat")
	_, rest, ok := strings.Cut(string(stat), ") ")
	f := strings.Fields(rest) // state, parent, group, session, tty, its group, flags
	if err != nil || !ok || len(f) < 7 {
		return true
	}
	flags, _ := strconv.ParseUint(f[6], 10, 64)
	if slices.Contains([]string{"Z", "X", "x"}, f[0]) || flags&exiting != 0 {
		return true
	}
	status, _ := os.ReadFile(proc + "/status")
	for line := range strings.Lines(string(status)) {
		if name, set, ok := strings.Cut(line, ":"); ok && (name == "SigPnd" || name == "ShdPnd") {
			if pending, err := strconv.ParseUint(strings.TrimSpace(set), 16, 64); err == nil &&
				pending&(1<<(unix.SIGKILL-1)) != 0 {
				return true
			}
		}
	}
	return false
}

// TakeLock is Lock, but when another process has the directory it is asked to
// leave (SIGTERM, and SIGCONT in case it is stopped), and the lock is waited for.
// One that has not left when ctx ends is killed, which no server of ours minds:
// killed is its process id then. Errors: as Lock, and ErrLocked when the process
// cannot be signalled or killed, or when another one took the lock meanwhile: in
// all these cases the lock is held.
func TakeLock(ctx context.Context, dir string) (release func(), killed int, err error) {
	release, pid, handle, err := lockOrHolder(ctx, dir)
	if release != nil || err != nil {
		return release, 0, err
	}
	defer func() { _ = unix.Close(handle) }()
	if e := send(handle, unix.SIGTERM, unix.SIGCONT); e != nil {
		return nil, 0, fmt.Errorf("datadir: %w by process %d: %s; it cannot be asked to leave: %w", ErrLocked, pid, dir,
			e)
	}
	release, err = awaitLock(ctx, dir, pid)
	if ctx.Err() == nil || !errors.Is(err, ErrLocked) {
		return release, 0, err
	}
	if e := send(handle, unix.SIGKILL); e != nil {
		return nil, 0, fmt.Errorf("%w; it was asked to leave and did not, and cannot be killed: %w", err, e)
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	if release, err = awaitLock(late, dir, pid); err != nil && late.Err() != nil {
		return nil, 0, fmt.Errorf("%w; it was killed and is still there", err)
	}
	return release, pid, err
}

// send sends signals to the process of a pidfd. One that has ended needs none.
func send(handle int, signals ...unix.Signal) error {
	for _, sig := range signals {
		if err := unix.PidfdSendSignal(handle, sig, nil, 0); err != nil && err != unix.ESRCH {
			return err
		}
	}
	return nil
}

// awaitLock waits for the lock of a directory until ctx ends or another process
// than pid has it. Errors: as Lock.
func awaitLock(ctx context.Context, dir string, pid int) (release func(), err error) {
	again := time.NewTicker(lockRetry)
	defer again.Stop()
	for {
		release, err = Lock(dir)
		if !errors.Is(err, ErrLocked) {
			return release, err
		}
		if now, e := lockHolder(dir); e == nil && now != pid {
			return nil, fmt.Errorf("%w; it was faster", err)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// lockOrHolder takes the lock of dir, or returns the process that has it with a pidfd:
// signals reach no other process. Until ctx ends it waits for a process that writes its
// number, or has just left. Errors: as Lock.
func lockOrHolder(ctx context.Context, dir string) (release func(), pid, handle int, err error) {
	again := time.NewTicker(lockRetry)
	defer again.Stop()
	for {
		release, err = Lock(dir)
		if !errors.Is(err, ErrLocked) {
			return release, 0, -1, err
		}
		pid, handle, e := openHolder(dir)
		if e == nil {
			return nil, pid, handle, nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, 0, -1, fmt.Errorf("%w; it cannot be asked to leave: %w", err, e)
		}
	}
}

// openHolder is the process that the lock names, if it has a lock.
func openHolder(dir string) (pid, handle int, err error) {
	if pid, err = lockHolder(dir); err != nil {
		return 0, -1, err
	}
	if handle, err = unix.PidfdOpen(pid, 0); err != nil {
		return 0, -1, fmt.Errorf("process %d: %w", pid, err)
	}
	if !hasFlock(pid) {
		_ = unix.Close(handle)
		return 0, -1, fmt.Errorf("process %d has no lock", pid)
	}
	return pid, handle, nil
}

// hasFlock reports whether a process has any exclusive flock(2), as proc_locks(5)
// says: one that only has the number of the holder, which died or lives in
// another container, has none. Without that file each process counts as having one.
func hasFlock(pid int) bool {
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(text)) {
		// 1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF
		if f := strings.Fields(line); len(f) > 4 && f[1] == "FLOCK" && f[3] == "WRITE" && f[4] == strconv.Itoa(pid) {
			return true
		}
	}
	return false
}

// lockHolder returns the process id in the lock file of dir.
func lockHolder(dir string) (int, error) {
	root, err := openDataDir(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	b, err := ReadFile(root, lockName, maxLock)
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid <= 1 || pid == os.Getpid() {
		return 0, fmt.Errorf("%s/lock names no process", dir)
	}
	return pid, nil
}

// maxLock bounds the lock file, in bytes: a process id.
const maxLock = 32

// openOwn opens a file of mode 0600, which is never a link, for reading and writing, and makes it when absent.
func openOwn(root *os.Root, name string, flag int) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|flag, 0o600)
	if err != nil {
		return nil, err
	}
	seen, err := root.Lstat(name)
	if err == nil {
		var info os.FileInfo
		if info, err = f.Stat(); err == nil && !os.SameFile(seen, info) {
			err = fmt.Errorf("%s is %w", name, ErrNotFile)
		}
	}
	if err == nil {
		err = f.Chmod(0o600)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// claim takes the lock and writes the process id into the file.
func claim(f *os.File) error {
	err := Control(f, func(fd int) error { return syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) })
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%w (%s)", ErrLocked, holder(f))
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return err
}

// holder says which process wrote the file.
func holder(f *os.File) string {
	b, err := io.ReadAll(io.LimitReader(f, maxLock))
	pid, e := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || e != nil {
		return "its process id is not known"
	}
	return "process " + strconv.Itoa(pid)
}
