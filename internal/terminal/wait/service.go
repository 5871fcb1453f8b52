// Package wait waits for conditions on terminals: text on the screen, a prompt, silence,
// the end of the program. A wait about the screen reads the journal into an emulator of its
// own (a follower), so it sees every moment, however late it looks, and never slows the
// terminal's reader. Waits of one terminal share a follower where they can.
package wait

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/wire"
)

const (
	// maxWaits is how many waits a server has at once, and maxWaitsOf a terminal: a
	// wait for text may have an emulator of its own, some 100 KB of memory.
	maxWaits   = 1000
	maxWaitsOf = 100
)

// Service runs the waits of one server. Its methods are safe for concurrent use.
type Service struct {
	mu        sync.Mutex
	waits     int                               // of all terminals
	terminals map[*terminal.Terminal]*followers // those that somebody waits for
	replays   semaphore                         // who applies output now
}

// New returns a Service without waits. Its waits use at most half of the processors; the
// others are for the terminals.
func New() *Service {
	return &Service{
		terminals: map[*terminal.Terminal]*followers{},
		replays:   make(semaphore, max(1, runtime.GOMAXPROCS(0)/2)),
	}
}

// Wait returns when a condition of r is met. Errors: terminal.ErrInvalid,
// terminal.ErrLimit, terminal.ErrTimeout, terminal.ErrExited (the program ended and no
// condition can come true any more), terminal.ErrJournal, journal.ErrNotKept or the
// context's. The reply has Text and Seq with ErrTimeout and ErrExited too; without Text the time
// was over before the wait had a screen to look at.
func (s *Service) Wait(ctx context.Context, t *terminal.Terminal, r wire.Wait) (wire.Waited, error) {
	began := time.Now()
	conditions, timeout, err := checkRequest(r)
	if err != nil {
		return wire.Waited{}, err
	}
	unseen := wire.Waited{Seq: t.Wire().Seq} // the next wait begins where this one did
	if r.Since != nil {
		unseen.Seq = *r.Since
	}
	if err := awaitReplay(ctx, t, timeout); err != nil {
		return unseen, err
	}
	shared, err := s.enter(t)
	if err != nil {
		return wire.Waited{}, err
	}
	defer s.leave(t)
	w := &waiter{Wait: r, timeout: timeout, service: s, t: t, followers: shared, conditions: conditions, began: began,
		met: make(chan struct{}, 1)}
	w.finder = finder{until: began.Add(timeout + w.overtime()), gone: ctx.Done(), yield: w.yield}
	defer w.close()
	if err := w.beginInTime(ctx); err != nil {
		return unseen, err
	}
	err = w.loop(ctx)
	if err != nil && !NotMet(err) {
		return wire.Waited{}, err
	}
	result := w.result(err)
	if errors.Is(err, terminal.ErrTimeout) {
		return result, err // the screen may come to it later
	}
	if err := awaitScreen(ctx, t, result.Seq); err != nil {
		return wire.Waited{}, err
	}
	result.Matched, result.Exit = err == nil, t.Exit()
	return result, err
}

// awaitReplay waits for the screen of a terminal at the start of the server. Errors:
// terminal.ErrTimeout, ctx.Err().
func awaitReplay(ctx context.Context, t *terminal.Terminal, timeout time.Duration) error {
	over := fmt.Errorf("%w: the server has not read the terminal's last output within %v", terminal.ErrTimeout, timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, over)
	defer cancel()
	return t.AwaitScreen(ctx)
}

// NotMet reports whether an error of Wait says that no condition was met.
func NotMet(err error) bool {
	return errors.Is(err, terminal.ErrTimeout) || errors.Is(err, terminal.ErrExited)
}

// enter counts a wait for t and returns the followers of t. Errors: terminal.ErrLimit.
func (s *Service) enter(t *terminal.Terminal) (*followers, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.terminals[t]
	switch {
	case s.waits >= maxWaits:
		return nil, fmt.Errorf("%w: %d waits of this server are going on, the most there are",
			terminal.ErrLimit, maxWaits)
	case l == nil:
		l = &followers{service: s, t: t, begins: make(semaphore, 1)}
		s.terminals[t] = l
	case l.waits >= maxWaitsOf:
		return nil, fmt.Errorf("%w: %d waits for terminal %s are going on, the most there are",
			terminal.ErrLimit, maxWaitsOf, t.ID)
	}
	s.waits++
	l.waits++
	return l, nil
}

func (s *Service) leave(t *terminal.Terminal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits--
	if l := s.terminals[t]; l.waits > 1 {
		l.waits--
	} else {
		delete(s.terminals, t)
	}
}

// Number is how many waits for t are going on.
func (s *Service) Number(t *terminal.Terminal) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.terminals[t]; l != nil {
		return l.waits
	}
	return 0
}

// awaitScreen returns when the terminal's own screen has come to position seq. The journal,
// which waits read, has output a moment earlier. Whoever asks for the screen next, or presses
// keys in the modes of the program, needs what the wait saw. Errors: ctx.Err().
func awaitScreen(ctx context.Context, t *terminal.Terminal, seq uint64) error {
	changed, stop := t.Hub().Watch()
	defer stop()
	for {
		if f := t.Hub().Stats(); f.Seq >= seq || f.Finished {
			return nil
		}
		select {
		case <-changed:
		case <-t.Done():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// semaphore has a free place for each value that its buffer can still take.
type semaphore chan struct{}

// acquire waits for a place. Errors: ctx.Err().
func (s semaphore) acquire(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lock is acquire without an end: nobody holds a place for long.
func (s semaphore) lock() { s <- struct{}{} }

func (s semaphore) release() { <-s }
