package mux

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/evertty/evertty/snapshot"
)

// Limits and defaults of Wait.
const (
	DefaultWait = 30 * time.Second
	MaxWait     = time.Hour // a caller that wants longer asks again
	DefaultIdle = 500 * time.Millisecond
	maxPattern  = 4096 // bytes
	// promptIdle is the silence after which a shell in the foreground counts as
	// waiting for a command, when it does not mark its prompts.
	promptIdle = 150 * time.Millisecond
	// waitPace is the shortest time between two looks at a changing screen: a
	// look costs a snapshot of the text, a flood changes it thousands of times.
	waitPace = 20 * time.Millisecond
)

// Condition is what Wait waits for.
type Condition struct {
	For     string        // text, regex, idle, exit or prompt
	Pattern string        // of text and regex
	Idle    time.Duration // silence of idle
	Timeout time.Duration
	// Since has only what was printed after this position count: text and regex
	// look at nothing else, idle and prompt need some output after it.
	Since *uint64
}

// Waited is what Wait saw: the text of history and screen when the condition
// was met or the time was over, and the position in the output.
type Waited struct {
	Text string
	Seq  uint64
}

// Wait returns when the condition is met. Errors: ErrInvalid, ErrTimeout,
// ErrExited (the program ended and the condition cannot come true any more) or
// the context's; Waited is filled with the first three too.
func (t *Terminal) Wait(ctx context.Context, c Condition) (Waited, error) {
	seen := t.seen
	if c.Since != nil {
		l, err := t.since(*c.Since)
		if err != nil {
			return Waited{}, err
		}
		defer l.close()
		seen = l.see
	}
	check, err := t.condition(&c, seen)
	if err != nil {
		return Waited{}, err
	}
	err = t.await(ctx, c, check)
	if err != nil && !NotMet(err) {
		return Waited{}, err
	}
	w, e := seen()
	return w, errors.Join(err, e)
}

// await returns when the condition is met.
func (t *Terminal) await(ctx context.Context, c Condition, met check) error {
	changed, stop := t.Hub().Watch()
	defer stop()
	limit := time.NewTimer(c.Timeout)
	defer limit.Stop()
	again := time.NewTimer(time.Hour)
	defer again.Stop()
	for {
		finished := t.Hub().Facts().Finished
		ok, in, err := met()
		switch {
		case err != nil || ok:
			return err
		case finished:
			return wrapf(ErrExited, "terminal %s ended before %s was seen", t.ID, c.For)
		}
		if in > 0 {
			again.Reset(in)
		}
		select {
		case <-changed:
			if err := pause(ctx, limit.C, waitPace); err != nil {
				return err
			}
		case <-again.C:
		case <-limit.C:
			return wrapf(ErrTimeout, "no %s within %v", c.For, c.Timeout)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pause lets a burst of output pass before the next look.
func pause(ctx context.Context, limit <-chan time.Time, d time.Duration) error {
	p := time.NewTimer(d)
	defer p.Stop()
	select {
	case <-p.C:
		return nil
	case <-limit:
		return wrapf(ErrTimeout, "the time is over")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// seen is all there is to see. It cannot fail.
func (t *Terminal) seen() (Waited, error) {
	s := t.Hub().Shot()
	return Waited{Text: snapshot.Text(s.Frame, -1), Seq: s.Seq}, nil
}

// check tells whether a condition is met, and if not, after how long it may be
// without any further change; 0 for never.
type check func() (met bool, in time.Duration, err error)

// condition checks c, fills in its defaults and makes the check; seen is what it
// looks at.
func (t *Terminal) condition(c *Condition, seen func() (Waited, error)) (check, error) {
	if c.Timeout == 0 {
		c.Timeout = DefaultWait
	}
	if c.Idle == 0 {
		c.Idle = DefaultIdle
	}
	if c.Timeout < 0 || c.Timeout > MaxWait || c.Idle < 0 || c.Idle > MaxWait {
		return nil, wrapf(ErrInvalid, "timeout_ms %d, idle_ms %d: 0 to %d are allowed", c.Timeout.Milliseconds(), c.Idle.Milliseconds(), MaxWait.Milliseconds())
	}
	switch c.For {
	case "text":
		return textCheck(c.Pattern, seen, func(s string) bool { return strings.Contains(s, c.Pattern) })
	case "regex":
		re, err := regexp.Compile(c.Pattern)
		if err != nil {
			return nil, wrapf(ErrInvalid, "pattern: %v", err)
		}
		return textCheck(c.Pattern, seen, re.MatchString)
	case "idle":
		return t.after(c.Since, func() (bool, time.Duration) { return t.idle(c.Idle) }), nil
	case "exit":
		return func() (bool, time.Duration, error) { return t.Hub().Facts().Finished, 0, nil }, nil
	case "prompt":
		return t.after(c.Since, t.prompt), nil
	}
	return nil, wrapf(ErrInvalid, "for %q: text, regex, idle, exit or prompt are allowed", c.For)
}

// after is a check that is not met before there was output after a position.
func (t *Terminal) after(since *uint64, met func() (bool, time.Duration)) check {
	return func() (bool, time.Duration, error) {
		if since != nil && t.Hub().Facts().Seq <= *since {
			return false, 0, nil
		}
		ok, in := met()
		return ok, in, nil
	}
}

// textCheck looks at history and screen.
func textCheck(pattern string, seen func() (Waited, error), match func(string) bool) (check, error) {
	if pattern == "" || len(pattern) > maxPattern {
		return nil, wrapf(ErrInvalid, "pattern has %d bytes: 1 to %d are allowed", len(pattern), maxPattern)
	}
	return func() (bool, time.Duration, error) {
		w, err := seen()
		return err == nil && match(w.Text), 0, err
	}, nil
}

// idle tells whether there was no output for d.
func (t *Terminal) idle(d time.Duration) (bool, time.Duration) {
	last := t.Hub().Facts().Output
	if last.Before(t.created) {
		last = t.created
	}
	in := d - time.Since(last)
	return in <= 0, in
}

// prompt tells whether the shell waits for a command: it said so itself
// (OSC 133), or it is in the foreground and silent.
func (t *Terminal) prompt() (bool, time.Duration) {
	if !t.running() {
		return false, 0
	}
	if mark := t.Hub().Facts().Mark; mark.Kind != 0 {
		return mark.Kind == 'B' || mark.Kind == 'A', 0
	}
	quiet, in := t.idle(promptIdle)
	if !quiet {
		return false, in
	}
	group, err := t.process.Foreground()
	return err == nil && group == t.process.PID(), promptIdle
}

// NotMet tells whether an error of Wait says that the condition was not met.
func NotMet(err error) bool { return errors.Is(err, ErrTimeout) || errors.Is(err, ErrExited) }
