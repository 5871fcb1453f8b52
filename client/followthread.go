package client

import (
	"context"
	"errors"
	"io"
)

// WatchThread calls see with each event of a thread after a number, in order, over
// restarts of the server, until the thread is deleted (nil), see returns an error,
// which is returned, or ctx ends.
func (f *Follower) WatchThread(ctx context.Context, id string, since int64, see func(ThreadEvent) error) error {
	reached := false
	return f.retry(ctx, func(o *outage) (bool, error) {
		c, err := f.Connect()
		if err != nil {
			return !reached, err
		}
		defer c.Close()
		s, err := c.WatchThread(ctx, id, since)
		if err != nil {
			return !reached, err
		}
		defer s.Close()
		reached = true
		before := since
		stopped, err := watchEvents(s, &since, see)
		if since > before {
			*o = outage{}
		}
		return stopped, err
	})
}

// watchEvents passes on the events of one connection. stopped tells that err is see's.
func watchEvents(s *ThreadStream, since *int64, see func(ThreadEvent) error) (stopped bool, err error) {
	for {
		e, err := s.Next()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if err := see(e); err != nil {
			return true, err
		}
		*since = max(*since, e.Seq)
	}
}
