package pty_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/tests/polling"
)

// tokens number the tests' processes: a duration for sleep that nobody else uses.
var tokens atomic.Int64

func token() string {
	return fmt.Sprintf("%d.%d", 100_000+os.Getpid(), tokens.Add(1))
}

// withToken returns the living processes that have a word in their command line (a NUL, and a NUL after each argument).
func withToken(word string) []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		pid, _ := strconv.Atoi(strings.Split(f, "/")[2])
		line, err := os.ReadFile(f) // empty for zombies
		if err == nil && pid != os.Getpid() && bytes.Contains(append([]byte{0}, line...), []byte(word)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// expectProcesses waits until exactly n processes have the word.
func expectProcesses(t *testing.T, word string, n int) {
	t.Helper()
	if !polling.Until(patience, func() bool { return len(withToken(word)) == n }) {
		t.Fatalf("%d processes instead of %d: %v", len(withToken(word)), n, withToken(word))
	}
}

// now is a context that has ended: Kill then does not wait before SIGKILL.
func now() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestKillTree(t *testing.T) {
	for _, c := range []struct {
		name  string
		shell []string
		lines string // %s is the token
		count int
		limit time.Duration // of the grace, when the tree does not die by SIGHUP
	}{
		{"one child", []string{"sh", "-c"}, "exec sleep %s", 1, 0},
		{"jobs of a shell", []string{"bash", "--norc", "-i"}, "sleep %[1]s & sleep %[1]s & sleep %[1]s\n", 3, 0},
		{"setsid", []string{"bash", "--norc", "-i"}, "setsid sleep %[1]s & sleep %[1]s\n", 2, 0},
		{"setsid with files elsewhere", []string{"bash", "-c"}, "setsid sleep %[1]s </dev/null >/dev/null 2>&1 & wait",
			1, 0},
		{"sessions below sessions", []string{"bash", "-c"},
			"setsid sh -c 'setsid sh -c \"sleep %[1]s & sleep %[1]s\" & wait' & wait", 2, 0},
		{"nohup", []string{"bash", "--norc", "-i"}, "nohup sleep %[1]s & nohup sh -c 'setsid sleep %[1]s & wait' &\n",
			2, 100 * time.Millisecond},
		{"ignoring SIGHUP", []string{"sh", "-c"}, "trap '' HUP TERM INT; sh -c 'sleep %[1]s; :' & sleep %[1]s; :", 2,
			100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			word := token()
			lines := fmt.Sprintf(c.lines, word)
			var s *screen
			if c.shell[len(c.shell)-1] == "-c" {
				s = run(t, append(c.shell, lines)...)
			} else {
				s = run(t, c.shell...)
				s.send(lines)
			}
			expectProcesses(t, sleeping(word), c.count)
			ctx := context.Background()
			if c.limit > 0 {
				ctx = limited(t, c.limit)
			}
			if err := s.Kill(ctx); err != nil {
				t.Error(err)
			}
			if left := withToken(word); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			s.exit()
		})
	}
}

// sleeping is the command line of "sleep TOKEN". Before a process shows it, it is a copy of its shell, which may
// swallow signals.
func sleeping(word string) string { return "\x00sleep\x00" + word + "\x00" }

// Stopped processes are woken, so that SIGHUP ends them and nobody has to wait for SIGKILL.
func TestKillStopped(t *testing.T) {
	for tries := 1; ; tries++ {
		took := killStopped(t)
		if took < proc.KillGrace {
			return
		}
		if tries == 5 { // a busy machine may take long once
			t.Fatalf("took %v", took)
		}
	}
}

// killStopped is the time that Kill of a stopped process takes.
func killStopped(t *testing.T) time.Duration {
	word := token()
	s := run(t, "sh", "-c", "sleep "+word+"; :")
	expectProcesses(t, sleeping(word), 1)
	pid := withToken(sleeping(word))[0]
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if !polling.Until(patience, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && bytes.Contains(stat, []byte(") T "))
	}) {
		t.Fatal("it does not stop")
	}
	began := time.Now()
	if err := s.Kill(context.Background()); err != nil {
		t.Error(err)
	}
	return time.Since(began)
}

// Without hurry a tree that ignores SIGHUP gets its grace, and what it says meanwhile is read.
func TestKillGrace(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for programs that do not end when they are told")
	}
	t.Parallel()
	word := token()
	s := run(t, "bash", "-c", "trap 'echo caught' HUP; echo ready; while :; do sleep "+word+"; done")
	s.expect("ready")
	expectProcesses(t, sleeping(word), 1)
	began := time.Now()
	if err := s.Kill(context.Background()); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < proc.KillGrace || took > proc.KillGrace+patience {
		t.Errorf("took %v", took)
	}
	if got, want := s.exit(), (pty.Exit{Code: 137, Signal: "KILL"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	s.expect("caught")
	if left := withToken(word); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A tree that forks all the time, into new sessions too, is caught.
func TestKillForking(t *testing.T) {
	word := token()
	s := run(t, "bash", "-c", "trap '' HUP; echo ready; while :; do "+
		"setsid bash -c 'trap \"\" HUP; sleep 0.2; (sleep 0.3; :) & sleep 0.1' "+word+" & sleep 0.01; done")
	s.expect("ready")
	if !polling.Until(patience, func() bool { return len(withToken(word)) > 10 }) {
		t.Fatal("it does not fork")
	}
	if err := s.Kill(limited(t, 50*time.Millisecond)); err != nil {
		t.Error(err)
	}
	if left := withToken(word); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// What a child leaves behind in its session dies too, long after the child was reaped.
func TestKillAfterExit(t *testing.T) {
	word := token()
	s := run(t, "bash", "-c", "trap '' HUP; sleep "+word+" </dev/null >/dev/null 2>&1 & exit 0")
	s.exit()
	expectProcesses(t, word, 1)
	if err := s.Kill(now()); err != nil {
		t.Error(err)
	}
	if left := withToken(word); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A daemon that let go of its parent, its session and its terminal was meant to stay, as the servers of tmux and of
// agents are.
func TestKillSparesDaemons(t *testing.T) {
	word := token()
	s := run(t, "bash", "-c", "(setsid sleep "+word+" </dev/null >/dev/null 2>&1 &); echo ready; exec sleep 1000")
	s.expect("ready")
	expectProcesses(t, word, 1)
	daemon := withToken(word)[0]
	defer syscall.Kill(daemon, syscall.SIGKILL)
	if !polling.Until(patience, func() bool { sid, err := unix.Getsid(daemon); return err == nil && sid == daemon }) {
		t.Fatal("it stays in the session")
	}
	if err := s.Kill(now()); err != nil {
		t.Error(err)
	}
	expectProcesses(t, word, 1)
}

// Neighbours are left alone: other terminals, and children of this process without a terminal.
func TestKillSparesOthers(t *testing.T) {
	word := token()
	other := run(t, "bash", "-c", "setsid sleep "+word+" & wait")
	expectProcesses(t, word, 2)
	s := run(t, "sleep", "1000")
	for range 2 {
		if err := s.Kill(now()); err != nil {
			t.Error(err)
		}
	}
	expectProcesses(t, word, 2)
	if err := other.Kill(context.Background()); err != nil {
		t.Error(err)
	}
	expectProcesses(t, word, 0)
}
