package keeper_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/pty/keeper/holder"
	"github.com/evertty/evertty/tests/polling"
)

// patience is how long a test waits for a fact before it fails.
const patience = time.Minute

// modes are what this binary does instead of testing, by its first argument.
var modes = map[string]func(args []string) error{
	"keeper":  keeperMode,
	"server":  serverMode,
	"visit":   visitMode,
	"pretend": pretendMode,
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if mode := modes[os.Args[1]]; mode != nil {
			if err := mode(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	// Else a keeper under the race detector takes a second to end.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	code := m.Run()
	fuzzing := flag.Lookup("test.fuzz").Value.String() != "" // which has children of its own
	if code == 0 && !fuzzing && !poll(func() bool {
		return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == unix.ECHILD
	}) {
		fmt.Fprintln(os.Stderr, "left behind: a child or zombie")
		code = 1
	}
	os.Exit(code)
}

// keeperMode is the verb `evertty keeper`.
func keeperMode(args []string) error {
	var o holder.Options
	flags := flag.NewFlagSet("keeper", flag.ContinueOnError)
	flags.StringVar(&o.Dir, "data-dir", "", "")
	flags.StringVar(&o.Release, "release", "", "")
	flags.DurationVar(&o.Idle, "idle", 0, "")
	flags.DurationVar(&o.Gone, "gone", 0, "")
	if err := errors.Join(flags.Parse(args), proc.CloseInherited()); err != nil {
		return err
	}
	return holder.Run(o)
}

// poll tries f until it is true or patience is over.
func poll(f func() bool) bool { return polling.Until(patience, f) }

// place is a data directory with, at times, a keeper.
type place struct {
	t     testing.TB
	dir   string
	idle  time.Duration
	extra []string // of the keeper's command
	races string   // what its race detector found is in files of this name and its process id
}

// newPlace makes a directory whose keeper ends with the test.
func newPlace(t testing.TB) *place {
	p := &place{t: t, dir: t.TempDir(), idle: time.Minute, races: filepath.Join(t.TempDir(), "race")}
	t.Cleanup(p.noRaces)
	t.Cleanup(p.end)
	return p
}

// noRaces fails the test with what the race detector found in keepers that have ended.
func (p *place) noRaces() {
	found, _ := filepath.Glob(p.races + ".*")
	for _, name := range found {
		text, err := os.ReadFile(name)
		p.t.Errorf("in a keeper: %s %v", text, err)
	}
}

// config wants a keeper of a release.
func (p *place) config(release string) keeper.Config {
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	// Not in keeper.log, which goes with its directory.
	races := "GORACE=" + os.Getenv("GORACE") + " log_path=" + p.races
	return keeper.Config{Dir: p.dir, Release: release, Log: slog.New(slog.NewTextHandler(p.t.Output(), nil)),
		Command: append([]string{"/usr/bin/env", races,
			self, "keeper", "--data-dir", p.dir, "--release", release, "--idle", p.idle.String()}, p.extra...)}
}

// connect is a server's start.
func (p *place) connect(release string) *keeper.Client {
	p.t.Helper()
	c, err := keeper.Connect(limited(p.t), p.config(release))
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(p.dir, "keeper.log"))
		p.t.Fatalf("%v; log: %s", err, log)
	}
	p.t.Cleanup(func() { _ = c.Close() })
	return c
}

// vacant reports whether no keeper lives here.
func (p *place) vacant() bool {
	f, err := os.OpenFile(filepath.Join(p.dir, "keeper.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// end ends everything that is held, and the keeper.
func (p *place) end() {
	if p.vacant() {
		return
	}
	c, err := keeper.Connect(context.Background(), p.config("end"))
	if err != nil {
		p.t.Error(err)
		return
	}
	defer c.Close()
	list, err := c.Take(context.Background())
	if err != nil {
		p.t.Error(err)
	}
	var wait sync.WaitGroup
	for _, k := range list {
		wait.Go(func() { finish(p.t, c, k) })
	}
	wait.Wait()
	others, err := c.TakePrograms(context.Background())
	if err != nil {
		p.t.Error(err)
	}
	for _, k := range others {
		endProgram(p.t, c, k)
	}
	pid := c.PID()
	_ = c.Close()
	terminate(p.t, p, pid)
	allGone(p.t, pid) // it may write into the directory until then
}

// finish kills what runs in a terminal and forgets it.
func finish(t testing.TB, c *keeper.Client, k *keeper.Held) {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	if err := k.Process.Kill(now); err != nil {
		t.Error(err)
	}
	if err := errors.Join(k.Process.Close(), k.Pipe.Close()); err != nil {
		t.Error(err)
	}
	if _, err := k.Process.Wait(limited(t)); err != nil {
		t.Error(err)
	}
	c.Release(k.ID)
}

// endProgram is finish for what is no terminal.
func endProgram(t testing.TB, c *keeper.Client, p *keeper.Program) {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	if p.Child != nil {
		if err := p.Child.Kill(now, nil); err != nil {
			t.Error(err)
		}
		p.Child.Wait()
	}
	shut(p.Files...)
	c.Release(p.ID)
}

// log is what the keeper has logged.
func (p *place) log() string {
	data, err := os.ReadFile(filepath.Join(p.dir, "keeper.log"))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// fds are the descriptors a process has open.
func fds(t testing.TB, pid int) int {
	list, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// limited is a context that ends with the test or when patience is over.
func limited(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// shell runs a script.
func shell(dir, script string, args ...string) pty.Spec {
	return pty.Spec{Argv: append([]string{"/bin/sh", "-c", script, "sh"}, args...), Dir: dir, Cols: 80, Rows: 24}
}

// screen reads a terminal.
type screen struct {
	*keeper.Held
	t     testing.TB
	mu    sync.Mutex
	out   bytes.Buffer
	ended chan struct{}
	err   error // why reading ended, valid then
}

func watch(t testing.TB, k *keeper.Held) *screen {
	s := &screen{Held: k, t: t, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		buf := make([]byte, 64<<10)
		for s.err == nil {
			var n int
			n, s.err = k.Process.Read(buf)
			s.mu.Lock()
			s.out.Write(buf[:n])
			s.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = errors.Join(k.Process.Close(), k.Pipe.Close())
		<-s.ended
	})
	return s
}

// start starts a script and reads its terminal.
func start(t testing.TB, c *keeper.Client, id string, spec pty.Spec) *screen {
	t.Helper()
	k, err := c.Start(id, spec)
	if err != nil {
		t.Fatal(err)
	}
	return watch(t, k)
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// expect waits until the output holds want.
func (s *screen) expect(want string) {
	s.t.Helper()
	if !poll(func() bool { return strings.Contains(s.text(), want) }) {
		s.t.Fatalf("%s: no %q in %.500q", s.ID, want, s.text())
	}
}

// send types text.
func (s *screen) send(text string) {
	s.t.Helper()
	if _, err := s.Process.Write(limited(s.t), []byte(text)); err != nil {
		s.t.Fatal(err)
	}
}

// exit waits for the end.
func (s *screen) exit() pty.Exit {
	s.t.Helper()
	e, err := s.Process.Wait(limited(s.t))
	if err != nil {
		s.t.Fatalf("%s: %v", s.ID, err)
	}
	<-s.ended
	if !errors.Is(s.err, io.EOF) {
		s.t.Errorf("%s: output ended with %v", s.ID, s.err)
	}
	return e
}

// taken is what the keeper held at Connect, by id.
func taken(t testing.TB, c *keeper.Client) map[string]*keeper.Held {
	t.Helper()
	list, err := c.Take(limited(t))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*keeper.Held{}
	for _, k := range list {
		if found[k.ID] != nil {
			t.Errorf("%s was told twice", k.ID)
		}
		found[k.ID] = k
	}
	return found
}

// gone waits until a process was reaped.
func gone(t testing.TB, pid int) {
	t.Helper()
	if !poll(func() bool { return unix.Kill(pid, 0) == unix.ESRCH }) {
		t.Fatalf("process %d is still there", pid)
	}
}

// fifo makes a named pipe in a directory.
func fifo(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tell writes a line into a named pipe.
func tell(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
}

// other runs this binary in a mode, as another user when uid is not 0, and kills it at the end of the test.
func other(t testing.TB, uid uint32, args ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	if uid != 0 {
		// The executable lies in a directory of this user: a descriptor gets there.
		f, err := os.Open(self)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.Path, cmd.ExtraFiles = "/proc/self/fd/3", []*os.File{f}
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, out
}
