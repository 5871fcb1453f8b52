package shell

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty/keeper"
)

// firstServer is the shell of a data directory for a server that goes when leave is called; the next one is that of
// nextServer.
func firstServer(t *testing.T, data string) (s *Shell, client *keeper.Client, leave func()) {
	t.Helper()
	client, err := connect(data)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = bring(client, data, slog.New(slog.NewTextHandler(t.Output(), nil))); err != nil {
		t.Fatal(err)
	}
	return s, client, func() {
		s.Detach()
		_ = client.Close()
	}
}

// begin submits a command and waits until it has begun; one in the background until its own process is known.
func begin(t *testing.T, s *Shell, c Command) *Exec {
	t.Helper()
	e, err := s.Submit(c)
	if err != nil {
		t.Fatal(err)
	}
	<-e.Started()
	if c.Background && !poll(func() bool { i := e.Info(); return i.PID > 0 && i.PID != s.Stats().PID }) {
		t.Fatal("its process is not known")
	}
	return e
}

// same is a command as another server knows it.
func same(t *testing.T, s *Shell, e *Exec) *Exec {
	t.Helper()
	next, err := s.Command(e.ID())
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// killAll ends the process of a command in the background with the one that waits for it, so that nobody tells of the
// end.
func killAll(t *testing.T, e *Exec) {
	t.Helper()
	p, ok := proc.Find(e.Info().PID)
	if !ok {
		t.Fatal("the command does not run")
	}
	for _, pid := range []int{p.Parent, p.PID} {
		_ = unix.Kill(pid, unix.SIGKILL)
		if !poll(func() bool { now, ok := proc.Find(pid); return !ok || now.Ended }) {
			t.Fatalf("%d does not end", pid)
		}
	}
}

// TestKeeperGone: the keeper is gone too, as after a restart of the machine. Commands end as what is known of them
// says, what lives on can be cancelled, and the shell goes on.
func TestKeeperGone(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	data := t.TempDir()
	s, client, leave := firstServer(t, data)
	run(t, s, "export V=1")
	dead := begin(t, s, Command{Text: "sleep 1000", Background: true})
	lives := begin(t, s, Command{Text: "sleep 1000", Background: true})
	alone := begin(t, s, Command{Isolated: true, Argv: []string{"sleep", "1000"}})
	front := begin(t, s, Command{Text: "sleep 1000"})
	pid := client.PID()
	leave()
	_ = unix.Kill(pid, unix.SIGKILL)
	killAll(t, dead)
	s = nextServer(t, data)
	for _, e := range []*Exec{alone, front} {
		if r, err := same(t, s, e).Wait(limited(t)); !errors.Is(err, ErrEnded) {
			t.Errorf("%s: %+v, %v", e.Info().Command, r, err)
		}
	}
	if r := result(t, same(t, s, dead)); r.ExitCode != killedCode || r.Cancelled || !r.Truncated {
		t.Errorf("%+v", r)
	}
	lives = same(t, s, lives)
	lives.Cancel()
	if r := result(t, lives); r.ExitCode != cancelCode || !r.Cancelled {
		t.Errorf("%+v", r)
	}
	if r := run(t, s, "echo $V"); r.out != "1\n" || !r.Recreated {
		t.Errorf("%+v", r)
	}
}

// TestLauncherOfAnEarlierKeeper: a launcher that has outlived its keeper does not clear away the FIFOs of the shell's
// next process.
func TestLauncherOfAnEarlierKeeper(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s, client, leave := firstServer(t, data)
	run(t, s, "V=1")
	settled(t, s)
	launcher, ok := proc.Find(s.procs.current.Load().Launcher())
	if !ok {
		t.Fatal("no launcher")
	}
	_ = launcher.Signal(unix.SIGSTOP) // so that it comes to its clearing up late
	pid := client.PID()
	leave()
	_ = unix.Kill(pid, unix.SIGKILL)
	s = nextServer(t, data)
	e := begin(t, s, Command{Text: "cat", StdinOpen: true})
	_ = launcher.Signal(unix.SIGCONT)
	if !poll(func() bool {
		now, ok := proc.Find(launcher.PID)
		return !ok || now.Ended || now.Start != launcher.Start
	}) {
		t.Fatal("the launcher does not end")
	}
	if left := fifos(t, s.spec.Dir); !slices.Contains(left, shelldir.ControlFIFO) {
		t.Errorf("the FIFOs are %q", left)
	}
	if err := e.Input(limited(t), []byte("on\n"), true); err != nil {
		t.Fatal(err)
	}
	expect(t, result(t, e), 0, "on\n")
}

// TestNumberOfAnother: a command in the background has ended and its number is another process's, which is neither
// waited for nor ended.
func TestNumberOfAnother(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	data := t.TempDir()
	s, _, leave := firstServer(t, data)
	e := begin(t, s, Command{Text: "sleep 1000", Background: true})
	leave()
	killAll(t, e)
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = other.Wait()
		close(ended)
	}()
	sign := filepath.Join(e.dir, shelldir.PidName)
	if err := os.Rename(sign+strconv.Itoa(e.Info().PID), sign+strconv.Itoa(other.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	s = nextServer(t, data)
	if r := result(t, same(t, s, e)); r.ExitCode != killedCode {
		t.Errorf("%+v", r)
	}
	if now, ok := proc.Find(other.Process.Pid); !ok || now.Ended {
		t.Error("a stranger was ended")
	}
	_ = other.Process.Kill()
	<-ended
}

// forgetEnd takes the last line off a command's record, as if there had been no room for it.
func forgetEnd(t *testing.T, e *Exec) {
	t.Helper()
	path := filepath.Join(e.dir, shelldir.RecordFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.TrimRight(text, "\n")
	if err := os.WriteFile(path, text[:bytes.LastIndexByte(text, '\n')+1], 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := history.NewestRecord(text[:bytes.LastIndexByte(text, '\n')])
	if err != nil || r.Info.Status != Running {
		t.Fatalf("the record before is %+v, %v", r, err)
	}
}

// TestEndNotWritten: a command whose end there was no room for on the disk has ended all the same, with its status, and
// is not run again.
func TestEndNotWritten(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s, _, leave := firstServer(t, data)
	var list []*Exec
	for n := range 4 {
		c := Command{Text: "echo " + strconv.Itoa(n) + " | tee -a ran; (exit " + strconv.Itoa(n+3) + ")",
			Background: n == 3}
		e := begin(t, s, c)
		result(t, e)
		list = append(list, e)
	}
	run(t, s, "true") // its capture is behind all of them
	if err := s.Settled(limited(t)); err != nil {
		t.Fatal(err)
	}
	leave()
	for _, e := range list {
		forgetEnd(t, e)
	}
	s = nextServer(t, data)
	for n, e := range list {
		if r := result(t, same(t, s, e)); r.ExitCode != n+3 || r.out != strconv.Itoa(n)+"\n" || r.ShellEnded {
			t.Errorf("%+v", r)
		}
	}
	expect(t, run(t, s, "cat ran"), 0, "0\n1\n2\n3\n")
}

// TestEndedUnseen: the shell's end was noticed and its command's result was not written when the server was killed.
func TestEndedUnseen(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s, _, leave := firstServer(t, data)
	e := begin(t, s, Command{Text: "while [ ! -e go ]; do sleep 0.01; done; echo out; (exit 4)"})
	leave()
	if err := os.WriteFile(filepath.Join(data, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { _, ok := e.status(); return ok }) {
		t.Fatal("it does not end")
	}
	client, err := connect(data)
	if err != nil {
		t.Fatal(err)
	}
	held, err := client.TakePrograms(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var rest []*keeper.Program
	for _, p := range held {
		if p.ID != Prefix+s.spec.ID+".1" {
			rest = append(rest, p)
			continue
		}
		_ = p.Child.Kill(limited(t), nil)
		p.Child.Wait()
		client.Release(p.ID)
	}
	c := config(t)
	c.Keeper = client
	t.Cleanup(func() { mustEndKeeper(t, client) })
	if s, err = Recover(c, filepath.Join(data, "shell"), rest, Spec{ID: "kept"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, s) })
	if r := result(t, same(t, s, e)); r.ExitCode != 4 || r.out != "out\n" || !r.ShellEnded {
		t.Errorf("%+v", r)
	}
	if r := run(t, s, "echo on"); r.out != "on\n" || !r.Recreated {
		t.Errorf("%+v", r)
	}
}

// TestLateForNobody: an isolated command that ended by itself while no server was there has its own code, although its
// time is over when the next server comes.
func TestLateForNobody(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s, _, leave := firstServer(t, data)
	go1 := filepath.Join(data, "go")
	e := begin(t, s, Command{Isolated: true, Argv: []string{"sh", "-c", "while [ ! -e " + go1 +
		" ]; do sleep 0.01; done; exit 5"}, Timeout: time.Hour})
	pid := e.Info().PID
	leave()
	// The deadline is one that passes before the next server comes, and that the first one did not see.
	e.mu.Lock()
	e.entry.Deadline = time.Now()
	e.mu.Unlock()
	e.saveOrLog()
	if err := os.WriteFile(go1, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { now, ok := proc.Find(pid); return !ok || now.Ended }) {
		t.Fatal("it does not end")
	}
	s = nextServer(t, data)
	if r := result(t, same(t, s, e)); r.ExitCode != 5 || r.TimedOut {
		t.Errorf("%+v", r)
	}
}

// TestIsolatedAfterAll: an isolated command that an earlier server took and did not start runs beside a command that
// goes on.
func TestIsolatedAfterAll(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s, _, leave := firstServer(t, data)
	e := begin(t, s, Command{Isolated: true, Argv: []string{"sh", "-c", "exit 5"}})
	result(t, e)
	front := begin(t, s, Command{Text: "sleep 1000"})
	leave()
	path := filepath.Join(e.dir, shelldir.RecordFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(text, "\n"), []byte("\n"))
	if err := os.WriteFile(path, append(first, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	s = nextServer(t, data)
	if r := result(t, same(t, s, e)); r.ExitCode != 5 {
		t.Errorf("%+v", r)
	}
	front = same(t, s, front)
	if i := front.Info(); i.Status != Running || i.PID != s.Stats().PID {
		t.Errorf("%+v", i)
	}
	front.Cancel()
	result(t, front)
}
