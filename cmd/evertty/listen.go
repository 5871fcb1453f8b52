//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/localsocket"
	"github.com/evertty/evertty/internal/proc"
)

// listen opens the addresses of a server and its socket in the data directory, which answers this user and root only.
// at is how browsers reach it: an address, never a name that somebody else may be behind later. A name is listened on
// at all its addresses, with one port; when one cannot be had that is an error, and wrong usage when it is not of this
// machine. Sockets that were passed stand for the address, which is of the first.
func listen(address, dir string, passed []net.Listener) (all []net.Listener, at string, err error) {
	own := filepath.Join(dir, localsocket.Name)
	path, isUnix := strings.CutPrefix(address, "unix://")
	switch {
	case len(passed) > 0:
		if all, at = passed, address; !isUnix {
			at = urlOf(passed[0])
		}
	case isUnix:
		at = address
		if filepath.Base(path) != localsocket.Name || !sameDir(filepath.Dir(path), dir) {
			if len(path) > localsocket.MaxPath {
				return nil, "", usage(fmt.Errorf("listen %s: the path of a socket has at most %d bytes, this one has "+
					"%d", path, localsocket.MaxPath, len(path)))
			}
			l, err := listenUnix(path)
			if err != nil {
				return nil, "", err
			}
			all = append(all, l)
		}
	default:
		if all, at, err = listenTCP("listen", address); err != nil {
			return nil, "", err
		}
	}
	l, err := listenUnix(own)
	if err != nil {
		closeAll(all)
		return nil, "", err
	}
	return append(all, ownListener{l}), at, nil
}

// ownListener accepts connections of this user and of root only.
type ownListener struct{ net.Listener }

// Accept returns the next such connection.
func (l ownListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if err = localsocket.CheckPeer(c); err == nil {
			if err = checkUnmarked(c); err == nil {
				return c, nil
			}
			replySandboxed(c)
		}
		slog.Warn("a connection was refused", "error", err)
		_ = c.Close()
	}
}

// checkUnmarked refuses the programs of a sandbox, which could start others outside. Errors: proc.ErrMarked.
func checkUnmarked(c net.Conn) error {
	s, ok := c.(syscall.Conn)
	if !ok {
		return fmt.Errorf("%T is no socket", c)
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	return proc.Control(raw, func(fd int) error {
		peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			return err
		}
		return proc.CheckUnmarked(int(peer.Pid))
	})
}

// refuseTimeout bounds a reply that nobody reads.
const refuseTimeout = time.Second

// replySandboxed answers whatever the program asks for.
func replySandboxed(c net.Conn) {
	const body = `{"error":"a program in a sandbox may not reach its server","code":"SANDBOX"}` + "\n"
	_ = c.SetDeadline(time.Now().Add(refuseTimeout))
	_, _ = fmt.Fprintf(c, "HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"Connection: close\r\n\r\n%s", len(body), body)
}

// listenUnix opens a socket that only this user can connect to, from its first moment. The socket of a dead server is
// replaced; anything else that has the name stays as it is: then it is wrong usage. Servers that start at the same time
// do this one after the other.
func listenUnix(path string) (net.Listener, error) {
	unlock, err := lockDir(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("listen %s: %w", path, err)
	}
	defer unlock()
	if err := removeStale(path); err != nil {
		return nil, err
	}
	// A socket has the mode of its inode when it is bound.
	mode := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) { failed = unix.Fchmod(int(fd), 0o600) })
		return errors.Join(err, failed)
	}}
	var l net.Listener
	err = localsocket.At(path, func(short string) error {
		l, err = mode.Listen(context.Background(), "unix", short)
		return err
	})
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, inTheWay(path, "something")
	}
	if err != nil {
		return nil, fmt.Errorf("listen %s: %w", path, err)
	}
	own, err := os.Lstat(path)
	if err == nil {
		err = os.Chmod(path, 0o600) // where the inode's mode does not count
	}
	unixListener, ok := l.(*net.UnixListener)
	if err != nil || !ok {
		_ = l.Close()
		return nil, fmt.Errorf("listen %s: %w", path, err)
	}
	unixListener.SetUnlinkOnClose(false)
	return &ownSocket{Listener: l, path: path, own: own}, nil
}

// inTheWay is the refusal of a path that something has. Errors of it are wrong usage.
func inTheWay(path, what string) error {
	return usage(fmt.Errorf("listen %s: there is %s at this path, and it stays; choose another with --listen, or "+
		"remove it", path, what))
}

// removeStale removes a socket without a listener.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("listen %s: %w", path, err)
	case info.Mode().Type() != fs.ModeSocket:
		return inTheWay(path, kindOf(info.Mode()))
	}
	var c net.Conn
	err = localsocket.At(path, func(short string) error {
		c, err = net.Dial("unix", short)
		return err
	})
	switch {
	case err == nil:
		_ = c.Close()
		return inTheWay(path, "another program's socket, which it serves,")
	case errors.Is(err, syscall.ECONNREFUSED):
	case errors.Is(err, fs.ErrNotExist): // it has just left
		return nil
	default: // another kind of socket, one that is too busy, or another user's
		return inTheWay(path, "a socket that is not known to be left over ("+reasonOf(err)+")")
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("listen %s: the socket of a dead server: %w", path, err)
	}
	return nil
}

// reasonOf is the system's part of an error.
func reasonOf(err error) string {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number.Error()
	}
	return err.Error()
}

// kindOf says what a file is.
func kindOf(m fs.FileMode) string {
	kinds := map[fs.FileMode]string{0: "a file", fs.ModeDir: "a directory", fs.ModeSymlink: "a symbolic link",
		fs.ModeNamedPipe: "a FIFO"}
	return cmp.Or(kinds[m.Type()], "a device")
}

const (
	// lockDirTime is how long another server may take to look after its socket, which are a few system calls; who has
	// the lock longer is no server.
	lockDirTime = 2 * time.Second
	// lockDirRetry is the time between two attempts.
	lockDirRetry = 5 * time.Millisecond
)

// lockDir has this process alone look after sockets in a directory, among those that ask as it does (flock(2) on the
// directory itself, which leaves no file). Where that cannot be had, nobody waits: bind(2) lets only one have a name
// anyway, and the lock is for who removes one.
func lockDir(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockDirTime); ; <-time.After(lockDirRetry) {
		err = unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if again := errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR); !again || time.Now().After(end) {
			return func() { _ = d.Close() }, nil
		}
	}
}

// ownSocket is a listener that removes its socket when it is closed, if the name is still its own.
type ownSocket struct {
	net.Listener
	path string
	own  fs.FileInfo
	once sync.Once
}

// Close ends the listener.
func (o *ownSocket) Close() error {
	o.once.Do(func() {
		if now, err := os.Lstat(o.path); err == nil && os.SameFile(now, o.own) {
			_ = os.Remove(o.path)
		}
	})
	return o.Listener.Close()
}
