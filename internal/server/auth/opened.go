package auth

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// expiryCheck is the longest time until the clock is looked at again: timers stand still while the
// machine sleeps, and tickets expire.
const expiryCheck = 15 * time.Second

// endedWrite is how long a client that does not read keeps a reply behind its end.
const endedWrite = time.Second

// opened is a request that a ticket, a share, a login or a user's token has let in, while it is answered. Its context
// ends with the cause httpapi.ErrEnded when the ticket or the login does.
type opened struct {
	login  *login // nil for a ticket, a share, and a user's token
	pty    string // of a ticket
	ticket digest // zero without one
	share  string // id of the share that has let it in
	user   string // whose it is, see Grant.User
	token  bool   // a user's token, or a guest's, has let it in
	guest  *Guest // who has that token; nil for others

	timer *time.Timer // nil without an expiry

	mu       sync.Mutex // guards what follows; a leaf
	ctx      context.Context
	cancel   context.CancelCauseFunc
	answered context.Context // ends when the request is answered
	reply    *http.ResponseController
}

// openedRequests are those that a ticket or a login has let in. It is safe for concurrent use.
type openedRequests struct {
	mu  sync.Mutex
	all map[*opened]struct{}
}

// openedKey holds an *opened in the echo context.
const openedKey = "evertty.opened"

// enter adds the request. It comes before the ticket or the login is looked at, or both is done once
// more: a revocation at the same time finds the request, or the look finds the revocation.
func (a *Auth) enter(c echo.Context, o *opened) *opened {
	r := c.Request()
	o.answered, o.reply = r.Context(), http.NewResponseController(c.Response().Writer)
	o.ctx, o.cancel = context.WithCancelCause(o.answered)
	c.SetRequest(r.WithContext(o.ctx))
	c.Set(openedKey, o)
	a.opened.mu.Lock()
	defer a.opened.mu.Unlock()
	a.opened.all[o] = struct{}{}
	return o
}

// leave forgets a request that is answered, unless Last has its connection go on.
func (a *Auth) leave(c echo.Context) {
	if o, ok := c.Get(openedKey).(*opened); ok && !httpapi.Lasts(c) {
		a.forget(o)
	}
}

// forget takes the request off those that are open.
func (a *Auth) forget(o *opened) {
	a.opened.mu.Lock()
	delete(a.opened.all, o)
	a.opened.mu.Unlock()
	o.mu.Lock()
	o.cancel(nil)
	o.mu.Unlock()
	if o.timer != nil {
		o.timer.Stop()
	}
}

// Last is httpapi.Last. own has the same grant. ctx ends with the ticket or the login as that of the request, and with
// over, which the caller calls.
func (a *Auth) Last(c echo.Context) (ctx context.Context, own echo.Context, over func()) {
	own, end := httpapi.Last(c)
	for _, key := range []string{grantKey, byKey, fromKey} {
		if v := c.Get(key); v != nil {
			own.Set(key, v)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	o, ok := c.Get(openedKey).(*opened)
	if !ok {
		return ctx, own, func() {
			cancel(nil)
			end()
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ctx.Err() != nil {
		cancel(context.Cause(o.ctx))
	}
	o.ctx, o.cancel, o.answered, o.reply = ctx, cancel, nil, nil
	own.Set(openedKey, o)
	return ctx, own, func() {
		a.forget(o)
		end()
	}
}

// Revoker returns what ends the ticket or the share that has let a request in: it opens nothing more, for nobody. What
// it has opened goes on. It may be called when the request is over.
func (a *Auth) Revoker(c echo.Context) func() {
	o, ok := c.Get(openedKey).(*opened)
	return func() {
		switch {
		case !ok:
		case o.share != "":
			a.shares.shut(o.share)
		case o.ticket != (digest{}):
			a.tickets.revoke(o.ticket)
		}
	}
}

// end ends the requests that match, and returns their number.
func (s *openedRequests) end(matches func(*opened) bool) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for o := range s.all {
		if matches(o) {
			o.end()
			n++
		}
	}
	return n
}

func (o *opened) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cancel(httpapi.ErrEnded)
	if o.reply != nil {
		time.AfterFunc(endedWrite, o.stopReply)
	}
}

// stopReply ends a reply that is still being written.
func (o *opened) stopReply() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reply != nil && o.answered.Err() == nil {
		_ = o.reply.SetWriteDeadline(time.Now())
	}
}

// viewers are how many requests each share has let in.
func (s *openedRequests) viewers() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := map[string]int{}
	for o := range s.all {
		if o.share != "" {
			n[o.share]++
		}
	}
	return n
}

// expire ends the request at a time of the clock now. It is called once.
func (o *opened) expire(at time.Time, now func() time.Time) {
	left := func() time.Duration { return at.Sub(now().Round(0)) }
	o.timer = time.AfterFunc(expiryCheck, func() {
		switch d := left(); {
		case d <= 0:
			o.end()
		case !o.over():
			o.timer.Reset(min(d, expiryCheck))
		}
	})
	o.timer.Reset(min(max(left(), 0), expiryCheck))
}

func (o *opened) over() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ctx.Err() != nil
}
