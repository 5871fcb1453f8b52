package terminal

import (
	"context"
	"sync/atomic"
)

// generations is shared by all generations of one terminal. Its lock is held while the next
// one is started or the terminal is removed: the generations have the same files.
//
// The lock is taken before every other lock. It may be held while a process at a provider
// starts, so nobody may wait for it with the lock of a thread or lease.
type generations struct {
	locked  chan struct{} // has a value while the lock is held
	deletes atomic.Int32  // calls of Delete: no generation begins meanwhile
	purges  atomic.Int32  // calls of Delete that remove the files
}

func newGenerations() *generations { return &generations{locked: make(chan struct{}, 1)} }

// lock waits for the lock. Errors: context.Cause(ctx).
func (g *generations) lock(ctx context.Context) error {
	select {
	case g.locked <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tryLock takes the lock if nobody has it.
func (g *generations) tryLock() bool {
	select {
	case g.locked <- struct{}{}:
		return true
	default:
		return false
	}
}

func (g *generations) unlock() { <-g.locked }

// current is the published generation of a terminal; nil when the terminal was removed.
func (r *Registry) current(id string) *Terminal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

// purgeEnded purges an ended terminal to free space, and reports whether it did. It does
// nothing while somebody restarts or deletes the terminal.
func (c *cleaner) purgeEnded(t *Terminal) (removed bool, err error) {
	if !t.generations.tryLock() {
		return false, nil
	}
	defer t.generations.unlock()
	if c.registry.current(t.ID) != t || t.Running() {
		return false, nil
	}
	return true, c.registry.purge(t)
}
