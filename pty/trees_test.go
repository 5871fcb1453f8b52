package pty_test

import (
	"context"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/tests/polling"
)

// treeOf starts bash with lines in a session of its own, without a terminal, and returns its tree. It is ended with the
// test.
func treeOf(t *testing.T, lines string) (*exec.Cmd, proc.Tree) {
	t.Helper()
	c := exec.Command("bash", "-c", lines)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	tree, ok := proc.TreeOf(c.Process.Pid)
	if !ok {
		t.Fatal("a process that was not reaped has no tree")
	}
	t.Cleanup(func() {
		_ = proc.KillTrees(now(), []proc.Tree{tree})
		_ = c.Wait()
	})
	return c, tree
}

// states counts the living members that are stopped, and all.
func states(t *testing.T, trees ...proc.Tree) (stopped, all int) {
	t.Helper()
	members, err := proc.Members(trees)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range members {
		if p.Stopped {
			stopped++
		}
	}
	return stopped, len(members)
}

func TestFreezeAndThawWholeTrees(t *testing.T) {
	word := token()
	_, one := treeOf(t, "setsid sleep "+word+" & (sleep "+word+" &) ; set -m; sleep "+word+" & wait")
	_, two := treeOf(t, "sleep "+word+"; :")
	trees := []proc.Tree{one, two}
	expectProcesses(t, "\x00"+word+"\x00", 4)
	frozen, err := proc.Stop(context.Background(), trees)
	if err != nil {
		t.Fatal(err)
	}
	if !polling.Until(patience, func() bool { n, all := states(t, trees...); return n == 6 && all == 6 }) {
		n, all := states(t, trees...)
		t.Fatalf("%d of %d are stopped, not 6 of 6", n, all)
	}
	if again, err := proc.Stop(context.Background(), trees); err != nil || len(again) != 0 {
		t.Fatalf("a second freeze stopped %v, %v", again, err)
	}
	if err := proc.Continue(frozen); err != nil {
		t.Fatal(err)
	}
	if !polling.Until(patience, func() bool { n, _ := states(t, trees...); return n == 0 }) {
		t.Fatal("some are stopped after thaw")
	}
	if err := proc.KillTrees(now(), trees); err != nil {
		t.Fatal(err)
	}
	expectProcesses(t, "\x00"+word+"\x00", 0)
}

// What was stopped by hand stays stopped, and a shell with job control does not take its job for suspended.
func TestFreezeKeepsWhatIsStopped(t *testing.T) {
	word := token()
	c, tree := treeOf(t, "set -m; sleep "+word+"m & kill -STOP $!; sleep "+word+"h; exit 7")
	expectProcesses(t, "\x00"+word+"h\x00", 1)
	if !polling.Until(patience, func() bool { n, _ := states(t, tree); return n == 1 }) {
		t.Fatal("the job is not stopped")
	}
	for range 5 {
		frozen, err := proc.Stop(context.Background(), []proc.Tree{tree})
		if err != nil || len(frozen) != 2 {
			t.Fatalf("stopped %v, %v", frozen, err)
		}
		if err := proc.Continue(frozen); err != nil {
			t.Fatal(err)
		}
	}
	if !polling.Until(patience, func() bool { n, all := states(t, tree); return n == 1 && all == 3 }) {
		t.Fatal("another number is stopped after thaw than before")
	}
	for _, pid := range withToken("\x00" + word + "h\x00") {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	if err := c.Wait(); c.ProcessState == nil || c.ProcessState.ExitCode() != 7 {
		t.Fatalf("the shell did not wait for its job: %v", err)
	}
}

// The root is gone and reaped: what it left behind is found by its session, and strangers are not.
func TestTreeWithoutRoot(t *testing.T) {
	word := token()
	c, tree := treeOf(t, "sleep "+word+" & exit 0")
	_ = c.Wait()
	tree = tree.Reaped()
	expectProcesses(t, "\x00"+word+"\x00", 1)
	if _, all := states(t, tree); all != 1 {
		t.Fatalf("%d members", all)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := proc.KillTrees(ctx, []proc.Tree{tree}); err != nil {
		t.Fatal(err)
	}
	expectProcesses(t, "\x00"+word+"\x00", 0)
	if _, all := states(t, tree); all != 0 {
		t.Fatalf("%d members after kill", all)
	}
}
