package shell

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// pausedFile is in the directory of a shell while it is frozen. It has the time since when, from which a later server
// counts.
const pausedFile = "paused"

// SetFrozen tells that the processes of the shell are stopped from outside, or no longer. Time stands still meanwhile:
// no command comes to its timeout, no look at the state is begun or takes too long, and the shell does not become idle.
// Saying it again changes nothing. It waits for the disk.
func (s *Shell) SetFrozen(frozen bool) {
	s.pausing.Lock()
	defer s.pausing.Unlock()
	switch {
	case s.isFrozen() == frozen:
	case frozen:
		s.pause(time.Now())
	default:
		s.resume(time.Now())
	}
}

func (s *Shell) isFrozen() bool {
	_, stopped := s.clock.Stopped()
	return stopped
}

// pause begins a pause. s.pausing is held.
func (s *Shell) pause(now time.Time) {
	text := []byte(now.Format(time.RFC3339Nano))
	if err := shelldir.WriteFile(filepath.Join(s.spec.Dir, pausedFile), text); err != nil {
		s.config.Log.Warn("a server after this one will not know since when a shell is paused",
			"shell", s.spec.ID, "err", err)
	}
	s.clock.Stop(now)
}

// resume ends a pause: what had a deadline has it as much later. s.pausing is held. The file goes last, so that a
// server that is killed in between leaves the deadlines to the next one, which moves none twice
// (history.Entry.PauseCounted).
func (s *Shell) resume(now time.Time) {
	since, _ := s.clock.Stopped()
	for _, e := range s.Execs() {
		e.moveDeadline(since, now)
	}
	_ = os.Remove(filepath.Join(s.spec.Dir, pausedFile))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = s.active.Add(now.Sub(later(since, s.active)))
	s.clock.Resume()
}

func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }

// recoverPause takes over the pause that an earlier server began. One that was not said to go on has ended without the
// deadlines: they are moved now.
func (s *Shell) recoverPause(frozen bool) {
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
		s.pause(since)
	case frozen:
		s.clock.Stop(since)
	case err == nil:
		s.clock.Stop(since)
		s.resume(time.Now())
	}
}

// moveDeadline moves the deadline of a command that has not ended by the time that the shell was frozen.
func (e *Exec) moveDeadline(since, now time.Time) {
	if e.hasEnded() {
		return
	}
	e.mu.Lock()
	r := &e.entry
	moves := !r.Deadline.IsZero() && !r.PauseCounted.Equal(since)
	if moves {
		r.Deadline, r.PauseCounted = r.Deadline.Add(now.Sub(later(since, r.Info.StartedAt))), since
	}
	e.mu.Unlock()
	if moves {
		e.save()
	}
}

// overtime is closed when the time of a command is over, in which the shell was not frozen; nil without a timeout. stop
// ends the wait for it.
func (e *Exec) overtime() (over <-chan struct{}, stop context.CancelFunc) {
	if e.deadline().IsZero() {
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(e.shell.life)
	late := make(chan struct{})
	e.shell.work.Go(func() {
		if e.shell.clock.WaitUntil(ctx, e.deadline) == nil {
			close(late)
		}
	})
	return late, cancel
}

// deadline is when the command's time is over as far as is known; zero without a timeout.
func (e *Exec) deadline() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.entry.Deadline
}
