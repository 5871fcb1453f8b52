package holder

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// Options say what a keeper is for.
type Options struct {
	// Dir is the data directory. It must exist and be this user's alone.
	Dir string
	// Idle is how long the keeper stays when it holds nothing and no server is there; DefaultIdle when 0.
	Idle time.Duration
	// Gone is how long Dir may be gone before the programs are ended, which no client reaches then; DefaultGone when 0.
	Gone time.Duration
	// Release is the one of this binary.
	Release string
}

// keeper is the process. Its goroutines are accept, one serve and one tell for the server, work, watch, and
// watchDirectory.
type keeper struct {
	Options
	log      *slog.Logger
	lock     *os.File // with flock, as long as the process lives
	listener *os.File
	socket   protocol.FileID // of the file that listener is bound to
	raw      syscall.RawConn // of listener
	jobs     chan func()     // what work does: starts and upgrades
	quiet    *time.Timer     // releases memory when nothing has happened for a while
	acts     atomic.Uint64   // packets and jobs so far

	mu     sync.Mutex
	born   int64 // see packet
	kept   map[string]*held
	server *session              // nil when none is there
	early  map[int]protocol.Exit // reaped while a child is being started, which may be that one; else nil
	alone  time.Time             // since when it holds nothing and no server is there, when that is so
	ending bool                  // it is over as soon as nothing is held
	asked  bool                  // SIGUSR1 has come, or a look has found that the socket is not there

	leaving bool      // programs are being ended: nothing is started any more
	missing time.Time // since when the directory is gone and no server is there, when that is so

	unlocked     bool       // the last look found no lock; only watchDirectory uses it
	locking      sync.Mutex // held while the lock is looked for and taken again; taken before mu
	lockReleased bool       // the lock is not this keeper's any more, so it is not checked; with locking
}

// held is what the keeper holds under an id. It is released by the goroutine of the server's connection only. The tags
// are those of state.
type held struct {
	ID      string         `json:"id"`
	Kind    string         `json:"kind,omitempty"`
	PID     int            `json:"pid"`               // of KindFiles the keeper's own
	Files   []int          `json:"files"`             // the pidfd but of KindFiles, then what a server wants held
	Adopted bool           `json:"adopted,omitempty"` // it is another process's child: wait4 does not tell how it ends
	Exit    *protocol.Exit `json:"exit,omitempty"`    // nil while it runs
	told    bool           // the server of now knows of Exit
}

// Run is the keeper of a data directory. It returns nil when it has held nothing and had no server for o.Idle, when
// SIGTERM came and it holds nothing, and at once when the directory has a keeper already. When the directory is gone
// for o.Gone, or is gone at a SIGTERM, it ends all programs and returns nil. It takes over the whole process: signals,
// all children, the sizes of Go's runtime, and descriptor 2 for its log. Call it in a process that does nothing else,
// and leave after it.
func Run(o Options) error {
	limitRuntime()
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.Gone <= 0 {
		o.Gone = DefaultGone
	}
	k := &keeper{Options: o, log: slog.New(slog.NewTextHandler(os.Stderr, nil)).With("keeper", os.Getpid()),
		jobs: make(chan func(), maxJobs), kept: map[string]*held{}, alone: time.Now(), born: time.Now().UnixNano()}
	// Orphans of programs become this process's children, and are reaped, as init would. Kept over execve
	// (PR_SET_CHILD_SUBREAPER(2const)).
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		k.log.Warn("orphans become init's", "err", err)
	}
	// Also what a keeper of before, which had all of its server's environment, has handed on.
	if err := proc.Private(); err != nil {
		k.log.Warn("programs may be able to read the environment of the keeper", "err", err)
	}
	resumed, err := k.resume()
	proc.ForgetEnviron()
	if err == nil && !resumed {
		err = k.open()
	}
	if errors.Is(err, errSecond) {
		k.log.Info("not needed", "err", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("keeper: %s: %w", o.Dir, err)
	}
	defer k.releaseLock()
	// The programs of this process do not end with the terminal in which the first server was started.
	proc.SetTag(proc.TagOf("keeper of " + o.Dir))
	// The signals that have come meanwhile are blocked until here when this is an upgrade.
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, unix.SIGCHLD, unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGPIPE, unix.SIGUSR1)
	k.quiet = time.AfterFunc(quietAfter, releaseMemory)
	go k.watch(signals)
	go k.watchDirectory()
	go k.work()
	if k.server != nil {
		go k.serve(k.server, true)
	}
	return k.accept()
}

// errSecond means that the directory has a keeper.
var errSecond = errors.New("there is a keeper")

// open takes the lock and makes the socket. Errors: errSecond.
func (k *keeper) open() (err error) {
	if k.lock, err = takeLock(k.Dir); err != nil {
		return err
	}
	if err = k.listen(); err != nil {
		_ = k.lock.Close()
	}
	return err
}

// releaseLock gives the lock up at the end, unless watchDirectory checks it just now: a file system may hang, and the
// end of the process does it too.
func (k *keeper) releaseLock() {
	if !k.locking.TryLock() {
		return
	}
	defer k.locking.Unlock()
	k.lockReleased = true
	_ = k.lockFile().Close()
}

// lockFile is the file with the lock.
func (k *keeper) lockFile() *os.File {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lock
}

// accept greets servers until the keeper is not needed any more.
func (k *keeper) accept() error {
	for {
		if k.over() {
			// A client that is in the queue of the socket is hung up on, and starts another keeper.
			return k.unlink()
		}
		if k.takeAsked() {
			k.listenAgain()
			continue
		}
		fd, err := k.next()
		switch {
		case err == nil:
			k.welcome(fd)
		case !errors.Is(err, os.ErrDeadlineExceeded):
			k.log.Error("accept", "err", err)
			<-time.After(fullPause)
		}
	}
}

// next waits for a connection.
func (k *keeper) next() (int, error) {
	fd := -1
	var got error
	err := k.raw.Read(func(l uintptr) bool {
		fd, _, got = unix.Accept4(int(l), unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
		return got != unix.EAGAIN && got != unix.EINTR && got != unix.ECONNABORTED
	})
	return fd, errors.Join(err, got)
}

// over reports whether the keeper is not needed any more, and otherwise makes accept look again when it may not be.
func (k *keeper) over() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.holds():
		_ = k.listener.SetReadDeadline(time.Time{})
		return false
	case k.ending:
		return true
	case k.server != nil:
		_ = k.listener.SetReadDeadline(time.Time{})
		return false
	}
	end := k.alone.Add(k.Idle)
	_ = k.listener.SetReadDeadline(end)
	return !time.Now().Before(end)
}

// holds reports whether the keeper holds something, or is about to. The lock is held.
func (k *keeper) holds() bool { return len(k.kept) > 0 || k.early != nil }

// changed lets accept look whether the keeper is still needed. The lock is held.
func (k *keeper) changed() {
	if k.server == nil && !k.holds() {
		k.alone = time.Now()
		_ = k.listener.SetReadDeadline(k.alone)
	}
}

// welcome begins to serve a connection, or answers with the process id of the served one. It owns fd.
func (k *keeper) welcome(fd int) {
	s, err := newSession(fd)
	if err != nil {
		k.log.Warn("refused a connection", "err", err)
		return
	}
	k.mu.Lock()
	other := k.server
	leaving := k.leaving
	if other == nil && !leaving {
		k.server = s
	}
	k.mu.Unlock()
	switch {
	case leaving:
		s.Close()
		return
	case other != nil:
		_ = s.Send(protocol.Packet{Op: protocol.OpBusy, Version: protocol.Version, Release: k.Release, PID: other.pid})
		s.Close()
		return
	}
	go k.serve(s, false)
}
