package auth

import (
	"cmp"
	"context"
	"errors"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// everything is the target in the audit log of what ends all.
const everything = "all"

// requireAll fails unless the request may do everything.
func requireAll(ctx context.Context) error {
	if err := RequireWrite(ctx); err != nil {
		return err
	}
	if !GrantOf(ctx).Everything() {
		return httpapi.ErrWrongTerminal
	}
	return nil
}

// endTickets ends the tickets of a terminal, or all, and what they have opened.
func (a *Auth) endTickets(ctx context.Context, in wire.EndTickets) (wire.Done, error) {
	if err := requireAll(ctx); err != nil {
		return wire.Done{}, err
	}
	pty, all := in.PTY, in.All
	if all == (pty != "") {
		return wire.Done{}, httpapi.BadRequest("say which tickets end: ?pty= and a terminal, or ?all=1")
	}
	if !all {
		var err error
		if pty, err = a.findTerminal(httpapi.SpaceOf(ctx), pty); err != nil {
			return wire.Done{}, err
		}
	}
	SetTarget(ctx, cmp.Or(pty, everything))
	own := GrantOf(ctx).Owner() // all is what one can see
	tickets := a.tickets.endIf(func(g Grant) bool { return g.PTY == pty || all && (own == "" || g.User == own) })
	viewers := a.opened.end(func(o *opened) bool {
		byTicket := o.login == nil && !o.token && o.share == ""
		return byTicket && (all && (own == "" || o.user == own) || !all && o.pty == pty)
	})
	a.log.Info("tickets ended", "pty", TargetOf(httpapi.EchoOf(ctx)), "tickets", tickets, "viewers", viewers)
	return httpapi.Done, nil
}

// logOut ends the login that asks, or all logins, tickets and shares, and what they have opened. What is checked before
// it is not admitted behind it.
func (a *Auth) logOut(ctx context.Context, in wire.LogOut) (wire.Done, error) {
	if err := requireAll(ctx); err != nil {
		return wire.Done{}, err
	}
	c := httpapi.EchoOf(ctx)
	var err error
	if in.All {
		SetTarget(ctx, everything)
		err = a.logoutAll(GrantOf(ctx).Owner())
	} else {
		err = a.logout(c)
	}
	if a.sessions != nil && c.Get(byKey) == byCookie {
		gone := a.sessions.cookie(loginID{}, "", a.now(), schemeOf(c.Request()) == "https")
		gone.Value, gone.MaxAge = "", -1
		c.SetCookie(gone)
	}
	return httpapi.Done, err
}

// logout ends the login of the request.
func (a *Auth) logout(c echo.Context) error {
	o, ok := c.Get(openedKey).(*opened)
	if !ok || o.login == nil {
		return httpapi.BadRequest("this request has no login that could end: it has the token, or needs none; ?all=1 " +
			"ends every browser's login and all tickets")
	}
	id := o.login.id
	err := a.sessions.end(id, a.now())
	if errors.Is(err, errManyEnded) {
		return a.logoutAll(o.user)
	}
	n := a.opened.end(func(o *opened) bool { return o.login != nil && o.login.id == id })
	a.log.Info("logged out", "requests", n, "remote", c.Request().RemoteAddr)
	return err
}

// logoutAll ends all logins, tickets and shares, of one user or, with "", of everybody.
func (a *Auth) logoutAll(user string) (err error) {
	if user != "" {
		err = a.sessions.endAllOf(user)
		a.tickets.endIf(func(g Grant) bool { return g.User == user })
		a.endShares(func(s *share) bool { return s.grant.User == user })
		n := a.opened.end(func(o *opened) bool { return o.user == user && !o.token })
		a.log.Info("a user's logins have ended", "user", user, "requests", n)
		return err
	}
	epoch := ""
	if a.sessions != nil {
		epoch, err = a.sessions.endAll()
	}
	a.tickets.restart(epoch)
	a.shares.restart(epoch)
	n := a.opened.end(func(o *opened) bool { return !o.token })
	a.log.Info("all logged out", "requests", n)
	return err
}
