package client

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
)

// FollowStream is a terminal that is watched over restarts of the server. Next has one
// caller at a time; Close may be called from any goroutine.
type FollowStream struct {
	f      *Follower
	ctx    context.Context
	cancel context.CancelCauseFunc
	id     string
	seq    uint64                 // position of the last event
	shown  bool                   // there was a snapshot
	stream atomic.Pointer[Stream] // nil while there is no connection
}

// Stream is Client.Stream over restarts of the server. After each the first event is of
// KindResume, or a snapshot when what followed is not kept. ctx governs the whole life
// of the stream, and the caller must Close it.
func (f *Follower) Stream(ctx context.Context, id string) (*FollowStream, error) {
	info, err := f.find(ctx, id)
	if err != nil {
		return nil, err
	}
	s := &FollowStream{f: f, id: info.ID}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	return s, nil
}

// ID is the terminal's id, whatever name it was found by.
func (s *FollowStream) ID() string { return s.id }

// Next returns the next event. After the exit event it returns io.EOF. Errors: what the
// server refuses, that it is lost for too long, the cause of the stream's context.
func (s *FollowStream) Next() (e Event, err error) {
	err = s.f.retry(s.ctx, func(*outage) (bool, error) {
		e, err = s.next()
		if err == nil || errors.Is(err, io.EOF) {
			return true, err
		}
		s.drop()
		return false, err
	})
	switch e.Kind {
	case KindSnapshot, KindData, KindResize, KindExit:
		s.seq, s.shown = e.Seq, true
	}
	return e, err
}

// next is the next event of the connection, which is made when there is none.
func (s *FollowStream) next() (Event, error) {
	stream := s.stream.Load()
	if stream == nil {
		c, err := s.f.Connect()
		if err != nil {
			return Event{}, err
		}
		var since *uint64
		if s.shown {
			since = &s.seq
		}
		if stream, err = c.stream(s.ctx, s.id, since, s.f.Inside); err != nil {
			return Event{}, err
		}
		s.stream.Store(stream)
	}
	return stream.Next()
}

func (s *FollowStream) drop() {
	if stream := s.stream.Swap(nil); stream != nil {
		_ = stream.Close() // nothing was written
	}
}

// Close ends the stream. A pending Next returns.
func (s *FollowStream) Close() error {
	s.cancel(ErrClosed)
	s.drop()
	return nil
}
