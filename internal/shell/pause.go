package shell

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// pausedFile is in the directory of a shell while it is frozen. It has the time since when, from which a later server counts.
const pausedFile = "paused"

// pause is how a shell stands still. Its fields are guarded by Shell.mu.
type pause struct {
	on    bool
	since time.Time
	over  chan struct{} // closed at the end; nil before the first pause
}

// SetFrozen tells that the processes of the shell are stopped from outside, or no longer. Time stands still meanwhile: no command comes to its timeout, no look at the state
// is begun or takes too long, and the shell does not become idle. Saying it again changes nothing. It waits for the disk.
func (s *Shell) SetFrozen(frozen bool) {
	s.pausing.Lock()
	defer s.pausing.Unlock()
	if s.isFrozen() == frozen {
		return
	}
	if frozen {
		s.freeze(time.Now())
	} else {
		s.goOn(time.Now())
	}
}

func (s *Shell) isFrozen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pause.on
}

// freeze begins a pause. s.pausing is held.
func (s *Shell) freeze(now time.Time) {
	if err := shelldir.WriteFile(filepath.Join(s.spec.Dir, pausedFile), []byte(now.Format(time.RFC3339Nano))); err != nil {
		s.config.Log.Warn("a server after this one will not know since when a shell is paused", "shell", s.spec.ID, "err", err)
	}
	s.begins(now)
}

func (s *Shell) begins(since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pause = pause{on: true, since: since, over: make(chan struct{})}
}

// goOn ends a pause: what had a deadline has it as much later. s.pausing is held. The file goes last, so that a server that is killed in between leaves
// the deadlines to the next one, which moves none twice (record.Rested).
func (s *Shell) goOn(now time.Time) {
	s.mu.Lock()
	since, all := s.pause.since, append([]*Exec(nil), s.all...)
	s.mu.Unlock()
	for _, e := range all {
		e.rested(since, now)
	}
	_ = os.Remove(filepath.Join(s.spec.Dir, pausedFile))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = s.active.Add(now.Sub(later(since, s.active)))
	s.pause.on = false
	close(s.pause.over)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// foundPaused takes over the pause that an earlier server began. One that was not said to go on has ended without the deadlines: they are moved now.
func (s *Shell) foundPaused(frozen bool) {
	since := time.Now()
	text, err := os.ReadFile(filepath.Join(s.spec.Dir, pausedFile))
	if err == nil {
		if at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(text))); err == nil && at.Before(since) {
			since = at
		}
	}
	s.pausing.Lock()
	defer s.pausing.Unlock()
	switch {
	case frozen && err != nil:
		s.freeze(since)
	case frozen:
		s.begins(since)
	case err == nil:
		s.begins(since)
		s.goOn(time.Now())
	}
}

// rested moves the deadline of a command that has not ended by the time that the shell was frozen.
func (e *Exec) rested(since, now time.Time) {
	if e.hasEnded() {
		return
	}
	e.mu.Lock()
	r := &e.record
	moves := !r.Deadline.IsZero() && !r.PauseCounted.Equal(since)
	if moves {
		r.Deadline, r.PauseCounted = r.Deadline.Add(now.Sub(later(since, r.Info.StartedAt))), since
	}
	e.mu.Unlock()
	if moves {
		e.save()
	}
}

// awaitThaw waits until the shell is not frozen. Errors: the reason of ctx.
func (s *Shell) awaitThaw(ctx context.Context) error {
	for {
		s.mu.Lock()
		p := s.pause
		s.mu.Unlock()
		if !p.on {
			return nil
		}
		select {
		case <-p.over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// overtime is closed when the time of a command is over, in which the shell was not frozen; nil without a timeout. stop ends the wait for it.
func (e *Exec) overtime() (over <-chan struct{}, stop context.CancelFunc) {
	if e.deadline().IsZero() {
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(e.shell.life)
	late := make(chan struct{})
	e.shell.work.Go(func() {
		if e.awaitDeadline(ctx) == nil {
			close(late)
		}
	})
	return late, cancel
}

func (e *Exec) awaitDeadline(ctx context.Context) error {
	for {
		if err := e.shell.awaitThaw(ctx); err != nil {
			return err
		}
		rest := time.Until(e.deadline())
		if rest <= 0 {
			return nil
		}
		timer := time.NewTimer(rest)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// deadline is when the command's time is over as far as is known; zero without a timeout.
func (e *Exec) deadline() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.record.Deadline
}

// awake is a context that ends after d, in which the time that the shell is frozen does not count, but in steps of d.
func (s *Shell) awake(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	var timer *time.Timer
	s.mu.Lock() // timer is written before it is read
	defer s.mu.Unlock()
	timer = time.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.pause.on {
			timer.Reset(d)
			return
		}
		cancel(context.DeadlineExceeded)
	})
	return ctx, func() { timer.Stop(); cancel(context.Canceled) }
}
