package shell

import (
	"fmt"
	"strings"
	"time"
)

// limitWait fails a command that has not got its turn by the end of its QueueTimeout, which counts from the
// submission, over restarts of the server. The lock is held, or nobody else has the shell yet.
func (s *Shell) limitWait(e *Exec) {
	limit := e.entry.Spec.QueueTimeout // never changes
	if limit <= 0 {
		return
	}
	left := max(0, time.Until(e.entry.Info.CreatedAt.Add(limit)))
	e.turnTimer = time.AfterFunc(left, func() { s.failWaiting(e, limit) })
}

// failWaiting fails a command that still waits. One that was taken from the queue has its turn.
func (s *Shell) failWaiting(e *Exec, limit time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.detached() && s.queue.remove(e) {
		s.work.Go(func() { e.end(Failed, nil, fmt.Errorf("%w: it waited %v", ErrQueueTimeout, limit)) })
	}
}

// problemOf is the error of a failed command, from its record.
func problemOf(why string) error {
	for _, known := range [...]error{ErrQueueTimeout, ErrDeleted} {
		if rest, is := strings.CutPrefix(why, known.Error()); is {
			return fmt.Errorf("%w%s", known, rest)
		}
	}
	if why == "" {
		return ErrEnded
	}
	return fmt.Errorf("%w: %s", ErrEnded, strings.TrimPrefix(why, ErrEnded.Error()+": "))
}
