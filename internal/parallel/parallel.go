// Package parallel runs one function for many items at the same time, within a bound.
package parallel

import (
	"errors"
	"sync"
)

// Each calls f for every item, at most atOnce at the same time, and returns the joined errors when
// all are done.
func Each[T any](list []T, atOnce int, f func(T) error) error {
	var wg sync.WaitGroup
	errs := make([]error, len(list))
	slots := make(chan struct{}, atOnce)
	for i, item := range list {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = f(item)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
