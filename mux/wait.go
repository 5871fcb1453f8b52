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
	check, err := t.condition(&c)
	if err != nil {
		return Waited{}, err
	}
	changed, stop := t.Hub().Watch()
	defer stop()
	limit := time.NewTimer(c.Timeout)
	defer limit.Stop()
	again := time.NewTimer(time.Hour)
	defer again.Stop()
	for {
		met, in := check()
		switch {
		case met:
			return t.seen(), nil
		case t.Hub().Facts().Finished:
			return t.seen(), wrapf(ErrExited, "terminal %s ended before %s was seen", t.ID, c.For)
		}
		if in > 0 {
			again.Reset(in)
		}
		select {
		case <-changed:
			if err := pause(ctx, limit.C, waitPace); err != nil {
				return t.seen(), err
			}
		case <-again.C:
		case <-limit.C:
			return t.seen(), wrapf(ErrTimeout, "no %s within %v", c.For, c.Timeout)
		case <-ctx.Done():
			return t.seen(), ctx.Err()
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

func (t *Terminal) seen() Waited {
	s := t.Hub().Shot()
	return Waited{Text: snapshot.Text(s.Frame, -1), Seq: s.Seq}
}

// check tells whether a condition is met, and if not, after how long it may be
// without any further change; 0 for never.
type check func() (met bool, in time.Duration)

func (t *Terminal) condition(c *Condition) (check, error) {
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
		return t.textCheck(c.Pattern, func(s string) bool { return strings.Contains(s, c.Pattern) })
	case "regex":
		re, err := regexp.Compile(c.Pattern)
		if err != nil {
			return nil, wrapf(ErrInvalid, "pattern: %v", err)
		}
		return t.textCheck(c.Pattern, re.MatchString)
	case "idle":
		return func() (bool, time.Duration) { return t.idle(c.Idle) }, nil
	case "exit":
		return func() (bool, time.Duration) { return t.Hub().Facts().Finished, 0 }, nil
	case "prompt":
		return t.prompt, nil
	}
	return nil, wrapf(ErrInvalid, "for %q: text, regex, idle, exit or prompt are allowed", c.For)
}

// textCheck looks at history and screen.
func (t *Terminal) textCheck(pattern string, match func(string) bool) (check, error) {
	if pattern == "" || len(pattern) > maxPattern {
		return nil, wrapf(ErrInvalid, "pattern has %d bytes: 1 to %d are allowed", len(pattern), maxPattern)
	}
	return func() (bool, time.Duration) { return match(t.seen().Text), 0 }, nil
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
