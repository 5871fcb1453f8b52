package confine

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// leafGroup is the group in the delegated one that has the server and its keeper: a group that hands controllers on
// has no processes of its own (cgroup v2, "No Internal Process Constraint").
const leafGroup = "evertty-server"

// cpuPeriod is the time over which processor time is counted, in µs: the kernel's default.
const cpuPeriod = 100_000

// Groups are the cgroups of the terminals of a server, in the group that was delegated to it. The zero value with a
// Prefix looks for that group at the first use. All methods are safe for concurrent use.
type Groups struct {
	// Prefix begins the names of the groups of this server, and of no other.
	Prefix string
	// Keeper is the process that starts the programs.
	Keeper func() int

	mu     sync.Mutex // guards what follows; held over the preparation of base
	base   string     // the delegated group; "" when there is none, or it was not looked for
	looked bool       // whether before has what existing has found
	before string     // the delegated group that a server before this one may have used, "" for none

	idle map[string]bool // what the last Sweep found unneeded; only it uses this
}

// Bounds are what a group may use together; 0 is no limit.
type Bounds struct{ Memory, CPU, Pids uint64 } // bytes, percent of a core, processes and threads

// Make makes the group of a terminal, or takes the one that it has, and returns its directory. Errors: ErrUnsupported
// when there is no delegated group, or it lacks a controller.
func (g *Groups) Make(id string, b Bounds) (dir string, err error) {
	base, err := g.prepared()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(base, g.Prefix+id)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%w: cgroup: %w", ErrUnsupported, err)
	}
	set := func(limit uint64, file, text string) {
		if limit > 0 && err == nil {
			err = os.WriteFile(filepath.Join(dir, file), []byte(text), 0)
		}
	}
	set(b.Memory, "memory.max", strconv.FormatUint(b.Memory, 10))
	set(b.CPU, "cpu.max", fmt.Sprintf("%d %d", b.CPU*cpuPeriod/100, cpuPeriod))
	set(b.Pids, "pids.max", strconv.FormatUint(b.Pids, 10))
	if err != nil {
		_ = g.Remove(id)
		return "", fmt.Errorf("%w: the delegated cgroup lacks a controller: %w", ErrUnsupported, err)
	}
	if b.Memory > 0 { // where there is no swap there is no such file
		_ = os.WriteFile(filepath.Join(dir, "memory.swap.max"), []byte("0"), 0)
	}
	return dir, nil
}

// Killed is how many processes of a terminal the kernel has killed for want of memory.
func (g *Groups) Killed(id string) (n int) {
	base := g.existing()
	text, _ := os.ReadFile(filepath.Join(base, g.Prefix+id, "memory.events"))
	_, rest, _ := bytes.Cut(text, []byte("oom_kill "))
	_, _ = fmt.Sscan(string(rest), &n)
	return n
}

// Remove removes the group of a terminal, which may have none. Errors: EBUSY while a process is in it.
func (g *Groups) Remove(id string) error {
	base := g.existing()
	if base == "" {
		return nil
	}
	err := unix.Rmdir(filepath.Join(base, g.Prefix+id))
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// Sweep removes the groups of terminals for which needed was false the last time too, as far as no process is in them:
// one may be about to start. One goroutine calls it.
func (g *Groups) Sweep(needed func(id string) bool) {
	base := g.existing()
	if base == "" {
		return
	}
	before := g.idle
	g.idle = map[string]bool{}
	list, _ := os.ReadDir(base)
	for _, e := range list {
		id, ours := strings.CutPrefix(e.Name(), g.Prefix)
		if !ours || needed(id) {
			continue
		}
		if g.idle[id] = true; before[id] {
			_ = unix.Rmdir(filepath.Join(base, e.Name()))
		}
	}
}

// prepared is the delegated group. Errors: ErrUnsupported.
func (g *Groups) prepared() (base string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.base == "" {
		g.base, err = delegated(g.Keeper())
	}
	return g.base, err
}

// existing is the delegated group as far as a server has used it already, "" when none has. A server before this one
// is looked for once: groups come by prepared alone.
func (g *Groups) existing() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.base != "" {
		return g.base
	}
	if !g.looked {
		g.looked = true
		if own, err := ownGroup(); err == nil && isDelegated(filepath.Dir(own), own) {
			g.before = filepath.Dir(own)
		}
	}
	return g.before
}

// delegated prepares the group that was delegated to the server: the parent of its own, as with DelegateSubgroup= of
// systemd. Where no systemd manages groups, as in a container, it is the own group as long as only the server and its
// programs are in it, which then move one down. Errors: ErrUnsupported.
func delegated(keeper int) (string, error) {
	own, err := ownGroup()
	if err != nil {
		return "", fmt.Errorf("%w: this limit needs cgroup v2: %w", ErrUnsupported, err)
	}
	base := filepath.Dir(own)
	if !isDelegated(base, own) {
		if _, err := os.Stat("/run/systemd/system"); err == nil {
			return "", fmt.Errorf("%w: this limit needs a delegated cgroup v2: with systemd Delegate=yes and "+
				"DelegateSubgroup=%s", ErrUnsupported, leafGroup)
		}
		if base = own; isDelegated(own, "") {
			err = moveDown(own, keeper)
		} else {
			err = fmt.Errorf("%s is not writable", own)
		}
	}
	if err == nil {
		err = handOn(base)
	}
	if err != nil {
		return "", fmt.Errorf("%w: this limit needs a delegated cgroup v2: %w", ErrUnsupported, err)
	}
	return base, nil
}

// isDelegated reports whether this user may make groups in dir. With from, its subgroup that has the server, it is also
// looked whether somebody says so: systemd by an attribute, a server by the name of the subgroup.
func isDelegated(dir, from string) bool {
	if unix.Access(dir, unix.W_OK) != nil || unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) != nil {
		return false
	}
	if from == "" || filepath.Base(from) == leafGroup {
		return true
	}
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		value := make([]byte, 1)
		if n, err := unix.Getxattr(dir, name, value); err == nil && n == 1 && value[0] == '1' {
			return true
		}
	}
	return false
}

// ownGroup is the directory of the group of this process.
func ownGroup() (string, error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	_, rest, found := strings.Cut("\n"+string(text), "\n0::")
	path, _, _ := strings.Cut(rest, "\n")
	root, err := groupRoot()
	if err == nil && !found {
		err = errors.New("/proc/self/cgroup has none")
	}
	return filepath.Join(root, path), err
}

// groupRoot is where the file system cgroup2 is mounted.
func groupRoot() (string, error) {
	f, err := os.Open("/proc/self/mounts")
	if err != nil {
		return "", err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 2 && fields[2] == "cgroup2" {
			return fields[1], nil
		}
	}
	return "", errors.New("it is not mounted")
}

// moveRounds is how often processes are moved out of a group: they may start others meanwhile.
const moveRounds = 8

// moveDown moves the server, its keeper and all programs of a group into a subgroup of it, unless others are there.
func moveDown(group string, keeper int) error {
	for range moveRounds {
		text, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
		if err != nil {
			return err
		}
		pids := strings.Fields(string(text))
		for _, pid := range pids {
			if n, err := strconv.Atoi(pid); err != nil || !isOurs(n, keeper) {
				return fmt.Errorf("process %s in %s is not of this server", pid, group)
			}
		}
		if len(pids) == 0 {
			return nil
		}
		leaf := filepath.Join(group, leafGroup)
		if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		for _, pid := range pids {
			err := os.WriteFile(filepath.Join(leaf, "cgroup.procs"), []byte(pid), 0)
			if err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
	}
	return fmt.Errorf("processes in %s start others all the time", group)
}

// isOurs reports whether a process is this one, the keeper, or descends from the keeper.
func isOurs(pid, keeper int) bool {
	for pid != os.Getpid() && pid != keeper {
		p, ok := proc.Find(pid)
		if !ok || p.Parent <= 1 {
			return !ok // it has ended
		}
		pid = p.Parent
	}
	return true
}

// handOn lets the subgroups of a group have limits.
func handOn(group string) error {
	text, err := os.ReadFile(filepath.Join(group, "cgroup.controllers"))
	if err != nil {
		return err
	}
	var want string
	for _, controller := range strings.Fields(string(text)) {
		if controller == "memory" || controller == "cpu" || controller == "pids" {
			want += "+" + controller + " "
		}
	}
	if want == "" {
		return fmt.Errorf("%s has no controller memory, cpu or pids", group)
	}
	return os.WriteFile(filepath.Join(group, "cgroup.subtree_control"), []byte(want), 0)
}
