package proctree

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Status is the state and signals of a process from /proc/PID/status; zero when there is none
// (proc(5)).
type Status struct {
	State                             byte // R, S, D, T, Z …
	Pending, Blocked, Ignored, Caught Signals
}

// Signals is a set of signals.
type Signals uint64

// Has reports whether a signal is in the set.
func (s Signals) Has(sig syscall.Signal) bool { return s&(1<<(sig-1)) != 0 }

// StatusOf reads the status of a process.
func StatusOf(pid int) (s Status) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return s
	}
	sets := map[string]*Signals{"SigPnd": &s.Pending, "SigBlk": &s.Blocked, "SigIgn": &s.Ignored, "SigCgt": &s.Caught}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if name == "State" {
			s.State = (value + "?")[0]
		} else if set := sets[name]; set != nil {
			n, _ := strconv.ParseUint(value, 16, 64)
			*set = Signals(n)
		}
	}
	return s
}

// IsKilled reports whether a process was sent SIGKILL, or does not exist.
func IsKilled(pid int) bool {
	s := StatusOf(pid)
	return s.State == 0 || s.Pending.Has(unix.SIGKILL)
}
