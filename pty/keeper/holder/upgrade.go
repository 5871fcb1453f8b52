package holder

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// stateVar names the descriptor of the state in the environment of the program that a keeper becomes.
const stateVar = "EVERTTY_KEEPER_STATE"

// maxState bounds the state, in bytes: 200 for each of 100000 terminals.
const maxState = 20 << 20

// state is what survives an upgrade besides the process itself. Fields are only added: any release may follow any
// other.
type state struct {
	Lock     int             `json:"lock"` // descriptors
	Listener int             `json:"listener"`
	Socket   protocol.FileID `json:"socket"` // what Listener is bound to; zero from a keeper that did not know
	Server   int             `json:"server"`
	Born     int64           `json:"born"`
	Kept     []*held         `json:"kept"`
}

// become executes argv in the place of this process and returns only when that fails. The server's goroutine calls it
// while no start is under way, so the tables and what was received change no more.
func (k *keeper) become(s *session, argv []string) error {
	// The lock stays held over exec: a status that is reaped is in the state, any other is still the kernel's.
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.leaving {
		return os.ErrClosed
	}
	k.lock.mu.Lock() // its file must not be replaced meanwhile
	defer k.lock.mu.Unlock()
	st, err := k.describe(s)
	if err != nil {
		return err
	}
	data, err := json.Marshal(st)
	if err != nil {
		return err
	}
	memfd, err := protocol.MemFD("keeper", data)
	if err != nil {
		return fmt.Errorf("upgrade: %w", err)
	}
	defer memfd.Close()
	files := append([]int{int(memfd.Fd()), st.Lock, st.Listener, st.Server}, st.all()...)
	if err := inherit(files, 0); err != nil {
		return errors.Join(err, inherit(files, unix.FD_CLOEXEC))
	}
	err = replace(argv, append(proc.PlainEnviron(os.Environ()), stateVar+"="+strconv.Itoa(files[0])))
	return errors.Join(fmt.Errorf("upgrade to %q: %w", argv[0], err), inherit(files, unix.FD_CLOEXEC))
}

// replace is execve(2) with the signals blocked that would end the program before it handles them; see Run.
func replace(argv, env []string) error {
	runtime.LockOSThread() // the mask is the thread's, and the new program begins with it
	defer runtime.UnlockOSThread()
	var mask, old unix.Sigset_t
	for _, sig := range []syscall.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGUSR1} {
		mask.Val[0] |= 1 << (sig - 1)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &mask, &old); err != nil {
		return err
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }()
	// Exec lowers the limit of descriptors to what this program was started with and leaves it there when it fails,
	// with two consequences: it has to be raised again, and Go does not lower it for children any more. So it is not
	// tried in vain.
	var files unix.Rlimit
	if err := errors.Join(unix.Faccessat(unix.AT_FDCWD, argv[0], unix.X_OK, unix.AT_EACCESS),
		unix.Getrlimit(unix.RLIMIT_NOFILE, &files)); err != nil {
		return err
	}
	err := syscall.Exec(argv[0], argv, env)
	return errors.Join(err, unix.Setrlimit(unix.RLIMIT_NOFILE, &files))
}

// describe writes the tables down. The locks of the keeper and of its dirLock are held.
func (k *keeper) describe(s *session) (state, error) {
	st := state{Born: k.born, Socket: k.socket.id, Kept: slices.Collect(maps.Values(k.kept))}
	note := func(to *int) func(uintptr) { return func(fd uintptr) { *to = int(fd) } }
	err := errors.Join(k.socket.raw.Control(note(&st.Listener)), s.Control(note(&st.Server)))
	st.Lock = int(k.lock.file.Fd())
	return st, err
}

// all returns the descriptors of everything that is held.
func (st state) all() []int {
	var list []int
	for _, h := range st.Kept {
		list = append(list, h.Files...)
	}
	return list
}

// inherit sets the descriptors' flags: 0 lets the next program have them.
func inherit(files []int, flags int) error {
	for _, fd := range files {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, flags); err != nil {
			return fmt.Errorf("descriptor %d: %w", fd, err)
		}
	}
	return nil
}

// resume takes over from the program that this process was before, and reports whether there was one.
func (k *keeper) resume() (bool, error) {
	number, found := os.LookupEnv(stateVar)
	if !found {
		return false, nil
	}
	var st state
	memfd, err := strconv.Atoi(number)
	if err == nil {
		var data []byte
		if data, err = protocol.ReadMemFD(memfd, maxState); err == nil {
			err = json.Unmarshal(data, &st)
		}
		_ = unix.Close(memfd)
	}
	if err = errors.Join(err, os.Unsetenv(stateVar)); err != nil {
		return true, fmt.Errorf("state: %w", err)
	}
	return true, k.restore(st)
}

// restore makes the tables of a state.
func (k *keeper) restore(st state) error {
	if err := inherit(append(st.all(), st.Lock), unix.FD_CLOEXEC); err != nil {
		return err
	}
	k.born = st.Born
	for _, h := range st.Kept {
		k.kept[h.ID] = h
	}
	k.lock.file = os.NewFile(uintptr(st.Lock), protocol.LockName)
	if st.Socket == (protocol.FileID{}) { // the server has come through it just now
		var err error
		if st.Socket, err = protocol.SocketOf(k.Dir); err != nil {
			return err
		}
	}
	if err := k.socket.bind(st.Listener, st.Socket); err != nil {
		return err
	}
	s, err := newSession(st.Server)
	if err != nil {
		k.log.Warn("the server is lost", "error", err) // it comes back
		return nil
	}
	k.server = s
	return nil
}
