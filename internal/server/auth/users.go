package auth

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/evertty/evertty/internal/owner"
)

// User is somebody who has a token of their own. Who is no administrator sees what is theirs and nothing else.
type User struct {
	Name   string   // see owner.CheckUser
	Hash   [32]byte // SHA-256 of the token
	Admin  bool
	Limits Limits // of who is no administrator
}

// CheckUserName reports whether a user may be called so. The words of the audit log for those without a name are taken.
func CheckUserName(name string) error {
	if slices.Contains([]string{ByToken, byCookie, byTicket, byAnyone, byNobody, auditServer}, name) {
		return fmt.Errorf("%q: the audit log has this word for those without a name; take another one", name)
	}
	return owner.CheckUser(name)
}

// Limits are what a user may have at once; 0 is as much as the server takes.
type Limits struct{ PTYs, Viewers, Shells int }

// Users are those of a server beside who has the server's own token. A nil one has none. It is safe for concurrent use.
type Users struct {
	mu     sync.RWMutex
	byName map[string]User
	byHash map[digest]User
}

// NewUsers makes the users of a list, in which names and hashes are unique.
func NewUsers(list []User) *Users {
	us := &Users{}
	us.replace(list)
	return us
}

// replace takes another list, and returns the names of those who have gone, or have another token or other rights.
func (us *Users) replace(list []User) (changed []string) {
	byName, byHash := map[string]User{}, map[digest]User{}
	for _, u := range list {
		byName[u.Name], byHash[u.Hash] = u, u
	}
	us.mu.Lock()
	defer us.mu.Unlock()
	for name, u := range us.byName {
		if now, ok := byName[name]; !ok || now.Hash != u.Hash || now.Admin != u.Admin {
			changed = append(changed, name)
		}
	}
	us.byName, us.byHash = byName, byHash
	return slices.Sorted(slices.Values(changed))
}

// find returns the user of a name.
func (us *Users) find(name string) (u User, ok bool) {
	if us == nil {
		return u, false
	}
	us.mu.RLock()
	defer us.mu.RUnlock()
	u, ok = us.byName[name]
	return u, ok
}

// of returns the user of a token. What the search takes depends on the token's digest alone.
func (us *Users) of(token digest) (u User, ok bool) {
	if us == nil {
		return u, false
	}
	us.mu.RLock()
	defer us.mu.RUnlock()
	u, ok = us.byHash[token]
	return u, ok
}

// LimitsOf returns what a user may have; the zero Limits for somebody who is not there.
func (us *Users) LimitsOf(name string) Limits {
	u, _ := us.find(name)
	return u.Limits
}

// names are all users.
func (us *Users) names() []string {
	us.mu.RLock()
	defer us.mu.RUnlock()
	return slices.Sorted(maps.Keys(us.byName))
}

// SetUsers replaces the users. The tickets, shares, logins and requests of those who have gone, or have another token
// or other rights, end at once. The Auth was made with Users.
func (a *Auth) SetUsers(list []User) {
	for _, name := range a.users.replace(list) {
		tickets := a.tickets.endIf(func(g Grant) bool { return g.User == name })
		shares, _ := a.endShares(func(s *share) bool { return s.grant.User == name })
		guests := a.endGuests(name)
		requests := a.opened.end(func(o *opened) bool { return o.user == name })
		a.log.Info("the access of a user has ended", "user", name, "tickets", tickets, "shares", shares,
			"requests", requests, "connections", guests)
	}
	a.log.Info("users", "names", a.users.names())
}

// current is the grant that g is now: of a user who has gone it is none.
func (a *Auth) current(g Grant) (Grant, bool) {
	if g.User == "" {
		return g, true
	}
	u, ok := a.users.find(g.User)
	g.Admin = u.Admin
	return g, ok
}
