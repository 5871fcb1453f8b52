package pty_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/pty"
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

func TestWriteIsCompleteAndOrdered(t *testing.T) {
	s := run(t, "sh", "-c", rawCat)
	s.expect("ready\n")
	data := make([]byte, 5<<20)
	rand.New(rand.NewSource(1)).Read(data)
	s.send(string(data))
	s.sameAs(data)
}

// sameAs waits for all of data after the line "ready" and compares.
func (s *screen) sameAs(data []byte) {
	s.t.Helper()
	var rest string
	s.until(strconv.Itoa(len(data))+" bytes", func(text string) bool {
		_, rest, _ = strings.Cut(text, "ready\n")
		return len(rest) >= len(data)
	})
	if sha256.Sum256([]byte(rest)) != sha256.Sum256(data) {
		s.t.Errorf("%d bytes came back changed", len(rest))
	}
}

func TestBlockedWriteCountsAndContinues(t *testing.T) {
	gate, open := fifo(t)
	s := run(t, "sh", "-c", "stty raw -echo; echo ready; read x <"+gate+"; exec cat")
	s.expect("ready\n")
	data := make([]byte, 1<<20)
	rand.New(rand.NewSource(2)).Read(data)

	done, err := s.Write(limited(t, 200*time.Millisecond), data)
	if !errors.Is(err, pty.ErrBlocked) || !errors.Is(err, context.DeadlineExceeded) || done <= 0 || done >= len(data) {
		t.Fatalf("%d bytes, %v", done, err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	viewer := errors.New("viewer left")
	cancel(viewer)
	if n, err := s.Write(ctx, data[done:]); n != 0 || !errors.Is(err, pty.ErrBlocked) || !errors.Is(err, viewer) {
		t.Fatalf("with an ended context: %d bytes, %v", n, err)
	}
	open()
	s.send(string(data[done:]))
	s.sameAs(data)
}

// Two writers take turns: the bytes of one never come between those of the other.
func TestWritersTakeTurns(t *testing.T) {
	s := run(t, "sh", "-c", rawCat)
	s.expect("ready\n")
	const size = 300 << 10
	ended := make(chan error)
	for _, b := range []byte{'a', 'b'} {
		go func() {
			_, err := s.Write(limited(t, patience), bytes.Repeat([]byte{b}, size))
			ended <- err
		}()
	}
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	a, b := strings.Repeat("a", size), strings.Repeat("b", size)
	s.until("both", func(text string) bool {
		_, rest, _ := strings.Cut(text, "ready\n")
		return rest == a+b || rest == b+a
	})
}

// pendingWrite starts a Write that waits because nobody reads.
func pendingWrite(t *testing.T) (*screen, chan error) {
	s := run(t, "sh", "-c", "stty raw -echo; echo ready; exec sleep 1000")
	s.expect("ready\n")
	return s, s.fill()
}

// fill writes until the terminal takes no more, and one byte that waits.
func (s *screen) fill() chan error {
	s.t.Helper()
	for range 2 { // the second time nothing is taken
		if _, err := s.Write(limited(s.t, 100*time.Millisecond), make([]byte, 1<<20)); !errors.Is(err, pty.ErrBlocked) {
			s.t.Fatal(err)
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := s.Write(context.Background(), []byte("x"))
		ended <- err
	}()
	return ended
}

func TestWriteEnds(t *testing.T) {
	check := func(t *testing.T, ended chan error, want error) {
		t.Helper()
		select {
		case err := <-ended:
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		case <-time.After(patience):
			t.Fatal("Write hangs")
		}
	}
	t.Run("Close", func(t *testing.T) {
		s, ended := pendingWrite(t)
		s.Close()
		check(t, ended, pty.ErrClosed)
		if _, err := s.Write(context.Background(), []byte("x")); !errors.Is(err, pty.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
	t.Run("exit", func(t *testing.T) {
		s, ended := pendingWrite(t)
		if err := s.Kill(limited(t, patience)); err != nil {
			t.Fatal(err)
		}
		check(t, ended, pty.ErrExited)
		s.exit()
		if _, err := s.Write(context.Background(), []byte("x")); !errors.Is(err, pty.ErrExited) {
			t.Errorf("after exit: %v", err)
		}
	})
	t.Run("exit with the terminal held by another", func(t *testing.T) {
		gate, open := fifo(t)
		s := run(t, "sh", "-c", "stty raw -echo; trap '' HUP; sleep 1000 & echo ready; read x <"+gate)
		s.expect("ready\n")
		ended := s.fill()
		open()
		check(t, ended, pty.ErrExited)
	})
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
	gate, open := fifo(t)
	s := run(t, "bash", "-c", "echo first; exec 0<&- 1>&- 2>&-; read x <"+gate+"; echo second >/dev/tty; read y <"+gate+"; echo third >/dev/tty; exit 5")
	s.expect("first")
	for _, word := range []string{"second", "third"} {
		if !poll(patience, func() bool { return !holdsTerminal(s.PID()) }) {
			t.Fatal("the child keeps its terminal")
		}
		select {
		case <-s.ended:
			t.Fatalf("output ended with %v although the child lives", s.err)
		default:
		}
		open()
		s.expect(word)
	}
	if got, want := s.exit(), (pty.Exit{Code: 5}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// What is typed while the child has closed its terminal is there when it opens it again.
func TestWriteBeforeReopen(t *testing.T) {
	gate, open := fifo(t)
	s := run(t, "bash", "-c", "exec 0<&- 1>&- 2>&-; read x <"+gate+"; read y </dev/tty; echo \"<$y>\" >/dev/tty")
	if !poll(patience, func() bool { return !holdsTerminal(s.PID()) }) {
		t.Fatal("the child keeps its terminal")
	}
	s.send("kept\n")
	open()
	s.expect("<kept>")
}

// holdsTerminal tells whether a process has a pseudo-terminal open.
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
