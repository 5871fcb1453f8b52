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
	var o outage
	for reached := false; ; {
		c, err := f.Connect()
		var s *ThreadStream
		if err == nil {
			s, err = c.WatchThread(ctx, id, since)
		}
		if err == nil {
			reached = true
			var stopped bool
			before := since
			stopped, err = watchEvents(s, &since, see)
			_ = s.Close()
			c.Close()
			if stopped || err == nil {
				return err
			}
			if since > before {
				o = outage{}
			}
		}
		if !reached {
			return err
		}
		if err := f.wait(ctx, &o, err); err != nil {
			return err
		}
	}
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
