package tests

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/evertty/evertty/internal/strictmodes/strictmodestest"
	"github.com/evertty/evertty/tests/polling"
)

// ownDir is the temporary directory of one run of the tests: everything that they
// write is below it, and every process they start knows its path. So what a run
// leaves can be found, and is ended even where the run itself was.
type ownDir struct {
	path    string
	sweeper *exec.Cmd
	alive   io.Closer // while it is open the sweeper waits
	remove  func()    // what was made for it
}

// binDir has the binaries, below the run's directory.
const binDir = "bin"

// maxParent is how long the path of the temporary directory may be, in bytes: that of
// a socket below it has 107 (unix(7)).
const maxParent = 40

// newOwnDir makes the directory and starts the process that clears up after a run
// that does not end in order: one that takes too long, panics or is killed.
func newOwnDir() (*ownDir, error) {
	remove, err := strictmodestest.Setup(maxParent)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "evt")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	// Servers of other users are started too.
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	o := &ownDir{path: dir, remove: remove, sweeper: exec.Command(self, programMark, "sweeper", dir)}
	o.sweeper.Dir = "/"
	o.sweeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is not for it
	alive, err := o.sweeper.StdinPipe()
	if err != nil {
		return nil, err
	}
	o.alive = alive
	if err := o.sweeper.Start(); err != nil {
		return nil, err
	}
	return o, os.Setenv("TMPDIR", dir)
}

// close removes the directory and ends what still runs. It returns what a run in
// order does not leave: processes and files.
func (o *ownDir) close() (left []string) {
	polling.Until(patience, func() bool { left = processesOf(o.path, o.sweeper.Process.Pid); return len(left) == 0 })
	entries, _ := os.ReadDir(o.path)
	for _, e := range entries {
		if e.Name() != binDir {
			left = append(left, filepath.Join(o.path, e.Name()))
		}
	}
	_ = o.alive.Close()
	_ = o.sweeper.Wait()
	o.remove()
	return left
}

// sweeperProgram waits for the end of the tests and then for that of all they
// started, with force, and removes the directory.
func sweeperProgram(dir string) {
	_, _ = io.Copy(io.Discard, os.Stdin)
	polling.Until(patience, func() bool {
		list := processesOf(dir)
		for _, p := range list {
			number, _, _ := strings.Cut(p, " ")
			if pid, err := strconv.Atoi(number); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		return os.RemoveAll(dir) == nil && len(list) == 0
	})
	os.Exit(0)
}

// processesOf are the processes that have a path below a directory in their
// environment, arguments, executable or working directory: number and command. The
// caller and those that it names are none of them.
func processesOf(dir string, but ...int) (list []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range all {
		pid, _ := strconv.Atoi(filepath.Base(proc))
		if pid == os.Getpid() || slices.Contains(but, pid) || !alive(pid) {
			continue
		}
		words, _ := os.ReadFile(proc + "/cmdline")
		environment, _ := os.ReadFile(proc + "/environ")
		exe, _ := os.Readlink(proc + "/exe")
		cwd, _ := os.Readlink(proc + "/cwd")
		about := slices.Concat(environment, []byte("\x00"+exe+"\x00"+cwd+"\x00"), words)
		if !bytes.Contains(about, []byte(dir+"/")) && !bytes.Contains(about, []byte(dir+"\x00")) {
			continue
		}
		list = append(list, fmt.Sprintf("%d %s", pid,
			strings.TrimSpace(strings.ReplaceAll(string(words), "\x00", " "))))
	}
	return list
}
