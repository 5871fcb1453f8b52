package proc

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/evertty/evertty/tests/polling"
)

// TestUsageOf: a tree is counted with what left its parent but not its session, with time and memory, and another root
// in it has its own.
func TestUsageOf(t *testing.T) {
	t.Parallel()
	c := exec.Command("bash", "-c", `(sleep 1000 & echo $!); bash -c 'sleep 1000 & echo $!; wait' &
		while ((n++ < 300000)); do :; done; echo done; wait`)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
	})
	var pids []int
	for lines := bufio.NewScanner(out); len(pids) < 3 && lines.Scan(); {
		pid, err := strconv.Atoi(strings.Replace(lines.Text(), "done", "0", 1))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	inner, ok := Find(pids[1])
	if !ok {
		inner, ok = Find(pids[2])
	}
	if !ok {
		t.Fatalf("none of %v is there", pids)
	}
	var list []Usage
	if !polling.Until(patience, func() bool {
		list, err = UsageOf([]int{c.Process.Pid, inner.Parent, 1 << 30})
		return err != nil || list[0].CPU > 0
	}) || err != nil {
		t.Fatalf("%v %v", list, err)
	}
	outer, within, none := list[0], list[1], list[2]
	if outer.Processes != 2 || within.Processes != 2 || none != (Usage{}) {
		t.Errorf("got %+v, want 2 processes in the outer and 2 in the inner tree", list)
	}
	if outer.Memory < 1<<20 || within.Memory < 1<<20 {
		t.Errorf("got %+v, want more than a mebibyte in both", list)
	}
}
