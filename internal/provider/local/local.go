package local

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/pty"

	"github.com/evertty/evertty/internal/provider"
)

// Bounds of this machine.
const (
	// localDrain is how long output is waited for after a command's bash has ended, while something it left in the background holds it; input is written for as long.
	localDrain = 250 * time.Millisecond
	// localGrace is the time for SIGHUP before SIGKILL when a context ends or a terminal is closed.
	localGrace = 500 * time.Millisecond
)

// Config is what a Local is made with.
type Config struct {
	// Members returns the process ids that an instance has besides those this package has started: the leaders of its terminals and shells. nil is none.
	// It is called at any time, under no lock.
	Members func(instance string) []int
	Dir     string // where an instance begins; "" is the home directory, or / when that is none
}

// Provider is this machine. An instance is a group of process trees by the name of its lease: what Members tells, and what Exec and OpenPTY have started.
// Pause stops them and Resume lets them go on, so memory is kept; Destroy kills them. Files are the machine's, there are no walls between instances.
//
// What is paused is remembered here and seen in /proc: after a restart of the server an instance whose processes are all stopped is still Paused. One that
// Create has not made here is Dead unless Members has processes of it; Create with the same name makes it again.
type Provider struct {
	cfg Config

	mu     sync.Mutex // a leaf; nothing but tables
	places map[string]*localInstance
}

// localInstance is what is known of one; guarded by Local.mu.
type localInstance struct {
	env    map[string]string // of every command and terminal; never changed
	trees  []pty.Tree        // of what was started here
	paused bool
	frozen []pty.Proc // what Pause has stopped, in order
	work   sync.Mutex // serialises pause, resume and destroy; taken before Local.mu
}

// New makes a Local. It starts nothing.
func New(c Config) *Provider {
	if c.Dir == "" {
		c.Dir, _ = os.UserHomeDir()
		if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
			c.Dir = "/"
		}
	}
	return &Provider{cfg: c, places: map[string]*localInstance{}}
}

// Name is local.
func (l *Provider) Name() string { return "local" }

// Capabilities are all but webhooks.
func (l *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Pause: true, Resume: true, Destroy: true, Status: true, PTY: true, Files: true, Metrics: true, MemoryKept: true, Runtime: "local"}
}

// Create makes a name known, which may be known already. Its variables are forgotten with this process; the timeout means nothing here.
func (l *Provider) Create(_ context.Context, r provider.CreateRequest) (provider.Instance, error) {
	id := r.Name
	if id == "" {
		var b [6]byte
		_, _ = rand.Read(b[:])
		id = "local-" + hex.EncodeToString(b[:])
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.places[id] == nil {
		l.places[id] = &localInstance{env: maps.Clone(r.Env)}
	}
	return provider.Instance{ID: id, State: provider.Running, CreatedAt: time.Now().UTC(), Cwd: l.cfg.Dir}, nil
}

// WasPaused makes an instance known that an earlier process of this server has paused, of which perhaps not all is stopped.
func (l *Provider) WasPaused(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.places[id] == nil {
		l.places[id] = &localInstance{}
	}
	l.places[id].paused = true
}

// at is what is known of an instance. Errors: ErrNotFound.
func (l *Provider) at(id string) (*localInstance, error) {
	l.mu.Lock()
	i := l.places[id]
	l.mu.Unlock()
	if i != nil {
		return i, nil
	}
	if l.cfg.Members == nil || len(l.cfg.Members(id)) == 0 {
		return nil, fmt.Errorf("local: %w: %q", provider.ErrNotFound, id)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.places[id] == nil {
		l.places[id] = &localInstance{}
	}
	return l.places[id], nil
}

// trees are all of an instance's. Those whose processes have all ended are forgotten.
func (l *Provider) trees(id string, i *localInstance) []pty.Tree {
	l.mu.Lock()
	trees := slices.Clone(i.trees)
	l.mu.Unlock()
	var over []pty.Proc
	trees = slices.DeleteFunc(trees, func(t pty.Tree) bool {
		list, err := pty.Members([]pty.Tree{t})
		empty := err == nil && len(list) == 0 && !t.Root().Alive()
		if empty {
			over = append(over, t.Root())
		}
		return empty
	})
	l.mu.Lock()
	i.trees = slices.DeleteFunc(i.trees, func(t pty.Tree) bool { return slices.Contains(over, t.Root()) })
	l.mu.Unlock()
	if l.cfg.Members == nil {
		return trees
	}
	for _, pid := range l.cfg.Members(id) {
		if t, ok := pty.TreeOf(pid); ok {
			trees = append(trees, t)
		}
	}
	return trees
}

// Destroy kills the trees: SIGHUP, and SIGKILL for what is left after 3 s or when ctx ends. Errors: ErrProvider with the ids of who survived.
func (l *Provider) Destroy(ctx context.Context, id string) error {
	i, err := l.at(id)
	if errors.Is(err, provider.ErrNotFound) {
		return nil
	}
	i.work.Lock()
	defer i.work.Unlock()
	if err := pty.KillTrees(ctx, l.trees(id, i)); err != nil {
		return fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.places, id)
	return nil
}

// Pause stops every process of the trees. When that fails those that were stopped go on again.
func (l *Provider) Pause(ctx context.Context, id string) error {
	i, err := l.at(id)
	if err != nil {
		return err
	}
	i.work.Lock()
	defer i.work.Unlock()
	if l.isPaused(id, i) {
		return fmt.Errorf("local: %w: %q is paused", provider.ErrState, id)
	}
	frozen, err := pty.Freeze(ctx, l.trees(id, i))
	if err != nil {
		_ = pty.Thaw(frozen)
		return fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
	}
	l.mu.Lock()
	i.paused, i.frozen = true, slices.Grow(frozen, 1) // not nil: of nothing too
	l.mu.Unlock()
	return nil
}

// Resume lets those go on that Pause has stopped; after a restart of the server, which knows no more who that was, all that are stopped.
func (l *Provider) Resume(_ context.Context, id string) error {
	i, err := l.at(id)
	if err != nil {
		return err
	}
	i.work.Lock()
	defer i.work.Unlock()
	if !l.isPaused(id, i) {
		return fmt.Errorf("local: %w: %q runs", provider.ErrState, id)
	}
	l.mu.Lock()
	frozen, known := i.frozen, i.paused && i.frozen != nil
	i.paused, i.frozen = false, nil
	l.mu.Unlock()
	if !known {
		if frozen, err = pty.Members(l.trees(id, i)); err != nil {
			return fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
		}
	}
	if err := pty.Thaw(frozen); err != nil {
		return fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
	}
	return nil
}

// isPaused tells whether an instance was paused here, or all its processes are stopped.
func (l *Provider) isPaused(id string, i *localInstance) bool {
	l.mu.Lock()
	paused := i.paused
	l.mu.Unlock()
	if paused {
		return true
	}
	members, err := pty.Members(l.trees(id, i))
	return err == nil && len(members) > 0 && !slices.ContainsFunc(members, func(p pty.Proc) bool { return !p.Stopped })
}

// Status is Dead after Destroy.
func (l *Provider) Status(_ context.Context, id string) (provider.State, error) {
	i, err := l.at(id)
	switch {
	case err != nil:
		return provider.Dead, nil //nolint:nilerr // that is what Status says of one that is gone
	case l.isPaused(id, i):
		return provider.Paused, nil
	}
	return provider.Running, nil
}

// running is at for what needs an instance that runs. Errors: ErrNotFound, ErrNotRunning.
func (l *Provider) running(id string) (*localInstance, error) {
	i, err := l.at(id)
	if err != nil {
		return nil, err
	}
	if l.isPaused(id, i) {
		return nil, fmt.Errorf("local: %w: %q is paused", provider.ErrNotRunning, id)
	}
	return i, nil
}
