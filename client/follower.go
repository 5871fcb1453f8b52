package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	// DefaultPatience is how long a Follower waits for a server that does not answer.
	DefaultPatience = time.Minute
	// lostSilent is how long a server may be lost before Lost is called: a restart
	// takes less.
	lostSilent = 3 * time.Second
	// retryFirst and retryMost bound the pause before the next try; it doubles.
	retryFirst = 100 * time.Millisecond
	retryMost  = time.Second
)

// Follower does what lasts over restarts of the server: it waits for a lost server
// and goes on where it was, with nothing twice and nothing missing. What goes wrong
// at the first contact is an error at once. It is safe for concurrent use.
type Follower struct {
	// Connect finds the server. It is called for every connection, because a server
	// that was started again may have another address.
	Connect func() (*Client, error)
	// Patience is how long a lost server is waited for; 0 is DefaultPatience.
	Patience time.Duration
	// Lost, unless nil, is called once for each time that the server is lost for more
	// than three seconds, with the last error.
	Lost func(error)
	// Inside says where what Stream brings is shown, see Inside.
	Inside Inside
}

// Temporary reports whether the same request may succeed later: everything but what a
// server refuses for good.
func Temporary(err error) bool {
	refused, ok := errors.AsType[*Error](err)
	return !ok || refused.Code == "CLOSING" || refused.Status == http.StatusServiceUnavailable ||
		refused.Status == http.StatusBadGateway
}

// outage is one time that the server is lost. The zero value is none.
type outage struct {
	since time.Time
	told  bool
	pause time.Duration
}

// wait returns when the next try is due. Its error is why there is none: err when the
// server refused for good or is lost for too long, else the cause of ctx.
func (f *Follower) wait(ctx context.Context, o *outage, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !Temporary(err):
		return err
	case o.since.IsZero():
		*o = outage{since: time.Now(), pause: retryFirst}
	}
	patience := f.Patience
	if patience == 0 {
		patience = DefaultPatience
	}
	switch lost := time.Since(o.since); {
	case lost >= patience:
		return fmt.Errorf("client: the server is lost for %v: %w", patience, err)
	case lost >= lostSilent && !o.told && f.Lost != nil:
		o.told = true
		f.Lost(err)
	}
	t := time.NewTimer(o.pause)
	defer t.Stop()
	o.pause = min(2*o.pause, retryMost)
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// retry calls try until it is done, or until wait gives up. With progress try sets the outage to its zero value.
func (f *Follower) retry(ctx context.Context, try func(*outage) (done bool, err error)) error {
	var o outage
	for {
		done, err := try(&o)
		if done {
			return err
		}
		if err := f.wait(ctx, &o, err); err != nil {
			return err
		}
	}
}

// find is the first contact: nothing that answers is an error at once, a connection
// that breaks is not.
func (f *Follower) find(ctx context.Context, id string) (info Terminal, err error) {
	err = f.retry(ctx, func(o *outage) (bool, error) {
		c, err := f.Connect()
		none := err != nil
		if err == nil {
			info, err = c.Get(ctx, id)
			c.Close()
			none = errors.Is(err, ErrNoServer)
		}
		return err == nil || none && o.since.IsZero(), err
	})
	return info, err
}

// Do calls do with a client until it returns nil or an error that is not Temporary.
func (f *Follower) Do(ctx context.Context, do func(*Client) error) error {
	return f.retry(ctx, func(*outage) (bool, error) {
		c, err := f.Connect()
		if err == nil {
			err = do(c)
			c.Close()
		}
		return err == nil, err
	})
}
