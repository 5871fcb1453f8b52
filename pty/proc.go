package pty

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Proc is one process of this machine as /proc showed it at one time. Its number and its start time together never mean another process.
type Proc struct {
	PID, Parent, Session int
	Start                uint64 // in clock ticks since boot
	Ended                bool   // a zombie
	Stopped              bool   // by a signal, or by a debugger
}

// Procs lists all processes. One that starts or ends meanwhile may be missing.
func Procs() ([]Proc, error) {
	t, err := processes.fresh()
	if err != nil {
		return nil, err
	}
	list := make([]Proc, 0, len(t.byPID))
	for _, s := range t.byPID {
		list = append(list, s.proc())
	}
	return list, nil
}

// FindProc is the process with a number; ok is false when there is none.
func FindProc(pid int) (p Proc, ok bool) {
	s, ok := readStat(pid)
	return s.proc(), ok
}

func (s stat) proc() Proc {
	return Proc{PID: s.pid, Parent: s.ppid, Session: s.sid, Start: s.start, Ended: s.dead, Stopped: s.stopped}
}

// Alive tells whether exactly this process still runs.
func (p Proc) Alive() bool { return stat{pid: p.PID, start: p.Start}.alive() }

// Age is how long ago the process was started, also through a suspended machine.
func (p Proc) Age() time.Duration {
	return time.Duration(bootTicks()-min(p.Start, bootTicks())) * clockTick //nolint:gosec // below 2^63 for 292 years
}

// Signal sends a signal to exactly this process. That it has ended is no error.
func (p Proc) Signal(sig syscall.Signal) error { return stat{pid: p.PID, start: p.Start}.signal(sig) }

// Status is how exactly this process has ended, as long as it was not reaped; ok is false when it runs, is gone, or may not be looked at.
func (p Proc) Status() (status syscall.WaitStatus, ok bool) {
	found, ok := zombieStatus(p.PID, p.Start)
	return syscall.WaitStatus(found), ok
}

// Wait waits until exactly this process has ended, without keeping a thread. Errors: the reason of ctx, those of pidfd_open(2).
func (p Proc) Wait(ctx context.Context) error {
	fd, err := unix.PidfdOpen(p.PID, unix.PIDFD_NONBLOCK)
	if err == unix.ESRCH {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pty: wait for %d: %w", p.PID, err)
	}
	handle, err := pollable(fd, "pidfd")
	if err != nil {
		return fmt.Errorf("pty: wait for %d: %w", p.PID, err)
	}
	defer handle.Close()
	if !p.Alive() {
		return nil
	}
	conn, err := handle.SyscallConn()
	if err != nil {
		return fmt.Errorf("pty: wait for %d: %w", p.PID, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = handle.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = conn.Read(func(fd uintptr) bool { return ready(int(fd), unix.POLLIN) })
	if ctx.Err() != nil {
		return fmt.Errorf("pty: wait for %d: %w", p.PID, context.Cause(ctx))
	}
	return err
}

// Cwd is the working directory of the process, the last name it had when it was deleted. Errors: the kernel's, when the process has ended.
func (p Proc) Cwd() (string, error) {
	dir, _, err := workingDir(p.PID)
	if err == nil && !p.Alive() {
		err = ErrExited
	}
	if err != nil {
		return "", fmt.Errorf("pty: working directory of %d: %w", p.PID, err)
	}
	return dir, nil
}
