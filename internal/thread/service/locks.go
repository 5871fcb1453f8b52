package service

import (
	"context"
	"sync"
)

// locks is one lock for each key, held over calls that take long; waiting for one ends with the
// context. The zero value is ready.
type locks struct {
	mu   sync.Mutex
	keys map[string]*keyLock
}

type keyLock struct {
	free  chan struct{} // has one token when nobody holds the lock
	users int           // who hold it or wait
}

func (l *locks) lock(ctx context.Context, key string) (unlock func(), err error) {
	k := l.join(key)
	select {
	case <-k.free:
		return func() { k.free <- struct{}{}; l.leave(key, k) }, nil
	case <-ctx.Done():
		l.leave(key, k)
		return nil, context.Cause(ctx)
	}
}

// try is lock that does not wait.
func (l *locks) try(key string) (unlock func(), ok bool) {
	k := l.join(key)
	select {
	case <-k.free:
		return func() { k.free <- struct{}{}; l.leave(key, k) }, true
	default:
		l.leave(key, k)
		return nil, false
	}
}

func (l *locks) join(key string) *keyLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.keys[key]
	if k == nil {
		if l.keys == nil {
			l.keys = map[string]*keyLock{}
		}
		k = &keyLock{free: make(chan struct{}, 1)}
		k.free <- struct{}{}
		l.keys[key] = k
	}
	k.users++
	return k
}

func (l *locks) leave(key string, k *keyLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(l.keys, key)
	}
}
