package shelldir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// inotify reports new files in directories. A process has one instance for all shells: a user may
// have few instances (fs.inotify.max_user_instances, 128 by default) but very many watches. Its
// goroutine runs while there is a shell.
type inotify struct {
	mu    sync.Mutex
	users int
	file  *os.File // nil while there are no users
	watch map[int32]*Watch
}

// Watch is one directory under watch.
type Watch struct {
	number int32
	// Changed has a value after a file was made or renamed in the directory, and after the other
	// events that were asked for; several changes may be one value.
	Changed chan struct{}
}

// Watcher is the one watcher of this process.
var Watcher inotify

// Acquire starts the watcher; as many calls of Release stop it. Errors: the kernel's when there is
// no further inotify instance.
func (w *inotify) Acquire() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.users == 0 {
		fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
		if err != nil {
			return fmt.Errorf("inotify: %w", err)
		}
		w.file, w.watch = os.NewFile(uintptr(fd), "inotify"), map[int32]*Watch{}
		go w.run(w.file)
	}
	w.users++
	return nil
}

// Release undoes one Acquire.
func (w *inotify) Release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.users--; w.users == 0 {
		_ = w.file.Close()
		w.file = nil
	}
}

// Add watches a directory for new files, and for other events in it. It is no error to watch one
// several times, but each has to be another. Errors: ErrNoSpace when the user has too many watches
// (fs.inotify.max_user_watches), the kernel's.
func (w *inotify) Add(dir string, others uint32) (*Watch, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil, os.ErrClosed
	}
	number, err := w.control(func(fd int) (int, error) {
		return unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ONLYDIR|others)
	})
	if errors.Is(err, unix.ENOSPC) {
		err = fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	one := &Watch{number: int32(number), Changed: make(chan struct{}, 1)}
	w.watch[one.number] = one
	return one, nil
}

// Remove ends a watch; nil is none.
func (w *inotify) Remove(one *Watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one == nil || w.watch[one.number] != one {
		return
	}
	delete(w.watch, one.number)
	if w.file != nil {
		// The directory may be gone already, and the watch with it.
		_, _ = w.control(func(fd int) (int, error) { return unix.InotifyRmWatch(fd, uint32(one.number)) })
	}
}

// control calls f with the inotify descriptor. The watcher's lock is held.
func (w *inotify) control(f func(fd int) (int, error)) (n int, err error) {
	conn, err := w.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	var inner error
	err = conn.Control(func(fd uintptr) { n, inner = f(int(fd)) })
	return n, errors.Join(err, inner)
}

// run dispatches events until the file is closed.
func (w *inotify) run(file *os.File) {
	buf := make([]byte, 16<<10)
	for {
		n, err := file.Read(buf)
		if err != nil {
			return
		}
		w.pass(file, buf[:n])
	}
}

// pass wakes the watches of the events' directories, all of them when the kernel lost events.
func (w *inotify) pass(file *os.File, events []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file != file {
		return
	}
	for len(events) >= unix.SizeofInotifyEvent {
		number := int32(binary.NativeEndian.Uint32(events))
		mask := binary.NativeEndian.Uint32(events[4:])
		events = events[min(len(events), unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(events[12:]))):]
		if mask&unix.IN_Q_OVERFLOW != 0 {
			for _, one := range w.watch {
				one.wake()
			}
		} else if one := w.watch[number]; one != nil {
			one.wake()
		}
	}
}

// wake sends a value unless there is one.
func (one *Watch) wake() {
	select {
	case one.Changed <- struct{}{}:
	default:
	}
}
