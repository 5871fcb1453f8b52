package keeper_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/confine"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// serveOld is a keeper of a release that cannot confine programs, and cannot be replaced. It starts none, but says for
// each request which one it is.
func serveOld(t *testing.T, listener int) {
	fd, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
	if err != nil {
		return
	}
	c, err := protocol.NewConn(fd, false)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	for {
		p, err := c.Receive()
		if err != nil {
			return
		}
		protocol.CloseFiles(p.FDs)
		reply := protocol.Packet{Op: protocol.OpDone, Number: p.Number}
		switch p.Op {
		case protocol.OpHello:
			reply = protocol.Packet{Op: protocol.OpWelcome, Version: protocol.Version, Release: "old",
				PID: os.Getpid(), Born: 1, Programs: true}
		case protocol.OpUpgrade:
			reply = protocol.Packet{Op: protocol.OpFailed, Number: p.Number, Failure: protocol.FailureOf(unix.EACCES)}
		case protocol.OpStart, protocol.OpRun:
			reply = protocol.Packet{Op: protocol.OpFailed, Number: p.Number, Failure: protocol.FailureOf(unix.EMLINK)}
		}
		if err := c.Send(reply); err != nil {
			return
		}
	}
}

// TestOldKeeperConfinesNothing: a keeper that does not know how gets plain programs to start, and no confined one.
func TestOldKeeperConfinesNothing(t *testing.T) {
	dir := t.TempDir()
	listener, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = errors.Join(unix.Bind(listener, &unix.SockaddrUnix{Name: filepath.Join(dir, protocol.SocketName)}),
			unix.Listen(listener, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(listener)
	over := make(chan struct{})
	go func() { defer close(over); serveOld(t, listener) }()
	c, err := keeper.Connect(t.Context(), keeper.Config{Dir: dir, Release: "new", Command: []string{"/nowhere"}})
	if err != nil {
		t.Fatal(err)
	}
	s := pty.Spec{Argv: []string{"true"}, Dir: "/", Cols: 80, Rows: 24}
	if _, err := c.Start("plain", s); !errors.Is(err, unix.EMLINK) {
		t.Errorf("a plain program: %v", err)
	}
	s.Confine = &confine.Spec{Limits: &confine.Limits{Files: 64}}
	if _, err := c.Start("confined", s); !errors.Is(err, pty.ErrUnsupported) {
		t.Errorf("a confined program: %v", err)
	}
	_ = c.Close()
	<-over
}
