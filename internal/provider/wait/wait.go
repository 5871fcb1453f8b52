// Package wait is waiting that ends with a context.
package wait

import (
	"context"
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// Sleep waits; false when ctx ends before.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// firstPause is the first pause of Until.
const firstPause = 100 * time.Millisecond

// Until calls done until it reports true or an error. The pauses in between grow to most. After
// within the error is provider.ErrUnreachable with what.
func Until(ctx context.Context, what string, within, most time.Duration,
	done func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, within,
		fmt.Errorf("%w: %s: not after %v", provider.ErrUnreachable, what, within))
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, most) {
		ok, err := done(ctx)
		if ok || err != nil && ctx.Err() == nil {
			return err
		}
		if !Sleep(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}

// CleanupTimeout is for what has to be done after a command or its caller has ended.
const CleanupTimeout = 10 * time.Second

// CleanupContext is a context for that. It has the values of ctx and does not end with it.
func CleanupContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), CleanupTimeout)
}

// WithTimeout is ctx with a timeout, 0 for none.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}
