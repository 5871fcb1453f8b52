package pty

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// signals are those that make sense from outside: what a keyboard, a user or a job control program sends.
var signals = []syscall.Signal{
	unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGABRT, unix.SIGKILL, unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE,
	unix.SIGALRM, unix.SIGTERM, unix.SIGCONT, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGWINCH,
}

// ParseSignal returns the signal of a name: with or without SIG, upper or lower case. Errors: ErrBadSignal, whose
// message lists the names.
func ParseSignal(name string) (syscall.Signal, error) {
	want := strings.TrimPrefix(strings.ToUpper(name), "SIG")
	names := make([]string, len(signals))
	for i, sig := range signals {
		names[i] = proc.SignalName(sig)
		if names[i] == want {
			return sig, nil
		}
	}
	return 0, fmt.Errorf("pty: %w: %.40q, allowed are %s", ErrBadSignal, name, strings.Join(names, " "))
}

// checkSignal reports ErrBadSignal for signals that ParseSignal would not return.
func checkSignal(sig syscall.Signal) error {
	if slices.Contains(signals, sig) {
		return nil
	}
	_, err := ParseSignal(proc.SignalName(sig))
	return err
}
