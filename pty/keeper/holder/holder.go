package holder

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
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
	// Log writes what happens; nil is text on descriptor 2. The keeper adds its process id to each line.
	Log *slog.Logger
}

// keeper is the process. Its goroutines are accept, one serve and one tell for the server, work, watch, and
// watchDirectory.
type keeper struct {
	Options
	log    *slog.Logger
	lock   dirLock
	socket socket
	jobs   chan func() // what work does: starts and upgrades
	memory memory

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

	unlocked bool // the last look found no lock; only watchDirectory uses it
}

// held is what the keeper holds under an id. It is released by the goroutine of the server's connection only. The tags
// are the keys in state.
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
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	log := o.Log.With("keeper", os.Getpid())
	k := &keeper{Options: o, log: log, lock: dirLock{dir: o.Dir, log: log}, socket: socket{dir: o.Dir},
		jobs: make(chan func(), maxJobs), kept: map[string]*held{}, alone: time.Now(), born: time.Now().UnixNano()}
	// Orphans of programs become this process's children, and are reaped, as init would. Kept over execve
	// (PR_SET_CHILD_SUBREAPER(2const)).
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		k.log.Warn("orphans become init's", "error", err)
	}
	// Also what a keeper of before, which had all of its server's environment, has handed on.
	if err := proc.Private(); err != nil {
		k.log.Warn("programs may be able to read the environment of the keeper", "error", err)
	}
	resumed, err := k.resume()
	proc.ForgetEnviron()
	if err == nil && !resumed {
		if err = k.lock.take(); err == nil {
			err = k.socket.listen()
		}
	}
	if errors.Is(err, errSecond) {
		k.log.Info("not needed", "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("keeper: %s: %w", o.Dir, err)
	}
	defer k.lock.release()
	// The programs of this process do not end with the terminal in which the first server was started.
	proc.SetTag(proc.TagOf("keeper of " + o.Dir))
	// The signals that have come meanwhile are blocked until here when this is an upgrade.
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, unix.SIGCHLD, unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGPIPE, unix.SIGUSR1)
	k.memory.quiet = time.AfterFunc(quietAfter, releaseMemory)
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

// accept greets servers until the keeper is not needed any more.
func (k *keeper) accept() error {
	for {
		if k.over() {
			// A client that is in the queue of the socket is hung up on, and starts another keeper.
			return k.socket.unlink()
		}
		if k.takeAsked() {
			k.listenAgain()
			continue
		}
		fd, err := k.socket.next()
		switch {
		case err == nil:
			k.welcome(fd)
		case !errors.Is(err, os.ErrDeadlineExceeded):
			k.log.Error("accept", "error", err)
			<-time.After(fullPause)
		}
	}
}

// over reports whether the keeper is not needed any more, and otherwise makes accept look again when it may not be.
func (k *keeper) over() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.holds():
		k.socket.wake(time.Time{})
		return false
	case k.ending:
		return true
	case k.server != nil:
		k.socket.wake(time.Time{})
		return false
	}
	end := k.alone.Add(k.Idle)
	k.socket.wake(end)
	return !time.Now().Before(end)
}

// holds reports whether the keeper holds something, or is about to. The lock is held.
func (k *keeper) holds() bool { return len(k.kept) > 0 || k.early != nil }

// changed lets accept look whether the keeper is still needed. The lock is held.
func (k *keeper) changed() {
	if k.server == nil && !k.holds() {
		k.alone = time.Now()
		k.socket.wake(k.alone)
	}
}

// welcome begins to serve a connection, or answers with the process id of the served one. It owns fd.
func (k *keeper) welcome(fd int) {
	s, err := newSession(fd)
	if err != nil {
		k.log.Warn("refused a connection", "error", err)
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
