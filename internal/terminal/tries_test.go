package terminal_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/evertty/evertty/tests/supervisortest"
)

// dieEnv names the data directory of a server that is killed in the middle of a replay.
const dieEnv = "EVERTTY_TEST_DIE_IN"

// TestDieInReplay is the process of a server that ends where the emulator gets "deadly": as one that the
// kernel kills when memory is short. It does nothing unless TestAReplayThatEndsTheServer starts it.
func TestDieInReplay(t *testing.T) {
	dir := os.Getenv(dieEnv)
	if dir == "" {
		return
	}
	openMarked(t, dir, "deadly\r\n", func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	select {}
}

// dieInReplay starts a server that is killed while it makes a screen.
func dieInReplay(t *testing.T, dir string) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestDieInReplay$", "-test.timeout=60s")
	c.Env = append(os.Environ(), dieEnv+"="+dir)
	out, _ := c.CombinedOutput()
	if s, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		t.Fatalf("the server was not killed in its replay: %v\n%s", c.ProcessState, out)
	}
}

// TestAReplayThatEndsTheServer: two kills in the same replay cost nothing. After three the screen is the
// snapshot, the damage says so, and program and other terminals go on.
func TestAReplayThatEndsTheServer(t *testing.T) {
	dir := t.TempDir()
	m := openMarked(t, dir, "\x00", func() {})
	bad, good := start(t, m, "sh", "-c", "echo de''adly; exec cat"), start(t, m, "sh", "-c", "echo fine; exec cat")
	see(t, bad, "deadly")
	see(t, good, "fine")
	leaveTail(t, m, dir)

	for range 2 { // what has ended well counts no more
		dieInReplay(t, dir)
		dieInReplay(t, dir)
		m = openMarked(t, dir, "\x00", func() {})
		b := findIn(t, m, bad.ID)
		if got := textOf(b); !strings.HasPrefix(got, "deadly\n") || b.Wire().Damage != "" {
			t.Errorf("after two kills %q with damage %q", got, b.Wire().Damage)
		}
		leaveTail(t, m, dir)
	}
	for range 3 {
		dieInReplay(t, dir)
	}
	m = openMarked(t, dir, "deadly\r\n", func() { panic("replayed once more") })
	goesOnWithout(t, m, bad.ID, "deadly", "the server ended 3 times", good.ID)
	supervisortest.Leave(t, m)
	left, err := os.ReadFile(filepath.Join(dir, "tries"))
	if left = bytes.Trim(left, "\x00"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	m = openMarked(t, dir, "\x00", func() {})
	if got := textOf(findIn(t, m, bad.ID)); !strings.HasPrefix(got, "goes on\n") {
		t.Errorf("the next start shows %q", got)
	}
}
