package keeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// session finds a keeper, brings it up to date with the client, and reads from it, again and again. One goroutine
// uses it: Connect's until there is a keeper, then the client's own.
type session struct {
	*Client
	keeperStarted int64 // when the keeper started whose children the held ones are
	adopted       bool  // the client has what the keeper held at Connect
}

// run reads from l, and from another keeper when that is gone, until Close.
func (s *session) run(l *link) {
	defer close(s.done)
	for l != nil {
		err := s.read(l)
		l.Close()
		s.lost(l, err)
		l = s.reconnect()
	}
}

// read handles packets until the link breaks.
func (s *session) read(l *link) error {
	for {
		p, err := l.Receive()
		if err == nil {
			err = s.handle(l, p)
		}
		if err != nil {
			return err
		}
	}
}

// lost notes that the link is over and fails the calls that wait on it.
func (s *session) lost(l *link, err error) {
	if s.ctx.Err() != nil {
		err = ErrClosed
	} else {
		err = fmt.Errorf("%w: connection to process %d: %w", ErrNoKeeper, l.pid, err)
		s.log.Warn("the keeper is gone", "pid", l.pid, "error", err)
	}
	s.mu.Lock()
	s.link, s.lastErr = nil, err
	if s.ctx.Err() == nil {
		s.losses++
	}
	calls := l.finish()
	for _, call := range calls {
		if call.begins() || call.op == protocol.OpRelease {
			s.held.addReleased(call.id)
		}
	}
	s.mu.Unlock()
	s.changes.Notify()
	for _, call := range calls {
		call.err = err
		close(call.done)
	}
}

// reconnect gets a keeper again, nil when the client was closed.
func (s *session) reconnect() *link {
	for s.ctx.Err() == nil {
		ctx, cancel := context.WithTimeout(s.ctx, connectTimeout)
		l, err := s.attach(ctx)
		cancel()
		if err == nil {
			s.log.Info("there is a keeper again", "pid", l.pid)
			return l
		}
		s.mu.Lock()
		s.lastErr = err
		s.mu.Unlock()
		s.held.orphan()
		select {
		case <-time.After(regainPause):
		case <-s.ctx.Done():
		}
	}
	return nil
}

// attach finds or starts a keeper and brings both sides up to date. It retries with another keeper when this one dies
// or its exec fails.
func (s *session) attach(ctx context.Context) (*link, error) {
	for try := 1; ; try++ {
		l, err := s.find(ctx)
		if err != nil {
			return nil, err
		}
		if err = s.join(ctx, l); err == nil || ctx.Err() != nil || try == maxFailedLaunches {
			return l, err
		}
		s.log.Warn("the keeper went away", "error", err)
	}
}

// join makes the keeper hold what the client has, takes what it holds, and replaces it when it is of another release.
// With an error the link is closed.
func (s *session) join(ctx context.Context, l *link) error {
	// A keeper that hangs must not hang this process.
	stop := context.AfterFunc(ctx, l.Close)
	err := s.settle(l)
	ready := false
	for err == nil && !ready {
		if ready, err = s.use(ctx, l, stop); err == nil && !ready {
			err = s.repeat(l)
		}
	}
	if err == nil {
		return nil
	}
	stop()
	l.Close()
	for _, call := range l.finish() {
		if call.op == protocol.OpRelease {
			s.held.addReleased(call.id)
		}
	}
	return fmt.Errorf("%w: process %d: %w", ErrNoKeeper, l.pid, err)
}

// use publishes the link, unless a Release or Hold came that the keeper must get first. stop keeps the end of ctx from
// closing the link. Errors: ErrClosed, context.Cause(ctx).
func (s *session) use(ctx context.Context, l *link, stop func() bool) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.mustRepeat:
		return false, nil
	case !stop():
		return false, context.Cause(ctx)
	case s.ctx.Err() != nil: // Close does not see this link
		return false, ErrClosed
	}
	s.link, s.lastPID, s.lastErr = l, l.pid, nil
	s.changes.Notify()
	return true, nil
}

// settle brings keeper and client up to date with each other.
func (s *session) settle(l *link) error {
	if l.version != protocol.Version {
		if err := s.upgrade(l); err != nil {
			return err
		}
	}
	if l.version != protocol.Version {
		return fmt.Errorf("%w: version %d, this is %d", ErrVersion, l.version, protocol.Version)
	}
	if l.started != s.keeperStarted {
		s.held.orphan()
	}
	s.keeperStarted = l.started
	if err := s.repeat(l); err != nil {
		return err
	}
	if !s.adopted {
		if err := l.ask(s.Client, protocol.Packet{Op: protocol.OpTake}); err != nil {
			return err
		}
		s.adopted = true
	}
	return s.upgrade(l)
}

// repeat sends the keeper all releases and everything that is held. Releases come first: an id that was released may
// be held again.
func (s *session) repeat(l *link) error {
	s.mu.Lock()
	s.mustRepeat = false
	s.mu.Unlock()
	ids := take(s.held, &s.held.released)
	for id := range ids {
		if err := l.ask(s.Client, protocol.Packet{Op: protocol.OpRelease, ID: id}); err != nil {
			for id := range ids {
				s.held.addReleased(id) // releasing twice does no harm
			}
			return err
		}
	}
	return s.adoptAll(l)
}

// adoptAll hands everything over. A keeper that has it already refuses.
func (s *session) adoptAll(l *link) error {
	for _, e := range s.held.all() {
		p := protocol.Packet{Op: protocol.OpAdopt, ID: e.id, Kind: e.kind, PID: l.pid, Exit: (*protocol.Exit)(e.exit)}
		if e.child != nil {
			p.PID = e.child.PID()
		}
		err := s.held.withDescriptors(e, func(files []int) error { return l.ask(s.Client, p, files...) })
		_, refused := errors.AsType[*protocol.Failure](err)
		done := errors.Is(err, pty.ErrClosed) || errors.Is(err, errGone) // its owner is done with it
		if err != nil && !refused && !done {
			return err
		}
	}
	return nil
}

// upgrade asks a keeper of another release to become this one. A keeper that cannot goes on as it is.
func (s *session) upgrade(l *link) error {
	if l.release == s.config.Release && l.version == protocol.Version && l.programs {
		return nil
	}
	old := l.release
	err := l.ask(s.Client, protocol.Packet{Op: protocol.OpUpgrade, Argv: s.config.Command})
	if _, refused := errors.AsType[*protocol.Failure](err); refused {
		s.log.Warn("the keeper stays what it is", "pid", l.pid, "release", old, "wanted", s.config.Release, "error", err)
		return nil
	}
	if err == nil {
		s.log.Info("the keeper was replaced", "pid", l.pid, "from", old, "to", l.release)
	}
	return err
}
