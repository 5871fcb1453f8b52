package auth

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// auditShareOpen is the word of the audit log for a use of a share.
const auditShareOpen = "share.open"

// deadLink is what is said of every link that opens nothing, whether it ever did or not.
const deadLink = "this link opens nothing: it is wrong, has expired, was used up or was revoked; ask the person who " +
	"sent it for another one"

// errDeadLink refuses a link, or a page that one has opened; the text is sent.
func errDeadLink() *httpapi.Error {
	return httpapi.NewError(http.StatusNotFound, "NOT_FOUND", "%s", deadLink)
}

const deadPage = httpapi.PageHead + `</head><body><h1>This link opens nothing</h1>` +
	`<p>It is wrong, has expired, was used up or was revoked. Ask the person who sent it for another one.</p>` +
	`</body></html>`

// openedPage goes on to the page of a share. The address is relative, because a proxy may have put a path before ours,
// and takes the place of the link in the browser's history. A redirect would still count as the request of the site
// that the link was on, and the browser would hold back the new cookie (SameSite=Strict).
func openedPage(id string) string {
	return httpapi.PageHead + `<meta http-equiv="refresh" content="0;url=` + id + `/"></head>` +
		`<body><p>A terminal is shared with you. <a href="` + id + `/">Open it</a>.</p></body></html>`
}

// openShare follows a link: GET uses it once and sets the cookie of its share. HEAD, and what a browser loads before
// somebody asks for it, use nothing up and open nothing.
func (a *Auth) openShare(c echo.Context, in wire.OpenShare) error {
	SetTarget(c.Request().Context(), "")
	if c.Request().Header.Get("Sec-Purpose") != "" {
		return c.NoContent(http.StatusServiceUnavailable)
	}
	use := a.shares.use
	if httpapi.IsHead(c) {
		use = a.shares.ofSecret
	}
	one, ok := use(in.Secret)
	if _, known := a.current(one.grant); !ok || !known {
		return a.dead(c)
	}
	if !httpapi.IsHead(c) {
		c.SetCookie(a.cookieOf(one, c.Request()))
		a.noteOpened(c, one)
	}
	return c.HTML(http.StatusOK, openedPage(one.id))
}

// noteOpened writes a use down.
func (a *Auth) noteOpened(c echo.Context, one share) {
	a.log.Info("share opened", "share", one.id, "role", one.grant.Role, "remote", c.Request().RemoteAddr)
	c.Set(byKey, byTicket)
	a.Note(c, auditShareOpen, one.id, "ok")
}

// dead answers a link that opens nothing, with a page for a person. Errors: 429 where they come too fast.
func (a *Auth) dead(c echo.Context) error {
	a.audit(c, errDeadLink())
	if !a.failures.AllowN(a.now(), 1) {
		return httpapi.NewError(http.StatusTooManyRequests, "LIMIT", "too many links that open nothing; wait a little")
	}
	return c.HTML(http.StatusNotFound, deadPage)
}

// grantOfShareCookie lets in what the page of a share asks for. under is the id in its path, "" for a program that
// shows the cookie elsewhere.
func (a *Auth) grantOfShareCookie(c echo.Context, under string) (Grant, error) {
	r := c.Request()
	one, ok := a.ofCookie(r, under)
	if !ok {
		return Grant{}, errDeadLink()
	}
	if IsUpgrade(r) && r.Header.Get("Origin") == "" {
		return Grant{}, forbiddenOrigin("no Origin")
	}
	a.enter(c, &opened{share: one.id, user: one.grant.User})
	one, ok = a.ofCookie(r, under) // it may just have ended
	g, known := a.current(one.grant)
	if !ok || !known {
		return Grant{}, errDeadLink()
	}
	c.Set(byKey, byTicket)
	return g, nil
}

// grantOfShare uses the secret of a share once, if the terminal of the path is one of its; one is what ofSecret says.
// What isPeek recognises does not use it.
func (a *Auth) grantOfShare(c echo.Context, one share, secret string) (Grant, error) {
	g, known := a.current(one.grant)
	space := g.Session
	if sid := c.Param("sid"); sid != "" {
		space = owner.Name(g.Owner(), sid)
	} else if space == "" {
		space = owner.Name(g.Owner(), "")
	}
	id, err := a.findTerminal(space, c.Param("id"))
	if err != nil || !known || g.PTY != "" && g.PTY != id || g.Session != "" && g.Session != space {
		return Grant{}, errBadTicket
	}
	a.enter(c, &opened{share: one.id, user: g.User})
	use := a.shares.use
	if isPeek(c) {
		use = a.shares.ofSecret
	}
	one, ok := use(secret)
	if again, known := a.current(one.grant); !ok || !known || again != g {
		return Grant{}, errBadTicket
	}
	if c.Set(byKey, byTicket); !isPeek(c) {
		a.noteOpened(c, one)
	}
	return g, nil
}

// shared is what the page of a share may show.
func (a *Auth) shared(ctx context.Context, _ wire.Nothing) (wire.Shared, error) {
	one, ok := a.shares.ofID(GrantOf(ctx).Share)
	if !ok {
		return wire.Shared{}, errDeadLink()
	}
	return wire.Shared{PTY: one.grant.PTY, Session: one.grant.Session, Role: string(one.grant.Role), Name: one.name,
		ExpiresAt: one.expires.UTC()}, nil
}
