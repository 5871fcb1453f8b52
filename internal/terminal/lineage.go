package terminal

import (
	"context"
	"sync/atomic"
)

// lineage is what all generations of one terminal have in common. Only one of them has files: whoever
// starts the next one, or removes the terminal, has the turn meanwhile, so that none removes those of another.
//
// The turn is taken under no other lock, and no thread's or lease's lock may be held by whoever waits for
// it: it may be held over the start of a process at a provider.
type lineage struct {
	turn    chan struct{} // has a value while somebody has the turn
	leaving atomic.Int32  // how many want the terminal deleted: no generation begins meanwhile
}

func newLineage() *lineage { return &lineage{turn: make(chan struct{}, 1)} }

// take waits for the turn. Errors: the reason of ctx.
func (l *lineage) take(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tryTake takes the turn if nobody has it.
func (l *lineage) tryTake() bool {
	select {
	case l.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

func (l *lineage) give() { <-l.turn }

// latest is the generation of a terminal that can be found now; nil when the terminal was removed.
func (m *Registry) latest(id string) *Terminal {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byID[id]
}

// sweepAway removes an ended terminal that nobody asked to remove, and tells whether it did. It leaves one
// alone that somebody starts again or removes just now.
func (m *Registry) sweepAway(t *Terminal) (removed bool, err error) {
	if !t.line.tryTake() {
		return false, nil
	}
	defer t.line.give()
	if m.latest(t.ID) != t || t.Running() {
		return false, nil
	}
	return true, m.purge(t)
}
