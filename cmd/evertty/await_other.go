//go:build unix && !darwin

package main

import "golang.org/x/sys/unix"

// awaitInput waits until one of two descriptors can be read, at most so many milliseconds; negative: without limit. n is
// 0 when none can, ended is true when wake can.
func awaitInput(in, wake, milliseconds int) (n int, ended bool, err error) {
	fds := []unix.PollFd{{Fd: int32(in), Events: unix.POLLIN}, {Fd: int32(wake), Events: unix.POLLIN}}
	n, err = unix.Poll(fds, milliseconds)
	return n, n > 0 && fds[1].Revents != 0, err
}
