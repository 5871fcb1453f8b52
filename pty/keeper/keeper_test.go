package keeper_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
)

func TestStartAndExit(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	for script, want := range map[string]pty.Exit{
		"exit 0":         {},
		"exit 7":         {Code: 7},
		"kill -KILL $$":  {Code: 137, Signal: "KILL"},
		"kill -TERM $$":  {Code: 143, Signal: "TERM"},
		"kill -HUP $$":   {Code: 129, Signal: "HUP"},
		"(exit 3); true": {},
	} {
		s := start(t, c, script, shell(p.dir, "echo here; "+script))
		if e := s.exit(); e != want {
			t.Errorf("%s: %+v, want %+v", script, e, want)
		}
		if !strings.Contains(s.text(), "here") {
			t.Errorf("%s: output %q", script, s.text())
		}
		c.Release(script)
	}
}

// TestWhatTheChildGets: the terminal is its controlling one, it has no descriptor of the keeper's, the limits of the
// server and every byte of the environment.
func TestWhatTheChildGets(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	spec := shell(p.dir, `ls /proc/self/fd | tr '\n' ' '; ulimit -n; printf %s "$ODD" | od -An -tx1; tty; `+
		`echo "$1" >/dev/tty; pwd`, "a\xffb")
	spec.Env = map[string]string{"ODD": "x\xfe\ny"}
	s := start(t, c, "x", spec)
	if e := s.exit(); e.Code != 0 {
		t.Errorf("%+v", e)
	}
	out, err := runHere(t, "ulimit -n")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0 1 2 3 " + out, "78 fe 0a 79", "/dev/pts/", "a\xffb", p.dir} {
		if !strings.Contains(s.text(), want) {
			t.Errorf("no %q in %q", want, s.text())
		}
	}
}

// runHere runs a script with pty.Start, as a server without a keeper does.
func runHere(t *testing.T, script string) (string, error) {
	k, err := pty.Start(shell(t.TempDir(), script))
	if err != nil {
		return "", err
	}
	defer k.Close()
	var out strings.Builder
	buf := make([]byte, 1024)
	for err == nil {
		var n int
		n, err = k.Read(buf)
		out.Write(buf[:n])
	}
	_, err = k.Wait(limited(t))
	return strings.TrimSpace(out.String()), err
}

func TestStartErrors(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	script := filepath.Join(p.dir, "no-interpreter")
	if err := os.WriteFile(script, []byte("#!/does/not/exist\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(p.dir, "no-binary")
	if err := os.WriteFile(binary, []byte("\x7fELF and nothing"), 0o700); err != nil {
		t.Fatal(err)
	}
	start(t, c, "here", shell(p.dir, "cat"))
	before := fds(t, c.PID())
	long := make([]string, 40)
	for i := range long {
		long[i] = strings.Repeat("x", 100<<10)
	}
	for _, try := range []struct {
		id   string
		spec pty.Spec
		want []error
	}{
		{"1", pty.Spec{Argv: []string{"/does/not/exist"}, Cols: 80, Rows: 24}, []error{pty.ErrNoCommand}},
		// The keeper finds these.
		{"2", pty.Spec{Argv: []string{script}, Cols: 80, Rows: 24}, []error{pty.ErrNoCommand, unix.ENOENT}},
		{"3", pty.Spec{Argv: []string{binary}, Cols: 80, Rows: 24}, []error{pty.ErrNoCommand, unix.ENOEXEC}},
		{"4", pty.Spec{Argv: append([]string{"/bin/echo"}, long...), Cols: 80, Rows: 24},
			[]error{pty.ErrBadArg, unix.E2BIG}},
		{"5", pty.Spec{Argv: []string{"/bin/sh"}, Dir: "/does/not/exist", Cols: 80, Rows: 24}, []error{pty.ErrNoDir}},
		{"6", pty.Spec{Argv: []string{"/bin/sh"}, Cols: 0, Rows: 24}, []error{pty.ErrBadSize}},
		{"here", shell(p.dir, "cat"), []error{keeper.ErrTaken}},
		{"", shell(p.dir, "cat"), []error{keeper.ErrNonsense}},
	} {
		_, err := c.Start(try.id, try.spec)
		for _, want := range try.want {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", try.id, err, want)
			}
		}
	}
	if !poll(func() bool { return fds(t, c.PID()) <= before }) {
		t.Errorf("the keeper has %d descriptors, had %d", fds(t, c.PID()), before)
	}
}

// TestExitWithoutServer: how a program ended while nobody was there is told to everybody who comes, until it is
// released.
func TestExitWithoutServer(t *testing.T) {
	p := newPlace(t)
	first := p.connect("a")
	path := fifo(t, p.dir)
	s := start(t, first, "x", shell(p.dir, `read line <"$1"; echo last words; exit 7`, path))
	_ = first.Close()
	_ = errors.Join(s.Process.Close(), s.Pipe.Close())
	tell(t, path)
	gone(t, s.Process.PID())
	for range 2 {
		c := p.connect("a")
		k := taken(t, c)["x"]
		if k == nil {
			t.Fatal("x is not held")
		}
		again := watch(t, k)
		if e := again.exit(); e.Code != 7 {
			t.Errorf("%+v", e)
		}
		_ = c.Close()
	}
	c := p.connect("a")
	c.Release("x")
	_ = c.Close()
	if list := taken(t, p.connect("a")); len(list) != 0 {
		t.Errorf("%v is still held", list)
	}
}

// serverMode is a server that starts args[1] programs in the directory args[0] and waits to be killed.
func serverMode(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c, err := keeper.Connect(context.Background(),
		keeper.Config{Dir: args[0], Command: []string{self, "keeper", "--data-dir", args[0]}})
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for i := range n {
		if _, err := c.Start(strconv.Itoa(i),
			shell(args[0], "stty -echo; while read line; do echo got $line; done; exit 9")); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	select {}
}

func TestServerKilled(t *testing.T) {
	p := newPlace(t)
	const terminals = 10
	server, out := other(t, 0, "server", p.dir, strconv.Itoa(terminals))
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c := p.connect("")
	list := taken(t, c)
	if len(list) != terminals {
		t.Fatalf("%d terminals", len(list))
	}
	for id, k := range list {
		s := watch(t, k)
		s.send("hello " + id + "\n")
		s.expect("got hello " + id)
		s.send("\x04")
		if e := s.exit(); e.Code != 9 {
			t.Errorf("%s: %+v", id, e)
		}
		c.Release(id)
	}
}

func TestOneServerAtATime(t *testing.T) {
	p := newPlace(t)
	first := p.connect("a")
	short, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := keeper.Connect(short, p.config("a"))
	if !errors.Is(err, keeper.ErrBusy) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("%v", err)
	}
	next := make(chan error)
	go func() {
		c, err := keeper.Connect(limited(t), p.config("a"))
		if err == nil {
			err = c.Close()
		}
		next <- err
	}()
	if first.Err() != nil {
		t.Error(first.Err())
	}
	_ = first.Close()
	if err := <-next; err != nil {
		t.Error(err)
	}
}

// TestManyStarters: of many servers that start keepers at once, all find the same.
func TestManyStarters(t *testing.T) {
	p := newPlace(t)
	var wait sync.WaitGroup
	var mu sync.Mutex
	found := map[int]bool{}
	for range 8 {
		wait.Go(func() {
			c, err := keeper.Connect(limited(t), p.config("a"))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			found[c.PID()] = true
			mu.Unlock()
			_ = c.Close()
		})
	}
	wait.Wait()
	if len(found) != 1 {
		t.Errorf("keepers %v", found)
	}
}

func TestManyStarts(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	before := fds(t, c.PID())
	var wait sync.WaitGroup
	for i := range 100 {
		wait.Go(func() {
			id := strconv.Itoa(i)
			k, err := c.Start(id, shell(p.dir, "exit $1", id))
			if err != nil {
				t.Error(err)
				return
			}
			if e := watch(t, k).exit(); e.Code != i {
				t.Errorf("%d: %+v", i, e)
			}
			c.Release(id)
		})
	}
	wait.Wait()
	if !poll(func() bool { return fds(t, c.PID()) == before }) {
		t.Errorf("the keeper has %d descriptors, had %d", fds(t, c.PID()), before)
	}
}

func TestKeeperKilled(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	old := c.PID()
	script := "stty -echo; while read line; do echo got $line; done; exit 9"
	path := fifo(t, p.dir)
	late := start(t, c, "late", shell(p.dir, `echo ready; read line <"$1"; exit 6`, path))
	late.expect("ready")
	ended := start(t, c, "ended", shell(p.dir, "echo words; exit 8"))
	ended.exit()
	var list []*screen
	for i := range 10 {
		list = append(list, start(t, c, strconv.Itoa(i), shell(p.dir, script)))
	}
	if err := unix.Kill(old, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { pid := c.PID(); return pid != 0 && pid != old && c.Err() == nil }) {
		t.Fatal(c.Err())
	}
	for _, s := range list {
		s.send("hello\n")
		s.expect("got hello")
	}
	for _, s := range list[:5] {
		s.send("\x04")
		if e := s.exit(); e.Code != 9 {
			t.Errorf("%s: %+v", s.ID, e)
		}
		c.Release(s.ID)
	}
	if e := start(t, c, "new", shell(p.dir, "exit 4")).exit(); e.Code != 4 {
		t.Errorf("%+v", e)
	}
	// Both die, in this order, and a child of neither ends in between.
	_ = c.Close()
	for _, s := range append(list, late) {
		_ = errors.Join(s.Process.Close(), s.Pipe.Close())
	}
	tell(t, path)
	gone(t, late.Process.PID())
	next := p.connect("a")
	found := taken(t, next)
	if len(found) != 8 {
		t.Fatalf("%d terminals", len(found))
	}
	for id, want := range map[string]int{"late": 6, "ended": 8, "new": 4} {
		if e := watch(t, found[id]).exit(); e.Code != want {
			t.Errorf("%s: %+v", id, e)
		}
	}
	s := watch(t, found["7"])
	s.send("again\n\x04")
	if e := s.exit(); e.Code != 9 || !strings.Contains(s.text(), "got again") {
		t.Errorf("%+v %q", e, s.text())
	}
}

// TestKilledWhileStarting: a start that fails because the keeper dies leaves no program, and one that does not fail is
// as good as any.
func TestKilledWhileStarting(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	mark := filepath.Base(p.dir) + "-" + strconv.Itoa(os.Getpid())
	var wait sync.WaitGroup
	var mu sync.Mutex
	var good []*keeper.Held
	for i := range 100 {
		wait.Go(func() {
			k, err := c.Start(strconv.Itoa(i), shell(p.dir, `read line; exit 3 # "$1"`, mark))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				good = append(good, k)
			} else if !errors.Is(err, keeper.ErrNoKeeper) {
				t.Error(err)
			}
			if len(good) == 10 && err == nil {
				if err := unix.Kill(c.PID(), unix.SIGKILL); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if len(good) < 10 {
		t.Fatalf("%d of 100 were started", len(good))
	}
	t.Logf("%d of 100 were started", len(good))
	if !poll(func() bool { return running(t, mark) == len(good) }) {
		t.Errorf("%d programs run for %d terminals", running(t, mark), len(good))
	}
	for _, k := range good {
		s := watch(t, k)
		s.send("\n")
		if e := s.exit(); e.Code != 3 {
			t.Errorf("%s: %+v", k.ID, e)
		}
		c.Release(k.ID)
	}
}

// running counts the processes with an argument.
func running(t *testing.T, arg string) int {
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range list {
		line, _ := os.ReadFile(path) // of one that has ended: empty
		if strings.Contains(string(line), arg+"\x00") {
			n++
		}
	}
	return n
}

func TestIdleEnd(t *testing.T) {
	p := newPlace(t)
	p.idle = 200 * time.Millisecond
	c := p.connect("a")
	path := fifo(t, p.dir)
	s := start(t, c, "x", shell(p.dir, `read line <"$1"`, path))
	pid := c.PID()
	_ = c.Close()
	began := time.Now()
	if !poll(func() bool { return time.Since(began) > 3*p.idle }) || p.vacant() {
		t.Fatal("it ended with a terminal in its hands")
	}
	c = p.connect("a")
	if c.PID() != pid {
		t.Fatal("another keeper")
	}
	tell(t, path)
	s.exit()
	c.Release("x")
	if began = time.Now(); !poll(func() bool { return time.Since(began) > 3*p.idle }) || p.vacant() {
		t.Fatal("it ended with a server")
	}
	_ = c.Close()
	if !poll(p.vacant) {
		t.Fatal("it does not end")
	}
	if _, err := os.Lstat(filepath.Join(p.dir, "keeper.sock")); !os.IsNotExist(err) {
		t.Errorf("socket: %v", err)
	}
}

func TestSignals(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	s := start(t, c, "x", shell(p.dir, "cat"))
	for _, sig := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGPIPE, unix.SIGTERM} {
		if err := unix.Kill(c.PID(), sig); err != nil {
			t.Fatal(err)
		}
	}
	if !poll(func() bool { return strings.Contains(p.log(), "SIGTERM is ignored") }) {
		t.Errorf("log: %s", p.log())
	}
	s.send("hello\n")
	s.expect("hello")
	if c.Err() != nil {
		t.Error(c.Err())
	}
	s.send("\x04")
	s.exit()
	c.Release("x")
	pid := c.PID()
	_ = c.Close()
	terminate(t, p, pid)
}

// terminate sends SIGTERM until the keeper has heard of the last release.
func terminate(t testing.TB, p *place, pid int) {
	t.Helper()
	if !poll(func() bool { return unix.Kill(pid, unix.SIGTERM) == unix.ESRCH || p.vacant() }) {
		t.Error("SIGTERM does not end a keeper that holds nothing")
	}
}

// TestLongDirectory: the path of the socket is longer than sun_path.
func TestLongDirectory(t *testing.T) {
	p := newPlace(t)
	p.dir = filepath.Join(p.dir, strings.Repeat("d", 200))
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if e := start(t, p.connect("a"), "x", shell("/", "exit 3")).exit(); e.Code != 3 {
		t.Errorf("%+v", e)
	}
	info, err := os.Stat(filepath.Join(p.dir, "keeper.sock"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestStaleSocket(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	if err := unix.Kill(c.PID(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if !poll(p.vacant) {
		t.Fatal("it lives")
	}
	if _, err := os.Lstat(filepath.Join(p.dir, "keeper.sock")); err == nil {
		if e := start(t, p.connect("a"), "x", shell(p.dir, "exit 3")).exit(); e.Code != 3 {
			t.Errorf("%+v", e)
		}
	}
}

// TestNoKeeper: a command that is no keeper is an error that says why, and not a wait.
func TestNoKeeper(t *testing.T) {
	config := newPlace(t).config("a")
	config.Command = []string{"/bin/sh", "-c", "echo so it goes >&2; exit 3"}
	_, err := keeper.Connect(limited(t), config)
	if !errors.Is(err, keeper.ErrNoKeeper) || !strings.Contains(err.Error(), "so it goes") {
		t.Error(err)
	}
}
