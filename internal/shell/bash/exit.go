package bash

import (
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty"
)

// Exited reports whether a child has ended, whatever has its number by now.
func Exited(c *pty.Child) bool {
	over := true // also when Wait has returned, which closes the descriptor
	_ = c.SyscallConn().Control(func(fd uintptr) { over, _ = shelldir.Poll(int(fd)) })
	return over
}

// ExitCode is the code of a process that has ended: killedCode when it is unknown.
func ExitCode(x pty.Exit) int {
	if x.Code < 0 {
		return killedCode
	}
	return x.Code
}
