package auth

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// everything is the target in the audit log of what ends all.
const everything = "all"

// requireAll fails unless the request may do everything.
func requireAll(c echo.Context) error {
	if err := RequireWrite(c); err != nil {
		return err
	}
	if GrantOf(c).PTY != "" {
		return httpapi.ErrWrongTerminal
	}
	return nil
}

// HandleEndTickets serves DELETE /tickets: it ends the tickets of a terminal, or all, and what they have
// opened.
func (a *Auth) HandleEndTickets(c echo.Context) error {
	if err := requireAll(c); err != nil {
		return err
	}
	all, err := httpapi.SwitchOf(c, everything)
	if err != nil {
		return err
	}
	pty := c.QueryParam("pty")
	if all == (pty != "") {
		return httpapi.BadRequest("say which tickets end: ?pty= and a terminal, or ?all=1")
	}
	if !all {
		if pty, err = a.findTerminal("", pty); err != nil {
			return err
		}
	}
	SetTarget(c, cmp.Or(pty, everything))
	tickets := a.tickets.end(pty)
	viewers := a.opened.end(func(o *opened) bool { return o.login == nil && (all || o.pty == pty) })
	a.log.Info("tickets ended", "pty", TargetOf(c), "tickets", tickets, "viewers", viewers)
	return c.JSON(http.StatusOK, httpapi.Done)
}

// HandleLogout serves POST /logout: it ends the login that asks, or all logins and all tickets, and what
// they have opened. What is checked before it is not admitted behind it.
func (a *Auth) HandleLogout(c echo.Context) error {
	if err := requireAll(c); err != nil {
		return err
	}
	all, err := httpapi.SwitchOf(c, everything)
	if err != nil {
		return err
	}
	if all {
		SetTarget(c, everything)
		err = a.logoutAll()
	} else {
		err = a.logout(c)
	}
	if a.sessions != nil && c.Get(byKey) == byCookie {
		gone := a.sessions.cookie(loginID{}, a.now(), c.Request().TLS != nil)
		gone.Value, gone.MaxAge = "", -1
		c.SetCookie(gone)
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, httpapi.Done)
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
		return a.logoutAll()
	}
	n := a.opened.end(func(o *opened) bool { return o.login != nil && o.login.id == id })
	a.log.Info("logged out", "requests", n, "remote", c.Request().RemoteAddr)
	return err
}

// logoutAll ends all logins and tickets.
func (a *Auth) logoutAll() (err error) {
	epoch := ""
	if a.sessions != nil {
		epoch, err = a.sessions.endAll()
	}
	a.tickets.restart(epoch)
	n := a.opened.end(func(*opened) bool { return true })
	a.log.Info("all logged out", "requests", n)
	return err
}
