package auth

import (
	"errors"
	"sync"

	"github.com/labstack/echo/v4"
)

// ErrNoGuest refuses who shows a credential at another door than HTTP. The text is for the log.
var ErrNoGuest = errors.New("the user is not known, or the token is wrong")

// Guest is who another door than HTTP has let in, as SSH does: what they may do, and what the audit log says of them.
type Guest struct {
	Grant
	From string // address and port, for the audit log
	Who  string // for the audit log, where Grant.User is ""
	Door string // what other viewers see it as: ssh
	Name string // for other viewers, where Grant.User is ""
	// Ended is called once, in a goroutine of its own, when the rights end before the guest leaves: the user has gone,
	// or has another token or other rights. nil is allowed.
	Ended func()

	user User // Grant.User, as it was when the rights were given
}

// GuestOf is somebody with the rights of a user, with user "" those of the server's own token; they only look unless
// they may write. Errors: ErrNoGuest.
func (a *Auth) GuestOf(user string, role Role) (Guest, error) {
	g := Guest{Grant: Grant{Role: role, User: user}}
	if user == "" {
		return g, nil
	}
	u, ok := a.users.find(user)
	if !ok {
		return Guest{}, ErrNoGuest
	}
	g.user, g.Admin = u, u.Admin
	return g, nil
}

// GuestOfToken is who has a token: the server's own, or a user's. Wrong ones count as those of requests do: busy says
// that too many came, and who has shown this one is not to try again. Errors: ErrNoGuest.
func (a *Auth) GuestOfToken(token string) (g Guest, busy bool, err error) {
	d := DigestOf(token)
	if a.mode == ModeToken && a.token.equal(d) {
		return Guest{Grant: Grant{Role: Write}, Who: ByToken}, false, nil
	}
	if u, ok := a.users.of(d); ok {
		return Guest{Grant: Grant{Role: Write, User: u.Name, Admin: u.Admin}, Who: ByToken, user: u}, false, nil
	}
	return Guest{}, !a.failures.AllowN(a.now(), 1), ErrNoGuest
}

// guestPrefix begins the token of a guest.
const guestPrefix = "guest."

// guests are those who are there, by the digest of the token that each has. It is safe for concurrent use.
type guests struct {
	mu  sync.Mutex
	all map[digest]*Guest
}

func (s *guests) of(d digest) *Guest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[d]
}

// Admit returns a token with which requests have the rights of a guest, until leave is called, or Guest.Ended. It is in
// memory alone. What it has let in ends with it. Errors: ErrNoGuest, when the rights have changed since they were
// given.
func (a *Auth) Admit(g Guest) (token string, leave func(), err error) {
	token = guestPrefix + NewSecret()
	d, of := DigestOf(token), &g
	a.guests.mu.Lock()
	a.guests.all[d] = of
	a.guests.mu.Unlock()
	leave = func() {
		a.guests.mu.Lock()
		delete(a.guests.all, d)
		a.guests.mu.Unlock()
		a.opened.end(func(o *opened) bool { return o.guest == of })
	}
	if u, _ := a.users.find(g.User); g.User != "" && u != g.user { // it has just changed
		leave()
		return "", nil, ErrNoGuest
	}
	return token, leave, nil
}

// endGuests ends the rights of the guests who are a user.
func (a *Auth) endGuests(user string) (n int) {
	a.guests.mu.Lock()
	defer a.guests.mu.Unlock()
	for d, g := range a.guests.all {
		if g.User != user {
			continue
		}
		delete(a.guests.all, d)
		n++
		if g.Ended != nil {
			go g.Ended()
		}
	}
	return n
}

// fromKey holds in the echo context where a guest is, for the audit log.
const fromKey = "evertty.from"

// grantOfGuest is what the token of a guest allows.
func (a *Auth) grantOfGuest(c echo.Context, d digest, g *Guest) (Grant, error) {
	a.enter(c, &opened{user: g.User, token: true, guest: g})
	if a.guests.of(d) != g { // it has just ended
		return Grant{}, errBadToken
	}
	c.Set(byKey, g.Who)
	c.Set(fromKey, g.From)
	return g.Grant, nil
}

// GuestIn is the guest that a request is of; the zero Guest for others.
func GuestIn(c echo.Context) Guest {
	if o, ok := c.Get(openedKey).(*opened); ok && o.guest != nil {
		return *o.guest
	}
	return Guest{}
}

// NoteGuest adds a line about a guest to the audit log, or about somebody who was refused: what is AuditLogin or
// AuditRefused.
func (a *Auth) NoteGuest(g Guest, what, target, result string) {
	who := g.Who
	if g.User != "" {
		who = g.User
	}
	if who == "" {
		who = byNobody
	}
	a.note(who, g.From, what, target, result)
}

// RefuseGuest writes down that somebody was not let in at a door.
func (a *Auth) RefuseGuest(from, door string, reason error) {
	a.note(byNobody, from, AuditRefused, door, "UNAUTHORIZED")
	if a.audits.AllowN(a.now(), 1) {
		a.log.Warn("refused", "reason", reason, "remote", from, "what", door)
	}
}
