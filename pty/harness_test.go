package pty_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/tests/polling"
)

// patience is how long a test waits for a fact before it fails: no judgement of
// speed, the machine may be slow and busy.
const patience = time.Minute

// modeVar makes the test binary do something else than testing; see modes.
const modeVar = "PTY_TEST_MODE"

// modes are the programs a test runs in a process of its own, because they look at or change the whole process.
var modes = map[string]func() error{
	"idle":    idleMode,
	"inherit": inheritMode,
	"signals": signalsMode,
	"tag":     tagMode,
	"nofile":  nofileMode,
	"reaper":  reaperMode,
	"splicer": splicerMode,
	"limit":   limitMode,
	"tmpfs":   tmpfsMode,
}

func TestMain(m *testing.M) {
	if mode := modes[os.Getenv(modeVar)]; mode != nil {
		if err := mode(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := proc.CloseInherited(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goroutines, fds := runtime.NumGoroutine(), openFDs()
	code := m.Run()
	fuzzing := flag.Lookup("test.fuzz").Value.String() != "" // which has children and goroutines of its own
	if code == 0 && !fuzzing {
		if err := leftovers(goroutines, fds); err != nil {
			fmt.Fprintln(os.Stderr, "left behind:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// leftovers waits until the process is as it was before, and says what is not.
func leftovers(goroutines, fds int) error {
	var err error
	polling.Until(patience, func() bool {
		err = nil
		var buf [64 << 10]byte
		stacks := string(buf[:runtime.Stack(buf[:], true)])
		// os/signal keeps one once this process was started with ignored signals.
		if n := runtime.NumGoroutine() - strings.Count(stacks, "\nos/signal.loop("); n > goroutines {
			err = fmt.Errorf("%d goroutines instead of %d:\n%s", n, goroutines, stacks)
		} else if n := openFDs(); n > fds+1 { // the network poller may have come
			err = fmt.Errorf("%d descriptors instead of %d: %v", n, fds, fdList())
		} else if werr := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT,
			nil); werr != unix.ECHILD {
			err = fmt.Errorf("a child or zombie: %v", werr)
		}
		return err == nil
	})
	return err
}

func fdList() []string {
	links, _ := filepath.Glob("/proc/self/fd/*")
	var list []string
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil {
			list = append(list, filepath.Base(link)+":"+target)
		}
	}
	return list
}

func openFDs() int { return len(fdList()) }

// screen is a Process whose output is read and kept by a goroutine.
type screen struct {
	*pty.Process
	t       testing.TB
	mu      sync.Mutex
	out     bytes.Buffer
	changed chan struct{} // one value when out grew
	ended   chan struct{} // closed when Read failed
	err     error         // with what; valid when ended is closed
	pipe    *pty.Pipe     // that the output goes through, or nil
}

// run starts a command of 80x24 and kills it at the end of the test.
func run(t testing.TB, argv ...string) *screen {
	t.Helper()
	return runSpec(t, pty.Spec{Argv: argv, Dir: t.TempDir(), Env: map[string]string{"HISTFILE": ""}, Cols: 80,
		Rows: 24})
}

func runSpec(t testing.TB, spec pty.Spec) *screen {
	t.Helper()
	p, err := pty.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	return watched(t, p, nil)
}

// watched reads a process, through a pipe if there is one, and kills it at the end of the test.
func watched(t testing.TB, p *pty.Process, pipe *pty.Pipe) *screen {
	s := &screen{Process: p, t: t, pipe: pipe, changed: make(chan struct{}, 1), ended: make(chan struct{})}
	go s.read()
	t.Cleanup(s.finish)
	return s
}

// piped is run with the output going through a pipe.
func piped(t testing.TB, argv ...string) *screen {
	t.Helper()
	pipe := newPipe(t)
	p, err := pty.Start(pty.Spec{Argv: argv, Dir: t.TempDir(), Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	return watched(t, p, pipe)
}

// newPipe makes a pipe that is closed at the end of the test.
func newPipe(t testing.TB) *pty.Pipe {
	t.Helper()
	pipe, err := pty.NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	return pipe
}

// next is Read, or Fill and what it brought.
func (s *screen) next(buf []byte) (int, error) {
	if s.pipe == nil {
		return s.Read(buf)
	}
	n, err := s.Fill(s.pipe, len(buf))
	if err != nil {
		return n, err
	}
	if got, err := s.pipe.Read(buf); got != n || err != nil {
		return got, fmt.Errorf("%d of %d bytes in the pipe: %w", got, n, err)
	}
	return n, nil
}

func (s *screen) read() {
	defer close(s.ended)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.next(buf)
		s.mu.Lock()
		s.out.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			s.err = err
			return
		}
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}
}

func (s *screen) finish() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Kill(now); err != nil {
		s.t.Error(err)
	}
	if err := s.Close(); err != nil {
		s.t.Error(err)
	}
	<-s.ended
	if _, err := s.Wait(limited(s.t, patience)); err != nil {
		s.t.Error(err)
	}
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// expect waits until the output holds want.
func (s *screen) expect(want string) {
	s.t.Helper()
	s.until(fmt.Sprintf("%q", want), func(text string) bool { return strings.Contains(text, want) })
}

// until waits until the output is as f wants it.
func (s *screen) until(what string, f func(text string) bool) {
	s.t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for !f(s.text()) {
		select {
		case <-s.changed:
		case <-s.ended:
			if !f(s.text()) {
				s.t.Fatalf("output ended with %v without %s: %.2000q", s.err, what, s.text())
			}
		case <-timeout.C:
			s.t.Fatalf("no %s in %.2000q", what, s.text())
		}
	}
}

// send writes all of text.
func (s *screen) send(text string) {
	s.t.Helper()
	if n, err := s.Write(limited(s.t, patience), []byte(text)); err != nil || n != len(text) {
		s.t.Fatalf("wrote %d of %d: %v", n, len(text), err)
	}
}

// exit waits for the end and returns it; the output must have ended with io.EOF.
func (s *screen) exit() pty.Exit {
	s.t.Helper()
	exit, err := s.Wait(limited(s.t, patience))
	if err != nil {
		s.t.Fatalf("%v; output %.2000q", err, s.text())
	}
	<-s.ended
	if !errors.Is(s.err, io.EOF) {
		s.t.Errorf("output ended with %v", s.err)
	}
	return exit
}

// limited is a context that ends with the test or after a time.
func limited(t testing.TB, limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// fifo makes a named pipe: a child that reads from it waits until release.
func fifo(t testing.TB) (path string, release func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, func() {
		if err := os.WriteFile(path, []byte("go\n"), 0); err != nil {
			t.Fatal(err)
		}
	}
}
