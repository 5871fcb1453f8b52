// Package localsocket is what a server and its clients have in common at a unix socket: a path of
// any length, and who is on the other end. Linux only.
package localsocket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Name is the socket of a server in its data directory.
const Name = "server.sock"

// MaxPath is the longest path of a socket, in bytes: sun_path without its NUL (unix(7)).
const MaxPath = 107

// ErrForeign means that the other end belongs to neither this user nor root.
var ErrForeign = errors.New("the other end of the socket is another user's")

// At calls f with a path to the socket that has at most MaxPath bytes: a longer one leads through
// the opened directory. Errors: f's, and of opening the directory.
func At(path string, f func(short string) error) error {
	if len(path) <= MaxPath {
		return f(path)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return f("/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + filepath.Base(path))
}

// CheckPeer fails with ErrForeign unless this user or root has connected, or has made the socket
// that c is connected to (SO_PEERCRED, unix(7)).
func CheckPeer(c net.Conn) error {
	_, err := PeerPID(c)
	return err
}

// PeerPID is CheckPeer and returns the process at the other end, 0 when it cannot be seen from here.
func PeerPID(c net.Conn) (int, error) {
	s, ok := c.(syscall.Conn)
	if !ok {
		return 0, fmt.Errorf("%w: it is no socket", ErrForeign)
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err = errors.Join(err, failed); err != nil {
		return 0, err
	}
	if uid := os.Geteuid(); peer.Uid != 0 && int(peer.Uid) != uid {
		return 0, fmt.Errorf("%w: process %d of uid %d, this is uid %d", ErrForeign, peer.Pid, peer.Uid, uid)
	}
	return int(peer.Pid), nil
}
