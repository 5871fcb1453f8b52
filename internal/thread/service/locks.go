package service

import (
	"context"
	"fmt"
	"sync"

	"github.com/evertty/evertty/internal/thread"
)

// keyed has a value, a reference, for each key that somebody uses. The zero value is ready; its
// lock is a leaf.
type keyed[T any] struct {
	mu   sync.Mutex
	used map[string]*user[T]
}

type user[T any] struct {
	value T
	users int
}

// use returns the value of a key, which begins as fresh. It is kept until done is called.
func (k *keyed[T]) use(key string, fresh T) (value T, done func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	u := k.used[key]
	if u == nil {
		if k.used == nil {
			k.used = map[string]*user[T]{}
		}
		u = &user[T]{value: fresh}
		k.used[key] = u
	}
	u.users++
	return u.value, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if u.users--; u.users == 0 {
			delete(k.used, key)
		}
	}
}

// locks is one lock for each key, held over calls that take long; waiting for one ends with the
// context. The zero value is ready.
type locks struct {
	keyed[chan struct{}] // has a token while somebody holds the lock
}

func (l *locks) lock(ctx context.Context, key string) (unlock func(), err error) {
	held, done := l.use(key, make(chan struct{}, 1))
	select {
	case held <- struct{}{}:
		return func() { <-held; done() }, nil
	case <-ctx.Done():
		done()
		return nil, context.Cause(ctx)
	}
}

// try is lock that does not wait.
func (l *locks) try(key string) (unlock func(), ok bool) {
	held, done := l.use(key, make(chan struct{}, 1))
	select {
	case held <- struct{}{}:
		return func() { <-held; done() }, true
	default:
		done()
		return nil, false
	}
}

// do calls fn while it holds the lock of a key. Errors: of fn, ctx.Err().
func (l *locks) do(ctx context.Context, key string, fn func() error) error {
	unlock, err := l.lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	return fn()
}

// doors keep new terminals and shells out of threads that are being deleted, so that the deletion
// finds all there are. The lock of a thread is held for reading by whoever is inside, for writing by a
// deletion. The zero value is ready. Safe for concurrent use.
type doors struct {
	keyed[*sync.RWMutex]
}

// enter begins something that makes a part of a thread; leave ends it. Errors: thread.ErrDeleting.
func (d *doors) enter(id string) (leave func(), err error) {
	door, done := d.use(id, &sync.RWMutex{})
	if !door.TryRLock() {
		done()
		return nil, fmt.Errorf("%w: %s", thread.ErrDeleting, id)
	}
	return sync.OnceFunc(func() { door.RUnlock(); done() }), nil
}

// close waits until nobody is inside a thread and keeps it so until open is called. Errors: ctx.Err();
// nobody can enter even so before those inside have left.
func (d *doors) close(ctx context.Context, id string) (open func(), err error) {
	door, done := d.use(id, &sync.RWMutex{})
	unlock := func() { door.Unlock(); done() }
	locked := make(chan struct{})
	go func() { door.Lock(); close(locked) }()
	select {
	case <-locked:
		return unlock, nil
	case <-ctx.Done():
		go func() { <-locked; unlock() }()
		return nil, context.Cause(ctx)
	}
}
