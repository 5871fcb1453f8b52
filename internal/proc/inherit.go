package proc

import (
	"fmt"
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// firstInherited is the first descriptor that a program is not expected to inherit.
const firstInherited = 3

// CloseInherited marks every descriptor from 3 up as close-on-exec, so that what this process inherited does not reach
// the children of terminals. It closes nothing: sockets passed by a service manager stay usable. Call it first thing in
// main. It uses close_range(2) with CLOSE_RANGE_CLOEXEC (Linux 5.11) and walks /proc/self/fd where that is missing.
func CloseInherited() error {
	if err := unix.CloseRange(firstInherited, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err == nil {
		return nil
	}
	return closeListed()
}

// closeListed is CloseInherited for kernels without close_range.
func closeListed() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("proc: close inherited descriptors: %w", err)
	}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd < firstInherited {
			continue
		}
		unix.CloseOnExec(fd)
	}
	return nil
}
