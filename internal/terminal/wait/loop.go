package wait

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/terminal"
)

// lateLimit is how long a wait whose time is over goes on with output that came before
// that, at most as long as it had.
const lateLimit = 5 * time.Second

// overtime is how long the wait goes on when its time is over.
func (w *waiter) overtime() time.Duration { return min(w.timeout, lateLimit) }

// timedOut says what was not seen in time.
func (w *waiter) timedOut() error {
	return fmt.Errorf("%w: no %s within %v", terminal.ErrTimeout, w.conditions.names(), w.timeout)
}

// loop returns when a condition is met.
func (w *waiter) loop(ctx context.Context) error {
	changed, stop := w.t.Hub().Watch()
	defer stop()
	limit := time.NewTimer(time.Until(w.began.Add(w.timeout)))
	defer limit.Stop()
	again := time.NewTimer(time.Hour)
	defer again.Stop()
	for {
		finished := w.t.Hub().Stats().Finished // before drive, which then applies all there is
		over, err := w.drive(ctx, limit.C)
		switch {
		case over:
			return w.late(ctx)
		case err != nil:
			return err
		}
		met, in := w.poll(finished)
		switch {
		case met:
			return nil
		case finished:
			return fmt.Errorf("%w: terminal %s ended before %s was seen", terminal.ErrExited, w.t.ID,
				w.conditions.names())
		case in > 0:
			again.Reset(in)
		}
		select {
		case <-changed:
		case <-w.met:
			return nil
		case <-again.C:
		case <-limit.C:
			return w.late(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// drive applies the output there is, for all waiters of the follower, until this one is
// met. over tells that its time came first. Another waiter may have done it meanwhile.
func (w *waiter) drive(ctx context.Context, limit <-chan time.Time) (over bool, err error) {
	f := w.follower
	if f == nil {
		return false, nil
	}
	select {
	case f.driver <- struct{}{}:
		defer f.driver.release()
	case <-w.met:
		return false, nil
	case <-limit:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
	// Else the scheduler of the system counts this work against a thread that the
	// terminal's reader may run on next.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		more, pause, err := w.driveOnce(ctx)
		if err != nil || !more {
			return false, err
		}
		if over, err := sleep(ctx, limit, pause); over || err != nil {
			return over, err
		}
	}
}

// driveOnce applies the next output. more is false when the waiter is met or there is none now.
func (w *waiter) driveOnce(ctx context.Context) (more bool, pause time.Duration, err error) {
	f := w.follower
	f.lock.lock()
	defer f.lock.release() // also when this panics: close takes the lock
	if w.found != nil {
		return false, 0, nil
	}
	more, err = f.advance(ctx, math.MaxUint64)
	return more && w.found == nil, time.Until(f.resume), err
}

// sleep sleeps for d. over tells that the limit came first.
func sleep(ctx context.Context, limit <-chan time.Time, d time.Duration) (over bool, err error) {
	if d <= 0 {
		select {
		case <-limit:
			return true, nil
		default:
			return false, ctx.Err()
		}
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false, nil
	case <-limit:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// late looks at what came before the time was over.
func (w *waiter) late(ctx context.Context) error {
	over := w.timedOut()
	if w.follower == nil {
		return over
	}
	limited, cancel := context.WithTimeout(ctx, w.overtime())
	defer cancel()
	met, err := w.finish(limited)
	switch {
	case met:
		return nil
	case err != nil && limited.Err() == nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return over
}

// finish applies the output there is now, without pauses and even while another waiter
// drives.
func (w *waiter) finish(ctx context.Context) (met bool, err error) {
	journal, err := w.t.Journal()
	if err != nil {
		return false, err
	}
	for end, more := journal.End(), true; more && !met && err == nil; {
		met, more, err = w.finishOnce(ctx, end)
	}
	return met, err
}

// finishOnce applies the next output before end. more is false when there is none now.
func (w *waiter) finishOnce(ctx context.Context, end uint64) (met, more bool, err error) {
	f := w.follower
	if err := f.lock.acquire(ctx); err != nil {
		return false, false, err
	}
	defer f.lock.release() // as in driveOnce
	if w.found == nil && f.seq < end {
		more, err = f.advance(ctx, end)
	}
	return w.found != nil, more, err
}

// names is the conditions in words.
func (l conditions) names() string {
	var all []string
	for _, c := range l {
		name := c.For
		if c.Not {
			name = "absence of " + name
		}
		all = append(all, name)
	}
	return strings.Join(all, " or ")
}

// poll checks the conditions that time decides too. in is after how long they need another
// check without any change, 0 for never.
func (w *waiter) poll(finished bool) (met bool, in time.Duration) {
	if w.follower != nil {
		w.follower.lock.lock()
		defer w.follower.lock.release()
	}
	for i, c := range w.conditions {
		if w.found != nil {
			break
		}
		met, next := w.pollOne(c, finished)
		if met {
			now := w.now()
			w.found = w.hit(i, now.Text, now.Seq)
			if w.follower == nil || c.For == "exit" {
				w.found.Seq = w.t.Hub().Stats().Seq
			}
		}
		if next > 0 && (in == 0 || next < in) {
			in = next
		}
	}
	return w.found != nil, in
}

// pollOne is poll of one condition.
func (w *waiter) pollOne(c *condition, finished bool) (met bool, in time.Duration) {
	switch c.For {
	case "exit":
		return finished, 0
	case "idle":
		return w.idle(c.idle, finished)
	case "prompt":
		met, in = w.prompt(finished)
		if c.Not && !finished && in == 0 {
			in = promptIdle
		}
		return met != c.Not, in
	}
	return false, 0
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// idle reports whether nothing was printed and nothing typed for d, counted from the
// beginning of the wait at the earliest. With Since it needs some output after that.
// A program that has ended is idle. in is as of poll.
func (w *waiter) idle(d time.Duration, finished bool) (met bool, in time.Duration) {
	facts := w.t.Hub().Stats()
	if w.Since != nil && facts.Seq <= *w.Since {
		return false, 0
	}
	if finished {
		return true, 0
	}
	typed, _ := w.t.Typed().Last()
	in = d - time.Since(latest(w.began, facts.Output, typed))
	return in <= 0, in
}
