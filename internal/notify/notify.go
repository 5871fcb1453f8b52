// Package notify wakes those who wait for a change. A change has no content: who is
// woken looks at the state itself.
package notify

import "sync"

// Notifier wakes any number of watchers; changes in quick succession are one.
// The zero value is ready. Safe for concurrent use; its lock is a leaf.
type Notifier struct {
	mu       sync.Mutex
	watchers map[chan struct{}]struct{}
}

// Watch returns a channel that gets a value after each Notify; several may become one. stop ends it.
func (n *Notifier) Watch() (changed <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	n.mu.Lock()
	if n.watchers == nil {
		n.watchers = map[chan struct{}]struct{}{}
	}
	n.watchers[c] = struct{}{}
	n.mu.Unlock()
	return c, func() {
		n.mu.Lock()
		delete(n.watchers, c)
		n.mu.Unlock()
	}
}

// Notify wakes all watchers. It never blocks.
func (n *Notifier) Notify() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.watchers {
		select {
		case c <- struct{}{}:
		default: // it will look anyway
		}
	}
}
