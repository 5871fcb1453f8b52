package mux

import (
	"context"
	"math"
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
		if err := a.advance(ctx, math.MaxUint64); err != nil || a.found != nil {
			return err
		}
		in := a.poll(finished)
		switch {
		case a.found != nil:
			return nil
		case finished:
			return wrapf(ErrExited, "terminal %s ended before %s was seen", a.t.ID, a.names())
		case in > 0:
			again.Reset(in)
		}
		select {
		case <-changed:
		case <-again.C:
		case <-limit.C:
			return a.late(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// late looks at what came before the time was over.
func (a *waiting) late(ctx context.Context) error {
	over := wrapf(ErrTimeout, "no %s within %v", a.names(), a.Timeout)
	if a.follow == nil {
		return over
	}
	limited, cancel := context.WithTimeout(ctx, lateLook)
	defer cancel()
	err := a.advance(limited, a.follow.from.End())
	switch {
	case a.found != nil:
		return nil
	case err != nil && limited.Err() == nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return over
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
