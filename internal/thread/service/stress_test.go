package service

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/lifetime"
	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// here is a provider that has one instance, which always runs. Nothing else is asked of it.
type here struct{ provider.Lifecycle }

func (here) Create(context.Context, provider.CreateRequest) (provider.Instance, error) {
	return provider.Instance{ID: "here"}, nil
}
func (here) Pause(context.Context, string) error   { return nil }
func (here) Resume(context.Context, string) error  { return nil }
func (here) Destroy(context.Context, string) error { return nil }
func (here) Status(context.Context, string) (provider.State, error) {
	return provider.Running, nil
}

// stressed are Threads without terminals and shells, on a provider whose instance always runs.
func stressed(s *sqlite.Store) (*Threads, error) {
	t := New(Config{Life: lifetime.New(), Store: s, Log: slog.New(slog.DiscardHandler)})
	t.database.providers[thread.Local] = here{}
	t.expiry.inUse = func(string) bool { return false }
	t.expiry.settling = t.expiry.inUse
	t.expiry.settle = func(context.Context) {}
	t.computeChanged = func(thread.Lease, thread.Observed) {}
	return t, t.load()
}

func mustStress(t testing.TB, s *sqlite.Store) *Threads {
	t.Helper()
	threads, err := stressed(s)
	if err != nil {
		t.Fatal(err)
	}
	return threads
}

// oneCommand is what a server does for a command: open the thread, begin, save the state, end.
func oneCommand(m *Threads, threadID string, i int) error {
	l, err := m.lifecycle.open(context.Background(), threadID, thread.Use{Kind: thread.Shell})
	if err != nil {
		return err
	}
	if err := m.memory.authorizeCommand(threadID); err != nil {
		return err
	}
	code := 0
	k := thread.Command{ID: newID("cmd"), Terminal: l.Terminal.ID, Line: fmt.Sprint("cd /", i),
		Cwd: l.Terminal.State.Cwd, Status: thread.CommandRunning}
	for _, do := range []func(c *change) error{
		func(c *change) error { return c.command(k) },
		func(c *change) error { return c.saved(l.Terminal.ID, inDir(fmt.Sprint("/", i))) },
		func(c *change) error {
			k.Status, k.ExitCode = thread.CommandDone, &code
			return c.command(k)
		},
	} {
		if err := m.update(do); err != nil {
			return err
		}
	}
	return nil
}

var manyThreads = flag.Int("threads", 20,
	"threads that are used at once in TestManyThreadsAtOnce; 100 is the requirement")

// 100 threads, fewer by default, of 20 commands at once, with a sweeper, somebody who lists and readers: no write is
// refused because another one runs, and nothing is lost.
func TestManyThreadsAtOnce(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "evertty.db"))
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	m := mustStress(t, s)
	stop, beside := make(chan struct{}), sync.WaitGroup{}
	beside.Go(func() {
		pace := time.NewTicker(10 * time.Millisecond)
		defer pace.Stop()
		for {
			select {
			case <-stop:
				return
			case <-pace.C:
			}
			if err := m.expiry.sweep(context.Background()); err != nil {
				t.Error(err)
			}
			if _, err := read(m.database, func(tx *sqlite.Tx) ([]thread.Thread, error) {
				return tx.Threads("", "", 0)
			}); err != nil {
				t.Error(err)
			}
		}
	})
	var all sync.WaitGroup
	for n := range *manyThreads {
		all.Go(func() {
			for i := range 20 {
				if err := oneCommand(m, fmt.Sprint("t", n), i); err != nil {
					t.Error(err)
					return
				}
				if err := m.expiry.touchSession(fmt.Sprint("t", n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	close(stop)
	beside.Wait()
	for n := range *manyThreads {
		l, err := m.lifecycle.status(context.Background(), fmt.Sprint("t", n), thread.Use{})
		must(t, err)
		list, err := commandsOf(m.database, thread.CommandQuery{Thread: l.Thread.ID})
		must(t, err)
		if l.Terminal.State.Version != 20 || l.Terminal.State.Cwd != "/19" || len(list) != 20 ||
			l.Session.Used.Commands != 20 {
			t.Fatalf("thread %d: %d commands, %+v", n, len(list), l)
		}
	}
}

// write runs commands until it is killed, and tells each one after it was acknowledged.
func write(path string) {
	s, err := sqlite.Open(path)
	if err == nil {
		var m *Threads
		m, err = stressed(s)
		first := 0
		if l, e := m.lifecycle.status(context.Background(), "t1", thread.Use{}); e == nil {
			first = int(l.Terminal.State.Version)
		}
		for i := first; err == nil; i++ {
			if err = oneCommand(m, "t1", i+1); err == nil {
				_, err = os.Stdout.WriteString(strconv.Itoa(i+1) + "\n")
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// kill -9 in the middle of writing, again and again: the file is whole, and what was acknowledged
// is there.
func TestKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "evertty.db")
	last := 0
	for round := range 3 {
		acked := killed(t, path, 10+13*round)
		checkFile(t, path)
		s, err := sqlite.Open(path)
		must(t, err)
		m := mustStress(t, s)
		open, err := read(m.database, func(tx *sqlite.Tx) ([]thread.Command, error) { return tx.OpenCommands("") })
		must(t, err)
		must(t, m.update(func(c *change) error { return c.recover(alive{}) }))
		l, err := m.lifecycle.status(context.Background(), "t1", thread.Use{})
		must(t, err)
		version := int(l.Terminal.State.Version)
		if acked <= last || version < acked || version > acked+1 || l.Terminal.State.Cwd != fmt.Sprint("/", version) ||
			len(open) > 1 {
			t.Fatalf("round %d: acknowledged %d (was %d), kept %+v, %+v", round, acked, last, l.Terminal.State, open)
		}
		must(t, whole(m))
		must(t, s.Close())
		last = version
	}
}

// whole checks that events have no gap and agree with the rows.
func whole(m *Threads) error {
	at, versions := int64(0), int64(0)
	for {
		list, err := m.ListEvents("t1", at, 0)
		if err != nil {
			return err
		}
		for _, e := range list {
			if e.Seq != at+1 {
				return fmt.Errorf("event %d after %d", e.Seq, at)
			}
			if at = e.Seq; e.Type == thread.TerminalState {
				versions = e.Data.Version
			}
		}
		if len(list) == 0 {
			break
		}
	}
	l, err := m.lifecycle.status(context.Background(), "t1", thread.Use{})
	if err == nil && (l.Thread.Events != at || l.Terminal.State.Version != versions) {
		err = fmt.Errorf("events end at %d with version %d: %+v", at, versions, l)
	}
	return err
}

// killed runs the writer, kills it when it has acknowledged some commands, and returns the last
// one.
func killed(t *testing.T, path string, after int) (acked int) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "EVERTTY_TEST_WRITE="+path)
	out, err := c.StdoutPipe()
	must(t, err)
	var told strings.Builder
	c.Stderr = &told
	must(t, c.Start())
	var text []byte
	buf := make([]byte, 4096)
	for dead := false; ; {
		n, err := out.Read(buf)
		text = append(text, buf[:n]...)
		if lines := strings.Count(string(text), "\n"); lines >= after && !dead {
			dead = true
			must(t, c.Process.Signal(syscall.SIGKILL))
		}
		if err != nil {
			break
		}
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf("it was not killed: %v %s", err, told.String())
	}
	lines := strings.Split(strings.TrimSuffix(string(text[:strings.LastIndexByte(string(text), '\n')+1]), "\n"), "\n")
	acked, err = strconv.Atoi(lines[len(lines)-1])
	must(t, err)
	return acked
}

// populate makes n threads with everything that belongs to one.
func populate(b *testing.B, n int) (path string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "evertty.db")
	s, err := sqlite.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	m := mustStress(b, s)
	for i := range n {
		if _, err := m.lifecycle.open(b.Context(), fmt.Sprint("t", i), thread.Use{}); err != nil {
			b.Fatal(err)
		}
	}
	return path
}

func openStress(b *testing.B, path string) *Threads {
	b.Helper()
	s, err := sqlite.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return mustStress(b, s)
}

// BenchmarkStatus is what GET /api/threads/:id/terminal asks for.
func BenchmarkStatus(b *testing.B) {
	for _, n := range []int{10, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := openStress(b, populate(b, n))
			took := make([]time.Duration, 0, b.N)
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				id := fmt.Sprint("t", i*7919%n)
				if _, err := m.lifecycle.status(context.Background(), id, thread.Use{}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
		})
	}
}

// BenchmarkCommand is everything that the records cost a command.
func BenchmarkCommand(b *testing.B) {
	m := openStress(b, populate(b, 100))
	for i := 0; b.Loop(); i++ {
		if err := oneCommand(m, "t1", i); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTouch is what input and output cost.
func BenchmarkTouch(b *testing.B) {
	m := openStress(b, populate(b, 10))
	if err := oneCommand(m, "t1", 1); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := m.expiry.touchSession("t1"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenFile is a server's start on a file with many threads.
func BenchmarkOpenFile(b *testing.B) {
	path := populate(b, 10000)
	for b.Loop() {
		s, err := sqlite.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		mustStress(b, s)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
