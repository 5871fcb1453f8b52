package pty_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math/rand"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/tests/polling"
)

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

	var done int
	var err error
	// It may be over before the first byte.
	for limit := 200 * time.Millisecond; done == 0 && limit < patience; limit *= 2 {
		done, err = s.Write(limited(t, limit), data)
	}
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

// TestTryWriteTakesWhatFits: a try writes what the terminal takes and waits for nothing; what is left follows in order.
func TestTryWriteTakesWhatFits(t *testing.T) {
	gate, open := fifo(t)
	s := run(t, "sh", "-c", "stty raw -echo; echo ready; read x <"+gate+"; exec cat")
	s.expect("ready\n")
	data := make([]byte, 1<<20)
	rand.New(rand.NewSource(3)).Read(data)
	begun := 0
	begin := func(mode pty.LineMode) {
		if begun++; mode.Canonical || mode.Echo {
			t.Errorf("a raw terminal has %+v", mode)
		}
	}
	m := s.Master()
	done, err := m.TryWrite(data, begin)
	if err != nil || done <= 0 || done >= len(data) || begun != 1 {
		t.Fatalf("%d bytes, %v, begun %d times", done, err, begun)
	}
	nothing := 0 // tries in a row that wrote nothing: the kernel moves what it has taken on for a while
	full := func() bool {
		n, err := m.TryWrite(data[done:], begin)
		if done += n; err != nil {
			t.Fatal(err)
		}
		if nothing++; n > 0 {
			nothing = 0
		}
		return nothing == 20
	}
	if !polling.Until(patience, full) {
		t.Fatal("the terminal takes everything")
	}
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan int)
	go func() {
		n, _ := s.Write(ctx, data[done:])
		waits <- n
	}()
	blocked := func() bool {
		n, err := m.TryWrite([]byte("between"), begin)
		if n != 0 {
			t.Fatalf("%d bytes between those of a Write", n)
		}
		return errors.Is(err, pty.ErrBlocked)
	}
	if !polling.Until(patience, blocked) {
		t.Fatal("a Write that waits has no turn")
	}
	cancel()
	done += <-waits
	open()
	s.send(string(data[done:]))
	s.sameAs(data)
}

// TestTryWriteRefuses: nothing is written, and begin is not called, where a program would get only a part, or nothing.
func TestTryWriteRefuses(t *testing.T) {
	s := run(t, "sh", "-c", "echo ready; read x")
	s.expect("ready\r\n")
	never := func(pty.LineMode) { t.Error("begun") }
	if n, err := s.Master().TryWrite(bytes.Repeat([]byte("x"), pty.MaxLine+1), never); n != 0 ||
		!errors.Is(err, pty.ErrLineTooLong) {
		t.Errorf("a line too long: %d bytes, %v", n, err)
	}
	if n, err := s.Master().TryWrite([]byte("done\n"), func(pty.LineMode) {}); n != len("done\n") || err != nil {
		t.Errorf("a line: %d bytes, %v", n, err)
	}
	s.exit()
	if n, err := s.Master().TryWrite([]byte("x"), never); n != 0 ||
		!errors.Is(err, pty.ErrExited) && !errors.Is(err, pty.ErrClosed) {
		t.Errorf("after the end: %d bytes, %v", n, err)
	}
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

// fill starts a Write that waits because the terminal takes no more. The channel gets its error.
func (s *screen) fill() chan error {
	s.t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := s.Write(context.Background(), make([]byte, 1<<20))
		ended <- err
	}()
	// Nobody else could fill the terminal: when it takes no further byte, that Write has begun.
	if !polling.Until(patience, func() bool {
		n, err := s.Write(limited(s.t, 20*time.Millisecond), []byte("y"))
		return n == 0 && errors.Is(err, pty.ErrBlocked)
	}) {
		s.t.Fatal("the terminal is never full")
	}
	// Another Write that gives up does not disturb the one that waits.
	for range 2 {
		if n, err := s.Write(limited(s.t, 20*time.Millisecond), []byte("y")); n != 0 ||
			!errors.Is(err, pty.ErrBlocked) {
			s.t.Fatalf("%d bytes, %v", n, err)
		}
	}
	select {
	case err := <-ended:
		s.t.Fatalf("the waiting Write ended: %v", err)
	default:
	}
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

// What is typed while the child has closed its terminal is there when it opens it again.
func TestWriteBeforeReopen(t *testing.T) {
	gate, open := fifo(t)
	s := run(t, "bash", "-c", "exec 0<&- 1>&- 2>&-; read x <"+gate+"; read y </dev/tty; echo \"<$y>\" >/dev/tty")
	if !polling.Until(patience, func() bool { return !holdsTerminal(s.PID()) }) {
		t.Fatal("the child keeps its terminal")
	}
	s.send("kept\n")
	open()
	s.expect("<kept>")
}
