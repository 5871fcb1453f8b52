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

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/provider"
)

// Bounds of this machine.
const (
	// localDrain is how long output is waited for after a command's bash has ended, while something it left in the background holds it; input is written for as long.
	localDrain = 250 * time.Millisecond
	// localGrace is the time for SIGHUP before SIGKILL when a context ends or a terminal is closed.
	localGrace = 500 * time.Millisecond
)

// Config is what a Provider is made with.
type Config struct {
	// Lookup tells what somebody else knows of an instance; ok is false for one that is not there. nil knows none.
	// It is called at any time, under no lock.
	Lookup func(instance string) (k Known, ok bool)
	Dir    string // where an instance begins; "" is the home directory, or / when that is none
}

// Known is what somebody else knows of an instance.
type Known struct {
	// PIDs are the processes that belong to it besides those that this package has started: the leaders of its terminals
	// and shells.
	PIDs []int
	// State is Running or Paused as of the last change; Unknown is taken for Paused when all its processes are stopped.
	State provider.State
}

// Provider is this machine. An instance is a group of process trees: what Lookup tells, and what Exec and OpenPTY have
// started. Pause stops them and Resume continues them, so memory is kept; Destroy kills them. Files are the machine's:
// there are no walls between instances.
//
// An instance that Create has not made here, because the server has been started again, is there as long as Lookup
// knows it.
type Provider struct {
	cfg Config

	mu        sync.Mutex // a leaf; nothing but tables
	instances map[string]*instance
}

// instance is guarded by Provider.mu.
type instance struct {
	env    map[string]string // of every command and terminal; never changed
	trees  []proc.Tree       // of what was started here
	state  provider.State    // Running, Paused, or Unknown
	frozen []proc.Process    // what Pause has stopped, in order
	work   sync.Mutex        // serialises pause, resume and destroy; taken before Provider.mu
}

// New makes a Provider. It starts nothing.
func New(c Config) *Provider {
	if c.Dir == "" {
		c.Dir, _ = os.UserHomeDir()
		if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
			c.Dir = "/"
		}
	}
	return &Provider{cfg: c, instances: map[string]*instance{}}
}

// Name is local.
func (l *Provider) Name() string { return "local" }

// Capabilities are all but webhooks.
func (l *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Pause: true, Resume: true, Destroy: true, Status: true, PTY: true, Files: true, Metrics: true, MemoryKept: true, Runtime: "local"}
}

// idBytes of an id: enough that no two instances have the same.
const idBytes = 6

// Create makes an id. The variables are forgotten with this process; the timeout means nothing here.
func (l *Provider) Create(_ context.Context, r provider.CreateRequest) (provider.Instance, error) {
	var b [idBytes]byte
	_, _ = rand.Read(b[:])
	id := "local-" + hex.EncodeToString(b[:])
	l.mu.Lock()
	defer l.mu.Unlock()
	l.instances[id] = &instance{env: maps.Clone(r.Env), state: provider.Running}
	return provider.Instance{ID: id, State: provider.Running, CreatedAt: time.Now().UTC(), Cwd: l.cfg.Dir}, nil
}

// lookup is what Config.Lookup knows.
func (l *Provider) lookup(id string) (Known, bool) {
	if l.cfg.Lookup == nil {
		return Known{}, false
	}
	return l.cfg.Lookup(id)
}

// at is what is known of an instance. Errors: ErrNotFound.
func (l *Provider) at(id string) (*instance, error) {
	l.mu.Lock()
	i := l.instances[id]
	l.mu.Unlock()
	if i != nil {
		return i, nil
	}
	k, ok := l.lookup(id)
	if !ok {
		return nil, fmt.Errorf("local: %w: %q", provider.ErrNotFound, id)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.instances[id] == nil {
		l.instances[id] = &instance{state: k.State}
	}
	return l.instances[id], nil
}

// trees are all of an instance's. Those whose processes have all ended are forgotten.
func (l *Provider) trees(id string, i *instance) []proc.Tree {
	l.mu.Lock()
	trees := slices.Clone(i.trees)
	l.mu.Unlock()
	var over []proc.Process
	trees = slices.DeleteFunc(trees, func(t proc.Tree) bool {
		list, err := proc.Members([]proc.Tree{t})
		empty := err == nil && len(list) == 0 && !t.Root().Alive()
		if empty {
			over = append(over, t.Root())
		}
		return empty
	})
	l.mu.Lock()
	i.trees = slices.DeleteFunc(i.trees, func(t proc.Tree) bool { return slices.Contains(over, t.Root()) })
	l.mu.Unlock()
	k, _ := l.lookup(id)
	for _, pid := range k.PIDs {
		if t, ok := proc.TreeOf(pid); ok {
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
	if err := proc.KillTrees(ctx, l.trees(id, i)); err != nil {
		return fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.instances, id)
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
	frozen, err := proc.Stop(ctx, l.trees(id, i))
	if err != nil {
		_ = proc.Continue(frozen)
		return fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
	}
	l.mu.Lock()
	i.state, i.frozen = provider.Paused, slices.Grow(frozen, 1) // not nil: of nothing too
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
	frozen, known := i.frozen, i.frozen != nil
	i.state, i.frozen = provider.Running, nil
	l.mu.Unlock()
	if !known {
		if frozen, err = proc.Members(l.trees(id, i)); err != nil {
			return fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
		}
	}
	if err := proc.Continue(frozen); err != nil {
		return fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
	}
	return nil
}

// isPaused tells whether an instance was paused and somebody has not continued all its processes since. Processes that
// are stopped by hand pause nothing.
func (l *Provider) isPaused(id string, i *instance) bool {
	l.mu.Lock()
	state := i.state
	l.mu.Unlock()
	if state == provider.Running {
		return false
	}
	members, err := proc.Members(l.trees(id, i))
	if err != nil {
		return state == provider.Paused
	}
	stopped := 0
	for _, p := range members {
		if p.Stopped {
			stopped++
		}
	}
	if state == provider.Paused {
		return stopped > 0 || len(members) == 0
	}
	return stopped > 0 && stopped == len(members)
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
func (l *Provider) running(id string) (*instance, error) {
	i, err := l.at(id)
	if err != nil {
		return nil, err
	}
	if l.isPaused(id, i) {
		return nil, fmt.Errorf("local: %w: %q is paused", provider.ErrNotRunning, id)
	}
	return i, nil
}
