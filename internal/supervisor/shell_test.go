package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/tests/supervisortest"
	"github.com/evertty/evertty/vt/vt10x"
)

// run runs a command in a shell and returns what it printed.
func run(t *testing.T, s *registry.Shell, text string) (string, shell.Result) {
	t.Helper()
	return outcome(t, submit(t, s, shell.Command{Text: text}))
}

func submit(t *testing.T, s *registry.Shell, c shell.Command) *shell.Exec {
	t.Helper()
	e, err := s.Submit(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func outcome(t *testing.T, e *shell.Exec) (string, shell.Result) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := e.Wait(ctx)
	if err != nil {
		t.Fatalf("command %s: %v", e.ID(), err)
	}
	return stdout(t, e), r
}

func stdout(t *testing.T, e *shell.Exec) string {
	t.Helper()
	b := make([]byte, e.Size(shell.Stdout))
	if n, err := e.ReadAt(shell.Stdout, b, 0); n < len(b) {
		t.Fatalf("%d of %d bytes of the log: %v", n, len(b), err)
	}
	return string(b)
}

func createShell(t *testing.T, m *supervisor.Supervisor, session, id string) *registry.Shell {
	t.Helper()
	s, err := m.Shells.Create(registry.Spec{Session: session, ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shellFiles are the names in the directory of all shells, and how many FIFOs are anywhere below.
func shellFiles(t *testing.T, dir string) (names []string, fifos int) {
	t.Helper()
	root := filepath.Join(dir, "shells")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed meanwhile
		case err != nil:
			return err
		case filepath.Dir(path) == root:
			names = append(names, d.Name())
		}
		if d.Type()&fs.ModeNamedPipe != 0 {
			fifos++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, fifos
}

func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// descriptors counts the open ones. Those of processes are left out: who waits for one holds it as
// long as it runs.
func descriptors(t *testing.T) (n int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && to != "anon_inode:[pidfd]" {
			n++
		}
	}
	return n
}

func TestShellIsCreatedFoundAndDeleted(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	s, err := m.Shells.Create(registry.Spec{Session: "s", ID: "build", Cwd: dir, Env: map[string]string{"A": "b c"}})
	if err != nil {
		t.Fatal(err)
	}
	if out, r := run(t, s, `printf '%s|%s' "$A" "$PWD"; cd /`); out != "b c|"+dir || r.ExitCode != 0 || r.Cwd != "/" {
		t.Errorf("%q, %+v", out, r)
	}
	i := s.Wire()
	if i.ID != "build" || i.Session != "s" || i.Default || !alive(i.PID) || i.Cwd != "/" || i.State != "running" ||
		i.CreatedAt.IsZero() {
		t.Errorf("info %+v", i)
	}
	other := createShell(t, m, "other", "build")
	for _, session := range []string{"s", "other"} {
		if found, err := m.Shells.Find(session, "build"); err != nil || found.Session != session {
			t.Errorf("find in %s: %v, %v", session, found, err)
		}
	}
	if _, err := m.Shells.Find("", "build"); !errors.Is(err, terminal.ErrAmbiguous) {
		t.Errorf("find in all: %v, want ErrAmbiguous", err)
	}
	if _, err := m.Shells.Find("s", "no"); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("find another: %v, want ErrNoShell", err)
	}
	chosen := createShell(t, m, "s", "")
	if got := m.Shells.List("s"); !slices.Equal(got, []*registry.Shell{s, chosen}) || chosen.ID == "" ||
		len(m.Shells.List("")) != 3 {
		t.Errorf("the shells of s are %v, of all %v", got, m.Shells.List(""))
	}
	if err := m.Shells.Delete(context.Background(), s); err != nil {
		t.Error(err)
	}
	if err := m.Shells.Delete(context.Background(), s); err != nil {
		t.Errorf("again: %v", err)
	}
	if _, err := m.Shells.Find("s", "build"); !errors.Is(err, registry.ErrNotFound) || alive(i.PID) {
		t.Errorf("after the end: %v; process %d lives: %t", err, i.PID, alive(i.PID))
	}
	if _, err := s.Submit(shell.Command{Text: "true"}); !errors.Is(err, shell.ErrDeleted) {
		t.Errorf("a command after the end: %v, want ErrDeleted", err)
	}
	createShell(t, m, "s", "build")
	deleteShells(t, m, "s")
	if got := m.Shells.List(""); !slices.Equal(got, []*registry.Shell{other}) {
		t.Errorf("left are %v, want that of the other session", got)
	}
	deleteShells(t, m, "")
	if names, _ := shellFiles(t, dir); len(names) != 0 {
		t.Errorf("files are left: %v", names)
	}
}

func TestShellNamesAreChecked(t *testing.T) {
	m := open(t, t.TempDir())
	for _, spec := range []registry.Spec{{Session: ""}, {Session: "a/b"}, {Session: "s", ID: ".."},
		{Session: "s", ID: "a b"}, {Session: "s", ID: strings.Repeat("x", 65)}} {
		if _, err := m.Shells.Create(spec); !errors.Is(err, terminal.ErrInvalid) {
			t.Errorf("%+v: %v, want ErrInvalid", spec, err)
		}
	}
	if _, err := m.Shells.Default("a b"); !errors.Is(err, terminal.ErrInvalid) {
		t.Errorf("default: %v, want ErrInvalid", err)
	}
}

// TestFailedShellLeavesNothing: also its name and place are free again.
func TestFailedShellLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	for range 2 {
		if _, err := m.Shells.Create(registry.Spec{Session: "s", ID: "x",
			Env: map[string]string{"A-B": ""}}); !errors.Is(err, shell.ErrBadEnv) {
			t.Fatalf("%v, want ErrBadEnv", err)
		}
	}
	if names, _ := shellFiles(t, dir); len(names) != 0 || len(m.Shells.List("")) != 0 {
		t.Errorf("left are %v, %v", names, m.Shells.List(""))
	}
}

func TestOneOfManyCreatesWins(t *testing.T) {
	m := open(t, t.TempDir())
	var made, taken atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			switch _, err := m.Shells.Create(registry.Spec{Session: "s", ID: "n"}); {
			case err == nil:
				made.Add(1)
			case errors.Is(err, registry.ErrExists):
				taken.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 || taken.Load() != 7 {
		t.Errorf("%d made, %d refused; want 1 and 7", made.Load(), taken.Load())
	}
}

// TestDefaultShellIsOne: many first uses at once get the same shell, and its next life is another
// one.
func TestDefaultShellIsOne(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	var got [8]*registry.Shell
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			s, err := m.Shells.Default("s")
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = s
			run(t, s, "true")
		})
	}
	wg.Wait()
	for _, s := range got {
		if s != got[0] || s == nil || !s.Default {
			t.Fatalf("the default shells are %v", got)
		}
	}
	if _, err := m.Shells.Create(registry.Spec{Session: "s", Default: true}); !errors.Is(err, registry.ErrExists) {
		t.Errorf("another default: %v, want ErrShellExists", err)
	}
	if err := m.Shells.Delete(context.Background(), got[0]); err != nil {
		t.Fatal(err)
	}
	s, err := m.Shells.Create(registry.Spec{Session: "s", Default: true, ID: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := m.Shells.Default("s"); again != s || err != nil {
		t.Errorf("%v, %v; want the one that was created as default", again, err)
	}
}

func TestShellLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and ends many processes, for seconds")
	}
	parallel(t)
	m := open(t, t.TempDir())
	var made, refused atomic.Int32
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	for range registry.MaxPerSession + 4 {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			switch _, err := m.Shells.Create(registry.Spec{Session: "s"}); {
			case err == nil:
				made.Add(1)
			case errors.Is(err, terminal.ErrLimit):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() != registry.MaxPerSession || refused.Load() != 4 {
		t.Errorf("%d made, %d refused; want %d and 4", made.Load(), refused.Load(), registry.MaxPerSession)
	}
	createShell(t, m, "another", "")
}

// TestCreateAndDeleteRace: whatever the order, nothing is left after the end.
func TestCreateAndDeleteRace(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			session := "s" + strconv.Itoa(i%2)
			s, err := m.Shells.Default(session)
			if err == nil {
				_, err = s.Submit(shell.Command{Text: "sleep 1000"})
			}
			if err != nil && !errors.Is(err, shell.ErrDeleted) {
				t.Error(err)
			}
			deleteShells(t, m, session)
			m.Shells.Commands("", 10, "")
		})
	}
	wg.Wait()
	deleteShells(t, m, "")
	if names, _ := shellFiles(t, dir); len(names) != 0 || len(m.Shells.List("")) != 0 {
		t.Errorf("left are %v, %v", names, m.Shells.List(""))
	}
}

func TestCommandsOfSeveralShells(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	a, b, other := createShell(t, m, "s", "a"), createShell(t, m, "s", "b"), createShell(t, m, "other", "")
	var want []string
	for i := range 6 {
		s := []*registry.Shell{a, b}[i%2]
		e := submit(t, s, shell.Command{Text: "echo " + strconv.Itoa(i)})
		outcome(t, e)
		want = append(want, e.ID())
	}
	run(t, other, "true")
	ids := func(list []shell.Info) (out []string) {
		for _, i := range list {
			out = append(out, i.ID)
		}
		return out
	}
	for _, c := range []struct {
		limit  int
		before string
		want   []string
	}{{0, "", want}, {100, "", want}, {2, "", want[4:]}, {3, want[4], want[1:4]}, {100, want[3], want[:3]}, {5, want[0],
		nil}, {5, "no-such", nil}} {
		if got := ids(m.Shells.Commands("s", c.limit, c.before)); !slices.Equal(got, c.want) {
			t.Errorf("%d before %q: %v, want %v", c.limit, c.before, got, c.want)
		}
	}
	if n := len(m.Shells.Commands("", 0, "")); n != 7 {
		t.Errorf("%d commands of all sessions, want 7", n)
	}
	if e, err := m.Shells.Command("s", want[1]); err != nil || stdout(t, e) != "1\n" {
		t.Errorf("the second command: %v", err)
	}
	if _, err := m.Shells.Command("other", want[1]); !errors.Is(err, shell.ErrNotFound) {
		t.Errorf("in another session: %v, want ErrNotFound", err)
	}
}

// TestShellsComeBack: a second server on the directory has the shells as they were, without waiting
// for the command that runs, and finishes it.
func TestShellsComeBack(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	m := open(t, dir)
	s, err := m.Shells.Default("s")
	if err != nil {
		t.Fatal(err)
	}
	run(t, s, "f() { echo still here; }; cd /; export A=1")
	running := submit(t, s, shell.Command{Text: "echo begun; until [ -e '" + gate +
		"' ]; do sleep 0.02; done; echo done; (exit 7)"})
	queued := submit(t, s, shell.Command{Text: `f; echo "$A$PWD"`})
	until(t, "output of the running command", func() bool { return running.Size(shell.Stdout) > 0 })
	pid, created := s.Wire().PID, s.Wire().CreatedAt
	leave(t, m)

	m = open(t, dir)
	list := m.Shells.List("s")
	if len(list) != 1 || list[0].ID != s.ID || !list[0].Default || !list[0].Wire().CreatedAt.Equal(created) ||
		list[0].Wire().PID != pid {
		t.Fatalf("came back: %v", list)
	}
	if again, err := m.Shells.Default("s"); again != list[0] || err != nil {
		t.Errorf("the default shell is %v, %v", again, err)
	}
	e, err := m.Shells.Command("s", running.ID())
	if err != nil {
		t.Fatal(err)
	}
	if i := e.Info(); i.Status != shell.Running {
		t.Errorf("the command is %s, want running: the new server waited for it", i.Status)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, r := outcome(t, e); out != "begun\ndone\n" || r.ExitCode != 7 {
		t.Errorf("the running command: %q, %+v", out, r)
	}
	if e, err = m.Shells.Command("s", queued.ID()); err != nil {
		t.Fatal(err)
	}
	if out, _ := outcome(t, e); out != "still here\n1/\n" {
		t.Errorf("the queued command: %q", out)
	}
	if n := len(m.Shells.Commands("s", 0, "")); n != 3 {
		t.Errorf("%d commands, want 3", n)
	}
}

// TestOneDamagedShellCostsNothingElse: it is told, its processes end, and it can be removed.
func TestOneDamagedShellCostsNothingElse(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	whole, hurt, nameless := createShell(t, m, "s", "whole"), createShell(t, m, "h", "hurt"),
		createShell(t, m, "s", "nameless")
	pid, stray := hurt.Wire().PID, leftBehind(t, hurt)
	keys := map[*registry.Shell]string{}
	for _, s := range []*registry.Shell{whole, hurt, nameless} {
		keys[s] = s.Spec().ID
	}
	leave(t, m)
	at := filepath.Join(dir, "shells")
	// A shell elsewhere, as the file remote says, whose place nobody knows.
	for _, name := range []string{"shell.json", "shell.json.1", "remote"} {
		if err := os.WriteFile(filepath.Join(at, keys[hurt], name), []byte("rubbish"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(at, keys[nameless]+".json"), []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	m = open(t, dir)
	s, err := m.Shells.Find("s", "whole")
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := run(t, s, "echo hi"); out != "hi\n" {
		t.Errorf("the whole one says %q", out)
	}
	if s, err = m.Shells.Find("recovered", keys[nameless]); err != nil {
		t.Fatalf("the one whose name is lost: %v; there are %v", err, slices.Collect(maps.Values(keys)))
	}
	if out, _ := run(t, s, "echo hi"); out != "hi\n" {
		t.Errorf("the nameless one says %q", out)
	}
	if _, err := m.Shells.Find("h", "hurt"); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("the damaged one: %v, want ErrNoShell", err)
	}
	damaged := func(h supervisor.Health) bool {
		return slices.ContainsFunc(h.Reasons, func(r string) bool {
			return strings.Contains(r, "shells could not be brought back")
		})
	}
	if h := m.Health(); !damaged(h) {
		t.Errorf("health %+v does not tell of the damage", h)
	}
	until(t, "end of the damaged shell's process", func() bool { return !alive(pid) })
	until(t, "end of what it has left behind", func() bool { return !alive(stray) })
	deleteShells(t, m, "h")
	if h := m.Health(); damaged(h) {
		t.Errorf("health %+v after the removal", h)
	}
	if names, _ := shellFiles(t, dir); slices.Contains(names, keys[hurt]) {
		t.Errorf("left are %v", names)
	}
}

// TestDamagedShellIsNotInTheWay: whatever becomes of the files of a session's default shell, the
// next command of the session runs, and what was damaged is told.
func TestDamagedShellIsNotInTheWay(t *testing.T) {
	parallel(t)
	for _, names := range [][]string{{"shell.json"}, {"shell.json", "shell.json.1"},
		{"shell.json", "shell.json.1", "remote"}} {
		dir := t.TempDir()
		m := openRecorded(t, dir)
		s, err := m.Shells.Default("s")
		if err != nil {
			t.Fatal(err)
		}
		run(t, s, "true")
		key := s.Spec().ID
		leave(t, m)
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(dir, "shells", key, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m = openRecorded(t, dir)
		if s, err = m.Shells.Default("s"); err != nil {
			t.Fatalf("%v: %v", names, err)
		}
		if out, _ := run(t, s, "echo hi"); out != "hi\n" || (s.Spec().ID == key) != (len(names) < 3) {
			t.Errorf("%v: it says %q", names, out)
		}
		told := slices.ContainsFunc(m.Health().Reasons, func(r string) bool {
			return strings.Contains(r, "shells c") && strings.Contains(r, "record") || strings.Contains(r, "shell.json")
		})
		if told != (len(names) > 1) {
			t.Errorf("%v: health %+v", names, m.Health())
		}
		deleteShells(t, m, "s")
		if left, _ := shellFiles(t, dir); len(left) > 0 {
			t.Errorf("%v: left are %v", names, left)
		}
		leave(t, m)
	}
}

// leftBehind is the number of a process that has nothing of the shell it was started in: no
// environment, a session of its own, no parent but the keeper.
func leftBehind(t *testing.T, s *registry.Shell) (pid int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pid")
	run(t, s, `( (exec env -i PATH="$PATH" setsid bash -c 'echo $$ >`+file+`; exec sleep 1000' <&- >&- 2>&- &) & )`)
	until(t, "its number", func() bool {
		text, _ := os.ReadFile(file)
		_, err := fmt.Sscanln(string(text), &pid)
		return err == nil
	})
	return pid
}

// TestHalfMadeShellIsCleared: a directory without a record is of a shell that nobody was told of.
func TestHalfMadeShellIsCleared(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	s := createShell(t, m, "s", "half")
	pid, key, stray := s.Wire().PID, s.Spec().ID, leftBehind(t, s)
	leave(t, m)
	if err := os.Remove(filepath.Join(dir, "shells", key+".json")); err != nil {
		t.Fatal(err)
	}
	m = open(t, dir)
	if list := m.Shells.List(""); len(list) != 0 {
		t.Errorf("shells %v", list)
	}
	until(t, "its end and the removal of its directory", func() bool {
		names, _ := shellFiles(t, dir)
		return !alive(pid) && !alive(stray) && len(names) == 0
	})
	if h := m.Health(); len(h.Reasons) != 0 && h.Lossless {
		t.Errorf("health %+v", h)
	}
}

// TestShellsOfNoDirectoryEnd: what the keeper holds for a shell whose files are gone is ended.
func TestShellsOfNoDirectoryEnd(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	s := createShell(t, m, "s", "")
	pid := s.Wire().PID
	leave(t, m)
	// The shell may be writing down its state still.
	until(t, "removal of its files", func() bool { return os.RemoveAll(filepath.Join(dir, "shells")) == nil })
	open(t, dir)
	until(t, "end of the process", func() bool { return !alive(pid) })
}

// TestDeleteLeavesNoProcess: not of a running command, nor what runs in the background in a session
// of its own.
func TestDeleteLeavesNoProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and ends many processes, for seconds")
	}
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	s := createShell(t, m, "s", "")
	out, _ := run(t, s, "setsid sleep 1001 & echo $!; sleep 1002 & echo $!; echo $$")
	var pids []int
	for _, word := range strings.Fields(out) {
		pid, err := strconv.Atoi(word)
		if err != nil || !alive(pid) {
			t.Fatalf("%q: no living process: %v", word, err)
		}
		pids = append(pids, pid)
	}
	e := submit(t, s, shell.Command{Text: "trap '' HUP INT TERM; echo x; sleep 1003"})
	until(t, "the running command", func() bool { return e.Size(shell.Stdout) > 0 })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.Shells.Delete(ctx, s); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d lives", pid)
		}
	}
	if _, err := e.Wait(ctx); !errors.Is(err, shell.ErrDeleted) {
		t.Errorf("the running command: %v, want ErrDeleted", err)
	}
	if names, fifos := shellFiles(t, dir); len(names) != 0 || fifos != 0 {
		t.Errorf("left are %v and %d FIFOs", names, fifos)
	}
}

// TestCloseKeepsShells: it leaves no goroutine (openWith counts) and no descriptor, and the process
// lives.
func TestCloseKeepsShells(t *testing.T) {
	dir := t.TempDir()
	leave(t, open(t, dir)) // what is made once is made
	before := descriptors(t)
	m := open(t, dir)
	s := createShell(t, m, "s", "")
	e := submit(t, s, shell.Command{Text: "echo x; sleep 1000"})
	until(t, "output", func() bool { return e.Size(shell.Stdout) > 0 })
	pid := s.Wire().PID
	leave(t, m)
	if !alive(pid) {
		t.Error("the shell ended with its server")
	}
	until(t, "that all descriptors are closed", func() bool { return descriptors(t) <= before })
	if _, err := m.Shells.Create(registry.Spec{Session: "s"}); !errors.Is(err, terminal.ErrClosing) {
		t.Errorf("create after Close: %v, want ErrClosing", err)
	}
	if err := m.Shells.Delete(context.Background(), s); !errors.Is(err, terminal.ErrClosing) {
		t.Errorf("delete after Close: %v, want ErrClosing", err)
	}
	m = open(t, dir)
	deleteShells(t, m, "")
	if alive(pid) {
		t.Error("the shell was deleted and lives")
	}
}

func TestExecMetrics(t *testing.T) {
	parallel(t)
	metrics := metrics.New()
	m := openWith(t, t.TempDir(), supervisor.Config{Terminals: terminal.Config{Engine: vt10x.New}, Metrics: metrics})
	metrics.Registry.MustRegister(m)
	s := createShell(t, m, "s", "")
	run(t, s, "true")
	run(t, s, "false")
	outcome(t, submit(t, s, shell.Command{Text: "sleep 1000", Timeout: 50 * time.Millisecond}))
	e := submit(t, s, shell.Command{Text: "echo x; sleep 1000"})
	until(t, "the running command", func() bool { return e.Size(shell.Stdout) > 0 })
	e.Cancel()
	outcome(t, e)
	run(t, s, "true") // whatever the cancel did to it, the shell runs
	want := map[string]float64{"evertty_exec_commands_total/ok": 2, "evertty_exec_commands_total/failed": 1,
		"evertty_exec_commands_total/timeout":   1,
		"evertty_exec_commands_total/cancelled": 1, "evertty_exec_shells/running": 1, "evertty_exec_queued": 0,
		"evertty_exec_busy": 0, "evertty_exec_seconds": 5}
	var got map[string]float64
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("the counts are", got)
		}
	})
	until(t, "the counts", func() bool {
		got = supervisortest.Gather(t, metrics)
		for name, v := range want {
			if n, ok := got[name]; !ok || n != v {
				return false
			}
		}
		return true
	})
}
