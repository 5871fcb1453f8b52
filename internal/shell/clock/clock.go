// Package clock is time that stands still while the processes of a shell are stopped from outside.
package clock

import (
	"context"
	"sync"
	"time"
)

// Clock is time that can be stopped. The zero value runs. All methods may be called at the same
// time from several goroutines.
type Clock struct {
	mu      sync.Mutex
	stopped bool
	since   time.Time
	resumed chan struct{} // closed when the clock runs again; nil before the first stop
}

// Stop stops a clock that runs, as of a time.
func (c *Clock) Stop(since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped, c.since, c.resumed = true, since, make(chan struct{})
}

// Stopped reports whether the clock is stopped, and since when it is or was at last.
func (c *Clock) Stopped() (since time.Time, stopped bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.since, c.stopped
}

// Resume lets a clock that is stopped run again.
func (c *Clock) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = false
	close(c.resumed)
}

// Wait waits until the clock runs. Errors: ctx.Err().
func (c *Clock) Wait(ctx context.Context) error {
	for {
		c.mu.Lock()
		stopped, resumed := c.stopped, c.resumed
		c.mu.Unlock()
		if !stopped {
			return nil
		}
		select {
		case <-resumed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// WaitUntil waits until a deadline, which may change meanwhile and does not come while the clock is
// stopped. Errors: ctx.Err().
func (c *Clock) WaitUntil(ctx context.Context, deadline func() time.Time) error {
	for {
		if err := c.Wait(ctx); err != nil {
			return err
		}
		rest := time.Until(deadline())
		if rest <= 0 {
			return nil
		}
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// WithTimeout is a context that ends after d. While the clock is stopped, it ends no earlier than
// after another d.
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	var timer *time.Timer
	c.mu.Lock() // timer is written before it is read
	defer c.mu.Unlock()
	timer = time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.stopped {
			timer.Reset(d)
			return
		}
		cancel(context.DeadlineExceeded)
	})
	return ctx, func() { timer.Stop(); cancel(context.Canceled) }
}
