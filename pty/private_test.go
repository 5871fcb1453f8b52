package pty_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

func init() { modes["private"] = privateMode }

// readsOf is what a child of this process reads in files of /proc/PID, by their names; what it may not read is missing.
func readsOf(pid int, files ...string) (seen []string, err error) {
	for _, name := range files {
		c := exec.Command("head", "-c", "4096", "/proc/"+strconv.Itoa(pid)+"/"+name)
		c.Env = []string{}
		out, err := c.Output()
		if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
			return nil, err
		}
		if err == nil || len(out) > 0 {
			seen = append(seen, name+":"+string(out))
		}
	}
	return seen, nil
}

// privateMode prints what a child reads of this process before and after Private. It becomes an ordinary user first:
// root reads everything.
func privateMode() error {
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(65534, 65534, 65534),
			syscall.Setresuid(65534, 65534, 65534)); err != nil {
			return err
		}
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil { // setresuid has taken it away
			return err
		}
	}
	before, err := readsOf(os.Getpid(), "environ", "auxv")
	if err != nil {
		return err
	}
	if err := proc.Private(); err != nil {
		return err
	}
	after, err := readsOf(os.Getpid(), "environ", "auxv")
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil { // what root would see
		return err
	}
	open, err := readsOf(os.Getpid(), "environ")
	if err != nil {
		return err
	}
	own, err := os.ReadFile("/proc/self/stat") // what this package needs of itself
	if err != nil || len(own) == 0 {
		return fmt.Errorf("own stat: %w", err)
	}
	fmt.Println(len(before), strings.Contains(before[0], "A_SECRET=abc"), len(after),
		strings.Contains(open[0], "A_SECRET"), strings.Contains(open[0], "PATH="),
		os.Getenv("A_SECRET"), slices.Contains(proc.PlainEnviron(os.Environ()), "A_SECRET=abc"))
	proc.ForgetEnviron()
	fmt.Println(os.Getenv("A_SECRET") == "", os.Getenv("PATH") != "")
	return nil
}

// TestPrivate: before, every process of the user reads the variables; after, none does, and root finds only what
// children inherit anyway. The process itself goes on to know them.
func TestPrivate(t *testing.T) {
	out := reexec(t, "private", func(c *exec.Cmd) { t.Setenv("A_SECRET", "abc") })
	if want := "2 true 0 false true abc false\ntrue true\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}
