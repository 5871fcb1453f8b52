package keeper

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

// conn is one end of the connection between keeper and server. One goroutine receives at a time; send and close may be called from several.
// It waits in the network poller.
type conn struct {
	file       *os.File
	raw        syscall.RawConn // the only way to the descriptor: file.Fd would make it blocking
	fromKeeper bool            // whose packets come in
	buf        []byte          // of receive
	oob        []byte          // of receive
}

// newConn makes a conn of a connected socket. It owns fd, also when it fails.
func newConn(fd int, fromKeeper bool) (*conn, error) {
	file, raw, err := proc.Pollable(fd, "keeper connection")
	if err != nil {
		return nil, err
	}
	return &conn{file: file, raw: raw, fromKeeper: fromKeeper,
		buf: make([]byte, maxPacket+1), oob: make([]byte, unix.CmsgSpace(4*maxFiles))}, nil
}

// send sends p with descriptors, which stay the caller's. It waits at most sendTimeout for the other side to read.
func (c *conn) send(p packet, files ...int) error {
	p.Files = len(files)
	data, err := encode(p)
	if err != nil {
		return err
	}
	rights := unix.UnixRights(files...)
	deadline := time.Now().Add(sendTimeout)
	if err := c.file.SetWriteDeadline(deadline); err != nil {
		return err
	}
	for {
		err := c.transmit(data, rights)
		if err == nil {
			return nil
		}
		// More descriptors are on their way than RLIMIT_NOFILE allows this user: they become fewer as the other side receives.
		if err != unix.ETOOMANYREFS || time.Now().After(deadline) {
			return fmt.Errorf("send %s: %w", p.Op, err)
		}
		<-time.After(resendPause)
	}
}

// transmit is sendmsg(2), waiting for room.
func (c *conn) transmit(data, rights []byte) error {
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

// receive waits for the next packet. Its descriptors are close-on-exec. Errors: io.EOF when the other side has left, ErrNonsense, EMFILE when
// this process has no room for the descriptors: then the packet is returned without them, so that a request can be answered.
func (c *conn) receive() (packet, error) {
	var n, oobn, flags int
	var got error
	err := c.raw.Read(func(fd uintptr) bool {
		for {
			n, oobn, flags, _, got = unix.Recvmsg(int(fd), c.buf, c.oob, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
			// ECONNRESET comes once when the other side has left without reading everything. What it had said comes after it.
			if got != unix.EINTR && got != unix.ECONNRESET {
				return got != unix.EAGAIN
			}
		}
	})
	if err = errors.Join(err, got); err != nil {
		return packet{}, fmt.Errorf("receive: %w", err)
	}
	files := receivedFiles(c.oob[:oobn])
	if n == 0 && len(files) == 0 {
		return packet{}, io.EOF
	}
	p, err := decode(c.buf[:n], c.fromKeeper)
	switch {
	case err != nil:
	case flags&unix.MSG_CTRUNC != 0 && len(files) < p.Files: // what does not fit into the table of descriptors is dropped (unix(7))
		err = fmt.Errorf("receive %s: %w", p.Op, unix.EMFILE)
	case len(files) != p.Files:
		p, err = packet{}, fmt.Errorf("%w: %s with %d descriptors instead of %d", ErrNonsense, p.Op, len(files), p.Files)
	}
	if err != nil {
		closeFiles(files)
		return p, err
	}
	p.files = files
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

func closeFiles(files []int) {
	for _, fd := range files {
		_ = unix.Close(fd)
	}
}

// peer tells who is on the other end (SO_PEERCRED, unix(7)). Errors: ErrForeign.
func (c *conn) peer() (pid int, err error) {
	var cred *unix.Ucred
	var got error
	err = c.raw.Control(func(fd uintptr) {
		cred, got = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(err, got); err != nil {
		return 0, err
	}
	if uid := os.Geteuid(); int(cred.Uid) != uid {
		return 0, fmt.Errorf("%w: process %d of uid %d, this is uid %d", ErrForeign, cred.Pid, cred.Uid, uid)
	}
	return int(cred.Pid), nil
}

// setReadDeadline bounds a pending and later receive; the zero time is no bound.
func (c *conn) setReadDeadline(t time.Time) error { return c.file.SetReadDeadline(t) }

// control calls f with the descriptor, which stays open meanwhile.
func (c *conn) control(f func(fd uintptr)) error { return c.raw.Control(f) }

// close hangs up; a pending receive or send fails.
func (c *conn) close() { _ = c.file.Close() }
