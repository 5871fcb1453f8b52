package service

import (
	"context"
	"fmt"
	"sync"

	"github.com/evertty/evertty/internal/thread"
)

// doors keep new terminals and shells out of threads that are being deleted, so that the deletion
// finds all there are. The zero value is ready. Safe for concurrent use.
type doors struct {
	mu      sync.Mutex
	threads map[string]*door // those that somebody uses
}

// door is held for reading by who is inside, for writing by a deletion.
type door struct {
	sync.RWMutex
	users int // guarded by doors.mu
}

// enter begins something that makes a part of a thread; leave ends it. Errors: thread.ErrDeleting.
func (d *doors) enter(id string) (leave func(), err error) {
	o, done := d.use(id)
	if !o.TryRLock() {
		done()
		return nil, fmt.Errorf("%w: %s", thread.ErrDeleting, id)
	}
	return sync.OnceFunc(func() { o.RUnlock(); done() }), nil
}

// close waits until nobody is inside a thread and keeps it so until open is called. Errors: the
// reason of ctx; nobody can enter even so before those inside have left.
func (d *doors) close(ctx context.Context, id string) (open func(), err error) {
	o, done := d.use(id)
	unlock := func() { o.Unlock(); done() }
	locked := make(chan struct{})
	go func() { o.Lock(); close(locked) }()
	select {
	case <-locked:
		return unlock, nil
	case <-ctx.Done():
		go func() { <-locked; unlock() }()
		return nil, context.Cause(ctx)
	}
}

// use returns the door of a thread, which is kept until done is called.
func (d *doors) use(id string) (o *door, done func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.threads[id] == nil {
		if d.threads == nil {
			d.threads = map[string]*door{}
		}
		d.threads[id] = &door{}
	}
	o = d.threads[id]
	o.users++
	return o, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if o.users--; o.users == 0 {
			delete(d.threads, id)
		}
	}
}
