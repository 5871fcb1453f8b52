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
	threads map[string]*door // those that somebody is in, or has closed
}

type door struct {
	inside int
	closed chan struct{} // closed when the deletion is over; nil while the door is open
	empty  chan struct{} // closed when nobody is inside a closed door any more, nil after that
}

// enter begins something that makes a part of a thread; leave ends it. Errors: thread.ErrDeleting.
func (d *doors) enter(id string) (leave func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.get(id)
	if o.closed != nil {
		return nil, fmt.Errorf("%w: %s", thread.ErrDeleting, id)
	}
	o.inside++
	return sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		o.inside--
		d.settle(id, o)
	}), nil
}

// close waits until nobody is inside a thread and keeps it so until open is called. Errors: the
// reason of ctx.
func (d *doors) close(ctx context.Context, id string) (open func(), err error) {
	for {
		d.mu.Lock()
		o := d.get(id)
		other := o.closed
		if other == nil {
			empty := make(chan struct{})
			o.closed, o.empty = make(chan struct{}), empty
			d.settle(id, o)
			d.mu.Unlock()
			return d.awaitEmpty(ctx, id, o, empty)
		}
		d.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (d *doors) awaitEmpty(ctx context.Context, id string, o *door, empty <-chan struct{}) (open func(),
	err error) {
	open = func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		close(o.closed)
		o.closed, o.empty = nil, nil
		d.settle(id, o)
	}
	select {
	case <-empty:
		return open, nil
	case <-ctx.Done():
		open()
		return nil, context.Cause(ctx)
	}
}

func (d *doors) get(id string) *door {
	if d.threads == nil {
		d.threads = map[string]*door{}
	}
	if d.threads[id] == nil {
		d.threads[id] = &door{}
	}
	return d.threads[id]
}

// settle follows a change of o. The lock is held.
func (d *doors) settle(id string, o *door) {
	switch {
	case o.inside > 0:
	case o.closed == nil:
		delete(d.threads, id)
	case o.empty != nil:
		close(o.empty)
		o.empty = nil
	}
}
