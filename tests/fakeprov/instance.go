package fakeprov

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/evertty/evertty/pty"
)

// States that all services have. Each has words of its own for the others.
const (
	running = "running"
	paused  = "paused"
	dead    = "dead"
)

// marker is the variable by which an instance's processes are known, also those that have left their group.
const marker = "FAKEPROV_INSTANCE"

const (
	endLimit = 10 * time.Second     // for the processes of an instance to be gone after SIGKILL
	endPoll  = 5 * time.Millisecond // between two looks
)

// instance is a directory and what runs in it.
type instance struct {
	id, service, dir, token string
	env, labels             map[string]string
	created                 time.Time

	mu    sync.Mutex
	state string
	next  string // the state from then on
	then  time.Time
	ptys  map[string]*terminal // Daytona's
	procs map[int]*process     // E2B's
}

func newInstance(base, id, service string, env, labels map[string]string) (*instance, error) {
	dir := filepath.Join(base, id)
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o755); err != nil {
		return nil, err
	}
	return &instance{
		id: id, service: service, dir: dir, token: "token-of-" + id, env: maps.Clone(env), labels: labels,
		created: time.Now().UTC(),
		state:   running, next: running, ptys: map[string]*terminal{}, procs: map[int]*process{},
	}, nil
}

// now is the state at this instant.
func (i *instance) now() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.state != i.next && !time.Now().Before(i.then) {
		i.state = i.next
	}
	return i.state
}

// change begins a change of state that takes a while.
func (i *instance) change(state, next string, takes time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.state, i.next, i.then = state, next, time.Now().Add(takes)
}

// environ is what a process of the instance gets.
func (i *instance) environ(more map[string]string) map[string]string {
	env := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": i.dir, "USER": "user", "LOGNAME": "user", "LANG": "C.UTF-8",
		"TMPDIR": filepath.Join(i.dir, "tmp"), marker: i.id,
	}
	maps.Copy(env, i.env)
	maps.Copy(env, more)
	return env
}

// command is a process of the instance in a group of its own.
func (i *instance) command(cwd string, env map[string]string, argv ...string) *exec.Cmd {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = cwd
	if cwd == "" {
		c.Dir = i.dir
	}
	for k, v := range i.environ(env) {
		c.Env = append(c.Env, k+"="+v)
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// pids lists the instance's processes.
func (i *instance) pids() []int {
	want := []byte(marker + "=" + i.id + "\x00")
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var list []int
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err == nil && bytes.Contains(append(env, 0), want) {
			if pid, err := strconv.Atoi(filepath.Base(d)); err == nil && !zombie(d) {
				list = append(list, pid)
			}
		}
	}
	return list
}

func zombie(proc string) bool {
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return true
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return bytes.HasPrefix(rest, []byte("Z"))
}

// signal reaches every process of the instance, and returns how many there were.
func (i *instance) signal(sig syscall.Signal) int {
	list := i.pids()
	for _, pid := range list {
		_ = syscall.Kill(pid, sig)
	}
	return len(list)
}

// kill ends the processes and waits until they are gone, or endLimit. It looks twice: in the middle of its execve a
// process shows no environment.
func (i *instance) kill() {
	late, again := time.NewTimer(endLimit), time.NewTicker(endPoll)
	defer late.Stop()
	defer again.Stop()
	for gone := 0; gone < 2; gone++ {
		if i.signal(syscall.SIGKILL) > 0 {
			gone = -1
		}
		select {
		case <-again.C:
		case <-late.C:
			return
		}
	}
}

// end kills everything in the instance and waits until it is gone.
func (i *instance) end() {
	i.mu.Lock()
	ptys := maps.Clone(i.ptys)
	clear(i.ptys)
	i.mu.Unlock()
	i.kill()
	for _, t := range ptys {
		t.stop()
	}
}

// terminal is a program on a PTY of an instance.
type terminal struct {
	id, cwd    string
	env        map[string]string
	cols, rows int
	createdAt  time.Time

	mu   sync.Mutex
	proc *pty.Process
	over bool
}

// start runs argv on it.
func (t *terminal) start(i *instance, argv ...string) (*pty.Process, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return nil, fmt.Errorf("it has ended")
	}
	if t.proc != nil {
		return t.proc, nil
	}
	cwd := t.cwd
	if cwd == "" {
		cwd = i.dir
	}
	p, err := pty.Start(pty.Spec{Argv: argv, Dir: cwd, Env: i.environ(t.env), Cols: t.cols, Rows: t.rows})
	if err != nil {
		return nil, err
	}
	t.proc = p
	return p, nil
}

// resize is for one that runs, and for one that will.
func (t *terminal) resize(cols, rows int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cols, t.rows = cols, rows
	if t.proc != nil {
		return t.proc.Resize(cols, rows)
	}
	return nil
}

// stop ends the program with all that it started. Whoever reads its output learns of it there.
func (t *terminal) stop() {
	t.mu.Lock()
	p := t.proc
	t.over = true
	t.mu.Unlock()
	if p != nil {
		ctx, cancel := context.WithTimeout(context.Background(), endLimit)
		defer cancel()
		_ = p.Kill(ctx)
		_ = p.Close()
	}
}

// ended runs a command to its end, or kills its group when its time is over.
func ended(c *exec.Cmd, limit time.Duration) (code int, late bool) {
	if err := c.Start(); err != nil {
		return 127, false
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case err := <-done:
		return exitCode(err), false
	case <-t.C:
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		return exitCode(<-done), true
	}
}
