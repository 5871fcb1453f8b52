package terminal

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"
)

// slots are places for work that may go on at once.
type slots chan struct{}

func (s slots) enter(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slots) leave() { <-s }

// await returns when a condition is met.
func (a *waiting) await(ctx context.Context) error {
	changed, stop := a.t.Hub().Watch()
	defer stop()
	limit := time.NewTimer(time.Until(a.began.Add(a.Timeout)))
	defer limit.Stop()
	again := time.NewTimer(time.Hour)
	defer again.Stop()
	for {
		finished := a.t.Hub().Facts().Finished // before the look, which then sees all there is
		over, err := a.drive(ctx, limit.C)
		switch {
		case over:
			return a.late(ctx)
		case err != nil:
			return err
		}
		met, in := a.polled(finished)
		switch {
		case met:
			return nil
		case finished:
			return fmt.Errorf("%w: terminal %s ended before %s was seen", ErrExited, a.t.ID, a.names())
		case in > 0:
			again.Reset(in)
		}
		select {
		case <-changed:
		case <-a.met:
			return nil
		case <-again.C:
		case <-limit.C:
			return a.late(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// drive applies what there is, for all waits that share the follower, until this one is
// met; over tells that its time came first. Another wait may have done it meanwhile.
func (a *waiting) drive(ctx context.Context, limit <-chan time.Time) (over bool, err error) {
	o := a.follow
	if o == nil {
		return false, nil
	}
	select {
	case o.drive <- struct{}{}:
		defer o.drive.leave()
	case <-a.met:
		return false, nil
	case <-limit:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
	runtime.LockOSThread() // the scheduler of the system would have the reader pay for the work of a thread they share
	defer runtime.UnlockOSThread()
	for {
		o.turn <- struct{}{}
		met, more, rest := a.found != nil, false, time.Duration(0)
		if !met {
			more, err = o.advance(ctx, math.MaxUint64)
			met, rest = a.found != nil, time.Until(o.again)
		}
		o.turn.leave()
		if err != nil || met || !more {
			return false, err
		}
		if over, err := a.rest(ctx, limit, rest); over || err != nil {
			return over, err
		}
	}
}

// rest waits for so long; over tells that the wait's time came first.
func (a *waiting) rest(ctx context.Context, limit <-chan time.Time, d time.Duration) (over bool, err error) {
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

// polled is poll with the turn, unless the wait is met.
func (a *waiting) polled(finished bool) (met bool, in time.Duration) {
	if a.follow != nil {
		a.follow.turn <- struct{}{}
		defer a.follow.turn.leave()
	}
	if a.found == nil {
		in = a.poll(finished)
	}
	return a.found != nil, in
}

// late looks at what came before the time was over.
func (a *waiting) late(ctx context.Context) error {
	over := fmt.Errorf("%w: no %s within %v", ErrTimeout, a.names(), a.Timeout)
	if a.follow == nil {
		return over
	}
	limited, cancel := context.WithTimeout(ctx, lateLook)
	defer cancel()
	met, err := a.lookOn(limited)
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

// lookOn applies what there is now, without rest and whoever else does too.
func (a *waiting) lookOn(ctx context.Context) (met bool, err error) {
	o := a.follow
	journal, err := a.t.Journal()
	if err != nil {
		return false, err
	}
	for end, more := journal.End(), true; more && !met && err == nil; {
		if err := o.turn.enter(ctx); err != nil {
			return false, err
		}
		if more = a.found == nil && o.seq < end; more {
			more, err = o.advance(ctx, end)
		}
		met = a.found != nil
		o.turn.leave()
	}
	return met, err
}

// names says what is waited for.
func (a *waiting) names() string {
	s := ""
	for i := range a.conditions {
		if i > 0 {
			s += " or "
		}
		if a.conditions[i].Not {
			s += "absence of "
		}
		s += a.conditions[i].For
	}
	return s
}

// poll looks at conditions that time decides too. in is after how long it has to be
// done again without any change; 0 for never.
func (a *waiting) poll(finished bool) (in time.Duration) {
	for i := range a.conditions {
		c := &a.conditions[i]
		met, next := false, time.Duration(0)
		switch c.For {
		case "exit":
			met = finished
		case "idle":
			met, next = a.idle(c.Idle, finished)
		case "prompt":
			met, next = a.prompt(finished)
			if c.Not && !finished && next == 0 {
				next = promptIdle
			}
			met = met != c.Not
		}
		if met {
			w := a.seen()
			if w.Index = i; a.follow == nil || c.For == "exit" {
				w.Seq = a.t.Hub().Facts().Seq
			}
			a.found = &w
			return 0
		}
		if next > 0 && (in == 0 || next < in) {
			in = next
		}
	}
	return in
}

// idle tells whether nothing was printed and nothing typed for d, counted from the
// beginning of the wait at the earliest. With a position some output behind it is
// needed. A program that has ended is idle.
func (a *waiting) idle(d time.Duration, finished bool) (bool, time.Duration) {
	facts := a.t.Hub().Facts()
	if a.Since != nil && facts.Seq <= *a.Since {
		return false, 0
	}
	if finished {
		return true, 0
	}
	in := d - time.Since(a.quiet(facts.Output))
	return in <= 0, in
}

// quiet is the latest of output, input and the beginning of the wait.
func (a *waiting) quiet(output time.Time) time.Time {
	typed, _ := a.t.typed.when()
	last := a.began
	for _, t := range []time.Time{output, typed} {
		if t.After(last) {
			last = t
		}
	}
	return last
}
