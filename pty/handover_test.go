package pty_test

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
)

// passed sends a master's descriptor through a socket and returns what comes out, as between two processes.
func passed(t *testing.T, m *pty.Master) int {
	t.Helper()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	var sent error
	if err := m.SyscallConn().Control(func(fd uintptr) {
		sent = unix.Sendmsg(ends[0], []byte("x"), unix.UnixRights(int(fd)), nil, 0)
	}); err != nil || sent != nil {
		t.Fatal(err, sent)
	}
	buf, control := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(ends[1], buf, control, 0)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil {
		t.Fatal(err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		t.Fatal(err)
	}
	return fds[0]
}

// One process holds the terminal and the child, another reads and writes, may leave, and is followed by a third.
func TestHandover(t *testing.T) {
	keeper, tty, err := pty.OpenPair(80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer keeper.Close()
	child, err := pty.Spawn(pty.Spec{Argv: []string{"sh", "-c", rawCat}}, tty)
	tty.Close()
	if err != nil {
		t.Fatal(err)
	}
	exit := make(chan pty.Exit, 1)
	go func() { exit <- child.Wait() }()

	for _, text := range []string{"ready\n", "one", "two"} {
		server, err := pty.NewMaster(passed(t, keeper))
		if err != nil {
			t.Fatal(err)
		}
		if text != "ready\n" {
			if _, err := server.Write(limited(t, patience), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		got := make([]byte, len(text))
		if _, err := io.ReadFull(server, got); err != nil || string(got) != text {
			t.Fatalf("%q, %v", got, err)
		}
		if err := server.Resize(100, 50); err != nil {
			t.Error(err)
		}
		pending := make(chan error, 1)
		go func() {
			_, err := server.Read(got)
			pending <- err
		}()
		server.Close()
		select {
		case err := <-pending:
			if !errors.Is(err, pty.ErrClosed) {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Fatal("Read hangs after Close")
		}
		expectNonblocking(t, keeper)
	}
	if cols, rows, err := keeper.Size(); cols != 100 || rows != 50 || err != nil {
		t.Errorf("size %dx%d, %v", cols, rows, err)
	}

	last, err := pty.NewMaster(passed(t, keeper))
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := last.Read(make([]byte, 10))
		ended <- err
	}()
	if err := child.Kill(limited(t, patience), keeper); err != nil {
		t.Error(err)
	}
	if got, want := <-exit, (pty.Exit{Code: 129, Signal: "HUP"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	last.Drain()
	last.Drain()
	if err := <-ended; err != io.EOF {
		t.Errorf("got %v", err)
	}
}

func expectNonblocking(t *testing.T, m *pty.Master) {
	t.Helper()
	if err := m.SyscallConn().Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		if err != nil || flags&unix.O_NONBLOCK == 0 {
			t.Errorf("the master is blocking: %#x, %v", flags, err)
		}
		if flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("the master is inherited by children: %#x, %v", flags, err)
		}
	}); err != nil {
		t.Error(err)
	}
}

func TestNewMasterRefuses(t *testing.T) {
	fds := openFDs()
	for _, path := range []string{"/dev/null", "/proc/self/stat"} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		fd, err := unix.Dup(int(f.Fd()))
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if m, err := pty.NewMaster(fd); m != nil || !errors.Is(err, pty.ErrNotMaster) {
			t.Errorf("%s: %v", path, err)
		}
	}
	near, tty, err := pty.OpenPair(80, 24)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Dup(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	tty.Close()
	near.Close()
	if _, err := pty.NewMaster(fd); !errors.Is(err, pty.ErrNotMaster) {
		t.Errorf("far end: %v", err)
	}
	if n := openFDs(); n > fds {
		t.Errorf("%d descriptors instead of %d: %v", n, fds, fdList())
	}
}
