package pty

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// adoption is what a Child knows of the process that started it and reaps it, the reaper.
type adoption struct {
	parent proc.Process // as of the adoption, never a member of the child's tree

	mu       sync.Mutex
	exit     Exit          // what the reaper reported, valid when reported is closed
	reported chan struct{} // closed by Exited
	orphaned chan struct{} // closed by Orphaned
}

// Adopt makes a Child of a process that another process started and reaps, the reaper. It owns pidfd, also when it
// fails. The process may have ended already. As with Spawn, exactly one has to call Wait; somebody has to call Exited
// once the reaper tells how the process ended, or Orphaned when there is no reaper any more. Errors: ErrNotProcess when
// pidfd does not stand for pid.
//
// The process is signalled through pidfd where its number could be another's by now (Linux 6.9; before that the number
// is used after a look that the process runs, which leaves a gap of microseconds).
func Adopt(pid, pidfd int) (*Child, error) {
	// In this order: what has the number after the first look and is proven to have it still was the one looked at.
	self, listed := proc.Find(pid)
	number, err := pidOf(pidfd)
	if err == nil && number != pid && number != reapedPID {
		err = fmt.Errorf("it is that of %d", number)
	}
	if err == nil && number == pid && !listed {
		err = errors.New("no /proc/PID/stat, is /proc mounted?")
	}
	if err != nil {
		_ = unix.Close(pidfd)
		return nil, fmt.Errorf("pty: adopt %d: %w: %w", pid, ErrNotProcess, err)
	}
	unix.CloseOnExec(pidfd)
	c, err := watchChild(pid, pidfd)
	if err != nil {
		return nil, fmt.Errorf("pty: adopt %d: %w", pid, err)
	}
	c.adoption = &adoption{reported: make(chan struct{}), orphaned: make(chan struct{})}
	if number == pid {
		c.birth = self.Start
		c.adoption.parent, _ = proc.Find(self.Parent)
	}
	if c.birth == 0 {
		self = proc.Process{PID: pid} // it was reaped
	}
	c.noted = proc.NewChild(self, c.adoption.parent)
	return c, nil
}

// reapedPID is the number that fdinfo shows for a process that was reaped.
const reapedPID = -1

// pidOf returns the process id that a pidfd stands for, reapedPID when that process was reaped (the Pid line of fdinfo,
// pidfd_open(2)).
func pidOf(pidfd int) (int, error) {
	info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(pidfd))
	if err != nil {
		return 0, reason(err)
	}
	_, rest, ok := bytes.Cut(info, []byte("\nPid:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	pid, err := strconv.Atoi(string(bytes.TrimSpace(line)))
	if !ok || err != nil {
		return 0, errors.New("not a pidfd")
	}
	return pid, nil
}

// Exited tells how an adopted child has ended: the reaper's word, of a process that it has reaped. The first one
// counts. Of a child of this process it is ignored.
func (c *Child) Exited(e Exit) {
	if c.adoption == nil || !c.adoption.report(e) {
		return
	}
	// Wakes Wait, which may have closed the handle already.
	_ = c.handle.SetReadDeadline(time.Now())
}

// report keeps the first word, and says whether this was it.
func (a *adoption) report(e Exit) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if isClosed(a.reported) {
		return false
	}
	a.exit = e
	close(a.reported)
	return true
}

// Orphaned tells that the reaper is gone. Wait then asks the kernel how the child ended: PIDFD_GET_INFO (Linux 6.15)
// knows it of a process that somebody reaped, /proc of one that nobody did; otherwise the Code is -1. Exited may still
// be called, and wins if Wait has not returned. Of a child of this process it is ignored.
func (c *Child) Orphaned() {
	if c.adoption == nil {
		return
	}
	c.adoption.mu.Lock()
	defer c.adoption.mu.Unlock()
	if !isClosed(c.adoption.orphaned) {
		close(c.adoption.orphaned)
	}
}

// SyscallConn gives the pidfd to those who have to pass it to another process (SCM_RIGHTS, unix(7)), until Wait
// returns. It must stay non-blocking.
func (c *Child) SyscallConn() syscall.RawConn { return c.conn }

// waitAdopted is Wait of an adopted child: until the reaper reports the end, or the process has ended and the reaper
// is gone or silent for reportLimit.
func (c *Child) waitAdopted() Exit {
	defer c.handle.Close()
	a := c.adoption
	err := c.conn.Read(func(fd uintptr) bool { return proc.HasEnded(int(fd)) })
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		// The poller failed, against all promises: a thread is spent.
		_ = c.conn.Control(func(fd uintptr) { awaitEnd(int(fd)) })
	}
	ended := proc.BootTicks()
	silent := time.NewTimer(reportLimit)
	defer silent.Stop()
	select {
	case <-a.reported:
	case <-a.orphaned:
	case <-silent.C:
	}
	exit, reported := a.status()
	if !reported {
		exit = c.askKernel()
		if late, reported := a.status(); reported {
			exit = late
		}
	}
	c.life.Lock()
	defer c.life.Unlock()
	c.exit, c.ended = exit, ended
	return exit
}

// status is the exit that the reaper reported, if it did.
func (a *adoption) status() (Exit, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.exit, isClosed(a.reported)
}

// awaitEnd waits in a system call until the process of a pidfd has ended.
func awaitEnd(pidfd int) {
	list := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(list, -1); err != unix.EINTR {
			return
		}
	}
}

// askKernel returns how an ended process has ended, as far as the kernel tells. One that was not reaped and may not be
// looked at (a set-user-ID program) is given reapLimit to be reaped by its new parent.
func (c *Child) askKernel() Exit {
	ticker := time.NewTicker(reapPoll)
	defer ticker.Stop()
	for limit := time.Now().Add(reapLimit); ; <-ticker.C {
		// In this order: the kernel keeps the status with the pidfd before the zombie disappears.
		status, ok := (proc.Process{PID: c.pid, Start: c.birth}).Status()
		if !ok {
			status, ok = c.keptStatus()
		}
		if ok {
			return exitOf(unix.WaitStatus(status))
		}
		if time.Now().After(limit) {
			return Exit{Code: unknownCode}
		}
	}
}

// keptStatus is the wait status that the kernel keeps with the pidfd of a reaped process, since Linux 6.15.
func (c *Child) keptStatus() (syscall.WaitStatus, bool) {
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	err := proc.Control(c.conn, func(fd int) error { return unix.IoctlPidfdInfo(fd, &info) })
	if err != nil || info.Mask&unix.PIDFD_INFO_EXIT == 0 {
		return 0, false
	}
	return syscall.WaitStatus(info.Exit_code), true // the same 16 bits
}

// usable reports ErrExited when the process has ended. After a nil its number was not another's, as of the call.
func (c *Child) usable() error {
	var err error = ErrExited // also when the handle is closed
	_ = c.conn.Control(func(fd uintptr) {
		if !proc.HasEnded(int(fd)) {
			err = nil
		}
	})
	return err
}

// signalAdopted sends a signal to the process group of an adopted child.
func (c *Child) signalAdopted(sig syscall.Signal) error {
	var err error = ErrExited // also when the handle is closed
	_ = c.conn.Control(func(fd uintptr) {
		err = unix.PidfdSendSignal(int(fd), sig, nil, unix.PIDFD_SIGNAL_PROCESS_GROUP)
	})
	if err != unix.EINVAL { // which is a kernel before 6.9
		return err
	}
	if err := c.usable(); err != nil {
		return err
	}
	return unix.Kill(-c.pid, sig)
}

// isClosed reports whether a channel that carries no values is closed.
func isClosed(state chan struct{}) bool {
	select {
	case <-state:
		return true
	default:
		return false
	}
}

// groupLives reports whether somebody is left in the process group of an adopted child. Then its number, which its
// session has too, was not given to another process.
func (c *Child) groupLives() bool {
	// Wait has closed the handle when it has returned: then nobody knows.
	err := proc.Control(c.conn, func(fd int) error {
		return unix.PidfdSendSignal(fd, 0, nil, unix.PIDFD_SIGNAL_PROCESS_GROUP)
	})
	return err == nil || err == unix.EPERM
}
