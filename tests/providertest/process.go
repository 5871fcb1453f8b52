package providertest

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/evertty/evertty/tests/polling"
)

var sleeps atomic.Int64

// Seconds is a duration for sleep(1) that no other process has.
func Seconds() string { return fmt.Sprintf("%d.%d", 200_000+os.Getpid(), sleeps.Add(1)) }

// Sleeping is the states (R, S, T …) of the processes that sleep for so long.
func Sleeping(t *testing.T, seconds string) string {
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

// Becomes waits until a condition is true.
func Becomes(t *testing.T, what string, condition func() bool) {
	t.Helper()
	if !polling.Until(Limit, condition) {
		t.Fatal("it did not come to that: " + what)
	}
}

// KillSleep kills the processes that sleep for the given seconds on this machine.
func KillSleep(t *testing.T, seconds string) {
	t.Helper()
	out, _ := exec.Command("ps", "-eo", "pid=,args=").Output()
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && f[1] == "sleep" && f[2] == seconds {
			pid, _ := strconv.Atoi(f[0])
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
