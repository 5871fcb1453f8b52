package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// pausedFile is in the directory of a shell while it is frozen. It has the time of its beginning, for a later server.
const pausedFile = "paused"

// SetFrozen notes that the processes of the shell are stopped from outside, or no longer. Its clock stops meanwhile:
// no command times out, no capture begins or takes too long, and the shell does not become idle. Repeating it changes
// nothing. It waits for the disk.
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
			"shell", s.spec.ID, "error", err)
	}
	s.clock.Stop(now)
}

// resume ends a pause, and moves all deadlines by its length. s.pausing is held. It removes the file last, so that
// after a kill in between the next server moves the other deadlines, and none twice (history.Entry.PauseCounted).
func (s *Shell) resume(now time.Time) {
	since, _ := s.clock.Stopped()
	for _, e := range s.Execs() {
		if !e.hasEnded() && e.moveDeadline(since, now) {
			e.saveOrLog()
		}
	}
	_ = os.Remove(filepath.Join(s.spec.Dir, pausedFile))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = s.active.Add(now.Sub(later(since, s.active)))
	s.clock.Resume()
}

func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }

// pause takes over the pause of an earlier server. One that has ended without its deadlines moves them now.
func (r *recovery) pause(frozen bool) {
	s := r.shell
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
