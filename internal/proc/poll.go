package proc

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Pollable wraps a descriptor so that it waits in Go's network poller, as a non-blocking and close-on-exec file. It
// owns fd, also when it fails. Only conn gives the descriptor back as it is: os.File.Fd would make it blocking.
func Pollable(fd int, name string) (file *os.File, conn syscall.RawConn, err error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, nil, err
	}
	unix.CloseOnExec(fd)
	file = os.NewFile(uintptr(fd), name)
	if err = file.SetDeadline(time.Time{}); err == nil { // tells whether the poller has it
		if conn, err = file.SyscallConn(); err == nil {
			return file, conn, nil
		}
	}
	_ = file.Close()
	return nil, nil, err
}

// Control calls f with the descriptor of conn, which stays open meanwhile. Errors: that it is closed, and f's.
func Control(conn syscall.RawConn, f func(fd int) error) error {
	var inner error
	if err := conn.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// BoundUnsent bounds what the kernel keeps of what was written to a TCP connection and it cannot send yet, in bytes
// (TCP_NOTSENT_LOWAT, tcp(7)).
func BoundUnsent(conn syscall.RawConn, bytes int) error {
	return Control(conn, func(fd int) error {
		return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
}

// Ready reports whether one of the events of poll(2) is true of a descriptor now.
func Ready(fd int, events int16) bool { return pollNow(fd, events)&events != 0 }

// HasEnded reports whether the process of a pidfd has ended, reaped or not.
func HasEnded(pidfd int) bool { return Ready(pidfd, unix.POLLIN) }
