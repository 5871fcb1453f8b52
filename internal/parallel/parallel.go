// Package parallel runs one function for many items at the same time, within a bound.
package parallel

import (
	"errors"
	"sync"
)

// Each calls f for every item, at most atOnce at the same time, and returns what failed when all are done.
func Each[T any](list []T, atOnce int, f func(T) error) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	slots := make(chan struct{}, atOnce)
	for _, item := range list {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := f(item); err != nil {
				mu.Lock()
				failed = errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return failed
}
