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

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/tests/polling"
)

// TestTag: what a plan starts has its tag, and nothing else has.
func TestTag(t *testing.T) {
	reexec(t, "tag", nil)
}

// tagMode is a process that starts one program after the other.
func tagMode() error {
	own := proc.Tag(os.Getpid())
	for _, tag := range []uint64{0, 1, 4711, 1<<63 - 1, 0, math.MaxUint64 - 1} {
		if err := startTagged(tag, cmp.Or(tag, own)); err != nil {
			return err
		}
	}
	// Where the hard limit is lower things start all the same.
	if err := unix.Setrlimit(unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: 5, Max: 10}); err != nil {
		return err
	}
	return startTagged(11, 5)
}

// startTagged starts a program with a tag and looks at what it has, and at that of this process, which stays.
func startTagged(tag, want uint64) error {
	own := proc.Tag(os.Getpid())
	plan, err := pty.Spec{Argv: []string{"cat"}}.Plan()
	if err != nil {
		return err
	}
	plan.Tag = tag
	r, w, err := os.Pipe() // cat waits
	if err != nil {
		return err
	}
	pid, pidfd, err := plan.Exec([3]int{int(r.Fd()), int(r.Fd()), 2}, false)
	if err != nil {
		return err
	}
	if got, now := proc.Tag(pid), proc.Tag(os.Getpid()); got != want || now != own {
		err = fmt.Errorf("started with %d it has %d, not %d; this process has %d after %d", tag, got, want, now, own)
	}
	err = errors.Join(err, w.Close(), r.Close(), unix.Close(pidfd))
	_, waitErr := unix.Wait4(pid, nil, 0, nil)
	return errors.Join(err, waitErr)
}

// TestTagOf: bash shows the tag, hands it on, and can be told by it.
func TestTagOf(t *testing.T) {
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
	if !polling.Until(patience, func() bool { return proc.Tag(c.Process.Pid) == 1<<63-2 }) {
		t.Errorf("the tag is %d", proc.Tag(c.Process.Pid))
	}
	if err := errors.Join(in.Close(), c.Wait()); err != nil {
		t.Error(err)
	}
	if got := proc.Tag(c.Process.Pid); got != 0 {
		t.Errorf("of nobody: %d", got)
	}
}
