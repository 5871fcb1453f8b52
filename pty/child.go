package pty

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// Child is the program on the far end of a terminal: the leader of its own session, whose controlling terminal it is.
// Its methods may be called at the same time from several goroutines, but exactly one has to call Wait.
type Child struct {
	pid    int
	birth  uint64          // start time, see proc.Process; 0 of an adopted child that was reaped before
	handle *os.File        // pidfd, waits in the network poller
	conn   syscall.RawConn // of handle

	adoption *adoption // nil for a child of this process
	noted    *proc.Child

	// life guards ended. Whoever holds it for reading while ended is 0 may use pid: the number cannot be given to
	// another process before it was reaped. Not so with an adopted child, which is reaped at any time.
	life  sync.RWMutex
	ended uint64 // when it was reaped, in clock ticks since boot; 0 while it was not; adopted: when its end was noticed
	exit  Exit   // valid when ended is not 0
}

// Spawn runs s (without its size) on the far end of a terminal, as OpenPair returned it. The caller keeps tty and
// closes it. Errors: as Start, but neither ErrBadSize nor ErrNoPTY.
func Spawn(s Spec, tty *os.File) (*Child, error) {
	p, err := s.Plan()
	if err != nil {
		return nil, fmt.Errorf("pty: start: %w", err)
	}
	return spawn(p, tty)
}

// spawn executes the plan on a terminal.
func spawn(p proc.Plan, tty *os.File) (*Child, error) {
	fd := int(tty.Fd())
	pid, pidfd, err := p.Exec([3]int{fd, fd, fd}, true)
	runtime.KeepAlive(tty)
	if err != nil {
		return nil, err
	}
	c, err := newChild(pid, pidfd)
	if err != nil {
		proc.KillChild(pid)
		return nil, fmt.Errorf("pty: start %q: %w", p.Argv[0], err)
	}
	return c, nil
}

// newChild makes a Child of a process that was not reaped yet. It closes pidfd when it fails.
func newChild(pid, pidfd int) (*Child, error) {
	c, err := watchChild(pid, pidfd)
	if err != nil {
		return nil, err
	}
	self, ok := proc.Find(pid)
	if !ok {
		_ = c.handle.Close()
		return nil, errors.New("no /proc/PID/stat, is /proc mounted?")
	}
	c.birth = self.Start
	parent, _ := proc.Find(self.Parent)
	c.noted = proc.NewChild(self, parent)
	return c, nil
}

// watchChild makes a Child without a birth whose pidfd waits in the poller. It closes pidfd when it fails.
func watchChild(pid, pidfd int) (*Child, error) {
	handle, conn, err := proc.Pollable(pidfd, "pidfd")
	if err != nil {
		return nil, fmt.Errorf("pidfd: %w", err)
	}
	return &Child{pid: pid, handle: handle, conn: conn}, nil
}

// PID is the process id, which is also the number of its session. It may mean another process once the child was
// reaped.
func (c *Child) PID() int { return c.pid }

// Tagged says that the child was started with a tag (proc.TagOf), so that who looks for another one need not read it.
func (c *Child) Tagged(tag uint64) { c.noted.Tagged(tag) }

// Wait waits for the child's end without keeping a thread, reaps it, and returns how it ended. It has to be called
// exactly once: it is what prevents a zombie. Of an adopted child it returns what Exited was told, or else, once the
// process has ended and Orphaned was called or 5 s have passed without a word, what the kernel knows.
func (c *Child) Wait() Exit {
	defer c.noted.Remove()
	if c.adoption != nil {
		return c.waitAdopted()
	}
	defer c.handle.Close()
	if err := c.conn.Read(func(uintptr) bool { return c.reap(unix.WNOHANG) }); err != nil {
		// The poller failed, against all promises: a thread is spent rather than a zombie kept.
		for !c.reap(0) {
		}
	}
	return c.exit
}

// reap takes the exit status if there is one, and reports whether the child is gone.
func (c *Child) reap(options int) bool {
	if options&unix.WNOHANG == 0 {
		// Not under the lock, and without taking the status: others must be able to signal the child meanwhile.
		var info unix.Siginfo
		_ = unix.Waitid(unix.P_PID, c.pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
	}
	c.life.Lock()
	defer c.life.Unlock()
	var status unix.WaitStatus
	pid, err := unix.Wait4(c.pid, &status, unix.WNOHANG, nil)
	switch {
	case pid == c.pid:
		c.exit = exitOf(status)
	case err == unix.ECHILD:
		c.exit = Exit{Code: unknownCode}
	default:
		return false
	}
	c.ended = proc.BootTicks()
	return true
}

// living calls f while the child's process id is its own. Errors: ErrExited, and what f returns.
func (c *Child) living(f func() error) error {
	return c.unended(func() error {
		if c.adoption != nil {
			if err := c.usable(); err != nil {
				return err
			}
		}
		return f()
	})
}

// unended is living where the process id of an adopted child may be another's: f looks at usable last.
func (c *Child) unended(f func() error) error {
	c.life.RLock()
	defer c.life.RUnlock()
	if c.ended != 0 {
		return ErrExited
	}
	return f()
}

// signal sends a signal to the child's own process group.
func (c *Child) signal(sig syscall.Signal) error {
	return c.living(func() error { return c.signalGroup(sig) })
}

// signalGroup is signal for those within living.
func (c *Child) signalGroup(sig syscall.Signal) error {
	if c.adoption != nil {
		return c.signalAdopted(sig)
	}
	return unix.Kill(-c.pid, sig)
}

// Cwd returns the working directory the child has now. If that was deleted it returns its last name and ErrNoDir.
// Errors: ErrNoDir, ErrExited.
func (c *Child) Cwd() (string, error) {
	var dir string
	var deleted bool
	err := c.unended(func() (err error) {
		if dir, deleted, err = proc.WorkingDir(c.pid); err != nil {
			return err
		}
		if c.adoption != nil {
			return c.usable() // if it was reaped meanwhile the answer may be another's
		}
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		err = ErrExited // a zombie has no directory
	}
	if err != nil {
		return "", fmt.Errorf("pty: working directory of %d: %w", c.pid, err)
	}
	if deleted {
		return dir, fmt.Errorf("pty: working directory of %d: %w: %q was deleted", c.pid, ErrNoDir, dir)
	}
	return dir, nil
}
