package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// poll is how often a fact of a process is looked at.
const poll = 5 * time.Millisecond

// logName is the file with what a server prints, in its directory.
const logName = "log"

// command is a call of a program in the environment of the user, without what would make it part of another server.
func command(ctx context.Context, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "EVERTTY_") && !strings.HasPrefix(v, "TMUX") && !strings.HasPrefix(v, "TERM=") {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(c.Env, "TERM=xterm-256color")
	return c
}

// begin starts a server, which ends with this process, and returns its number. It prints into its directory.
func begin(ctx context.Context, dir, program string, args ...string) (pid int, err error) {
	log, err := os.Create(filepath.Join(dir, logName))
	if err != nil {
		return 0, err
	}
	defer log.Close()
	c := command(ctx, program, args...)
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		return 0, err
	}
	return c.Process.Pid, nil
}

// printed waits until a server has printed a line with a word and returns what is behind it.
func printed(ctx context.Context, dir string, pid int, word string) (string, error) {
	for {
		text, err := os.ReadFile(filepath.Join(dir, logName))
		if err != nil {
			return "", err
		}
		if _, rest, ok := bytes.Cut(text, []byte(word)); ok {
			if line, _, ok := bytes.Cut(rest, []byte("\n")); ok {
				return string(line), nil
			}
		}
		if err := running(dir, pid); err != nil {
			return "", err
		}
		if err := pause(ctx, poll); err != nil {
			return "", err
		}
	}
}

// running is nil while a server runs, else an error with its last words.
func running(dir string, pid int) error {
	if got, _ := unix.Wait4(pid, nil, unix.WNOHANG, nil); got != pid {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, logName))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return errors.Join(err, fmt.Errorf("it ended: %s", lines[len(lines)-1]))
}

// pause waits for some time, or for the end of ctx, which is the error.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// endChildren kills all children of this process, and theirs, which become its own when their parents end. It waits
// for their end.
func endChildren() {
	for list := children(); len(list) > 0; list = children() {
		for _, pid := range list {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		for _, pid := range list {
			for errors.Is(wait(pid), unix.EINTR) {
			}
		}
	}
}

func wait(pid int) error {
	_, err := unix.Wait4(pid, nil, 0, nil)
	return err
}

// children are the processes whose parent this one is (proc_pid_stat(5)).
func children() (list []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	own := strconv.Itoa(os.Getpid())
	for _, name := range names {
		text, _ := os.ReadFile(name) // it may have ended
		_, behind, _ := bytes.Cut(text, []byte(") "))
		if f := bytes.Fields(behind); len(f) > 1 && string(f[1]) == own {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			list = append(list, pid)
		}
	}
	return list
}

// cpu is the processor time of processes: of all their threads, ended ones too (clock_getcpuclockid(3)).
func cpu(pids []int) (sum time.Duration) {
	for _, pid := range pids {
		var t unix.Timespec
		if unix.ClockGettime(int32(^pid<<3|2), &t) == nil {
			sum += time.Duration(t.Nano())
		}
	}
	return sum
}

// resident is the memory of processes, in KB of 1024 bytes (proc_pid_statm(5)).
func resident(pids []int) (sum float64) {
	for _, pid := range pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if f := bytes.Fields(text); len(f) > 1 {
			pages, _ := strconv.ParseFloat(string(f[1]), 64)
			sum += pages * float64(os.Getpagesize()) / 1024
		}
	}
	return sum
}

// Load is the load average of the last minute; more than one for each processor means that programs wait.
func Load() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	n, _ := strconv.ParseFloat(first, 64)
	return n
}
