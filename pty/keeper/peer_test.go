package keeper_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty/keeper"
)

// nobody is another user than the one of the tests.
const nobody = 65534

// raw is a connection to a keeper by somebody who is no client.
type raw struct {
	t  testing.TB
	fd int
}

// again repeats a system call that a signal interrupts.
func again(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

func dialRaw(dir string) (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	limit := unix.NsecToTimeval(int64(patience))
	err = errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit),
		again(func() error { return unix.Connect(fd, &unix.SockaddrUnix{Name: filepath.Join(dir, "keeper.sock")}) }))
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// dial connects as soon as nobody else is served, and says hello.
func (p *place) dial() *raw {
	p.t.Helper()
	var r *raw
	if !poll(func() bool {
		fd, err := dialRaw(p.dir)
		if err != nil {
			p.t.Fatal(err)
		}
		r = &raw{p.t, fd}
		r.say(`{"op":"hello","version":1,"release":"raw"}`)
		if strings.Contains(r.hear(), `"op":"welcome"`) {
			return true
		}
		r.leave()
		return false
	}) {
		p.t.Fatal("the keeper does not serve")
	}
	p.t.Cleanup(r.leave)
	return r
}

// say sends a packet; the keeper may have hung up already.
func (r *raw) say(text string, files ...int) {
	err := again(func() error {
		return unix.Sendmsg(r.fd, []byte(text), unix.UnixRights(files...), nil, unix.MSG_NOSIGNAL)
	})
	if err != nil && err != unix.EPIPE && err != unix.ECONNRESET {
		r.t.Error(err)
	}
}

// hear returns the next packet, "" when the keeper has hung up.
func (r *raw) hear() string {
	buf := make([]byte, 64<<10)
	var n int
	err := again(func() (err error) { n, err = unix.Read(r.fd, buf); return err })
	if err == unix.ECONNRESET {
		return ""
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return string(buf[:n])
}

func (r *raw) leave() {
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
		r.fd = -1
	}
}

// TestNonsense: whatever somebody of this user says, it ends his connection and nothing else.
func TestNonsense(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	s := start(t, c, "x", shell(p.dir, "cat"))
	pid := c.PID()
	_ = c.Close()
	files := []int{0, 1, 2}
	var before int
	for i, say := range []func(r *raw){
		func(*raw) {}, // leaves
		func(r *raw) { r.say("") },
		func(r *raw) { r.say("nonsense") },
		func(r *raw) { r.say("{}", files...) },
		func(r *raw) { r.say(`{"op":"hello","version":1}`, files...) },
		func(r *raw) { r.say(`{"op":"welcome","pid":1}`) },
		func(r *raw) { r.say(`{"op":"start","n":1,"id":"y"}`) },
		func(r *raw) { r.say(`{"op":"start","n":1,"id":"y","files":5}`, files...) },
		func(r *raw) { r.say(`{"op":"start","n":1,"id":"y","files":-1}`, files...) },
		func(r *raw) { r.say(`{"op":"start","n":-1,"id":"y","files":3}`, files...) },
		func(r *raw) { r.say(strings.Repeat("x", 100<<10), files...) },
		func(r *raw) { r.say(strings.Repeat("[", 16<<10)) },
		func(r *raw) { r.say(`{"op":"adopt","n":1,"id":"y","pid":1,"files":0}`) },
	} {
		r := p.dial()
		say(r)
		if i > 0 {
			if answer := r.hear(); answer != "" && !strings.Contains(answer, `"op":"exited"`) {
				t.Errorf("%d: the keeper answers %s", i, answer)
			}
		}
		r.leave()
		if i == 0 {
			last := p.dial() // the one before is over
			before = fds(t, pid)
			last.leave()
		}
	}
	// Requests that are right in form: answered, and nothing is kept.
	r := p.dial()
	memfd, err := unix.MemfdCreate("plan", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(memfd)
	for _, say := range []string{`{"op":"start","n":1,"id":"y","files":2}`, `{"op":"upgrade","n":2,"argv":[""]}`,
		`{"op":"upgrade","n":3,"argv":["/"]}`} {
		var with []int
		if strings.Contains(say, "files") {
			with = []int{memfd, memfd}
		}
		r.say(say, with...)
		if answer := r.hear(); !strings.Contains(answer, `"op":"failed"`) {
			t.Errorf("%s: %s", say, answer)
		}
	}
	if !poll(func() bool { return fds(t, pid) == before }) {
		t.Errorf("the keeper has %d descriptors, had %d", fds(t, pid), before)
	}
	r.leave()
	c = p.connect("a")
	if c.PID() != pid || len(taken(t, c)) != 1 {
		t.Error("the keeper is another one")
	}
	s.send("hello\n")
	s.expect("hello")
}

// TestDeaf: a server that never reads is hung up on, and the next is served.
func TestDeaf(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the time limits of a keeper")
	}
	p := newPlace(t)
	c := p.connect("a")
	start(t, c, "x", shell(p.dir, "cat"))
	_ = c.Close()
	r := p.dial()
	limit := unix.NsecToTimeval(int64(time.Second))
	if err := unix.SetsockoptTimeval(r.fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit); err != nil {
		t.Fatal(err)
	}
	for i := 1; ; i++ {
		err := again(func() error {
			return unix.Sendmsg(r.fd, fmt.Appendf(nil, `{"op":"take","n":%d}`, i), nil, nil, unix.MSG_NOSIGNAL)
		})
		if err == unix.EAGAIN {
			break // both directions are full
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if c := p.connect("a"); len(taken(t, c)) != 1 {
		t.Error("the terminal is gone")
	}
}

// TestSilent: who connects and says nothing does not keep servers away for long.
func TestSilent(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the time limits of a keeper")
	}
	p := newPlace(t)
	_ = p.connect("a").Close()
	p.dial().leave()
	var r *raw
	if !poll(func() bool { // until the one before is over
		fd, err := dialRaw(p.dir)
		if err != nil {
			t.Fatal(err)
		}
		r = &raw{t, fd}
		short := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, _ := unix.Poll(short, 200); n == 0 {
			return true // nothing is said: it is this one's turn
		}
		r.leave()
		return false
	}) {
		t.Fatal("never served")
	}
	defer r.leave()
	p.connect("a")
}

// visitMode connects to the keeper of args[0] and tells what comes.
func visitMode(args []string) error {
	fd, err := dialRaw(args[0])
	if err != nil {
		return err
	}
	_ = unix.Sendmsg(fd, []byte(`{"op":"hello","version":1}`), nil, nil, unix.MSG_NOSIGNAL)
	buf := make([]byte, 4096)
	var n int
	err = again(func() (err error) { n, err = unix.Read(fd, buf); return err })
	fmt.Printf("heard %q, %v\n", buf[:max(n, 0)], err)
	return nil
}

// pretendMode is a listener that is no keeper.
func pretendMode(args []string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	path := filepath.Join(args[0], "keeper.sock")
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), os.Chmod(path, 0o777),
		unix.Listen(fd, 8)); err != nil {
		return err
	}
	fmt.Println("ready")
	select {}
}

// open lets everybody into a directory of the tests.
func open(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	for ; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
}

// TestForeignServer: the keeper says nothing to another user, even if the socket's mode let him in.
func TestForeignServer(t *testing.T) {
	p := newPlace(t)
	open(t, p.dir)
	_ = p.connect("a").Close()
	if err := os.Chmod(filepath.Join(p.dir, "keeper.sock"), 0o777); err != nil {
		t.Fatal(err)
	}
	_, out := other(t, nobody, "visit", p.dir)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, `heard ""`) {
		t.Errorf("%q %v", line, err)
	}
	if !poll(func() bool { return strings.Contains(p.log(), "another user's process") }) {
		t.Errorf("log: %s", p.log())
	}
}

// TestForeignKeeper: a client does not talk to another user's process.
func TestForeignKeeper(t *testing.T) {
	p := newPlace(t)
	open(t, p.dir)
	_, out := other(t, nobody, "pretend", p.dir)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	if _, err := keeper.Connect(limited(t), p.config("a")); !errors.Is(err, keeper.ErrForeign) {
		t.Error(err)
	}
}
