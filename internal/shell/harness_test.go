package shell

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/pty/keeper/holder"
	"github.com/evertty/evertty/tests/polling"
)

// patience is how long a test waits for what has to happen.
const patience = 20 * time.Second

// testKeeper is the connection that tests share; each shell has a directory of its own.
var testKeeper *keeper.Client

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "keeper" {
		if err := keeperMode(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && modes[os.Args[1]] != nil {
		if err := modes[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// Else a keeper under the race detector takes a second to end.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	os.Exit(withKeeper(m))
}

// modes are what this binary does instead of testing, by its first argument.
var modes = map[string]func(args []string) error{}

// withKeeper runs the tests with a keeper and ends it.
func withKeeper(m *testing.M) int {
	dir, err := os.MkdirTemp("", "shell")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	client, err := connect(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	testKeeper = client
	flag.Parse()
	// The tests wait more than they work.
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue { // nobody has said otherwise
		_ = flag.Set(f.Name, strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	code := m.Run()
	if !endKeeper(client) {
		fmt.Fprintln(os.Stderr, "the keeper does not end")
		return max(code, 1)
	}
	return code
}

// endKeeper closes a connection and ends its keeper, and reports whether it has ended: one that lives makes its socket
// and lock again in a directory that is being removed. It ignores SIGTERM until it has heard that everything was
// released.
func endKeeper(client *keeper.Client) bool {
	pid := client.PID()
	_ = client.Close()
	return poll(func() bool {
		_ = unix.Kill(pid, unix.SIGTERM)
		now, ok := proc.Find(pid)
		return !ok || now.Ended
	})
}

// mustEndKeeper is endKeeper at the end of a test.
func mustEndKeeper(t testing.TB, client *keeper.Client) {
	t.Helper()
	if !endKeeper(client) {
		t.Error("the keeper does not end")
	}
}

// connect is a server's start in a data directory.
func connect(dir string) (*keeper.Client, error) { return connectAs(dir, "test") }

// connectAs is the start of a server of some release.
func connectAs(dir, release string) (*keeper.Client, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return keeper.Connect(context.Background(),
		keeper.Config{Dir: dir, Release: release, Log: slog.New(slog.DiscardHandler),
			Command: []string{self, "keeper", "--data-dir", dir, "--release", release, "--idle", "1m"}})
}

// keeperMode is the verb `evertty keeper`.
func keeperMode(args []string) error {
	var o holder.Options
	flags := flag.NewFlagSet("keeper", flag.ContinueOnError)
	flags.StringVar(&o.Dir, "data-dir", "", "")
	flags.StringVar(&o.Release, "release", "", "")
	flags.DurationVar(&o.Idle, "idle", 0, "")
	if err := errors.Join(flags.Parse(args), proc.CloseInherited()); err != nil {
		return err
	}
	return holder.Run(o)
}

// poll tries f until it is true or patience is over.
func poll(f func() bool) bool { return polling.Until(patience, f) }

// limited is a context that ends with the test or when patience is over.
func limited(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

var shells atomic.Int64

// config is that of the tests' server.
func config(t testing.TB) Config {
	return Config{Keeper: testKeeper, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
}

// start starts a shell that is deleted at the end of the test.
func start(t testing.TB, change ...func(*Spec)) *Shell {
	t.Helper()
	spec := Spec{ID: fmt.Sprintf("t%d", shells.Add(1)), Dir: t.TempDir(), Cwd: t.TempDir()}
	for _, f := range change {
		f(&spec)
	}
	s, err := Start(config(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, s) })
	return s
}

// remove deletes a shell and looks for what it has left.
func remove(t testing.TB, s *Shell) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Delete(ctx); err != nil {
		t.Error(err)
	}
	if left, err := proctree.Belonging(s.spec.Dir, testKeeper.LastPID()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := os.Stat(s.spec.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}

// outcome is all of a command that has ended.
type outcome struct {
	Result
	out, err string
}

// run runs a text.
func run(t testing.TB, s *Shell, text string) outcome {
	t.Helper()
	return do(t, s, Command{Text: text})
}

// do runs a command.
func do(t testing.TB, s *Shell, c Command) outcome {
	t.Helper()
	e, err := s.Submit(c)
	if err != nil {
		t.Fatal(err)
	}
	return result(t, e)
}

// result waits for a command.
func result(t testing.TB, e *Exec) outcome {
	t.Helper()
	r, err := e.Wait(limited(t))
	if err != nil {
		t.Fatalf("%.80q: %v", e.Info().Command, err)
	}
	return outcome{r, printed(t, e, Stdout), printed(t, e, Stderr)}
}

// printed is what the log has now.
func printed(t testing.TB, e *Exec, o Stream) string {
	t.Helper()
	b := make([]byte, e.Size(o))
	if len(b) == 0 {
		return ""
	}
	if n, err := e.ReadAt(o, b, 0); n != len(b) {
		t.Errorf("log of %d bytes: %d, %v", len(b), n, err)
	}
	return string(b)
}

// fifos are the FIFOs below a directory.
func fifos(t testing.TB, dir string) (found []string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeNamedPipe != 0 {
			found = append(found, strings.TrimPrefix(path, dir+"/"))
		}
		return nil
	})
	return found
}

// fifosInUse are the FIFOs of a shell without those for its next command.
func fifosInUse(t testing.TB, s *Shell) []string {
	t.Helper()
	return slices.DeleteFunc(fifos(t, s.spec.Dir), func(name string) bool {
		return name == shelldir.OutFIFO || name == shelldir.ErrFIFO
	})
}

// halt stops a process and waits until it stands: before that it may still read what it is told.
func halt(t testing.TB, pid int) {
	t.Helper()
	_ = unix.Kill(pid, unix.SIGSTOP)
	if !poll(func() bool { p, ok := proc.Find(pid); return ok && p.Stopped }) {
		t.Fatalf("process %d does not stop", pid)
	}
}
