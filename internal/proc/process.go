package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is one process of this machine as /proc showed it at one time. Its number and its start time together never
// mean another process.
type Process struct {
	PID, Parent, Session int
	TTY                  int    // device number of its controlling terminal, 0 for none
	Start                uint64 // in ticks since boot, see Tick
	Ended                bool   // a zombie: only its parent can do something about it
	Stopped              bool   // by a signal, or by a debugger
	delayed              bool   // on a processor, or waiting for one or for the disk
}

// List lists all processes. One that starts or ends meanwhile may be missing. Of a process that runs for a while its
// state and session may be those of an earlier call; see Select.
func List() ([]Process, error) {
	t, err := cache.fresh()
	if err != nil {
		return nil, err
	}
	return slices.Collect(maps.Values(t.byPID)), nil
}

// Select returns the processes of a list of all that choose returns, as they are now. It may call choose several
// times.
func Select(choose func(all []Process) []Process) ([]Process, error) {
	return cache.current(false, func(t *table) []Process { return choose(slices.Collect(maps.Values(t.byPID))) })
}

// Find is the process with a number; ok is false when there is none.
func Find(pid int) (p Process, ok bool) {
	var buf [statSize]byte
	return read(strconv.Itoa(pid), buf[:])
}

// is reports whether other is exactly this process.
func (p Process) is(other Process) bool { return p.PID == other.PID && p.Start == other.Start }

// Alive reports whether exactly this process still runs.
func (p Process) Alive() bool {
	now, ok := Find(p.PID)
	return ok && now.Start == p.Start && !now.Ended
}

// BootTicks is the time since boot in ticks, as in a process's start time.
func BootTicks() uint64 {
	var now unix.Timespec
	// CLOCK_BOOTTIME is in every kernel that has pidfds.
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	return uint64(time.Duration(now.Nano()) / Tick)
}

// Age is how long ago the process was started, also through a suspended machine.
func (p Process) Age() time.Duration {
	return time.Duration(BootTicks()-min(p.Start, BootTicks())) * Tick //nolint:gosec // below 2^63 for 292 years
}

// Signal sends the signals in turn to exactly this process. That it has ended is no error.
func (p Process) Signal(list ...syscall.Signal) error {
	// A pidfd keeps naming the process that had the number when it was opened, so the check of the start time stays
	// true.
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err == unix.ESRCH {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if !p.Alive() {
		return nil
	}
	for _, sig := range list {
		if err := unix.PidfdSendSignal(fd, sig, nil, 0); err != nil && err != unix.ESRCH {
			return err
		}
	}
	return nil
}

// Wait waits until exactly this process has ended, without keeping a thread. Errors: context.Cause(ctx), as
// pidfd_open(2).
func (p Process) Wait(ctx context.Context) error {
	fd, err := unix.PidfdOpen(p.PID, unix.PIDFD_NONBLOCK)
	if err == unix.ESRCH {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pty: wait for %d: %w", p.PID, err)
	}
	handle, conn, err := Pollable(fd, "pidfd")
	if err != nil {
		return fmt.Errorf("pty: wait for %d: %w", p.PID, err)
	}
	defer handle.Close()
	if !p.Alive() {
		return nil
	}
	stop := context.AfterFunc(ctx, func() { _ = handle.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = conn.Read(func(fd uintptr) bool { return HasEnded(int(fd)) })
	if ctx.Err() != nil {
		return fmt.Errorf("pty: wait for %d: %w", p.PID, context.Cause(ctx))
	}
	return err
}

// Cwd is the working directory of the process, the last name it had when it was deleted. Errors: the kernel's, when the
// process has ended.
func (p Process) Cwd() (string, error) {
	dir, _, err := WorkingDir(p.PID)
	if err == nil && !p.Alive() {
		err = ErrExited
	}
	if err != nil {
		return "", fmt.Errorf("pty: working directory of %d: %w", p.PID, err)
	}
	return dir, nil
}

// deletedSuffix is what the kernel adds to the name of a directory that is gone (proc_pid_cwd(5)).
const deletedSuffix = " (deleted)"

// WorkingDir is the working directory of the process that has the number now, the last name it had when it was deleted.
// Errors: the kernel's, fs.ErrNotExist when there is none.
func WorkingDir(pid int) (dir string, deleted bool, err error) {
	link := "/proc/" + strconv.Itoa(pid) + "/cwd"
	if dir, err = os.Readlink(link); err != nil {
		if wrapped, ok := errors.AsType[*fs.PathError](err); ok {
			err = wrapped.Err // callers name the path
		}
		return "", false, err
	}
	var st unix.Stat_t
	if strings.HasSuffix(dir, deletedSuffix) && unix.Stat(link, &st) == nil && st.Nlink == 0 {
		return strings.TrimSuffix(dir, deletedSuffix), true, nil
	}
	return dir, false, nil
}

// CPUTime is the processor time that the living processes of trees have used, they and the children they have waited
// for. It grows as long as nobody leaves the trees. Errors: as Members.
func CPUTime(trees []Tree) (time.Duration, error) {
	list, err := Members(trees)
	if err != nil {
		return 0, err
	}
	var ticks int
	for _, p := range list {
		times, _ := statFields(line(p.PID), fieldTimes, 4) // none when it has ended: then they are its parent's
		for _, t := range times {
			ticks += t
		}
	}
	return time.Duration(ticks) * Tick, nil
}
