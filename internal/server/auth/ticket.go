package auth

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/server/httpapi"
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
	// loginReserve is how many login tickets may wait beyond that: nobody is kept out by tickets of terminals.
	loginReserve = 16
)

// tickets are the short-lived secrets for URLs, stored as digests. Tickets for terminals outlive the
// server, see secretJournal. It is safe for concurrent use.
type tickets struct {
	now func() time.Time
	log *slog.Logger
	// there reports whether a terminal is there: its tickets go with it. nil: all are.
	there func(pty string) bool

	mu      sync.Mutex
	live    map[digest]*ticket
	next    time.Time      // no live ticket expires before
	journal *secretJournal // nil keeps nothing
	failed  bool           // the last write failed, and the log has it
}

type ticket struct {
	grant   Grant // PTY "" is a login ticket
	expires time.Time
	uses    int // left, at least 1
}

func newTickets(now func() time.Time, log *slog.Logger) *tickets {
	return &tickets{now: now, log: log, live: map[digest]*ticket{}}
}

// keep loads the tickets of an earlier server from dir and writes changes there from now on. It
// drops the tickets of a server with another token, and of an earlier epoch of logins; both may be "".
func (t *tickets) keep(dir, token, epoch string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now().Round(0)
	t.journal, t.live = newSecretJournal(dir, ticketFile, token, epoch), map[digest]*ticket{}
	if err := t.journal.load(applyTickets(t.live, now)); err != nil {
		t.log.Warn("the tickets of the server before are lost", "error", err)
	}
	t.sweep(now)
	t.said(t.journal.rewrite(t.lines()))
}

// end is endIf of the tickets of a terminal, with pty "" all.
func (t *tickets) end(pty string) int {
	return t.endIf(func(g Grant) bool { return pty == "" || g.PTY == pty })
}

// madeBy is the grant of a ticket, whoever shows it where; the zero one of an unknown ticket.
func (t *tickets) madeBy(secret string) Grant {
	t.mu.Lock()
	defer t.mu.Unlock()
	if found := t.live[DigestOf(secret)]; found != nil {
		return found.grant
	}
	return Grant{}
}

// endIf ends the tickets that match, and returns their number. What is on disk has ended when it returns.
func (t *tickets) endIf(matches func(Grant) bool) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, ticket := range t.live {
		if matches(ticket.grant) {
			delete(t.live, key)
			n++
		}
	}
	if n > 0 && t.journal != nil {
		t.said(t.journal.rewrite(t.lines()))
	}
	return n
}

// revoke ends one ticket.
func (t *tickets) revoke(key digest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live[key] == nil {
		return
	}
	delete(t.live, key)
	if t.journal != nil {
		t.said(t.journal.rewrite(t.lines()))
	}
}

// restart ends all tickets, and binds the next ones to an epoch of logins.
func (t *tickets) restart(epoch string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live = map[digest]*ticket{}
	if t.journal != nil {
		t.journal.bind(epoch)
		t.said(t.journal.rewrite(t.lines()))
	}
}

// said logs the first failure of a series. The lock is held.
func (t *tickets) said(err error) {
	if err != nil && !t.failed {
		t.log.Warn("tickets cannot be written to the disk", "error", err)
	}
	t.failed = err != nil
}

// wrote stores an issue or a use of a ticket for a terminal. The lock is held.
func (t *tickets) wrote(key digest, of *ticket, used bool) {
	if t.journal == nil || of.grant.PTY == "" {
		return
	}
	l := issueOf(key, of)
	if used {
		l = ticketLine{Digest: l.Digest, Used: true}
	}
	t.said(t.journal.add(l, used && of.uses == 0, t.lines()))
}

// issue creates a ticket for g that lasts ttl (up to maxTicketTTL) and can be
// used uses times (1..maxTicketUses). When maxTickets are live, and for a login loginReserve more, it
// fails with 429 LIMIT, whose RetryAfter is when the next one expires.
func (t *tickets) issue(g Grant, ttl time.Duration, uses int) (secret string, expires time.Time, err error) {
	// Wall time: it goes on while the machine sleeps, and it is what we tell.
	now := t.now().Round(0)
	secret, expires = NewSecret(), now.Add(ttl)
	most := maxTickets
	if g.PTY == "" {
		most += loginReserve
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !now.Before(t.next) || len(t.live) >= most {
		t.sweep(now)
	}
	if len(t.live) >= most {
		full := httpapi.NewError(http.StatusTooManyRequests, "LIMIT",
			"%d tickets are waiting to be used, which is the most; wait until one expires", maxTickets)
		full.RetryAfter = t.next.Sub(now)
		return "", time.Time{}, full
	}
	if len(t.live) == 0 || expires.Before(t.next) {
		t.next = expires
	}
	made := &ticket{grant: g, expires: expires, uses: uses}
	t.live[DigestOf(secret)] = made
	t.wrote(DigestOf(secret), made, false)
	return secret, expires, nil
}

// sweep forgets tickets that have expired, or whose terminal is gone, and finds when the next one expires.
func (t *tickets) sweep(now time.Time) {
	t.next = time.Time{}
	for key, ticket := range t.live {
		pty := ticket.grant.PTY
		if !now.Before(ticket.expires) || pty != "" && t.there != nil && !t.there(pty) {
			delete(t.live, key)
		} else if t.next.IsZero() || ticket.expires.Before(t.next) {
			t.next = ticket.expires
		}
	}
}

// redeem uses the ticket once and returns its grant and when it expires. It returns false for a secret that is unknown,
// used up or expired. It also returns false for a ticket of another terminal than pty, without
// using it. A login ticket is redeemed with pty "".
func (t *tickets) redeem(secret, pty string) (Grant, time.Time, bool) {
	now, key := t.now().Round(0), DigestOf(secret)
	t.mu.Lock()
	defer t.mu.Unlock()
	found := t.live[key]
	switch {
	case found == nil, found.grant.PTY != pty:
		return Grant{}, time.Time{}, false
	case !now.Before(found.expires):
		delete(t.live, key)
		return Grant{}, time.Time{}, false
	}
	if found.uses--; found.uses == 0 {
		delete(t.live, key)
	}
	t.wrote(key, found, true)
	return found.grant, found.expires, true
}

// valid returns what redeem would of a ticket for pty without using it, and false if redeem would fail.
func (t *tickets) valid(secret, pty string) (Grant, time.Time, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := t.live[DigestOf(secret)]
	if found == nil || found.grant.PTY != pty || !t.now().Round(0).Before(found.expires) {
		return Grant{}, time.Time{}, false
	}
	return found.grant, found.expires, true
}
