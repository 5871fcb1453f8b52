// Package supervisortest runs a server without HTTP for tests of terminals, shells and threads. Its
// keeper is the test binary itself. Only tests import it.
package supervisortest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/confine"
	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/terminal/wait"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/pty/keeper/holder"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// Patience is how long a test waits for a fact before it fails. It says nothing about speed: the
// machine may be slow and busy.
const Patience = time.Minute

// parallelTests is how many parallel tests run at once, on a machine with fewer processors too:
// they wait for programs more than they work. The flag -parallel of go test comes first.
const parallelTests = 8

// keeperEnd is for a keeper to see that it holds nothing, and to end.
const keeperEnd = 2 * time.Second

// Main is for TestMain: it makes the test binary a keeper when it is started as one. The tests
// fail when goroutines are left.
func Main(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == confine.Verb {
		os.Exit(confine.Main(os.Args))
	}
	if len(os.Args) > 2 && os.Args[1] == "keeper" {
		if err := holder.Run(holder.Options{Dir: os.Args[2], Idle: 200 * time.Millisecond}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// Else a keeper under the race detector takes a second to end.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	_ = flag.Set("test.parallel", strconv.Itoa(parallelTests))
	before := Goroutines()
	code := m.Run()
	if code == 0 && !polling.Until(Patience, func() bool { return Goroutines() <= before }) {
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		code = 1
	}
	os.Exit(code)
}

var parallel sync.Map // names of tests that called Parallel

// Parallel is t.Parallel for a test that opens servers: whether they leave goroutines is known
// at the end of all tests only.
func Parallel(t *testing.T) {
	parallel.Store(t.Name(), true)
	t.Parallel()
}

// Connect is a keeper for a data directory.
func Connect(t *testing.T, dir string) *keeper.Client {
	t.Helper()
	k, err := keeper.Connect(context.Background(),
		keeper.Config{Dir: dir, Command: []string{os.Args[0], "keeper", dir}})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Open opens a server with the small engine.
func Open(t *testing.T, dir string) *supervisor.Supervisor {
	t.Helper()
	return OpenWith(t, dir, supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine}})
}

// OpenWith opens a server and closes it with the test. Unless Leave has closed it, its terminals
// and shells end then.
func OpenWith(t *testing.T, dir string, c supervisor.Config) *supervisor.Supervisor {
	t.Helper()
	before := Goroutines()
	var err error
	if c.Terminals.Store, err = datadir.Open(dir); err != nil {
		t.Fatal(err)
	}
	c.Terminals.Keeper = Connect(t, dir)
	m, err := supervisor.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	s := &served{Supervisor: m, store: c.Terminals.Store}
	servers.Store(m, s)
	t.Cleanup(func() {
		s.end(t, true)
		keeperEnds(c.Terminals.Keeper)
		root, _, _ := strings.Cut(t.Name(), "/")
		if _, ok := parallel.Load(root); ok {
			return
		}
		if !polling.Until(Patience, func() bool { return Goroutines() <= before }) {
			t.Fatalf("%d goroutines are left, %d were there before", Goroutines(), before)
		}
	})
	return m
}

// keeperEnds waits for the end of a keeper that holds nothing more, which could else take its lock again in a directory
// that is being removed. One that another server of the test uses goes on.
func keeperEnds(k *keeper.Client) {
	pid := k.LastPID()
	polling.Until(keeperEnd, func() bool { return pid == 0 || syscall.Kill(pid, 0) != nil })
}

// served is a server with what has to be closed after it.
type served struct {
	*supervisor.Supervisor
	store *datadir.Store
	once  sync.Once
}

var servers sync.Map // *supervisor.Supervisor to *served

// end closes the server once; with end its programs end before.
func (s *served) end(t *testing.T, end bool) {
	s.once.Do(func() {
		for _, term := range s.Terminals.List("") {
			if end {
				if err := s.Terminals.Delete(context.Background(), term, false); err != nil {
					t.Error(err)
				}
			}
		}
		if end {
			DeleteShells(t, s.Supervisor, "")
		}
		s.Close()
		_ = s.store.Close()
	})
}

// Leave closes a server; its programs go on.
func Leave(t *testing.T, m *supervisor.Supervisor) {
	t.Helper()
	s, _ := servers.Load(m)
	s.(*served).end(t, false)
}

// Goroutines counts the goroutines, without the one of os/signal.
func Goroutines() int {
	var buf [256 << 10]byte
	stacks := string(buf[:runtime.Stack(buf[:], true)])
	return runtime.NumGoroutine() - strings.Count(stacks, "\nos/signal.loop(")
}

// Start starts a program on a terminal of session "s".
func Start(t *testing.T, m *supervisor.Supervisor, cmd ...string) *terminal.Terminal {
	t.Helper()
	term, err := m.Terminals.Create("s", wire.CreateTerminal{Cmd: cmd})
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// Waits are those of all servers of the test binary.
var Waits = wait.New()

// Wait waits for one condition.
func Wait(t *testing.T, term *terminal.Terminal, c wire.WaitCondition) wire.Waited {
	t.Helper()
	return Await(t, term, wire.Wait{Any: []wire.WaitCondition{c}})
}

// Await is Wait for more than one condition, or with more to say.
func Await(t *testing.T, term *terminal.Terminal, w wire.Wait) wire.Waited {
	t.Helper()
	if w.TimeoutMS == 0 {
		w.TimeoutMS = Patience.Milliseconds()
	}
	got, err := Waits.Wait(context.Background(), term, w)
	if err != nil {
		t.Fatalf("wait for %+v: %v; the screen is\n%s", w.Any, err, got.Text)
	}
	return got
}

// Within is a Wait for c that may not last long.
func Within(c wire.WaitCondition, limit time.Duration) wire.Wait {
	return wire.Wait{Any: []wire.WaitCondition{c}, TimeoutMS: limit.Milliseconds()}
}

// See waits for a regular expression.
func See(t *testing.T, term *terminal.Terminal, pattern string) wire.Waited {
	t.Helper()
	return Wait(t, term, wire.WaitCondition{For: "regex", Pattern: pattern})
}

// TypeIn types and returns the position of the output before.
func TypeIn(t *testing.T, term *terminal.Terminal, text string) uint64 {
	t.Helper()
	s, err := term.Input(context.Background(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Seq
}

// DeleteShells ends all shells of a session, "" is every one.
func DeleteShells(t *testing.T, m *supervisor.Supervisor, session string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := m.Shells.DeleteSession(ctx, session); err != nil {
		t.Error(err)
	}
}

// Until polls for a fact.
func Until(t *testing.T, what string, fact func() bool) {
	t.Helper()
	if !polling.Until(Patience, fact) {
		t.Fatalf("not seen within %v: %s", Patience, what)
	}
}

// Gather returns the values of counters and gauges and the numbers of observations, by "name/label".
func Gather(t *testing.T, m *metrics.Set) map[string]float64 {
	t.Helper()
	families, err := m.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, metric := range f.GetMetric() {
			name := f.GetName()
			for _, l := range metric.GetLabel() {
				name += "/" + l.GetValue()
			}
			got[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() +
				float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return got
}
