package keeper_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
)

// programs is what the keeper held at Connect besides terminals, by id.
func programs(t testing.TB, c *keeper.Client) map[string]*keeper.Program {
	t.Helper()
	list, err := c.TakePrograms(limited(t))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*keeper.Program{}
	for _, p := range list {
		if found[p.ID] != nil {
			t.Errorf("%s was told twice", p.ID)
		}
		found[p.ID] = p
		t.Cleanup(func() { shut(p.Files...) })
	}
	return found
}

func shut(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// pipe is a pipe that ends with the test.
func pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(r, w) })
	return r, w
}

// launched is a program and the other ends of its standard files.
type launched struct {
	*keeper.Program
	t   testing.TB
	in  *os.File
	out *bufio.Reader
}

// run runs a script that holds a pipe.
func run(t testing.TB, c *keeper.Client, id, script string, hold ...*os.File) launched {
	t.Helper()
	plan, err := shell(t.TempDir(), script).Plan()
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	p, err := c.Run(id, plan, [3]*os.File{inR, outW, outW}, hold...)
	if err != nil {
		t.Fatal(err)
	}
	shut(inR, outW)
	return launched{p, t, inW, bufio.NewReader(outR)}
}

// line is what the program prints next.
func (l launched) line() string {
	l.t.Helper()
	line, err := l.out.ReadString('\n')
	if err != nil {
		l.t.Fatalf("%q, %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (l launched) say(text string) {
	l.t.Helper()
	if _, err := fmt.Fprintln(l.in, text); err != nil {
		l.t.Fatal(err)
	}
}

// TestRun: a program has what it was given and nothing else: a session of its own without a terminal, three files, no
// signal blocked.
func TestRun(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	r, w := pipe(t)
	l := run(t, c, "x", `read _ _ _ _ _ sid tty rest </proc/self/stat; echo $sid $tty $$; `+
		`ls /proc/self/fd | tr '\n' ' '; echo; `+
		`grep SigBlk /proc/self/status; read line; echo "$line"; exit 7`, r, w)
	pid := l.Child.PID()
	if got, want := l.line(), fmt.Sprintf("%d 0 %[1]d", pid); got != want {
		t.Errorf("session, terminal and process are %q, want %q", got, want)
	}
	if got := l.line(); got != "0 1 2 3 " {
		t.Errorf("descriptors %q", got)
	}
	if got := l.line(); got != "SigBlk:\t0000000000000000" {
		t.Error(got)
	}
	l.say("hello")
	if got := l.line(); got != "hello" {
		t.Error(got)
	}
	if e := l.Child.Wait(); e != (pty.Exit{Code: 7}) {
		t.Errorf("%+v", e)
	}
	if len(l.Files) != 2 || l.Files[0] != r || l.Files[1] != w {
		t.Errorf("files %v", l.Files)
	}
	c.Release("x")
}

func TestRunErrors(t *testing.T) {
	p := newPlace(t)
	c := p.connect("a")
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	std := [3]*os.File{null, null, null}
	if err := c.Hold("here", null); err != nil {
		t.Fatal(err)
	}
	start(t, c, "tty", shell(p.dir, "cat"))
	before, own := fds(t, c.PID()), fds(t, os.Getpid())
	sh := proc.Plan{Path: "/bin/sh", Argv: []string{"sh"}, Dir: "/"}
	for _, try := range []struct {
		id   string
		plan proc.Plan
		std  [3]*os.File
		want error
	}{
		{"1", proc.Plan{Path: "/does/not/exist", Argv: []string{"x"}, Dir: "/"}, std, pty.ErrNoCommand},
		{"2", proc.Plan{}, std, keeper.ErrNonsense},
		{"3", sh, [3]*os.File{null, nil, null}, os.ErrInvalid},
		{"here", sh, std, keeper.ErrTaken},
		{"tty", sh, std, keeper.ErrTaken},
		{"", sh, std, keeper.ErrNonsense},
	} {
		if _, err := c.Run(try.id, try.plan, try.std, null); !errors.Is(err, try.want) {
			t.Errorf("run %q: %v, want %v", try.id, err, try.want)
		}
	}
	for _, try := range []struct {
		id    string
		files []*os.File
		want  error
	}{
		{"", []*os.File{null}, keeper.ErrNonsense},
		{"y", nil, keeper.ErrNonsense},
		{"y", make([]*os.File, 300), keeper.ErrNonsense},
		{"y", []*os.File{null, nil}, os.ErrInvalid},
		{"here", []*os.File{null}, keeper.ErrTaken},
		{"tty", []*os.File{null}, keeper.ErrTaken},
	} {
		if err := c.Hold(try.id, try.files...); !errors.Is(err, try.want) {
			t.Errorf("hold %q: %v, want %v", try.id, err, try.want)
		}
	}
	if !poll(func() bool { return fds(t, c.PID()) <= before && fds(t, os.Getpid()) <= own }) {
		t.Errorf("the keeper has %d descriptors, had %d; this process %d, %d", fds(t, c.PID()), before,
			fds(t, os.Getpid()), own)
	}
	_ = c.Close()
	if err := c.Hold("z", null); !errors.Is(err, keeper.ErrClosed) {
		t.Error(err)
	}
	if _, err := c.Run("z", sh, std); !errors.Is(err, keeper.ErrClosed) {
		t.Error(err)
	}
}

// furnish makes a keeper hold a terminal, a program and files, and returns the far ends of what is held.
func furnish(t testing.TB, c *keeper.Client, dir string) (l launched, program, files *os.File) {
	t.Helper()
	start(t, c, "terminal", shell(dir, "cat"))
	r1, w1 := pipe(t)
	r2, w2 := pipe(t)
	l = run(t, c, "program", `echo ready; read line; echo "$line"; exit 5`, r1)
	l.line()
	if err := c.Hold("files", r2); err != nil {
		t.Fatal(err)
	}
	shut(r1, r2)
	return l, w1, w2
}

// check looks whether a client finds everything that furnish had made, that files lead where they did, and how the
// program ended.
func check(t testing.TB, c *keeper.Client, l launched, program, files *os.File) {
	t.Helper()
	if list := taken(t, c); len(list) != 1 || list["terminal"] == nil {
		t.Errorf("terminals %v", list)
	}
	list := programs(t, c)
	if len(list) != 2 || list["program"] == nil || list["files"] == nil {
		t.Fatalf("programs %v", list)
	}
	if again := programs(t, c); len(again) != 0 {
		t.Errorf("again %v", again)
	}
	for id, far := range map[string]*os.File{"program": program, "files": files} {
		held := launched{Program: list[id], t: t, in: far, out: bufio.NewReader(list[id].Files[0])}
		held.say("over there")
		if got := held.line(); got != "over there" || len(held.Files) != 1 {
			t.Errorf("%s: %q from %d files", id, got, len(held.Files))
		}
		shut(held.Files...)
	}
	if list["files"].Child != nil {
		t.Error("files with a process")
	}
	l.say("bye")
	if got := l.line(); got != "bye" {
		t.Error(got)
	}
	if e := list["program"].Child.Wait(); e != (pty.Exit{Code: 5}) {
		t.Errorf("%+v", e)
	}
}

// unheard is whether nobody has the reading end of a pipe open.
func unheard(w *os.File) bool {
	_, err := w.Write([]byte("x"))
	return errors.Is(err, unix.EPIPE)
}

// TestProgramsStay: what is held besides terminals is there for the next server, whatever happens to the keeper and to
// the server in between, until it is released.
func TestProgramsStay(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, p *place, c *keeper.Client){
		"next server": func(_ *testing.T, _ *place, c *keeper.Client) { _ = c.Close() },
		"upgrades": func(t *testing.T, p *place, c *keeper.Client) {
			pid := c.PID()
			_ = c.Close()
			for _, release := range []string{"b", "c"} {
				next := p.connect(release)
				if next.PID() != pid {
					t.Error("another keeper")
				}
				_ = next.Close()
			}
		},
		"keeper killed": func(t *testing.T, p *place, c *keeper.Client) {
			replaceKeeper(t, c)
			_ = c.Close()
		},
		"killed by the next": func(t *testing.T, p *place, c *keeper.Client) {
			_ = c.Close()
			next := p.connect("a") // which takes nothing
			replaceKeeper(t, next)
			_ = next.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			first := p.connect("a")
			l, program, files := furnish(t, first, p.dir)
			change(t, p, first)
			c := p.connect("a")
			check(t, c, l, program, files)
			_ = c.Close()
			// Nobody has released anything: the exit is told again.
			c = p.connect("a")
			list := programs(t, c)
			if e := list["program"].Child.Wait(); e != (pty.Exit{Code: 5}) {
				t.Errorf("%+v", e)
			}
			for id, p := range list {
				shut(p.Files...)
				c.Release(id)
			}
			if !poll(func() bool { return unheard(program) && unheard(files) }) {
				t.Error("released files are still open")
			}
			_ = c.Close()
			if list := programs(t, p.connect("a")); len(list) != 0 {
				t.Errorf("%v is still held", list)
			}
		})
	}
}

// replaceKeeper kills the keeper and waits for the next.
func replaceKeeper(t testing.TB, c *keeper.Client) {
	t.Helper()
	old := c.PID()
	if err := unix.Kill(old, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { pid := c.PID(); return pid != 0 && pid != old }) {
		t.Fatal(c.Err())
	}
}

// TestHoldWithoutKeeper: what is held and released while there is no keeper is so for the next.
func TestHoldWithoutKeeper(t *testing.T) {
	p := newPlace(t)
	// The first keeper works; the next ones wait for a file.
	config := p.config("a")
	mark := filepath.Join(p.dir, "go")
	config.Command = append([]string{"/bin/sh", "-c", `while [ ! -e "$0" ]; do sleep 0.01; done; exec "$@"`, mark},
		config.Command...)
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := keeper.Connect(limited(t), config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r1, w1 := pipe(t)
	r2, w2 := pipe(t)
	r3, w3 := pipe(t)
	if err := errors.Join(c.Hold("old", r1), c.Hold("twice", r1)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(c.PID(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { return c.PID() == 0 }) {
		t.Fatal("the keeper lives")
	}
	c.Release("old")
	c.Release("twice")
	if err := errors.Join(c.Hold("new", r2), c.Hold("twice", r3)); err != nil {
		t.Fatal(err)
	}
	shut(r1, r2, r3)
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { return c.PID() != 0 }) {
		t.Fatal(c.Err())
	}
	_ = c.Close()
	list := programs(t, p.connect("a"))
	if len(list) != 2 || list["new"] == nil || list["twice"] == nil {
		t.Errorf("%v", list)
	}
	if !unheard(w1) || unheard(w2) || unheard(w3) {
		t.Error("other files are held")
	}
}

// BenchmarkHold is what the keeper adds to every command of a shell.
func BenchmarkHold(b *testing.B) {
	p := newPlace(b)
	c := p.connect("a")
	r, w := pipe(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Hold("x", r, w); err != nil {
			b.Fatal(err)
		}
		c.Release("x")
	}
}
