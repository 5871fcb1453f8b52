package proc

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Descriptors tells how many file descriptors this process has open and how many it may have: its soft limit
// RLIMIT_NOFILE, which Go's runtime has raised to the hard one. Programs get the limit back that this process was
// started with (syscall.ForkExec).
func Descriptors() (open, limit int, err error) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return 0, 0, fmt.Errorf("proc: limit of descriptors: %w", err)
	}
	limit = int(min(r.Cur, 1<<30)) // no limit is none for an int either
	var st unix.Stat_t
	// The size is their number, since Linux 6.2 (proc_pid_fd(5)).
	if err := unix.Stat("/proc/self/fd", &st); err == nil && st.Size > 0 {
		return int(st.Size), limit, nil
	}
	dir, err := os.Open("/proc/self/fd")
	if errors.Is(err, unix.EMFILE) {
		return limit, limit, nil
	}
	if err != nil {
		return 0, limit, fmt.Errorf("proc: open descriptors: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0, limit, fmt.Errorf("proc: open descriptors: %w", err)
	}
	return len(names) - 1, limit, nil // not the directory's
}
