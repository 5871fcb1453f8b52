package shell

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
)

// TestBackgroundPID: the process that a command in the background is told to be is its own from the first word on.
// Killed from outside it ends with its code, and with what it waited for; the shell lives on.
func TestBackgroundPID(t *testing.T) {
	t.Parallel()
	s := start(t)
	run(t, s, "V=kept")
	for name, c := range map[string]struct {
		signal unix.Signal
		code   int
	}{"TERM": {unix.SIGTERM, 143}, "KILL": {unix.SIGKILL, 137}, "INT": {unix.SIGINT, 130}} {
		e, err := s.Submit(Command{Text: "sleep 1000; echo NOT", Background: true})
		if err != nil {
			t.Fatal(err)
		}
		<-e.Started()
		pid, bash := e.Info().PID, s.Stats().PID
		if pid <= 0 || pid == bash {
			t.Fatalf("%s: process %d of the command, %d of the shell", name, pid, bash)
		}
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err != nil ||
			!strings.Contains(string(stat), "bash") {
			t.Errorf("%s: %q, %v", name, stat, err)
		}
		if c.signal == unix.SIGINT { // a shell that waits leaves that to its child
			e.Cancel()
		} else if err := unix.Kill(pid, c.signal); err != nil {
			t.Fatal(err)
		}
		if r := result(t, e); r.ExitCode != c.code || r.out != "" || r.Background {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := run(t, s, "echo $V"); r.out != "kept\n" || r.Recreated {
		t.Errorf("%+v", r)
	}
}

// TestBackgroundEndsStubborn: the answer to a cancel comes when what does not end on SIGTERM has ended, too.
func TestBackgroundEndsStubborn(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	s := start(t)
	e, err := s.Submit(Command{Text: "( trap '' TERM; echo ready; sleep 1000 ) & sleep 1000", Background: true})
	if err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { return e.Size(Stdout) > 0 }) {
		t.Fatal("the command does not begin")
	}
	e.Cancel()
	if r := result(t, e); !r.Cancelled || r.Background {
		t.Errorf("%+v", r)
	}
	if list := proctree.LivingTree(proc.Process{}, e.dir); len(list) > 0 {
		t.Errorf("left: %v", list)
	}
}

// TestBackgroundLeavesJobs: a command in the background that comes to its end, or to an exit of its own, leaves what it
// has started alone, whatever its code.
func TestBackgroundLeavesJobs(t *testing.T) {
	t.Parallel()
	s := start(t)
	for text, code := range map[string]int{"sleep 1000 & (exit 143)": 143, "sleep 1000 & exit 3": 3,
		"sleep 1000 & true": 0, "trap 'echo bye' EXIT; (exit 7)": 7} {
		r := do(t, s, Command{Text: text, Background: true})
		if r.ExitCode != code || r.Background != strings.Contains(text, "&") ||
			strings.Contains(text, "bye") && r.out != "bye\n" {
			t.Errorf("%s: %+v", text, r)
		}
	}
}
