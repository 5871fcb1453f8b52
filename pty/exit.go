package pty

import (
	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// unknownCode is the Code of a child whose status was taken by somebody else.
const unknownCode = -1

// Exit is how a child ended.
type Exit struct {
	// Code is the exit code 0..255, 128 + the signal's number when a signal ended the child, or -1 when the status is
	// unknown.
	Code int
	// Signal is the name of that signal without SIG ("KILL"), or empty.
	Signal string
}

// exitOf translates a wait status of a process that ended.
func exitOf(status unix.WaitStatus) Exit {
	code, signal := proc.ExitOf(status)
	return Exit{Code: code, Signal: signal}
}
