package api

import (
	"net/http"
	"sync"
	"time"
)

const (
	// ticketTTL is how long a ticket lasts unless asked otherwise: long enough
	// to follow a link, short enough to be worthless in a shell's history.
	ticketTTL    = 30 * time.Second
	maxTicketTTL = 24 * time.Hour // a shared view lasts a working day
	// maxTicketUses lets a viewer reconnect often and a ticket be shared with
	// a large room.
	maxTicketUses = 1000
	// maxTickets bounds the live tickets, about 200 bytes each.
	maxTickets = 4096
)

// tickets are the one-time secrets that may stand in a URL: they live in
// memory, briefly, and only as digests. Safe for concurrent use.
type tickets struct {
	now func() time.Time

	mu   sync.Mutex
	live map[digest]*ticket
	next time.Time // no live ticket expires before
}

type ticket struct {
	grant   Grant // PTY "" is a login ticket
	expires time.Time
	uses    int // left, at least 1
}

func newTickets(now func() time.Time) *tickets {
	return &tickets{now: now, live: map[digest]*ticket{}}
}

// issue makes a ticket for g that lasts ttl (up to maxTicketTTL) and can be
// used uses times (1..maxTicketUses). When maxTickets are live it fails with 429
// LIMIT, whose RetryAfter is when the next one expires.
func (t *tickets) issue(g Grant, ttl time.Duration, uses int) (secret string, expires time.Time, err error) {
	// Wall time: it goes on while the machine sleeps, and it is what we tell.
	now := t.now().Round(0)
	secret, expires = newSecret(), now.Add(ttl)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !now.Before(t.next) || len(t.live) >= maxTickets {
		t.sweep(now)
	}
	if len(t.live) >= maxTickets {
		full := newError(http.StatusTooManyRequests, "LIMIT", "%d tickets are waiting to be used, which is the most; wait until one expires", maxTickets)
		full.RetryAfter = t.next.Sub(now)
		return "", time.Time{}, full
	}
	if len(t.live) == 0 || expires.Before(t.next) {
		t.next = expires
	}
	t.live[digestOf(secret)] = &ticket{grant: g, expires: expires, uses: uses}
	return secret, expires, nil
}

// sweep forgets expired tickets and finds when the next one expires.
func (t *tickets) sweep(now time.Time) {
	t.next = time.Time{}
	for key, ticket := range t.live {
		if !now.Before(ticket.expires) {
			delete(t.live, key)
		} else if t.next.IsZero() || ticket.expires.Before(t.next) {
			t.next = ticket.expires
		}
	}
}

// redeem uses the ticket once and returns its grant. It reports false for a
// secret that is unknown, used up or expired, and for a live ticket of another
// terminal than pty, which is then not used. A login ticket is redeemed with
// pty "".
func (t *tickets) redeem(secret, pty string) (Grant, bool) {
	now, key := t.now().Round(0), digestOf(secret)
	t.mu.Lock()
	defer t.mu.Unlock()
	found := t.live[key]
	switch {
	case found == nil, found.grant.PTY != pty:
		return Grant{}, false
	case !now.Before(found.expires):
		delete(t.live, key)
		return Grant{}, false
	}
	if found.uses--; found.uses == 0 {
		delete(t.live, key)
	}
	return found.grant, true
}
