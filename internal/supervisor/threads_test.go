package supervisor_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/internal/thread/sqlite"
	"github.com/evertty/evertty/tests/supervisortest"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/vt/vt10x"
	"github.com/evertty/evertty/wire"
)

// openRecorded opens a server with the records of its directory, which close with the test, or with
// leave before another server is opened there.
func openRecorded(t *testing.T, dir string, change ...func(*supervisor.Config)) *supervisor.Supervisor {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(dir, "evertty.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	files, err := store.OpenFiles(filepath.Join(dir, "threads"), 0)
	if err != nil {
		t.Fatal(err)
	}
	c := supervisor.Config{Terminals: terminal.Config{Engine: vt10x.New}, Threads: service.Config{Store: db,
		Conversations: store.Config{Store: db.Conversations(), Files: files}}}
	for _, f := range change {
		f(&c)
	}
	return openWith(t, dir, c)
}

func background(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func threadID(t *testing.T, m *supervisor.Supervisor, id string) thread.Layers {
	t.Helper()
	l, err := m.Threads.Thread(background(t), id)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func defaultShell(t *testing.T, m *supervisor.Supervisor, session string) *registry.Shell {
	t.Helper()
	s, err := m.Shells.Default(session)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// made makes a thread with a policy of its own.
func made(t *testing.T, m *supervisor.Supervisor, id string, p thread.Policy) {
	t.Helper()
	if _, err := m.Threads.CreateThread(background(t), id, thread.Use{Policy: &p}); err != nil {
		t.Fatal(err)
	}
}

func kinds(t *testing.T, m *supervisor.Supervisor, thread string) (list []string) {
	t.Helper()
	events, err := m.Threads.ListEvents(thread, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Errorf("event %d has number %d", i, e.Seq)
		}
		list = append(list, e.Type)
	}
	return list
}

// TestFirstUseMakesAllLayers is test_get_sandbox_creates_all_layers and
// test_get_sandbox_reuses_existing_session of the first design.
func TestFirstUseMakesAllLayers(t *testing.T) {
	parallel(t)
	m := openRecorded(t, t.TempDir())
	if _, err := m.Threads.Thread(background(t), "t1"); !errors.Is(err, thread.ErrNotFound) {
		t.Fatalf("before: %v, want ErrNotFound", err)
	}
	s := defaultShell(t, m, "t1")
	run(t, s, "cd /tmp; export X=1")
	l := threadID(t, m, "t1")
	st := l.Terminal.State
	if l.Session.Status != thread.Active || l.Lease.Observed != thread.Running || l.Terminal.Kind != thread.Shell ||
		l.Instance.State != thread.Running {
		t.Errorf("layers %+v", l)
	}
	if st.Cwd != "/tmp" || st.Env["X"] != "1" || len(st.Env) != 1 || st.Version == 0 {
		t.Errorf("state %+v", st)
	}
	if s.ID != l.Terminal.ID {
		t.Errorf("shell %s, terminal %s", s.ID, l.Terminal.ID)
	}
	run(t, s, "true")
	run(t, s, "unset X")
	again := threadID(t, m, "t1")
	if again.Session.ID != l.Session.ID || again.Terminal.ID != l.Terminal.ID || again.Lease.ID != l.Lease.ID {
		t.Errorf("first %+v, then %+v", l, again)
	}
	if got := again.Terminal.State; got.Version != st.Version+1 || len(got.Env) != 0 {
		t.Errorf("after unset %+v, before %+v", got, st)
	}
	commands, err := m.Threads.ThreadCommands(background(t), thread.CommandQuery{Thread: "t1"})
	if err != nil || len(commands) != 3 || commands[0].Line != "cd /tmp; export X=1" ||
		commands[2].Status != thread.CommandDone || *commands[2].ExitCode != 0 || commands[0].Runtime == "" {
		t.Errorf("commands %+v, %v", commands, err)
	}
	got := kinds(t, m, "t1")
	for _, want := range []string{thread.ThreadCreated, thread.TerminalCreated, thread.LeaseCreated,
		thread.SessionCreated, "lease.running", thread.RuntimeStarted,
		thread.CommandStarted, thread.CommandFinished, thread.TerminalState} {
		if !slices.Contains(got, want) {
			t.Errorf("no event %s in %v", want, got)
		}
	}
}

// TestARuntimeIsThereWithItsTerminal: who creates a terminal finds its process in the records at once, and those of
// programs that end while their rows are written end too.
func TestARuntimeIsThereWithItsTerminal(t *testing.T) {
	parallel(t)
	m := openRecorded(t, t.TempDir())
	count := func(kind string) (n int) {
		list, err := m.Threads.ListEvents("t", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if e.Type == kind {
				n++
			}
		}
		return n
	}
	create := func(program string) *terminal.Terminal {
		term, err := m.Terminals.Create("t", wire.CreateTerminal{Cmd: []string{program}})
		if err != nil {
			t.Fatal(err)
		}
		return term
	}
	create("cat")
	if count(thread.RuntimeStarted) != 1 {
		t.Error("the process is not in the records yet")
	}
	for range 20 {
		<-create("true").Done()
	}
	threadID(t, m, "t") // what was noted is written
	if started, ended := count(thread.RuntimeStarted), count(thread.RuntimeExited); ended != started-1 {
		t.Errorf("%d have started and %d ended", started, ended)
	}
}

func TestTerminalsAndShellsShareAThread(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := openRecorded(t, dir)
	term, err := m.Terminals.Create("t", wire.CreateTerminal{Name: "both", Cmd: []string{"bash", "--norc"}, Cwd: dir,
		Env: map[string]string{"A": "b"}})
	if err != nil {
		t.Fatal(err)
	}
	s := createShell(t, m, "t", "both")
	l := threadID(t, m, "t")
	if l.Terminal.ID != term.ID || l.Terminal.State.Cwd != dir || l.Terminal.State.Env["A"] != "b" ||
		l.Terminal.Kind != thread.PTY {
		t.Errorf("terminal %+v", l.Terminal)
	}
	list, _, err := m.Threads.ThreadTerminals(background(t), "t", "", 0)
	if err != nil || len(list) != 2 || list[1].Kind != string(thread.Shell) || list[0].LeaseID != list[1].LeaseID ||
		!list[0].Active {
		t.Fatalf("terminals %+v, %v", list, err)
	}
	if _, err := term.Input(background(t), []byte("cd /\n")); err != nil {
		t.Fatal(err)
	}
	until(t, "the directory of the program", func() bool { return threadID(t, m, "t").Terminal.State.Cwd == "/" })
	if l, err := m.Threads.ActivateTerminal(background(t), "t", list[1].TerminalID); err != nil ||
		l.Terminal.ID != list[1].TerminalID || threadID(t, m, "t").Terminal.ID != list[1].TerminalID {
		t.Errorf("activate: %+v, %v", l, err)
	}
	if err := m.Shells.Delete(background(t), s); err != nil {
		t.Fatal(err)
	}
	if got := threadID(t, m, "t").Terminal.ID; got != term.ID {
		t.Errorf("active is %s, want %s", got, term.ID)
	}
	if err := m.Terminals.Delete(background(t), term, true); err != nil {
		t.Fatal(err)
	}
	if list, _, err := m.Threads.ThreadTerminals(background(t), "t", "", 0); err != nil || len(list) != 0 {
		t.Errorf("left are %+v, %v", list, err)
	}
	if err := m.Threads.DeleteThread(background(t), "t"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Threads.Thread(background(t), "t"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("after the end: %v", err)
	}
}

// TestExpiryEndsProcessesAndKeepsState is test_terminal_state_persists_across_sessions.
func TestExpiryEndsProcessesAndKeepsState(t *testing.T) {
	parallel(t)
	m := openRecorded(t, t.TempDir())
	made(t, m, "t", thread.Policy{Idle: time.Hour, Max: time.Hour})
	first := threadID(t, m, "t")
	s := defaultShell(t, m, "t")
	if s.ID != first.Terminal.ID {
		t.Errorf("the thread's shell is %s, its terminal %s", s.ID, first.Terminal.ID)
	}
	run(t, s, "cd /tmp; export K=v; f() { echo kept; }")
	term, err := m.Terminals.Create("t", wire.CreateTerminal{Cmd: []string{"sleep", "1000"}})
	if err != nil {
		t.Fatal(err)
	}
	bash, sleeper := s.Wire().PID, term.Wire().PID
	if _, err := m.Threads.SetThreadPolicy(background(t), "t",
		thread.Policy{Idle: 300 * time.Millisecond, Max: time.Hour}); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the session", func() bool { return threadID(t, m, "t").Session.Status == thread.Closed })
	l := threadID(t, m, "t")
	if l.Session.CloseReason != thread.ReasonIdle || alive(bash) || alive(sleeper) ||
		term.Wire().State != terminal.StateExited {
		t.Errorf("session %+v; shell lives %t, program lives %t", l.Session, alive(bash), alive(sleeper))
	}
	if out, r := run(t, s, `echo $PWD $K; f`); out != "/tmp v\nkept\n" || !r.Recreated {
		t.Errorf("%q, %+v", out, r)
	}
	after := threadID(t, m, "t")
	if after.Session.ID == l.Session.ID || after.Terminal.ID != l.Terminal.ID || after.Terminal.State.Cwd != "/tmp" {
		t.Errorf("after %+v", after)
	}
}

// TestASlowReplayIsNotIdle: a session does not end for want of activity while what its program printed without a server
// is not read yet.
func TestASlowReplayIsNotIdle(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := openRecorded(t, dir)
	made(t, m, "t", thread.Policy{Idle: 2 * time.Second, Max: time.Hour})
	_, err := m.Terminals.Create("t", wire.CreateTerminal{Cmd: []string{"sh", "-c",
		"while :; do echo tick; sleep 0.1; done"}})
	if err != nil {
		t.Fatal(err)
	}
	before := threadID(t, m, "t").Session
	supervisortest.Leave(t, m)
	until(t, "the session's time is over", func() bool {
		return time.Since(before.LastActiveAt) > 2*before.Policy.Idle
	})
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	defer open()
	m = openRecorded(t, dir, func(c *supervisor.Config) {
		c.Terminals.Engine = func(c vt.Config) vt.Engine { <-gate; return vt.NewEngine(c) }
	})
	if now := threadID(t, m, "t").Session; now.ID != before.ID || now.Status == thread.Closed {
		t.Errorf("while the screen is made again: %+v, before %+v", now, before)
	}
	open()
	until(t, "the output counts", func() bool {
		return threadID(t, m, "t").Session.LastActiveAt.After(before.LastActiveAt)
	})
	if list := m.Terminals.Running("t"); len(list) != 1 || threadID(t, m, "t").Session.ID != before.ID {
		t.Errorf("%d programs run", len(list))
	}
}

// TestDefaultPolicyLeavesPrograms: nobody asked for their end.
func TestDefaultPolicyLeavesPrograms(t *testing.T) {
	m := openRecorded(t, t.TempDir(), func(c *supervisor.Config) {
		c.Threads.Policy = &thread.Policy{Idle: 300 * time.Millisecond, Max: time.Hour}
	})
	term, err := m.Terminals.Create("t", wire.CreateTerminal{Cmd: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	s := defaultShell(t, m, "t")
	run(t, s, "cd /tmp")
	bash := s.Wire().PID
	until(t, "the end of the session", func() bool { return threadID(t, m, "t").Session.Status == thread.Closed })
	until(t, "the end of the idle shell", func() bool { return !alive(bash) })
	if term.Wire().State != terminal.StateRunning {
		t.Fatalf("the program is %s", term.Wire().State)
	}
	old := threadID(t, m, "t").Session.ID
	if _, err := term.Input(background(t), []byte("x\n")); err != nil {
		t.Fatal(err)
	}
	if l := threadID(t, m, "t"); l.Session.ID == old {
		t.Errorf("no new session: %+v", l.Session)
	}
}

// TestRunningCommandKeepsTheSession: it is activity for as long as it runs, but not beyond the end
// of all.
func TestRunningCommandKeepsTheSession(t *testing.T) {
	m := openRecorded(t, t.TempDir())
	made(t, m, "busy", thread.Policy{Idle: 200 * time.Millisecond, Max: time.Hour})
	made(t, m, "long", thread.Policy{Idle: time.Hour, Max: 700 * time.Millisecond})
	busy := submit(t, defaultShell(t, m, "busy"), shell.Command{Text: "sleep 1.5; echo done"})
	long := submit(t, defaultShell(t, m, "long"), shell.Command{Text: "sleep 100"})
	id := threadID(t, m, "busy").Session.ID
	if out, _ := outcome(t, busy); out != "done\n" {
		t.Errorf("%q", out)
	}
	list, err := m.Threads.ThreadSessions("busy")
	// One session may have ended before the command came.
	n := slices.IndexFunc(list, func(s thread.Session) bool { return s.ID == id })
	if err != nil || n < 0 || list[n].Status == thread.Closed && list[n].EndedAt.Before(busy.Info().FinishedAt) {
		t.Errorf("sessions %+v, %v", list, err)
	}
	until(t, "the end of the other", func() bool {
		list, err := m.Threads.ThreadSessions("long")
		return err == nil && list[len(list)-1].CloseReason == thread.ReasonMax
	})
	<-long.Done()
	if i := long.Info(); i.Status != shell.Cancelled {
		t.Errorf("%+v", i)
	}
}

// TestShortProgramIsCharged: a program that ends before the first account is charged with what it
// printed, its next start with what is new.
func TestShortProgramIsCharged(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and ends many processes, for seconds")
	}
	parallel(t)
	m := openRecorded(t, t.TempDir())
	made(t, m, "t", thread.Policy{Idle: time.Hour, Max: time.Hour, Budget: thread.Usage{Bytes: 1 << 30}})
	term, err := m.Terminals.Create("t", wire.CreateTerminal{Cmd: []string{"printf", "%1000s"}})
	if err != nil {
		t.Fatal(err)
	}
	used := func() int64 { return threadID(t, m, "t").Session.Used.Bytes }
	until(t, "its 1000 bytes to be charged", func() bool { return used() == 1000 })
	waitFor(t, term, wire.WaitCondition{For: "exit"})
	if _, err := m.Terminals.Restart(term); err != nil {
		t.Fatal(err)
	}
	until(t, "1000 more", func() bool { return used() >= 2000 })
	if n := used(); n != 2000 {
		t.Errorf("%d bytes are charged, want 2000", n)
	}
}

func TestBudgetRefusesACommand(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and ends many processes, for seconds")
	}
	parallel(t)
	m := openRecorded(t, t.TempDir())
	made(t, m, "t", thread.Policy{Idle: time.Hour, Max: time.Hour, Budget: thread.Usage{Commands: 2}})
	s := defaultShell(t, m, "t")
	run(t, s, "true")
	run(t, s, "true")
	if _, err := s.Submit(shell.Command{Text: "true"}); !errors.Is(err, thread.ErrBudget) {
		t.Fatalf("the third: %v, want ErrBudget", err)
	}
	until(t, "the end of the session", func() bool {
		return threadID(t, m, "t").Session.CloseReason == thread.ReasonBudget
	})
	run(t, s, "true") // in a new session
	made(t, m, "cpu", thread.Policy{Idle: time.Hour, Max: time.Hour, Budget: thread.Usage{CPUSeconds: 0.5}})
	e := submit(t, defaultShell(t, m, "cpu"), shell.Command{Text: "while :; do :; done"})
	until(t, "the end of the busy one", func() bool {
		return threadID(t, m, "cpu").Session.CloseReason == thread.ReasonBudget
	})
	<-e.Done()
}

// TestStateOutlivesProcessesAndServers is test_state_persists_across_runtime_instances.
func TestStateOutlivesProcessesAndServers(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := openRecorded(t, dir)
	s := defaultShell(t, m, "t")
	run(t, s, "cd /tmp; export K='a b'")
	before := threadID(t, m, "t")
	if err := syscall.Kill(s.Wire().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the process", func() bool { return slices.Contains(kinds(t, m, "t"), thread.RuntimeExited) })
	if out, r := run(t, s, `echo "$PWD $K"`); out != "/tmp a b\n" || !r.Recreated {
		t.Errorf("after a kill %q, %+v", out, r)
	}
	e := submit(t, s, shell.Command{Text: "sleep 0.5; cd /usr; export K=c"})
	term, err := m.Terminals.Create("t", wire.CreateTerminal{Cmd: []string{"sleep", "1000"}})
	if err != nil {
		t.Fatal(err)
	}
	leave(t, m)
	m = openRecorded(t, dir)
	s = defaultShell(t, m, "t")
	until(t, "the end of the command", func() bool {
		c, err := s.Command(e.ID())
		return err == nil && c.Info().Result != nil
	})
	until(t, "its state", func() bool { return threadID(t, m, "t").Terminal.State.Cwd == "/usr" })
	l := threadID(t, m, "t")
	if l.Terminal.ID != before.Terminal.ID || l.Session.ID != before.Session.ID || l.Lease.ID != before.Lease.ID ||
		l.Instance.ID != before.Instance.ID ||
		l.Terminal.State.Env["K"] != "c" || l.Terminal.State.Version <= before.Terminal.State.Version {
		t.Errorf("before %+v, after %+v", before, l)
	}
	list, err := m.Threads.ThreadCommands(background(t), thread.CommandQuery{Thread: "t"})
	if err != nil || len(list) != 3 || list[2].ID != e.ID() || list[2].Status != thread.CommandDone {
		t.Errorf("commands %+v, %v", list, err)
	}
	if got := kinds(t, m, "t"); !slices.Contains(got, thread.RuntimeAdopted) ||
		slices.Contains(got, thread.RuntimeLost) {
		t.Errorf("events %v", got)
	}
	if again, err := m.Terminals.Find("t", term.ID); err != nil || again.Wire().State != terminal.StateRunning {
		t.Errorf("the program: %v", err)
	}
}

// TestMissingRowsComeBack is test_missing_terminal_recreates_with_same_id and
// test_missing_lease_recreates_with_same_id: here all rows are gone.
func TestMissingRowsComeBack(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := openRecorded(t, dir)
	s := defaultShell(t, m, "t")
	run(t, s, "cd /tmp")
	id := threadID(t, m, "t").Terminal.ID
	leave(t, m)
	for _, name := range []string{"evertty.db", "evertty.db-wal", "evertty.db-shm"} {
		_ = os.Remove(filepath.Join(dir, name))
	}
	m = openRecorded(t, dir)
	until(t, "the rows", func() bool {
		l, err := m.Threads.Thread(background(t), "t")
		return err == nil && l.Terminal.ID == id && l.Terminal.State.Cwd == "/tmp"
	})
	until(t, "the history", func() bool {
		list, err := m.Threads.ThreadCommands(background(t), thread.CommandQuery{Thread: "t"})
		return err == nil && len(list) == 1 && list[0].Status == thread.CommandDone
	})
}

func stopped(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(b), ") ")
	return err == nil && strings.HasPrefix(rest, "T")
}

// TestPauseStopsAndUseResumes is test_pause_and_resume_session.
func TestPauseStopsAndUseResumes(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := openRecorded(t, dir)
	s := defaultShell(t, m, "t")
	run(t, s, "cd /tmp; export K=v")
	e := submit(t, s, shell.Command{Text: "sleep 0.3; echo ran"})
	<-e.Started()
	term, err := m.Terminals.Create("t", wire.CreateTerminal{Cmd: []string{"sh", "-c", "cat; exit"}})
	if err != nil {
		t.Fatal(err)
	}
	bash, program := s.Wire().PID, term.Wire().PID
	l, err := m.Threads.PauseThread(background(t), "t")
	if err != nil || l.Session.Status != thread.Paused || l.Lease.Observed != thread.Frozen {
		t.Fatalf("%+v, %v", l, err)
	}
	if !stopped(bash) || !stopped(program) {
		t.Errorf("shell stopped: %t, program: %t", stopped(bash), stopped(program))
	}
	if _, err := m.Threads.PauseThread(background(t), "t"); err != nil {
		t.Errorf("again: %v", err)
	}
	leave(t, m)
	m = openRecorded(t, dir) // the next server finds it so
	if l := threadID(t, m, "t"); l.Session.Status != thread.Paused || !stopped(bash) {
		t.Errorf("after a restart %+v; stopped: %t", l.Session, stopped(bash))
	}
	if term, err = m.Terminals.Find("t", term.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := term.Input(background(t), []byte("x\n")); err != nil {
		t.Fatal(err)
	}
	if stopped(bash) || stopped(program) {
		t.Errorf("after input: shell stopped: %t, program: %t", stopped(bash), stopped(program))
	}
	s = defaultShell(t, m, "t")
	if out, r := run(t, s, "echo $PWD $K"); out != "/tmp v\n" || r.Recreated {
		t.Errorf("%q, %+v", out, r)
	}
	if _, err := m.Threads.PauseThread(background(t), "t"); err != nil {
		t.Fatal(err)
	}
	if out, r := run(t, s, "echo $K"); out != "v\n" || r.Recreated { // resumes
		t.Errorf("%q, %+v", out, r)
	}
	if l := threadID(t, m, "t"); l.Session.Status != thread.Active || l.Lease.Observed != thread.Running ||
		s.Wire().PID != bash {
		t.Errorf("after a command %+v", l)
	}
	if _, err := m.Threads.PauseThread(background(t), "t"); err != nil {
		t.Fatal(err)
	}
	if l, err := m.Threads.ResumeThread(background(t), "t"); err != nil || l.Session.Status != thread.Active ||
		stopped(bash) || stopped(program) {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestDestroyKeepsTheTerminal is test_destroy_session.
func TestDestroyKeepsTheTerminal(t *testing.T) {
	parallel(t)
	m := openRecorded(t, t.TempDir())
	s := defaultShell(t, m, "t")
	run(t, s, "cd /tmp; (sleep 1000 &)")
	before := threadID(t, m, "t")
	bash := s.Wire().PID
	if l, err := m.Threads.DestroyThread(background(t), "t"); err != nil ||
		l.Session.CloseReason != thread.ReasonDestroyed || l.Lease.Observed != thread.Dead || alive(bash) {
		t.Fatalf("%+v, %v", l, err)
	}
	if _, err := m.Threads.ResumeLease(background(t), before.Lease.ID); !errors.Is(err, thread.ErrTransition) {
		t.Errorf("resume of what is dead: %v", err)
	}
	if out, _ := run(t, s, "pwd"); out != "/tmp\n" {
		t.Errorf("%q", out)
	}
	if l := threadID(t, m, "t"); l.Instance.ID == before.Instance.ID || l.Terminal.ID != before.Terminal.ID ||
		l.Lease.ID != before.Lease.ID {
		t.Errorf("before %+v, after %+v", before, l)
	}
}

func TestRollback(t *testing.T) {
	parallel(t)
	m := openRecorded(t, t.TempDir())
	s := defaultShell(t, m, "t")
	run(t, s, "cd /tmp; export K=old; unset HOME")
	v := threadID(t, m, "t").Terminal.State.Version
	run(t, s, "cd /usr; export K=new L=more HOME=/x")
	back, err := m.Threads.RollbackTerminal(background(t), "t", threadID(t, m, "t").Terminal.ID, v)
	if err != nil || back.Applied != service.AppliedNow || back.Cwd != "/tmp" || back.Version != v+2 {
		t.Fatalf("%+v, %v", back, err)
	}
	if out, _ := run(t, s, `echo "$PWD $K ${L-none} ${HOME-none}"`); out != "/tmp old none none\n" {
		t.Errorf("%q", out)
	}
	l := threadID(t, m, "t")
	if l.Terminal.State.Version != v+2 || l.Terminal.State.Env["K"] != "old" ||
		!slices.Contains(l.Terminal.State.Unset, "HOME") {
		t.Errorf("%+v", l.Terminal.State)
	}
	term, err := m.Terminals.Create("t", wire.CreateTerminal{Cmd: []string{"bash", "--norc"}, Cwd: "/usr"})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the row of the program", func() bool {
		list, err := m.Threads.TerminalHistory(background(t), "t", term.ID)
		return err == nil && len(list) > 0
	})
	if _, err := term.Input(background(t), []byte("cd /tmp\n")); err != nil {
		t.Fatal(err)
	}
	until(t, "its directory", func() bool {
		list, err := m.Threads.TerminalHistory(background(t), "t", term.ID)
		return err == nil && list[0].Cwd == "/tmp"
	})
	if _, err := term.Input(background(t), []byte("exit\n")); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the program", func() bool { return term.Wire().State == terminal.StateExited })
	list, err := m.Threads.TerminalHistory(background(t), "t", term.ID)
	if err != nil || list[0].Cwd != "/tmp" || list[len(list)-1].Cwd != "/usr" {
		t.Fatalf("%+v, %v", list, err)
	}
	if back, err := m.Threads.RollbackTerminal(background(t), "t", term.ID, list[len(list)-1].Version); err != nil ||
		back.Applied != service.AppliedNext {
		t.Fatalf("%+v, %v", back, err)
	}
	if term, err = m.Terminals.Restart(term); err != nil || term.Wire().Cwd != "/usr" {
		t.Errorf("restarted in %v, %v", term, err)
	}
}

func TestEventsAreFollowed(t *testing.T) {
	parallel(t)
	m := openRecorded(t, t.TempDir())
	s := defaultShell(t, m, "t")
	events, err := m.Threads.ThreadEvents("t", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	for range 50 {
		run(t, s, "true")
	}
	var last int64
	for finished := 0; finished < 50; {
		list, err := events.Next(background(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if e.Seq != last+1 {
				t.Errorf("%d follows %d", e.Seq, last)
			}
			if last = e.Seq; e.Type == thread.CommandFinished {
				finished++
			}
		}
	}
	if err := m.Threads.DeleteThread(background(t), "t"); err != nil {
		t.Fatal(err)
	}
	for kind := ""; kind != thread.ThreadDeleted; {
		list, err := events.Next(background(t))
		if err != nil {
			t.Fatal(err)
		}
		kind = list[len(list)-1].Type
	}
	if _, err := events.Next(background(t)); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

var manyThreads = flag.Int("threads", few(20, 8),
	"threads that are used at once in TestManyThreads; 100 is the requirement")

// TestManyThreads is test_simulate_multiple_threads: 100 threads with 20 commands each, fewer
// threads by default.
func TestManyThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and ends many processes, for seconds")
	}
	m := openRecorded(t, t.TempDir())
	threads, commands := *manyThreads, 20
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			id := fmt.Sprint("t", i)
			s, err := m.Shells.Default(id)
			if err != nil {
				t.Errorf("%s: %v", id, err)
				return
			}
			for n := range commands {
				e, err := s.Submit(shell.Command{Text: fmt.Sprintf("export N=%d", n)})
				if err == nil {
					_, err = e.Wait(context.Background())
				}
				if err != nil {
					t.Errorf("%s: %v", id, err)
				}
			}
		})
	}
	all.Wait()
	for i := range threads {
		id := fmt.Sprint("t", i)
		until(t, "all commands of "+id, func() bool {
			list, err := m.Threads.ThreadCommands(background(t), thread.CommandQuery{Thread: id})
			return err == nil && len(list) == commands && list[commands-1].Status == thread.CommandDone
		})
		if l := threadID(t, m, id); l.Terminal.State.Env["N"] != fmt.Sprint(commands-1) {
			t.Errorf("%s: %+v", id, l.Terminal.State)
		}
	}
	if h := m.Health(); len(h.Reasons) > 0 {
		t.Errorf("%v", h.Reasons)
	}
}

// TestWithoutRecords: terminals and shells work, what is durable says why not.
func TestWithoutRecords(t *testing.T) {
	parallel(t)
	m := openWith(t, t.TempDir(), supervisor.Config{Terminals: terminal.Config{Engine: vt10x.New},
		Threads: service.Config{NoStore: thread.ErrDamaged}})
	run(t, defaultShell(t, m, "t"), "true")
	if _, err := m.Threads.Thread(background(t), "t"); !errors.Is(err, service.ErrNoStore) ||
		!errors.Is(err, thread.ErrDamaged) {
		t.Errorf("%v", err)
	}
	if h := m.Health(); len(h.Reasons) != 1 || !strings.Contains(h.Reasons[0], "damaged") {
		t.Errorf("%+v", h)
	}
}

// refusing is a database that takes nothing while full.
type refusing struct {
	*sqlite.Store
	mu   sync.Mutex
	full bool
}

func (r *refusing) set(full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.full = full
}

func (r *refusing) Update(fn func(*sqlite.Tx) error) error {
	r.mu.Lock()
	full := r.full
	r.mu.Unlock()
	if full {
		return thread.ErrNoSpace
	}
	return r.Store.Update(fn)
}

func TestAFullDiskLosesNoCommand(t *testing.T) {
	parallel(t)
	db := &refusing{}
	m := openRecorded(t, t.TempDir(), func(c *supervisor.Config) {
		db.Store = c.Threads.Store.(*sqlite.Store)
		c.Threads.Store = db
	})
	s := defaultShell(t, m, "t")
	run(t, s, "true")
	db.set(true)
	run(t, s, "cd /tmp")
	run(t, defaultShell(t, m, "new"), "cd /usr")
	until(t, "the reason", func() bool { return len(m.Health().Reasons) == 1 })
	db.set(false)
	until(t, "the end of the trouble", func() bool { return len(m.Health().Reasons) == 0 })
	for id, dir := range map[string]string{"t": "/tmp", "new": "/usr"} {
		until(t, "the state of "+id, func() bool {
			l, err := m.Threads.Thread(background(t), id)
			return err == nil && l.Terminal.State.Cwd == dir
		})
	}
	list, err := m.Threads.ThreadCommands(background(t), thread.CommandQuery{Thread: "t"})
	if err != nil || len(list) != 2 || list[1].Status != thread.CommandDone {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestWhatAServerDidNotWriteComesBack: notes that are lost with a server are in the histories of
// shells.
func TestWhatAServerDidNotWriteComesBack(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	db := &refusing{}
	m := openRecorded(t, dir, func(c *supervisor.Config) {
		db.Store = c.Threads.Store.(*sqlite.Store)
		c.Threads.Store = db
	})
	s := defaultShell(t, m, "t")
	run(t, s, "cd /tmp")
	threadID(t, m, "t")
	gate := filepath.Join(dir, "gate")
	running := submit(t, s, shell.Command{Text: "until [ -e '" + gate + "' ]; do sleep 0.02; done; exit 3"})
	until(t, "the row of the command", func() bool {
		list, err := m.Threads.ThreadCommands(background(t), thread.CommandQuery{Thread: "t"})
		return err == nil && len(list) == 2 && list[1].Status == thread.CommandRunning
	})
	db.set(true) // as if it were killed here
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	outcome(t, running)
	run(t, s, "cd /usr; export K=v")
	late := submit(t, s, shell.Command{Text: "sleep 1; exit 4"})
	<-late.Started()
	leave(t, m)
	m = openRecorded(t, dir)
	l := threadID(t, m, "t")
	if l.Terminal.State.Cwd != "/usr" || l.Terminal.State.Env["K"] != "v" {
		t.Errorf("%+v", l.Terminal.State)
	}
	list, err := m.Threads.ThreadCommands(background(t), thread.CommandQuery{Thread: "t"})
	if err != nil || len(list) != 4 || *list[1].ExitCode != 3 || *list[2].ExitCode != 0 || list[3].ID != late.ID() {
		t.Fatalf("%+v, %v", list, err)
	}
	until(t, "the end of the last one", func() bool {
		list, err := m.Threads.ThreadCommands(background(t), thread.CommandQuery{Thread: "t"})
		return err == nil && list[3].Status == thread.CommandDone && *list[3].ExitCode == 4
	})
	if got := kinds(t, m, "t"); slices.Contains(got, thread.TerminalRecreated) {
		t.Errorf("%v", got)
	}
}

// TestPauseCutShort: a server that was killed between the wish to pause and the word that it is
// done leaves processes that stand still, and one that was killed while it resumed leaves some that
// go on. The next server lets all of them go on.
func TestPauseCutShort(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and ends many processes, for seconds")
	}
	parallel(t)
	for name, half := range map[string]struct {
		pause bool
		sql   string
		sig   unix.Signal
	}{
		"pause":  {false, `UPDATE leases SET desired_state = 'paused'`, unix.SIGSTOP},
		"resume": {true, `UPDATE leases SET needs_refresh = 0`, unix.SIGCONT},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			m := openRecorded(t, dir)
			s := defaultShell(t, m, "t")
			run(t, s, "local=kept")
			e := submit(t, s, shell.Command{Text: "while :; do sleep 0.05; done", Background: true,
				Timeout: time.Second})
			<-e.Started()
			if half.pause {
				if _, err := m.Threads.PauseThread(background(t), "t"); err != nil {
					t.Fatal(err)
				}
			}
			bash := s.Wire().PID
			roots := s.Roots()
			leave(t, m)
			members := []proc.Process{}
			for _, p := range roots {
				if tree, ok := proc.TreeOf(p.PID); ok {
					list, err := proc.Members([]proc.Tree{tree})
					if err != nil {
						t.Fatal(err)
					}
					members = append(members, list...)
				}
			}
			for _, p := range members {
				_ = p.Signal(half.sig)
			}
			until(t, "all have the signal", func() bool { return stopped(bash) == (half.sig == unix.SIGSTOP) })
			execSQL(t, dir, half.sql)
			m = openRecorded(t, dir)
			until(t, "all go on", func() bool { return !stopped(bash) })
			s = defaultShell(t, m, "t")
			e, err := s.Shell.Command(e.ID())
			if err != nil {
				t.Fatal(err)
			}
			if r, err := e.Wait(background(t)); err != nil || !r.TimedOut { // its time goes on without anybody's help
				t.Errorf("%+v, %v", r, err)
			}
			if out, r := run(t, s, "echo $local"); out != "kept\n" || r.Recreated || s.Wire().PID != bash {
				t.Errorf("%q, %+v", out, r)
			}
			if l := threadID(t, m, "t"); l.Session.Status != thread.Active || l.Lease.Observed != thread.Running ||
				l.Lease.Desired != thread.WantRunning {
				t.Errorf("%+v", l)
			}
		})
	}
}

// execSQL changes the records of a directory that no server has open.
func execSQL(t *testing.T, dir, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "evertty.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		t.Fatal(err)
	}
}
