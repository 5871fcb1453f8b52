package protocol

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// Conn is one end of the connection between keeper and server. One goroutine receives at a time; send and close may be
// called from several. It waits in the network poller.
type Conn struct {
	file       *os.File
	raw        syscall.RawConn // the only way to the descriptor: file.Fd would make it blocking
	fromKeeper bool            // whose packets come in
	buf        []byte          // of receive
	oob        []byte          // of receive
}

// NewConn makes a conn of a connected socket. It owns fd, also when it fails.
func NewConn(fd int, fromKeeper bool) (*Conn, error) {
	file, raw, err := proc.Pollable(fd, "keeper connection")
	if err != nil {
		return nil, err
	}
	return &Conn{file: file, raw: raw, fromKeeper: fromKeeper,
		buf: make([]byte, maxPacket+1), oob: make([]byte, unix.CmsgSpace(4*maxFiles))}, nil
}

// Send sends p with descriptors, which stay the caller's. It waits at most SendTimeout for the other side to read.
func (c *Conn) Send(p Packet, files ...int) error {
	p.Files = len(files)
	data, err := encode(p)
	if err != nil {
		return err
	}
	rights := unix.UnixRights(files...)
	deadline := time.Now().Add(SendTimeout)
	if err := c.file.SetWriteDeadline(deadline); err != nil {
		return err
	}
	for {
		err := c.transmit(data, rights)
		if err == nil {
			return nil
		}
		// More descriptors are on their way than RLIMIT_NOFILE allows this user: they become fewer as the other side
		// receives.
		if err != unix.ETOOMANYREFS || time.Now().After(deadline) {
			return fmt.Errorf("send %s: %w", p.Op, err)
		}
		<-time.After(resendPause)
	}
}

// transmit is sendmsg(2), waiting for room.
func (c *Conn) transmit(data, rights []byte) error {
	var sent error
	err := c.raw.Write(func(fd uintptr) bool {
		for {
			sent = unix.Sendmsg(int(fd), data, rights, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
			if sent != unix.EINTR {
				return sent != unix.EAGAIN
			}
		}
	})
	if err != nil {
		return err
	}
	return sent
}

// Receive waits for the next packet. Its descriptors are close-on-exec. Errors: io.EOF when the other side has left,
// ErrNonsense, EMFILE when this process has no room for the descriptors: then the packet is returned without them, so
// that a request can be answered.
func (c *Conn) Receive() (Packet, error) {
	var n, oobn, flags int
	var got error
	err := c.raw.Read(func(fd uintptr) bool {
		for {
			n, oobn, flags, _, got = unix.Recvmsg(int(fd), c.buf, c.oob, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
			// ECONNRESET comes once when the other side has left without reading everything. What it had said comes
			// after it.
			if got != unix.EINTR && got != unix.ECONNRESET {
				return got != unix.EAGAIN
			}
		}
	})
	if err = errors.Join(err, got); err != nil {
		return Packet{}, fmt.Errorf("receive: %w", err)
	}
	files := receivedFiles(c.oob[:oobn])
	if n == 0 && len(files) == 0 {
		return Packet{}, io.EOF
	}
	p, err := decode(c.buf[:n], c.fromKeeper)
	switch {
	case err != nil:
	// The kernel drops descriptors that do not fit into this process's table (unix(7)).
	case flags&unix.MSG_CTRUNC != 0 && len(files) < p.Files:
		err = fmt.Errorf("receive %s: %w", p.Op, unix.EMFILE)
	case len(files) != p.Files:
		p, err = Packet{}, fmt.Errorf("%w: %s with %d descriptors instead of %d", ErrNonsense, p.Op, len(files),
			p.Files)
	}
	if err != nil {
		CloseFiles(files)
		return p, err
	}
	p.FDs = files
	return p, nil
}

// receivedFiles are the descriptors in control messages.
func receivedFiles(oob []byte) []int {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	var files []int
	for i := range messages {
		if fds, err := unix.ParseUnixRights(&messages[i]); err == nil {
			files = append(files, fds...)
		}
	}
	return files
}

// CloseFiles closes descriptors that nobody holds.
func CloseFiles(files []int) {
	for _, fd := range files {
		_ = unix.Close(fd)
	}
}

// Peer tells who is on the other end (SO_PEERCRED, unix(7)). Errors: ErrForeign.
func (c *Conn) Peer() (pid int, err error) {
	var cred *unix.Ucred
	err = proc.Control(c.raw, func(fd int) (err error) {
		cred, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		return err
	})
	if err != nil {
		return 0, err
	}
	if uid := os.Geteuid(); int(cred.Uid) != uid {
		return 0, fmt.Errorf("%w: process %d of uid %d, this is uid %d", ErrForeign, cred.Pid, cred.Uid, uid)
	}
	return int(cred.Pid), nil
}

// SetReadDeadline bounds a pending and later receive; the zero time is no bound.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.file.SetReadDeadline(t) }

// Control calls f with the descriptor, which stays open meanwhile.
func (c *Conn) Control(f func(fd uintptr)) error { return c.raw.Control(f) }

// Close hangs up; a pending receive or send fails.
func (c *Conn) Close() { _ = c.file.Close() }
