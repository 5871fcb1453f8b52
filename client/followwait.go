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
	w := lasting{id: info.ID, r: r, begun: info.Seq, since: r.Since}
	if r.Timeout > 0 {
		w.end = time.Now().Add(r.Timeout)
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, w.end.Add(waitSlack), ErrTimeout)
		defer cancel()
	}
	var o outage
	for {
		reply, err := f.waitOnce(ctx, &w)
		if err == nil {
			return reply, nil
		}
		if errors.Is(err, ErrTimeout) && ctx.Err() == nil {
			if w.over() {
				return reply, err
			}
			o = outage{}
			w.passed(err)
			continue
		}
		if w.forget(err) {
			continue
		}
		if w.over() {
			return reply, fmt.Errorf("client: %w, and the server is lost: %w", ErrTimeout, err)
		}
		w.blind = w.looks() && w.since == nil
		if err := f.wait(ctx, &o, err); err != nil {
			return reply, err
		}
	}
}

// waitOnce is one request, and before it a look when the last one is in doubt.
func (f *Follower) waitOnce(ctx context.Context, w *lasting) (reply wire.Waited, err error) {
	c, err := f.Connect()
	if err != nil {
		return reply, err
	}
	defer c.Close()
	r := w.r
	if w.blind {
		// What was there at the beginning and is still there; what came and went is
		// found behind the beginning.
		r.Timeout = waitLook
		if reply, err = w.ask(ctx, c, r); !errors.Is(err, ErrTimeout) {
			return reply, err
		}
		w.blind, w.since = false, &w.begun
	}
	r.Since, r.Timeout = w.since, waitPiece
	if !w.end.IsZero() {
		r.Timeout = max(min(waitPiece, time.Until(w.end)), waitLook)
	}
	return w.ask(ctx, c, r)
}

func (w *lasting) ask(ctx context.Context, c *Client, r WaitRequest) (wire.Waited, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout+waitSlack)
	defer cancel()
	return c.Wait(ctx, w.id, r)
}

// looks reports whether the condition is about past output, not about the present state.
func (w *lasting) looks() bool {
	return (w.r.For == "text" || w.r.For == "regex" || w.r.For == "title") && !w.r.Not
}

func (w *lasting) over() bool { return !w.end.IsZero() && !time.Now().Before(w.end) }

// passed notes that the output up to the position of a timeout was searched.
func (w *lasting) passed(err error) {
	refused, ok := errors.AsType[*Error](err)
	var at wire.ErrorDetails
	if ok && w.looks() && json.Unmarshal(refused.Details, &at) == nil && at.Seq != nil {
		w.since = at.Seq
	}
}

// forget gives up a position that is kept no more, unless the caller has chosen it.
func (w *lasting) forget(err error) bool {
	refused, ok := errors.AsType[*Error](err)
	if !ok || refused.Code != codeNotKept || w.since == w.r.Since {
		return false
	}
	w.since = w.r.Since
	return true
}
