package proc

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// SignalName is the name of a signal without SIG ("INT", as RFC 4254 6.10 writes it), or its number for those without a
// name.
func SignalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return strings.TrimPrefix(name, "SIG")
	}
	return strconv.Itoa(int(sig))
}

// signalBase is what shells add to the number of the signal that ended a command (POSIX XCU 2.8.2 asks for more than
// 128).
const signalBase = 128

// ExitOf translates the wait status of a process that ended: its exit code, or 128 + the signal's number with the name
// of the signal that ended it.
func ExitOf(status unix.WaitStatus) (code int, signal string) {
	if status.Signaled() {
		return signalBase + int(status.Signal()), SignalName(status.Signal())
	}
	return status.ExitStatus(), ""
}

// GroupLives reports whether a process group has a process, also one that has ended and was not reaped (kill(2)).
func GroupLives(group int) bool { return unix.Kill(-group, 0) != unix.ESRCH }

// lastSignal is the highest signal number of Linux, SIGRTMAX.
const lastSignal = 64

// discarded receives the signals that this process was told to ignore; see withDefaultSignals. Nobody reads it:
// os/signal drops what does not fit.
var discarded = make(chan os.Signal, 1)

// forking lets one fork happen at a time, which package syscall does anyway, but with our threads locked to those that
// wait.
var forking sync.Mutex

// withDefaultSignals calls fork such that the program executed by it starts with every signal at its default and none
// blocked.
//
// execve(2) resets caught signals but keeps ignored ones, and a server started by nohup or as a job of a script ignores
// some. A signal that is caught and thrown away does the same for this process and is reset for the child, so ignored
// signals are turned into that, for good: turning them back would race with whoever changes them meanwhile.
func withDefaultSignals(fork func() error) error {
	ignored, err := ignoredSignals()
	if err != nil {
		return err
	}
	if len(ignored) > 0 {
		signal.Notify(discarded, ignored...)
	}
	forking.Lock()
	defer forking.Unlock()
	// The child takes over the signal mask of the forking thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var none, old unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &old); err != nil {
		return fmt.Errorf("unblock signals: %w", err)
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }()
	return fork()
}

// reserved are the signals that C libraries keep for their threads (nptl(7)): no program of theirs can change what
// became of them, and os/signal cannot either.
var reserved = []syscall.Signal{32, 33}

// ignoredSignals are those the kernel has as ignored for this process (SigIgn in proc_pid_status(5)), which is more
// than os/signal knows.
func ignoredSignals() ([]os.Signal, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil, fmt.Errorf("read own signals: %w", err)
	}
	_, rest, _ := bytes.Cut(status, []byte("\nSigIgn:\t"))
	hex, _, _ := bytes.Cut(rest, []byte("\n"))
	mask, err := strconv.ParseUint(string(hex), 16, 64)
	if err != nil {
		return nil, fmt.Errorf("read own signals: %w", err)
	}
	var list []os.Signal
	for sig := syscall.Signal(1); sig <= lastSignal; sig++ {
		if mask&(1<<(sig-1)) != 0 && !slices.Contains(reserved, sig) {
			list = append(list, sig)
		}
	}
	return list, nil
}
