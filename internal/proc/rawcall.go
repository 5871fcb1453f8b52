package proc

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// System calls that never wait, on non-blocking descriptors and for what the kernel knows. They are made without telling
// Go's scheduler, which would wake its monitor thread for each burst of them: on the way of a key that costs more than
// all calls together. A call that may wait for a disk must not be one of them: it would keep a processor from others.
// Each is repeated when a signal interrupts it.

// ReadNow is read(2).
func ReadNow(fd int, p []byte) (int, error) {
	return rawCall(unix.SYS_READ, fd, p)
}

// WriteNow is write(2).
func WriteNow(fd int, p []byte) (int, error) {
	return rawCall(unix.SYS_WRITE, fd, p)
}

// rawCall is read or write.
func rawCall(number uintptr, fd int, p []byte) (int, error) {
	for {
		n, _, e := unix.RawSyscall(number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		if e != unix.EINTR {
			return result(n, e)
		}
	}
}

// SpliceNow is splice(2) of at most n bytes.
func SpliceNow(from, to, n int) (int, error) {
	for {
		got, _, e := unix.RawSyscall6(unix.SYS_SPLICE, uintptr(from), 0, uintptr(to), 0, uintptr(n),
			unix.SPLICE_F_NONBLOCK)
		if e != unix.EINTR {
			return result(got, e)
		}
	}
}

// pollNow is ppoll(2) of one descriptor that does not wait. It returns the events that are true, 0 with an error.
func pollNow(fd int, events int16) int16 {
	one, noWait := unix.PollFd{Fd: int32(fd), Events: events}, unix.Timespec{}
	for {
		n, _, e := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&one)), 1, uintptr(unsafe.Pointer(&noWait)),
			0, 0, 0)
		if e == 0 && n > 0 {
			return one.Revents
		}
		if e != unix.EINTR {
			return 0
		}
	}
}

// result is what a call returned: n is -1 with an error.
func result(n uintptr, e syscall.Errno) (int, error) {
	if e != 0 {
		return -1, e
	}
	return int(n), nil
}

// TermiosNow is the request TCGETS (ioctl_tty(2)).
func TermiosNow(fd int) (*unix.Termios, error) {
	t := new(unix.Termios)
	_, _, e := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.TCGETS, uintptr(unsafe.Pointer(t)))
	if e != 0 {
		return nil, e
	}
	return t, nil
}

// Uint32Now is a request of ioctl(2) that answers with 32 bits.
func Uint32Now(fd int, request uint) (uint32, error) {
	var n uint32
	_, _, e := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(unsafe.Pointer(&n)))
	if e != 0 {
		return 0, e
	}
	return n, nil
}
