package pty_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/tests/polling"
)

// TestBrand: what a plan starts has its brand, and nothing else has.
func TestBrand(t *testing.T) {
	reexec(t, "brand", nil)
}

// brandMode is a process that starts one program after the other.
func brandMode() error {
	own := pty.Brand(os.Getpid())
	for _, brand := range []uint64{0, 1, 4711, 1<<63 - 1, 0, math.MaxUint64 - 1} {
		if err := startBranded(brand, cmp.Or(brand, own)); err != nil {
			return err
		}
	}
	// Where the hard limit is lower things start all the same.
	if err := unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: 5, Max: 10}); err != nil {
		return err
	}
	return startBranded(11, 5)
}

// startBranded starts a program with a brand and looks at what it has, and at that of this process, which stays.
func startBranded(brand, want uint64) error {
	own := pty.Brand(os.Getpid())
	plan, err := pty.Spec{Argv: []string{"cat"}}.Plan()
	if err != nil {
		return err
	}
	plan.Brand = brand
	r, w, err := os.Pipe() // cat waits
	if err != nil {
		return err
	}
	pid, pidfd, err := plan.Exec([3]int{int(r.Fd()), int(r.Fd()), 2}, false)
	if err != nil {
		return err
	}
	if got, now := pty.Brand(pid), pty.Brand(os.Getpid()); got != want || now != own {
		err = fmt.Errorf("started with %d it has %d, not %d; this process has %d after %d", brand, got, want, now, own)
	}
	err = errors.Join(err, w.Close(), r.Close(), unix.Close(pidfd))
	_, waitErr := unix.Wait4(pid, nil, 0, nil)
	return errors.Join(err, waitErr)
}

// TestBrandOf: bash shows the brand, hands it on, and can be told by it.
func TestBrandOf(t *testing.T) {
	c := exec.Command("bash", "-c", "ulimit -S -x 9223372036854775806 && cat")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := &strings.Builder{}
	c.Stdout = out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if !polling.Until(patience, func() bool { return pty.Brand(c.Process.Pid) == 1<<63-2 }) {
		t.Errorf("the brand is %d", pty.Brand(c.Process.Pid))
	}
	if err := errors.Join(in.Close(), c.Wait()); err != nil {
		t.Error(err)
	}
	if got := pty.Brand(c.Process.Pid); got != 0 {
		t.Errorf("of nobody: %d", got)
	}
}
