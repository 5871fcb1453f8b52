package auth

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"iter"
	"time"
)

// ticketFile is the name of the tickets' journal in the data directory.
const ticketFile = "tickets"

// ticketLine is an issue, or with Used a use.
type ticketLine struct {
	Digest  string    `json:"digest"`
	PTY     string    `json:"pty,omitempty"`
	User    string    `json:"user,omitempty"` // who made it
	Role    Role      `json:"role,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
	Uses    int       `json:"uses,omitempty"` // left
	Used    bool      `json:"used,omitempty"`
}

// readTickets reads a file of tickets.
func readTickets(r io.Reader, of string, now time.Time) map[digest]*ticket {
	live := map[digest]*ticket{}
	readSecrets(r, of, applyTickets(live, now))
	return live
}

// applyTickets updates live by lines of the file, and is false for an invalid one.
func applyTickets(live map[digest]*ticket, now time.Time) func(line []byte) bool {
	return func(line []byte) bool {
		var l ticketLine
		return json.Unmarshal(line, &l) == nil && l.apply(live, now)
	}
}

// apply updates live by a line and reports whether the line is valid.
func (l ticketLine) apply(live map[digest]*ticket, now time.Time) bool {
	key, ok := keyIn(l.Digest)
	if !ok {
		return false
	}
	if l.Used {
		if found := live[key]; found != nil {
			if found.uses--; found.uses <= 0 {
				delete(live, key)
			}
		}
		return true
	}
	if l.PTY == "" || l.Role != Read && l.Role != Write || l.Uses < 1 || l.Uses > maxTicketUses {
		return false
	}
	if now.Before(l.Expires) && !l.Expires.After(now.Add(maxTicketTTL)) { // none lasts longer, whatever the clock was
		live[key] = &ticket{grant: Grant{Role: l.Role, PTY: l.PTY, User: l.User}, expires: l.Expires, uses: l.Uses}
	}
	return true
}

// issueOf returns the line of a new ticket.
func issueOf(key digest, t *ticket) ticketLine {
	return ticketLine{Digest: hex.EncodeToString(key[:]), PTY: t.grant.PTY, User: t.grant.User, Role: t.grant.Role,
		Expires: t.expires.UTC(), Uses: t.uses}
}

// lines are those of all live tickets for terminals. The lock is held.
func (t *tickets) lines() iter.Seq[any] {
	return func(yield func(any) bool) {
		for key, one := range t.live {
			if one.grant.PTY != "" && !yield(issueOf(key, one)) {
				return
			}
		}
	}
}
