// Package local makes instances of this machine. Terminals and shells here are the server's own, so
// it has no provider.Access.
package local

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/provider"
)

// Config is what a Provider is made with.
type Config struct {
	// Lookup returns what the server knows of an instance; ok is false for an unknown id. nil knows
	// none. It is called at any time, under no lock.
	Lookup func(instance string) (k Known, ok bool)
	Dir    string // of a new instance; "" is the home directory, or / without one
}

// Known is what the server knows of an instance.
type Known struct {
	PIDs []int // the leaders of its terminals and shells
	// State is Running or Paused as of the last change. Unknown counts as Paused when all processes
	// are stopped.
	State provider.State
}

// Provider is this machine. An instance is a group of process trees, which Lookup names. Pause
// stops them and Resume continues them, so memory is kept; Destroy kills them. Nothing separates
// the files of instances.
//
// An instance that an earlier server made exists as long as Lookup knows it.
type Provider struct {
	cfg Config

	mu        sync.Mutex // a leaf; guards tables only
	instances map[string]*instance
}

// instance is guarded by Provider.mu.
type instance struct {
	state  provider.State // Running, Paused, or Unknown
	frozen []proc.Process // processes that Pause has stopped, in order
	work   sync.Mutex     // serialises pause, resume and destroy; taken before Provider.mu
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
	return provider.Capabilities{Pause: true, Resume: true, Destroy: true, Status: true, PTY: true, Files: true,
		Metrics: true, MemoryKept: true, Runtime: "local"}
}

// idBytes of an id: enough that no two instances have the same.
const idBytes = 6

// Create makes an id. The request has no effect here: the server starts the instance's processes.
func (l *Provider) Create(context.Context, provider.CreateRequest) (provider.Instance, error) {
	var b [idBytes]byte
	_, _ = rand.Read(b[:])
	id := "local-" + hex.EncodeToString(b[:])
	l.mu.Lock()
	defer l.mu.Unlock()
	l.instances[id] = &instance{state: provider.Running}
	return provider.Instance{ID: id, State: provider.Running, CreatedAt: time.Now().UTC(), Cwd: l.cfg.Dir}, nil
}

// lookup calls Config.Lookup.
func (l *Provider) lookup(id string) (Known, bool) {
	if l.cfg.Lookup == nil {
		return Known{}, false
	}
	return l.cfg.Lookup(id)
}

// at returns an instance. Errors: ErrNotFound.
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

// trees are the process trees of an instance.
func (l *Provider) trees(id string) (trees []proc.Tree) {
	k, _ := l.lookup(id)
	for _, pid := range k.PIDs {
		if t, ok := proc.TreeOf(pid); ok {
			trees = append(trees, t)
		}
	}
	return trees
}

// Destroy kills the trees: SIGHUP, and SIGKILL after 3 s or when ctx ends. Errors: ErrProvider with
// the surviving process ids.
func (l *Provider) Destroy(ctx context.Context, id string) error {
	i, err := l.at(id)
	if errors.Is(err, provider.ErrNotFound) {
		return nil
	}
	i.work.Lock()
	defer i.work.Unlock()
	if err := proc.KillTrees(ctx, l.trees(id)); err != nil {
		return fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.instances, id)
	return nil
}

// Pause stops every process of the trees. When that fails, it continues those that it has stopped.
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
	frozen, err := proc.Stop(ctx, l.trees(id))
	if err != nil {
		_ = proc.Continue(frozen)
		return fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
	}
	l.mu.Lock()
	i.state, i.frozen = provider.Paused, slices.Grow(frozen, 1) // not nil, even when empty
	l.mu.Unlock()
	return nil
}

// Resume continues the processes that Pause has stopped. After a restart of the server these are
// not known: then it continues all stopped ones.
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
		if frozen, err = proc.Members(l.trees(id)); err != nil {
			return fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
		}
	}
	if err := proc.Continue(frozen); err != nil {
		return fmt.Errorf("local: %w: %w", provider.ErrProvider, err)
	}
	return nil
}

// isPaused reports whether an instance was paused and at least one of its processes is still
// stopped. Processes that a user stops do not pause an instance.
func (l *Provider) isPaused(id string, i *instance) bool {
	l.mu.Lock()
	state := i.state
	l.mu.Unlock()
	if state == provider.Running {
		return false
	}
	members, err := proc.Members(l.trees(id))
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
		return provider.Dead, nil //nolint:nilerr // an instance that does not exist is Dead
	case l.isPaused(id, i):
		return provider.Paused, nil
	}
	return provider.Running, nil
}
