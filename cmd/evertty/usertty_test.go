//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/vt/vt10x"
)

// userTTY is the terminal of a user: a real pseudo-terminal with an emulator as
// its screen.
type userTTY struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	closed chan struct{} // the screen has ended

	mu     sync.Mutex
	screen vt.Engine
	raw    bytes.Buffer // everything written to it
}

// newUserTTY opens one of 40 x 8.
func newUserTTY(t *testing.T) *userTTY {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	u := &userTTY{t: t, master: master, closed: make(chan struct{}),
		screen: vt10x.New(vt.Config{Cols: 40, Rows: 8, Scrollback: 1000})}
	var n int
	u.ioctl(func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	if u.slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	u.resize(40, 8)
	go u.draw()
	t.Cleanup(func() {
		_ = u.slave.Close()
		_ = u.master.Close()
		<-u.closed
	})
	return u
}

// ioctl leaves the master in its mode, in which Close ends a pending Read.
func (u *userTTY) ioctl(f func(fd int) error) {
	u.t.Helper()
	c, err := u.master.SyscallConn()
	if err != nil {
		u.t.Fatal(err)
	}
	var inner error
	if err := c.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil || inner != nil {
		u.t.Fatal(err, inner)
	}
}

func (u *userTTY) resize(cols, rows int) {
	u.mu.Lock()
	u.screen.Resize(cols, rows)
	u.mu.Unlock()
	u.ioctl(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)})
	})
}

// unsized has the terminal not say its size, as serial lines do.
func (u *userTTY) unsized() {
	u.ioctl(func(fd int) error { return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{}) })
}

func (u *userTTY) modes() unix.Termios {
	var m unix.Termios
	u.ioctl(func(fd int) error {
		got, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			m = *got
		}
		return err
	})
	return m
}

func (u *userTTY) draw() {
	defer close(u.closed)
	buf := make([]byte, 4096)
	for {
		n, err := u.master.Read(buf)
		if err != nil {
			return
		}
		u.mu.Lock()
		u.raw.Write(buf[:n])
		u.screen.Write(buf[:n])
		u.mu.Unlock()
	}
}

func (u *userTTY) press(keys string) {
	u.t.Helper()
	if _, err := u.master.WriteString(keys); err != nil {
		u.t.Fatal(err)
	}
}

// text is what the user sees, with the last lines of the scrollback.
func (u *userTTY) text(scrollback int) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return strings.TrimRight(snapshot.Text(u.screen.Freeze(), scrollback), "\n")
}

func (u *userTTY) frame() *vt.Frame {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.screen.Freeze()
}

func (u *userTTY) written() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.raw.String()
}

// sees waits until the screen shows the text.
func (u *userTTY) sees(text string) {
	u.t.Helper()
	eventually(u.t, func() string { return "the screen shows " + text + " but\n" + u.text(-1) }, func() bool {
		return strings.Contains(u.text(0), text)
	})
}

// left waits until the viewer's last word has come to the screen.
func (u *userTTY) left() {
	u.t.Helper()
	eventually(u.t, func() string { return fmt.Sprintf("a farewell in %q", u.written()) }, func() bool {
		return strings.HasSuffix(u.written(), giveTitle)
	})
}

// evertty runs a command line on the terminal; the channel gets its exit code.
func (u *userTTY) evertty(args ...string) (code <-chan int, stderr *lockedBuffer) {
	stderr = &lockedBuffer{}
	done := make(chan int, 1)
	go func() {
		a := &app{stdin: u.slave, stdout: u.slave, stderr: stderr}
		done <- a.run(args)
	}()
	return done, stderr
}

// lockedBuffer is a buffer that may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
