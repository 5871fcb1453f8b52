package pty_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/tests/polling"
)

// rawCat echoes every byte unchanged once it has printed "ready\n".
const rawCat = "stty raw -echo; echo ready; exec cat"

func TestEchoUTF8(t *testing.T) {
	s := run(t, "cat")
	const text = "grüße, 世界 🎉 e\u0301"
	s.send(text + "\n")
	s.expect(text + "\r\n" + text + "\r\n")
}

// Erasing a character of several bytes must erase all of it.
func TestEraseUTF8(t *testing.T) {
	s := run(t, "sh", "-c", "echo ready; read x; printf '<%s>' \"$x\"")
	s.expect("ready")
	s.send("aü\x7fb\n")
	s.expect("<ab>")
}

func TestBashPrompt(t *testing.T) {
	s := run(t, "bash", "--norc", "-i")
	s.send("echo $((6*7)) $TERM; tty; exit 4\n")
	s.expect("42 xterm-256color\r\n/dev/pts/")
	if got, want := s.exit(), (pty.Exit{Code: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCloseReleasesRead(t *testing.T) {
	p, err := pty.Start(pty.Spec{Argv: []string{"sleep", "1000"}, Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	// Everything that touches the descriptor comes before the Read.
	if err := p.Resize(100, 30); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Foreground(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		close(started)
		_, err := p.Read(make([]byte, 100))
		ended <- err
	}()
	<-started
	if err := p.Resize(90, 30); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-ended:
		if !errors.Is(err, pty.ErrClosed) {
			t.Errorf("Read: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Read hangs after Close")
	}
	if err := p.Kill(limited(t, patience)); err != nil {
		t.Error(err)
	}
	if _, err := p.Wait(limited(t, patience)); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"Resize": p.Resize(80, 24), "Signal": p.Signal(15)} {
		if !errors.Is(err, pty.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
}

// A child may close the terminal and open it again: that is not the end.
func TestOutputGoesOnAfterReopen(t *testing.T) {
	gate2, open2 := fifo(t)
	gate3, open3 := fifo(t)
	s := run(t, "bash", "-c", "echo first; exec 0<&- 1>&- 2>&-; read x <"+gate2+"; echo second >/dev/tty; read y <"+
		gate3+"; echo third >/dev/tty; exit 5")
	s.expect("first")
	for _, next := range []struct {
		open func()
		word string
	}{{open2, "second"}, {open3, "third"}} {
		if !polling.Until(patience, func() bool { return !holdsTerminal(s.PID()) }) {
			t.Fatal("the child keeps its terminal")
		}
		select {
		case <-s.ended:
			t.Fatalf("output ended with %v although the child lives", s.err)
		default:
		}
		next.open()
		s.expect(next.word)
	}
	if got, want := s.exit(), (pty.Exit{Code: 5}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Waiting for a child to open its terminal again costs nothing.
func TestReadDoesNotSpin(t *testing.T) {
	s := run(t, "bash", "-c", "exec 0<&- 1>&- 2>&-; sleep 0.3; echo back >/dev/tty")
	if !polling.Until(patience, func() bool { return !holdsTerminal(s.PID()) }) {
		t.Fatal("the child keeps its terminal")
	}
	began, before := time.Now(), cpuTime(t)
	s.expect("back")
	if used := cpuTime(t) - before; used > 100*time.Millisecond && used > time.Since(began)/4 {
		t.Errorf("%v of processor time", used)
	}
}

// cpuTime is what this process has used so far.
func cpuTime(t *testing.T) time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// holdsTerminal reports whether a process has a pseudo-terminal open.
func holdsTerminal(pid int) bool {
	links, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
	for _, link := range links {
		if target, _ := os.Readlink(link); strings.HasPrefix(target, "/dev/pts/") {
			return true
		}
	}
	return false
}

func TestReadOfNothing(t *testing.T) {
	p, err := pty.Start(pty.Spec{Argv: []string{"true"}, Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if n, err := p.Read(nil); n != 0 || err != nil {
		t.Errorf("empty buffer: %d, %v", n, err)
	}
	for range 3 {
		if n, err := p.Read(make([]byte, 10)); n != 0 || err != io.EOF {
			t.Errorf("at the end: %d, %v", n, err)
		}
	}
	if _, err := p.Wait(limited(t, patience)); err != nil {
		t.Error(err)
	}
}
