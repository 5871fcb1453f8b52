package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Lock makes this process the only one that uses the data directory dir until
// release is called or the process ends, however it ends (flock(2) on DIR/lock,
// which holds the process id). The directory is made and checked as OpenStore
// does. Errors wrap ErrLocked and name the process that has it. release may be
// called more than once; the file stays.
func Lock(dir string) (release func(), err error) {
	root, err := openDataDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := openLock(root)
	if err != nil {
		return nil, refused(dir, err)
	}
	if err := claim(f); err != nil {
		_ = f.Close()
		if errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("snapshot: %w: %s", err, dir)
		}
		return nil, refused(dir, err)
	}
	var once sync.Once
	return func() { once.Do(func() { _ = f.Close() }) }, nil
}

const (
	// lockRetry is how often a lock that somebody is about to release is tried
	// again: there is no way to wait for flock(2) with a limit.
	lockRetry = 20 * time.Millisecond
)

// TakeLock is Lock, but when another process has the directory it is asked to
// leave (SIGTERM), and the lock is waited for until ctx ends. Errors: as Lock, and ErrLocked
// when it did not leave in time.
func TakeLock(ctx context.Context, dir string) (release func(), err error) {
	release, err = Lock(dir)
	if !errors.Is(err, ErrLocked) {
		return release, err
	}
	pid, e := lockHolder(dir)
	if e == nil {
		e = syscall.Kill(pid, syscall.SIGTERM)
	}
	if e != nil {
		return nil, fmt.Errorf("%w; it cannot be asked to leave: %w", err, e)
	}
	again := time.NewTicker(lockRetry)
	defer again.Stop()
	for errors.Is(err, ErrLocked) {
		select {
		case <-again.C:
			release, err = Lock(dir)
		case <-ctx.Done():
			return nil, fmt.Errorf("%w; it was asked to leave and did not", err)
		}
	}
	return release, err
}

// lockHolder is the process that has the lock of dir, by its own word.
func lockHolder(dir string) (int, error) {
	root, err := openDataDir(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	b, err := readFile(root, "lock", maxLock)
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid <= 1 || pid == os.Getpid() {
		return 0, fmt.Errorf("%s/lock names no process", dir)
	}
	return pid, nil
}

// maxLock bounds what is read of the lock file, in bytes: a process id.
const maxLock = 32

// openLock opens the lock file, which is never a link.
func openLock(root *os.Root) (*os.File, error) {
	f, err := root.OpenFile("lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	seen, err := root.Lstat("lock")
	if err == nil {
		var info os.FileInfo
		if info, err = f.Stat(); err == nil && !os.SameFile(seen, info) {
			err = fmt.Errorf("lock is %w", errNotFile)
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
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var flock error
	err = raw.Control(func(fd uintptr) {
		flock = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
	})
	if err = errors.Join(err, flock); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("%w (%s)", ErrLocked, holder(f))
		}
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
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
