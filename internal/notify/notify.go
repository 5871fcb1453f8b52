// Package notify wakes goroutines that wait for a change. A wake-up has no content: the woken
// goroutine looks at the state itself, so that several changes may be one wake-up.
package notify

import (
	"sync"
	"sync/atomic"
)

// Signal wakes one goroutine, which receives from the channel. Wake-ups that were not received
// yet are one. Made by NewSignal; safe for concurrent use.
type Signal chan struct{}

// NewSignal makes a Signal without a wake-up.
func NewSignal() Signal { return make(Signal, 1) }

// Set wakes the goroutine, now or when it next receives. It never blocks.
func (s Signal) Set() {
	select {
	case s <- struct{}{}:
	default: // a wake-up waits already
	}
}

// Notifier wakes any number of watchers. The zero value is ready. Safe for concurrent use; its
// lock is a leaf.
type Notifier struct {
	mu       sync.Mutex
	watchers map[Signal]struct{}
	number   atomic.Int32 // of watchers: without any, Notify takes no lock
}

// Watch returns a channel that gets a value after each Notify; several may become one. stop ends
// it.
func (n *Notifier) Watch() (changed <-chan struct{}, stop func()) {
	s := NewSignal()
	n.mu.Lock()
	if n.watchers == nil {
		n.watchers = map[Signal]struct{}{}
	}
	n.watchers[s] = struct{}{}
	n.number.Store(int32(len(n.watchers)))
	n.mu.Unlock()
	return s, func() {
		n.mu.Lock()
		delete(n.watchers, s)
		n.number.Store(int32(len(n.watchers)))
		n.mu.Unlock()
	}
}

// Watched reports whether there is a watcher.
func (n *Notifier) Watched() bool { return n.number.Load() > 0 }

// Notify wakes all watchers. It never blocks. A watcher that begins at the same time finds the
// change when it looks.
func (n *Notifier) Notify() {
	if n.number.Load() == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for s := range n.watchers {
		s.Set()
	}
}
