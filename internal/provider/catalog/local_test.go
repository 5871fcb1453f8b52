package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/tests/polling"

	"github.com/evertty/evertty/internal/provider/local"
)

func onThisMachine(t *testing.T) provider.Provider {
	return local.New(local.Config{Dir: t.TempDir()})
}

// seconds is a duration for sleep that no other process has.
var sleeps atomic.Int64

func seconds() string { return fmt.Sprintf("%d.%d", 200_000+os.Getpid(), sleeps.Add(1)) }

// sleeping is the states (R, S, T …) of the processes that sleep for so long.
func sleeping(t *testing.T, seconds string) string {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "stat=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var states strings.Builder
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && f[1] == "sleep" && f[2] == seconds {
			states.WriteByte(f[0][0])
		}
	}
	return states.String()
}

// becomes waits until a fact is true.
func becomes(t *testing.T, what string, fact func() bool) {
	t.Helper()
	if !poll(fact) {
		t.Fatal("it did not come to that: " + what)
	}
}

// poll looks until a fact is true, and tells whether it came to that within limit.
func poll(fact func() bool) bool { return polling.Until(limit, fact) }

// What others have started belongs to an instance as Lookup tells, also to a server that did not create it.
func TestLocalMembers(t *testing.T) {
	word := seconds()
	c := exec.Command("bash", "-c", "sleep "+word+" & (setsid sleep "+word+" & wait) & wait")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() { waited <- c.Wait() }()
	lookup := func(id string) (local.Known, bool) {
		return local.Known{PIDs: []int{c.Process.Pid}, State: provider.Unknown}, id == "lease"
	}
	ctx := within(t)
	open := func() *local.Provider {
		return local.New(local.Config{Lookup: lookup, Dir: t.TempDir()})
	}
	one := open()
	is := func(l *local.Provider, want provider.State) {
		t.Helper()
		if st, err := l.Status(ctx, "lease"); st != want || err != nil {
			t.Fatalf("%s, %v; want %s", st, err, want)
		}
	}
	becomes(t, "two sleep", func() bool { return sleeping(t, word) == "SS" })
	is(one, provider.Running)
	if err := one.Pause(ctx, "lease"); err != nil {
		t.Fatal(err)
	}
	if s := sleeping(t, word); s != "TT" {
		t.Fatalf("states after pause: %q", s)
	}
	two := open() // as after a restart of the server
	is(two, provider.Paused)
	if err := two.Resume(ctx, "lease"); err != nil {
		t.Fatal(err)
	}
	becomes(t, "two sleep again", func() bool { return sleeping(t, word) == "SS" })
	is(two, provider.Running)
	// While everything stands still it can be destroyed all the same.
	if err := two.Pause(ctx, "lease"); err != nil {
		t.Fatal(err)
	}
	if err := two.Destroy(ctx, "lease"); err != nil {
		t.Fatal(err)
	}
	if s := sleeping(t, word); s != "" {
		t.Fatalf("states after destroy: %q", s)
	}
	<-waited
}

// Commands, terminals and what they leave in the background are paused and destroyed with the instance.
func TestLocalOwnProcesses(t *testing.T) {
	p := onThisMachine(t)
	s := rent(t, p)
	left, running := seconds(), seconds()
	s.sh(t, "sleep "+left+" >/dev/null 2>&1 & (setsid sleep "+left+" >/dev/null 2>&1 &) ; echo on", "on\n", 0)
	term, err := s.OpenPTY(within(t), s.id, provider.PTYRequest{Argv: []string{"sleep", running}, Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, term)
	}()
	becomes(t, "all sleep", func() bool { return len(sleeping(t, left)+sleeping(t, running)) == 3 })
	if err := s.Pause(within(t), s.id); err != nil {
		t.Fatal(err)
	}
	if a, b := sleeping(t, left), sleeping(t, running); !strings.Contains(a, "T") || b != "T" {
		t.Fatalf("states after pause: %q %q", a, b)
	}
	if err := s.Destroy(within(t), s.id); err != nil {
		t.Fatal(err)
	}
	if b := sleeping(t, running); b != "" {
		t.Fatalf("state of the terminal after destroy: %q", b)
	}
	<-read
	if code, known := term.Exit(); !known || code != 128+int(syscall.SIGHUP) {
		t.Fatalf("exit %d, %v", code, known)
	}
	// The one that opened a session of its own and lost its parent is nobody's: README of limits, see Tree.
	killSleep(t, left)
}

func killSleep(t *testing.T, seconds string) {
	t.Helper()
	out, _ := exec.Command("ps", "-eo", "pid=,args=").Output()
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && f[1] == "sleep" && f[2] == seconds {
			pid, _ := strconv.Atoi(f[0])
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// A command may be longer than the kernel lets an argument be, and ps does not show it.
func TestLocalLongCommand(t *testing.T) {
	s := rent(t, onThisMachine(t))
	long := strings.Repeat("x", 300_000)
	var out bytes.Buffer
	res, err := s.Exec(within(t), s.id, provider.ExecRequest{Command: "v='" + long +
		"'; echo ${#v}; ls -l /proc/self/fd | grep -c /tmp; tr '\\0' ' ' </proc/$$/cmdline"}, &out, io.Discard)
	if err != nil || res.ExitCode != 0 {
		t.Fatal(res, err)
	}
	if lines := strings.Split(out.String(), "\n"); lines[0] != "300000" || lines[1] != "0" ||
		strings.Contains(lines[2], "xxx") {
		t.Fatalf("%.300q", out.String())
	}
}

func TestLocalCancelledBefore(t *testing.T) {
	s := rent(t, onThisMachine(t))
	ctx, cancel := context.WithCancel(within(t))
	cancel()
	_, err := s.Exec(ctx, s.id, provider.ExecRequest{Command: "true"}, io.Discard, io.Discard)
	if !errors.Is(err, provider.ErrNotStarted) || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}
