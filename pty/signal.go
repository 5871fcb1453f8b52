package pty

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

// signals are those that make sense from outside: what a keyboard, a user or a job control program sends.
var signals = []syscall.Signal{
	unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGABRT, unix.SIGKILL, unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE,
	unix.SIGALRM, unix.SIGTERM, unix.SIGCONT, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGWINCH,
}

// lastSignal is the highest signal number of Linux, SIGRTMAX.
const lastSignal = 64

// ParseSignal returns the signal of a name: with or without SIG, upper or lower case. Errors: ErrBadSignal, whose message lists the names.
func ParseSignal(name string) (syscall.Signal, error) {
	want := strings.TrimPrefix(strings.ToUpper(name), "SIG")
	names := make([]string, len(signals))
	for i, sig := range signals {
		names[i] = SignalName(sig)
		if names[i] == want {
			return sig, nil
		}
	}
	return 0, fmt.Errorf("pty: %w: %.40q, allowed are %s", ErrBadSignal, name, strings.Join(names, " "))
}

// SignalName is the name of a signal without SIG ("INT", as ParseSignal takes and RFC 4254 6.10 writes it), or its number for those without a name.
func SignalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return strings.TrimPrefix(name, "SIG")
	}
	return strconv.Itoa(int(sig))
}

// discarded receives the signals that this process was told to ignore; see withDefaultSignals. Nobody reads it: os/signal drops what does not fit.
var discarded = make(chan os.Signal, 1)

// forking lets one fork happen at a time, which package syscall does anyway, but with our threads locked to those that wait.
var forking sync.Mutex

// withDefaultSignals calls fork such that the program executed by it starts with every signal at its default and none blocked.
//
// execve(2) resets caught signals but keeps ignored ones, and a server started by nohup or as a job of a script ignores some. A signal that
// is caught and thrown away does the same for this process and is reset for the child, so ignored signals are turned into that, for good:
// turning them back would race with whoever changes them meanwhile.
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

// reserved are the signals that C libraries keep for their threads (nptl(7)): no program of theirs can change what became of them, and
// os/signal cannot either.
var reserved = []syscall.Signal{32, 33}

// ignoredSignals are those the kernel has as ignored for this process (SigIgn in proc_pid_status(5)), which is more than os/signal knows.
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

// checkSignal reports ErrBadSignal for signals that ParseSignal would not return.
func checkSignal(sig syscall.Signal) error {
	if slices.Contains(signals, sig) {
		return nil
	}
	_, err := ParseSignal(SignalName(sig))
	return err
}
