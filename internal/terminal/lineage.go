package terminal

import (
	"context"
	"sync/atomic"
)

// generations is what all generations of one terminal have in common. Only one of them has files: whoever
// starts the next one, or removes the terminal, has the turn meanwhile, so that none removes those of another.
//
// The turn is taken under no other lock, and no thread's or lease's lock may be held by whoever waits for
// it: it may be held over the start of a process at a provider.
type generations struct {
	turn    chan struct{} // has a value while somebody has the turn
	deletes atomic.Int32  // how many want the terminal deleted: no generation begins meanwhile
}

func newGenerations() *generations { return &generations{turn: make(chan struct{}, 1)} }

// lock waits for the turn. Errors: the reason of ctx.
func (l *generations) lock(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tryLock takes the turn if nobody has it.
func (l *generations) tryLock() bool {
	select {
	case l.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

func (l *generations) unlock() { <-l.turn }

// current is the generation of a terminal that can be found now; nil when the terminal was removed.
func (m *Registry) current(id string) *Terminal {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byID[id]
}

// purgeEnded removes an ended terminal that nobody asked to remove, and tells whether it did. It leaves one
// alone that somebody starts again or removes just now.
func (m *Registry) purgeEnded(t *Terminal) (removed bool, err error) {
	if !t.generations.tryLock() {
		return false, nil
	}
	defer t.generations.unlock()
	if m.current(t.ID) != t || t.Running() {
		return false, nil
	}
	return true, m.purge(t)
}
