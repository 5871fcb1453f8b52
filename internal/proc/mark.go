package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A mark tells the programs of a sandbox from all others of their user. It is a lower hard limit RLIMIT_RSS, which
// Linux keeps and inherits like a tag, and which has no effect since 2.4.30 (getrlimit(2)). A process may lower it, and
// none without CAP_SYS_RESOURCE raises it again.

// maxMark is the hard limit of a marked process whose parent has none.
const maxMark = 1 << 62

// Mark marks this process, and all that it starts.
func Mark() error {
	own, err := markOf("self")
	if err == nil {
		own = min(own-1, maxMark)
		err = unix.Setrlimit(unix.RLIMIT_RSS, &unix.Rlimit{Cur: own, Max: own})
	}
	if err != nil {
		return fmt.Errorf("RLIMIT_RSS: %w", err)
	}
	return nil
}

// CheckUnmarked fails unless the process pid is in no sandbox, or in one together with this process. Errors: ErrMarked;
// the kernel's, when the process is gone: then nobody knows.
func CheckUnmarked(pid int) error {
	own, err := markOf("self")
	if err != nil {
		return err
	}
	other, err := markOf(strconv.Itoa(pid))
	if err == nil && other < own {
		err = fmt.Errorf("%w: process %d (its hard limit of the resident set is lower than here)", ErrMarked, pid)
	}
	return err
}

// markOf is the hard limit of a process, the largest number when there is none.
func markOf(pid string) (uint64, error) {
	text, err := os.ReadFile("/proc/" + pid + "/limits")
	if err != nil {
		return 0, err
	}
	if len(text) == 0 { // it was just reaped
		return 0, unix.ESRCH
	}
	_, rest, _ := bytes.Cut(text, []byte("\nMax resident set "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) < 2 {
		return 0, fmt.Errorf("/proc/%s/limits has no resident set", pid)
	}
	if string(fields[1]) == "unlimited" {
		return unix.RLIM_INFINITY, nil
	}
	return strconv.ParseUint(string(fields[1]), 10, 64)
}
