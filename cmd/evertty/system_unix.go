//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminalDevice is the terminal of this process.
const terminalDevice = "/dev/tty"

// hearTerminal begins to hear what the terminal and its shell say: another size, stop, go on.
func (s signals) hearTerminal() {
	signal.Notify(s.size, syscall.SIGWINCH)
	signal.Notify(s.stop, syscall.SIGTSTP)
	signal.Notify(s.cont, syscall.SIGCONT)
}

// stopProcess stops a process, or with pid 0 the group of this one.
func stopProcess(pid int) error {
	return syscall.Kill(pid, syscall.SIGSTOP)
}

// suspendJob asks all of this job to stop, as the terminal does at C-z.
func suspendJob() { _ = syscall.Kill(0, syscall.SIGTSTP) }

// foreground reports whether this process may use the terminal behind f: another job has it
// while a shell has this one in the background (POSIX XBD 11.1.4).
func foreground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// orphaned reports whether this process's group has no parent outside of it in its session:
// nobody controls its jobs.
func orphaned() bool {
	own, _ := unix.Getsid(0)
	for pid, ok := unix.Getppid(), true; ; {
		session, errSession := unix.Getsid(pid)
		group, errGroup := unix.Getpgid(pid)
		switch {
		case !ok || errSession != nil || errGroup != nil || session != own:
			return true
		case group != unix.Getpgrp():
			return false
		}
		pid, ok = parentOf(pid)
	}
}

// isNull reports whether a file is /dev/null, under any name.
func isNull(f *os.File) bool {
	var s, null unix.Stat_t
	return unix.Fstat(int(f.Fd()), &s) == nil && unix.Stat(os.DevNull, &null) == nil &&
		s.Mode&unix.S_IFMT == unix.S_IFCHR && s.Rdev == null.Rdev
}
