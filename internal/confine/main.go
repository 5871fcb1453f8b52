package confine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// failedCode is the exit code of a program that could not be started; the report says why.
const failedCode = 126

// Main is the verb: it confines this process and executes the program of [Spec.Plan] in its place. args are those of
// the process, with its name. It returns only to exit with the result, and is called first thing in main.
func Main(args []string) int {
	runtime.LockOSThread() // most of what follows is the thread's, and the one that calls execve(2) hands it on
	unix.CloseOnExec(proc.ReportFD)
	exec, err := start(args)
	proc.Report(err, exec)
	return failedCode
}

// start confines and executes; exec says that execve(2) has failed.
func start(args []string) (exec bool, err error) {
	if len(args) < 5 {
		return false, fmt.Errorf("confine: %d arguments; the keeper starts this by itself", len(args))
	}
	var s Spec
	d := json.NewDecoder(strings.NewReader(args[2]))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return false, fmt.Errorf("%w: this keeper does not know what to confine: %w", ErrUnsupported, err)
	}
	env, err := environ()
	if err != nil {
		return false, err
	}
	l := s.Limits
	if l == nil {
		l = &Limits{}
	}
	err = l.enter()
	if err == nil && s.Sandbox != nil {
		err = s.Sandbox.enter()
	}
	if err == nil { // last: it may leave no room for anything else
		err = setLimit("memory_bytes", unix.RLIMIT_DATA, l.Data)
	}
	if err != nil {
		return false, err
	}
	return true, syscall.Exec(args[3], args[4:], env)
}

// environ is the environment of this process as it was given; Go leaves out what comes twice.
func environ() ([]string, error) {
	text, err := os.ReadFile("/proc/self/environ")
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return strings.Split(string(bytes.TrimSuffix(text, []byte{0})), "\x00"), nil
}

// enter sets all limits but the one of memory.
func (l *Limits) enter() error {
	if l.Group != "" {
		// This process has no children, so nothing of the program is ever outside.
		if err := os.WriteFile(filepath.Join(l.Group, "cgroup.procs"), []byte("0"), 0); err != nil {
			return fmt.Errorf("%w: the cgroup of the limits: %w", ErrUnsupported, err)
		}
	}
	tasks := l.Tasks
	if tasks > 0 {
		now, err := userTasks()
		if err != nil {
			return fmt.Errorf("the limit pids: %w", err)
		}
		tasks += now
	}
	return errors.Join(setLimit("nofile", unix.RLIMIT_NOFILE, l.Files), setLimit("pids", unix.RLIMIT_NPROC, tasks))
}

// setLimit sets a limit of this process and of all that it starts; 0 leaves it as it is. Errors: ErrUnsupported.
func setLimit(name string, resource int, value uint64) error {
	if value == 0 {
		return nil
	}
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: value, Max: value}); err != nil {
		return fmt.Errorf("%w: the limit %s is above what this user may set (setrlimit %d: %w)", ErrUnsupported, name,
			value, err)
	}
	return nil
}

// userTasks is how many processes and threads this user has: what RLIMIT_NPROC counts.
func userTasks() (n uint64, err error) {
	list, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	uid := fmt.Sprintf("\nUid:\t%d\t", os.Getuid())
	for _, e := range list {
		text, err := os.ReadFile("/proc/" + e.Name() + "/status")
		if err != nil || !bytes.Contains(text, []byte(uid)) {
			continue // it is no process, has ended, or is another user's
		}
		_, rest, _ := bytes.Cut(text, []byte("\nThreads:\t"))
		count, _, _ := bytes.Cut(rest, []byte("\n"))
		var threads uint64
		if _, err := fmt.Sscan(string(count), &threads); err == nil {
			n += threads
		}
	}
	return n, nil
}
