package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// ThreadTime is how long the calling thread has had a processor (clock_gettime(2), CLOCK_THREAD_CPUTIME_ID). The
// difference of two is work, without what the thread waits for; the caller holds its thread (runtime.LockOSThread)
// in between.
func ThreadTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // Linux always has this clock
	return time.Duration(t.Nano())
}
