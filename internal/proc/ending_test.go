package proc

import (
	"os"
	"os/exec"
	"testing"
)

// TestIsEnding: a process that was killed is ending until it is reaped, and after that.
func TestIsEnding(t *testing.T) {
	c := exec.Command("sleep", "100")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if IsEnding(os.Getpid()) || IsEnding(c.Process.Pid) {
		t.Error("a process that runs is ending")
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if !IsEnding(c.Process.Pid) {
		t.Error("a process that was killed is not ending")
	}
	_ = c.Wait() // it was killed
	if !IsEnding(c.Process.Pid) {
		t.Error("a process that has gone is not ending")
	}
}
