package terminal

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/evertty/evertty/internal/confine"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/wire"
)

// How limits are enforced, see wire.Terminal.
const (
	byCgroup = "cgroup"
	byRlimit = "rlimit"
)

// NewSandbox is the sandbox of a program that begins in dir with the variables env; nil for none. It stays the same
// over all restarts, whatever directory the program goes to. hide is the data directory; the caller sets Hide again at
// each start. Errors: ErrInvalid, pty.ErrNoDir, pty.ErrUnsupported.
func NewSandbox(mode wire.Sandbox, dir, hide string, env map[string]string) (*confine.Sandbox, error) {
	switch mode {
	case "", wire.SandboxNone:
		return nil, nil
	case wire.SandboxReadOnly, wire.SandboxWorkspace:
	default:
		return nil, fmt.Errorf("%w: sandbox %.80q: none, workspace or read-only is allowed", ErrInvalid, mode)
	}
	if err := confine.Check(); err != nil {
		return nil, err
	}
	if err := pty.CheckDir(dir); err != nil {
		return nil, err
	}
	s := &confine.Sandbox{Hide: hide, Terminals: mode == wire.SandboxWorkspace}
	real, err := filepath.EvalSymlinks(dir)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", pty.ErrNoDir, err)
	case confine.Within(real, hide):
		return nil, fmt.Errorf("%w: sandbox in %s, the server's data directory: choose another directory", ErrInvalid,
			real)
	case mode == wire.SandboxReadOnly:
		return s, nil
	case real == "/":
		return nil, fmt.Errorf("%w: sandbox workspace in /: choose a directory below", ErrInvalid)
	}
	s.Write = []string{real}
	for _, path := range []string{temporary(env), "/dev/shm"} {
		if real, err := filepath.EvalSymlinks(path); err == nil && real != "/" {
			s.Write = append(s.Write, real)
		}
	}
	return s, nil
}

// temporary is the temporary directory of a program with the variables env.
func temporary(env map[string]string) string {
	if dir := env["TMPDIR"]; filepath.IsAbs(dir) {
		return dir
	}
	return os.TempDir() // the program inherits TMPDIR
}

// CheckProvider refuses what only this machine can do. Errors: pty.ErrUnsupported.
func CheckProvider(provider string, sandbox wire.Sandbox, limits *wire.Limits) error {
	what := "sandbox " + string(sandbox)
	if sandbox == "" || sandbox == wire.SandboxNone {
		if limits == nil {
			return nil
		}
		what = "limits"
	}
	return fmt.Errorf("%w: %s at the provider %s; it bounds its instances itself", pty.ErrUnsupported, what, provider)
}

// confined is how the program is confined; nil when it is not. Errors: pty.ErrUnsupported.
func (p *program) confined(s Spec) (*confine.Spec, error) {
	if s.Rules == nil && s.Limits == nil {
		return nil, nil
	}
	c := &confine.Spec{}
	if s.Rules != nil {
		hidden := *s.Rules
		hidden.Hide = p.t.registry.cfg.Store.Dir()
		c.Sandbox = &hidden
	}
	if s.Limits != nil {
		limits, err := p.limited(*s.Limits)
		if err != nil {
			return nil, err
		}
		c.Limits = limits
	}
	p.noteLimits(c)
	return c, nil
}

// limited is how the limits of the terminal are enforced: by a cgroup, else as far as possible by limits of its
// processes. Errors: pty.ErrUnsupported.
func (p *program) limited(l wire.Limits) (*confine.Limits, error) {
	limits := &confine.Limits{Files: limit(l.Nofile)}
	b := confine.Bounds{Memory: limit(l.MemoryBytes), CPU: limit(l.CPUPercent), Pids: limit(l.Pids)}
	if b == (confine.Bounds{}) {
		return limits, nil
	}
	group, err := p.t.registry.groups.Make(p.t.ID, b)
	switch {
	case err == nil:
		limits.Group = group
		return limits, nil
	case b.CPU > 0:
		return nil, fmt.Errorf("cpu_percent: %w", err)
	case b.Pids > 0 && os.Geteuid() == 0: // the kernel does not count the processes of root
		return nil, fmt.Errorf("pids: %w", err)
	}
	limits.Data, limits.Tasks = b.Memory, b.Pids
	return limits, nil
}

// limit is a limit of a request, 0 for none.
func limit(n *int64) uint64 {
	if n == nil {
		return 0
	}
	return uint64(*n)
}

// noteLimits notes how the limits of a program are enforced, before it starts.
func (p *program) noteLimits(c *confine.Spec) {
	p.limitsBy = ""
	switch {
	case c.Limits == nil:
	case c.Limits.Group != "":
		p.limitsBy, p.killedBefore = byCgroup, p.t.registry.groups.Killed(p.t.ID)
	case c.Limits.Data > 0 || c.Limits.Tasks > 0:
		p.limitsBy = byRlimit
	}
}

// endedByMemory reports whether the kernel has killed a process of the terminal for want of memory since the start.
func (p *program) endedByMemory() bool {
	return p.limitsBy == byCgroup && p.t.registry.groups.Killed(p.t.ID) > p.killedBefore
}

// groupPrefix begins the names of the cgroups of the terminals of a data directory.
func groupPrefix(identity string) string { return fmt.Sprintf("evertty-%x-", TagOf(identity, "")) }
