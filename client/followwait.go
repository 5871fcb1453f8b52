package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/evertty/evertty/wire"
)

const (
	// waitPiece is how long one request of a long wait takes, so that the server's own
	// limit (an hour) does not matter and a dead connection shows.
	waitPiece = 5 * time.Minute
	// waitSlack is how much longer than the server the client waits for its word.
	waitSlack = 10 * time.Second
	// waitLook is the time of a wait that only looks.
	waitLook = time.Millisecond
	// codeNotKept refuses a position that the journal has no more.
	codeNotKept = "NOT_KEPT"
)

// lasting is a wait that takes any number of requests.
type lasting struct {
	id    string // not the name, which another terminal may get
	r     WaitRequest
	begun uint64    // position of the output when the wait began
	end   time.Time // zero for none
	since *uint64   // position up to which the output was searched
	blind bool      // the answer to the last request was lost
}

// Wait is Client.Wait over restarts of the server and for any time: r.Timeout 0 is no
// limit. What is shown while the server is away counts too, as far as its journal is
// kept. Errors: ErrTimeout after r.Timeout, also while the server is lost.
func (f *Follower) Wait(ctx context.Context, id string, r WaitRequest) (wire.Waited, error) {
	info, err := f.find(ctx, id)
	if err != nil {
		return wire.Waited{}, err
	}
	l := lasting{id: info.ID, r: r, begun: info.Seq, since: r.Since}
	if r.Timeout > 0 {
		l.end = time.Now().Add(r.Timeout)
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, l.end.Add(waitSlack), ErrTimeout)
		defer cancel()
	}
	var o outage
	for {
		reply, err := f.waitOnce(ctx, &l)
		if err == nil {
			return reply, nil
		}
		if errors.Is(err, ErrTimeout) && ctx.Err() == nil {
			if l.over() {
				return reply, err
			}
			o = outage{}
			l.passed(err)
			continue
		}
		if l.forget(err) {
			continue
		}
		if l.over() {
			return reply, fmt.Errorf("client: %w, and the server is lost: %w", ErrTimeout, err)
		}
		l.blind = l.looks() && l.since == nil
		if err := f.wait(ctx, &o, err); err != nil {
			return reply, err
		}
	}
}

// waitOnce is one request, and before it a look when the last one is in doubt.
func (f *Follower) waitOnce(ctx context.Context, l *lasting) (reply wire.Waited, err error) {
	c, err := f.Connect()
	if err != nil {
		return reply, err
	}
	defer c.Close()
	r := l.r
	if l.blind {
		// What was there at the beginning and is still there; what came and went is
		// found behind the beginning.
		r.Timeout = waitLook
		if reply, err = l.ask(ctx, c, r); !errors.Is(err, ErrTimeout) {
			return reply, err
		}
		l.blind, l.since = false, &l.begun
	}
	r.Since, r.Timeout = l.since, waitPiece
	if !l.end.IsZero() {
		r.Timeout = max(min(waitPiece, time.Until(l.end)), waitLook)
	}
	return l.ask(ctx, c, r)
}

func (l *lasting) ask(ctx context.Context, c *Client, r WaitRequest) (wire.Waited, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout+waitSlack)
	defer cancel()
	return c.Wait(ctx, l.id, r)
}

// looks reports whether the condition is about past output, not about the present state.
func (l *lasting) looks() bool {
	return (l.r.For == "text" || l.r.For == "regex" || l.r.For == "title") && !l.r.Not
}

func (l *lasting) over() bool { return !l.end.IsZero() && !time.Now().Before(l.end) }

// passed notes that the output up to the position of a timeout was searched.
func (l *lasting) passed(err error) {
	refused, ok := errors.AsType[*Error](err)
	var at wire.ErrorDetails
	if ok && l.looks() && json.Unmarshal(refused.Details, &at) == nil && at.Seq != nil {
		l.since = at.Seq
	}
}

// forget gives up a position that is kept no more, unless the caller has chosen it.
func (l *lasting) forget(err error) bool {
	refused, ok := errors.AsType[*Error](err)
	if !ok || refused.Code != codeNotKept || l.since == l.r.Since {
		return false
	}
	l.since = l.r.Since
	return true
}
