package main

import (
	"context"
	"encoding/json"
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

// listed is a package as `go list -json` prints it.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
}

// list returns the packages of the patterns.
func list(patterns []string) ([]*listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-json=Dir,ImportPath,GoFiles"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all []*listed
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		p := new(listed)
		if err := d.Decode(p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// trial runs the tests of one package with a file of it replaced.
type trial struct {
	pkg   string
	dir   string        // for the replaced file and what the tests leave
	race  string        // flags for mutations of locks
	limit time.Duration // after which the tests count as red
}

var errTooLong = errors.New("the tests do not end")

// test returns what the tests print. The error is of the type *exec.ExitError when they fail.
func (r *trial) test(m mutation) (string, error) {
	args := []string{"test", "-vet=off", "-short=false", "-count=1", "-failfast", "-trimpath", "-timeout=0"}
	env := append(os.Environ(), "TMPDIR="+filepath.Join(r.dir, "tmp"), "EVERTTY_TEST_FEW=1")
	if m.lock {
		args = append(args, strings.Fields(r.race)...)
	} else {
		env = append(env, "CGO_ENABLED=0")
	}
	if m.file != "" {
		overlay, err := r.overlay(m)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", append(args, r.pkg)...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	endOrphans()
	if ctx.Err() != nil {
		err = errTooLong
	}
	return string(out), err
}

// adoptOrphans makes this process the parent of what tests leave (prctl(2)): broken code leaves keepers and their
// programs, in sessions of their own.
func adoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// endOrphans kills all children of this process, and theirs, which become its children. No command of its own runs.
func endOrphans() {
	for {
		list, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
		if err != nil || len(list) == 0 {
			return
		}
		for _, field := range strings.Fields(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				_ = unix.Kill(pid, unix.SIGKILL)
				_, _ = unix.Wait4(pid, nil, 0, nil)
			}
		}
	}
}

// overlay writes the mutated file and the list that names it to `go test`.
func (r *trial) overlay(m mutation) (string, error) {
	text, err := m.apply()
	if err != nil {
		return "", err
	}
	file, index := filepath.Join(r.dir, "mutated.go"), filepath.Join(r.dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{m.file: file}})
	if err != nil {
		return "", err
	}
	return index, errors.Join(os.WriteFile(file, text, 0o600), os.WriteFile(index, replace, 0o600))
}

func isExit(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit)
}
