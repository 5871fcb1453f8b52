package shell

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
	"github.com/evertty/evertty/pty/keeper"
)

// daemonText is a command that leaves a process behind which has nothing of its shell: no environment, a session of its
// own, no parent but the keeper, none of its files, no ear for SIGHUP. It writes its number to a file.
func daemonText(file string) string {
	return "( (trap '' HUP; cd /; exec env -i PATH=\"$PATH\" setsid bash -c " +
		state.Quote("echo $$ >"+state.Quote(file+".part")+"; mv "+state.Quote(file+".part")+" "+state.Quote(file)+
			"; exec sleep 1000") +
		" <&- >&- 2>&- &) & )"
}

// appeared is the number of the process that a daemonText has left, which really has nothing of the shell.
func appeared(t testing.TB, s *Shell, file string) string {
	t.Helper()
	var text []byte
	if !poll(func() (ok bool) { text, _ = os.ReadFile(file); return len(text) > 0 }) {
		t.Fatal("no daemon")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	})
	var p proc.Process
	if !poll(func() (ok bool) { // exec and the end of its parents are still to come
		p, ok = proc.Find(pid)
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return !ok || p.Parent == s.config.Keeper.PID() && strings.HasPrefix(string(line), "sleep")
	}) || p.PID == 0 {
		t.Fatalf("it is %+v", p)
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || strings.Contains(string(env), proctree.TagVariable) || proctree.Sessions(s.spec.Dir)[p.Session] ||
		proctree.HasFileIn(p, s.spec.Dir) {
		t.Errorf("the daemon is not hidden: %+v, %q, %v", p, env, err)
	}
	return strconv.Itoa(pid)
}

// daemon leaves such a process behind.
func daemon(t testing.TB, s *Shell) (pid string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pid")
	run(t, s, daemonText(file))
	return appeared(t, s, file)
}

// TestSweep is row 44 for processes that have left everything: those of every kind of command and of every end of a
// process of the shell. Until then they are left alone.
func TestSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	s := start(t)
	var pids []string
	for _, c := range []Command{{}, {Background: true}, {Isolated: true}} {
		file := filepath.Join(t.TempDir(), "pid")
		if c.Text = daemonText(file); c.Isolated {
			c.Text, c.Argv = "", []string{"bash", "-c", c.Text}
		}
		do(t, s, c)
		pids = append(pids, appeared(t, s, file))
	}
	for _, end := range []string{"exit 3", "kill -9 $$", "kill -9 $PPID; kill -9 $$", "exec true", "set -e; false"} {
		run(t, s, end)
		pids = append(pids, daemon(t, s))
	}
	timed(t, s, "sleep 1000", false)
	timed(t, s, "trap '' INT; while :; do :; done", true)
	if err := s.Settled(limited(t)); err != nil {
		t.Fatal(err)
	}
	if s.Retire(0) {
		t.Error("it was retired with daemons")
	}
	if dead := slices.DeleteFunc(slices.Clone(pids), processRuns); len(dead) > 0 {
		t.Errorf("%v of %v are dead", dead, pids)
	}
	remove(t, s)
	if left := slices.DeleteFunc(pids, func(pid string) bool { return !processRuns(pid) }); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// TestSweepStopped: Stop ends them too, and the shell comes back.
func TestSweepStopped(t *testing.T) {
	t.Parallel()
	s, other := start(t), start(t)
	pid, spared := daemon(t, s), daemon(t, other)
	if err := s.Stop(limited(t), ""); err != nil {
		t.Fatal(err)
	}
	if processRuns(pid) || !processRuns(spared) {
		t.Errorf("%s runs: %v; %s of another shell runs: %v", pid, processRuns(pid), spared, processRuns(spared))
	}
	if r := run(t, s, "true"); !r.Recreated {
		t.Errorf("%+v", r)
	}
}

// TestSweepOverServers: daemons are found by a later server, behind a keeper of another release and behind another
// keeper.
func TestSweepOverServers(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	var client *keeper.Client
	var s *Shell
	log := slog.New(slog.DiscardHandler)
	join := func(release string) {
		t.Helper()
		var err error
		if client, err = connectAs(data, release); err != nil {
			t.Fatal(err)
		}
		if s, err = bring(client, data, log); err != nil {
			t.Fatal(err)
		}
	}
	join("test")
	pids := []string{daemon(t, s)}
	for _, release := range []string{"test", "next", "after"} {
		s.Detach()
		_ = client.Close()
		join(release)
		pids = append(pids, daemon(t, s))
	}
	old := client.PID()
	_ = unix.Kill(old, unix.SIGKILL)
	if !poll(func() bool { return client.PID() != old && client.PID() != 0 }) {
		t.Fatal("no other keeper")
	}
	defer mustEndKeeper(t, client)
	run(t, s, "kill -9 $$")
	pids = append(pids, daemon(t, s))
	if dead := slices.DeleteFunc(slices.Clone(pids), processRuns); len(dead) > 0 {
		t.Errorf("%v of %v are dead", dead, pids)
	}
	remove(t, s)
	if left := slices.DeleteFunc(pids, func(pid string) bool { return !processRuns(pid) }); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// TestSweepWithoutShell: of a shell whose files are damaged the directory is enough.
func TestSweepWithoutShell(t *testing.T) {
	t.Parallel()
	s := start(t)
	pid := daemon(t, s)
	now, cancel := context.WithCancel(limited(t))
	cancel() // no grace
	if err := proctree.Sweep(now, s.spec.Dir, testKeeper.LastPID()); err != nil || processRuns(pid) {
		t.Errorf("%v, runs %v", err, processRuns(pid))
	}
}

// TestSweepSparesTheKeeper: it has the tag of what it is just starting, and all programs would end with it.
func TestSweepSparesTheKeeper(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	s := start(t)
	before := testKeeper.PID()
	stop, over := make(chan struct{}), make(chan struct{})
	now, cancel := context.WithCancel(limited(t))
	cancel() // no grace
	go func() {
		defer close(over)
		for !shelldir.Closed(stop) {
			_ = proctree.Sweep(now, s.spec.Dir, testKeeper.LastPID()) // some survive: they come all the time
		}
	}()
	for range 200 {
		if e, err := s.Submit(Command{Argv: []string{"true"}, Isolated: true}); err == nil {
			_, _ = e.Wait(limited(t)) // killed or not
		}
	}
	close(stop)
	<-over
	if after := testKeeper.PID(); after != before {
		t.Errorf("the keeper was process %d and is %d", before, after)
	}
	expect(t, run(t, s, "echo on"), 0, "on\n")
}

// TestSweepForking: a daemon that is another process every other millisecond is ended too.
func TestSweepForking(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"sleep 0.002; ", ""} {
		s := start(t)
		seen, stop := filepath.Join(t.TempDir(), "seen"), filepath.Join(t.TempDir(), "stop")
		script := "f() { echo >>" + state.Quote(seen) + "; if [ ! -e " + state.Quote(stop) + " ]; then " + step +
			"f & fi; }; f"
		run(t, s, "( (trap '' HUP; cd /; exec env -i PATH=\"$PATH\" setsid bash -c "+state.Quote(script)+
			" <&- >&- 2>&- &) & )")
		size := func() int64 {
			i, err := os.Stat(seen)
			if err != nil {
				return 0
			}
			return i.Size()
		}
		if !poll(func() bool { return size() > 50 }) {
			t.Error("it does not run")
		}
		remove(t, s)
		before := size()
		for range 20 {
			if left, err := proctree.Belonging(s.spec.Dir, testKeeper.LastPID()); err != nil || len(left) > 0 {
				t.Errorf("left are %v, %v", left, err)
				break
			}
		}
		if after := size(); after != before {
			t.Errorf("%q goes on: it was %d processes, now %d", step, before, after)
		}
		if err := os.WriteFile(stop, nil, 0o600); err != nil { // whatever has happened
			t.Fatal(err)
		}
	}
}

// TestTag: shells have tags of their own, which are limits that no one else sets and bash can show.
func TestTag(t *testing.T) {
	t.Parallel()
	a, b := proc.TagOf("/a"), proc.TagOf("/b")
	if a == b || a != proc.TagOf("/a") || a < 1<<61 || a >= 1<<62 {
		t.Errorf("%#x and %#x", a, b)
	}
	s := start(t)
	tag := proc.Tag(s.Stats().PID)
	expect(t, run(t, s, "ulimit -x; bash -c 'ulimit -x'"), 0, strings.Repeat(fmt.Sprintln(tag), 2))
	if own := proc.Tag(s.config.Keeper.PID()); !proc.IsTag(tag) || own == tag {
		t.Error("the keeper has the tag of a shell")
	}
	run(t, s, "kill -9 $$")
	if r := run(t, s, "true"); len(r.Lost) > 0 {
		t.Errorf("lost %v", r.Lost)
	}
}
