// Package lifetime is how long the parts of a server live: starts, goroutines that run until the
// end, and the order in which both end.
package lifetime

import (
	"context"
	"sync"
)

// Lifetime is the lifetime of one server. All methods are safe for concurrent use; its lock is a
// leaf.
type Lifetime struct {
	ctx     context.Context
	cancel  context.CancelFunc
	opening context.Context
	shut    context.CancelCauseFunc
	work    sync.WaitGroup // goroutines that end by themselves once ctx has ended

	mu      sync.Mutex
	closing bool
	starts  sync.WaitGroup // Add under mu and not when closing
}

// New begins a lifetime.
func New() *Lifetime {
	l := &Lifetime{}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.opening, l.shut = context.WithCancelCause(l.ctx)
	return l
}

// Context ends when nothing starts any more and everything has to end.
func (l *Lifetime) Context() context.Context { return l.ctx }

// Opening ends as soon as the server closes, with its cause: a start does not wait for anything
// outside any longer.
func (l *Lifetime) Opening() context.Context { return l.opening }

// Start notes that something starts, until done is called. ok is false once the server
// closes; then nothing may start and done is nil.
func (l *Lifetime) Start() (done func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return nil, false
	}
	l.starts.Add(1)
	return l.starts.Done, true
}

// Go runs f, which has to end by itself once Context has ended. The caller is a part
// that has started and has not ended.
func (l *Lifetime) Go(f func()) { l.work.Go(f) }

// TryGo is Go for callers from outside. It does nothing and returns false once the
// server closes.
func (l *Lifetime) TryGo(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closing {
		l.work.Go(f)
	}
	return !l.closing
}

// Shut refuses new starts, ends Opening with cause, waits for the running starts and then ends
// Context.
func (l *Lifetime) Shut(cause error) {
	l.mu.Lock()
	l.closing = true
	l.mu.Unlock()
	l.shut(cause)
	l.starts.Wait()
	l.cancel()
}

// Wait returns when everything that Go and TryGo have run has ended.
func (l *Lifetime) Wait() { l.work.Wait() }
