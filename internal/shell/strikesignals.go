package shell

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dispositions tells whether a process ignores SIGINT, and whether it has a handler for it.
func dispositions(pid int) (ignored, caught bool) {
	now := statusOf(pid)
	return now.ignoredSet&signalBit(unix.SIGINT) != 0, now.caughtSet&signalBit(unix.SIGINT) != 0
}

// signalStatus is what /proc/PID/status tells of a process and signals; zero when there is none.
type signalStatus struct {
	state                             byte // as in proc(5)
	blockedSet, ignoredSet, caughtSet uint64
}

func statusOf(pid int) (s signalStatus) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return s
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		set, _ := strconv.ParseUint(value, 16, 64)
		switch name {
		case "State":
			s.state = (value + "?")[0]
		case "SigBlk":
			s.blockedSet = set
		case "SigIgn":
			s.ignoredSet = set
		case "SigCgt":
			s.caughtSet = set
		}
	}
	return s
}

// blocked tells whether a signal is held back.
func (s signalStatus) blocked(sig syscall.Signal) bool { return s.blockedSet&signalBit(sig) != 0 }

// signalBit is a signal in a set.
func signalBit(sig syscall.Signal) uint64 { return 1 << (sig - 1) }

// starved tells whether a process has not run for growLimit, and would.
func starved(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/schedstat") // nanoseconds on a processor come first
	if err != nil {
		return false // a kernel without CONFIG_SCHED_INFO
	}
	first, _, _ := strings.Cut(string(text), " ")
	ran, err := strconv.ParseInt(first, 10, 64)
	return err == nil && time.Duration(ran) < growLimit && statusOf(pid).state == 'R'
}
