package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/wait"
)

const (
	startTimeout = 5 * time.Minute // until a sandbox runs: an image may have to be fetched
	stopTimeout  = 2 * time.Minute // until it is paused, whereby its memory is written to a disk, or deleted
)

// statusPause is the longest time between two questions for a state.
const statusPause = 2 * time.Second

// Observed is the state of a sandbox in the service's reply.
type Observed struct {
	Word   string // the service's own
	State  provider.State
	Failed bool   // it does not leave this state by itself
	Reason string // of Failed
}

// Sandboxes makes, changes and destroys the sandboxes of one service, with the calls of that
// service.
type Sandboxes struct {
	Client *Client
	// Observe gets the state of a sandbox; one that does not exist is provider.Dead.
	Observe func(ctx context.Context, id string) (Observed, error)
	// Delete starts the end of a sandbox. It may be repeated.
	Delete func(ctx context.Context, id string) error
	// Find returns the sandboxes with a tag.
	Find func(ctx context.Context, tag string) (ids []string, err error)
}

// Name is the name of the service.
func (s Sandboxes) Name() string { return s.Client.Name }

// Close closes connections that are not in use.
func (s Sandboxes) Close() error { return s.Client.Close() }

// Create makes a sandbox by one call and returns when it runs and prepare, which may be nil, has
// succeeded. It deletes one that does not get there, also when the reply with its id was lost: then
// it finds it by its tag.
func (s Sandboxes) Create(ctx context.Context, create func(tag string) (id string, err error),
	prepare func(id string) error) (id string, err error) {
	tag := rand.Text()
	id, err = create(tag)
	if err != nil {
		if !errors.Is(err, provider.ErrNotStarted) {
			s.deleteTagged(ctx, tag)
		}
		return "", err
	}
	err = s.await(ctx, id, provider.Running)
	if err == nil && prepare != nil {
		err = prepare(id)
	}
	if err != nil {
		late, cancel := wait.CleanupContext(ctx)
		defer cancel()
		_ = s.Delete(late, id)
		return "", err
	}
	return id, nil
}

func (s Sandboxes) deleteTagged(ctx context.Context, tag string) {
	ctx, cancel := wait.CleanupContext(ctx)
	defer cancel()
	ids, _ := s.Find(ctx, tag)
	for _, id := range ids {
		_ = s.Delete(ctx, id)
	}
}

// Destroy ends a sandbox and waits for its end. For one that does not exist it is nil.
func (s Sandboxes) Destroy(ctx context.Context, id string) error {
	err := s.Delete(ctx, id)
	switch {
	case errors.Is(err, provider.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return s.await(ctx, id, provider.Dead)
}

// Status is the state of a sandbox now.
func (s Sandboxes) Status(ctx context.Context, id string) (provider.State, error) {
	o, err := s.Observe(ctx, id)
	if err != nil {
		return provider.Unknown, err
	}
	return o.State, nil
}

// Change asks for another state and waits for it. It makes the call once, and only in the state
// before: services differ in their replies in other states, and a second call may conflict with the
// first. A lost reply is no failure: the state shows the effect. Errors: ErrNotFound, ErrState (it
// has that state already, or has failed), and as call.
func (s Sandboxes) Change(ctx context.Context, id string, from, to provider.State, call func() error) error {
	o, err := s.Observe(ctx, id)
	switch {
	case err != nil:
		return err
	case o.State == provider.Dead:
		return s.notFound(id)
	case o.State == to, o.Failed:
		return fmt.Errorf("%s: %w: %s is %s", s.Client.Name, provider.ErrState, id, o.Word)
	case o.State == from:
		err = call()
	}
	if err != nil && (!errors.Is(err, provider.ErrUnreachable) || errors.Is(err, provider.ErrNotStarted)) {
		return err
	}
	return s.await(ctx, id, to)
}

// await waits until a sandbox has a state, or one from which it does not get there.
func (s Sandboxes) await(ctx context.Context, id string, want provider.State) error {
	what := fmt.Sprintf("%s: sandbox %s: %s", s.Client.Name, id, want)
	within := stopTimeout
	if want == provider.Running {
		within = startTimeout
	}
	return wait.Until(ctx, what, within, statusPause, func(ctx context.Context) (bool, error) {
		o, err := s.Observe(ctx, id)
		switch {
		case err != nil:
			return false, err
		case o.State == want:
			return true, nil
		case o.State == provider.Dead:
			return false, s.notFound(id)
		case o.Failed:
			return false, fmt.Errorf("%s: %w: sandbox %s is in state %s: %s", s.Client.Name, provider.ErrProvider, id,
				o.Word, o.Reason)
		}
		return false, nil
	})
}

func (s Sandboxes) notFound(id string) error {
	return fmt.Errorf("%s: %w: %s", s.Client.Name, provider.ErrNotFound, id)
}

// maxCached bounds a Cache, in entries.
const maxCached = 10_000

// Cache keeps data of sandboxes, by id. Its zero value is empty. It is safe for concurrent use.
type Cache[V any] struct {
	mu  sync.Mutex
	all map[string]V
}

// Get finds an entry.
func (c *Cache[V]) Get(id string) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok = c.all[id]
	return v, ok
}

// Put keeps an entry. It empties a full cache before: all entries can be fetched again.
func (c *Cache[V]) Put(id string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil || len(c.all) >= maxCached {
		c.all = map[string]V{}
	}
	c.all[id] = v
}

// Delete removes an entry.
func (c *Cache[V]) Delete(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, id)
}
