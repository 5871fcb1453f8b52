package auth

import (
	"cmp"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// enterPage follows a login from another site's link; at is base64url and needs no escape. A redirect would still
// count as that site's request and the browser would hold back the new cookie
// (SameSite=Strict); a refresh is ours.
func enterPage(at string) string {
	return httpapi.PageHead + `<meta http-equiv="refresh" content="0;url=` + at + `"></head>` +
		`<body><p>Logged in. <a href="` + at + `">Open the terminals</a>.</p></body></html>`
}

// pageFragment is before the secret in the address that a login leads to.
const pageFragment = "#page="

// isLogin recognises GET /?ticket=.
func isLogin(c echo.Context) bool {
	return c.Request().Method == http.MethodGet && c.Path() == "/" && c.QueryParam("ticket") != ""
}

// loginURL is where a login ticket is used.
func loginURL(base, secret string) string { return base + "/?ticket=" + secret }

// handleLogin exchanges a login ticket for a login: the cookie, and in the fragment of the address, which
// reaches no server, the half for the page. Who is logged in already may open the link again, and has
// that half.
func (a *Auth) handleLogin(c echo.Context) error {
	r, now, at := c.Request(), a.now(), a.publicPath()+"/"
	if a.mode == ModeToken {
		g, _, fresh := a.tickets.redeem(c.QueryParam("ticket"), "")
		if _, known := a.current(g); fresh && known {
			id := newLogin()
			c.SetCookie(a.sessions.cookie(id, g.User, now, schemeOf(r) == "https"))
			at += pageFragment + a.sessions.page(id)
			a.log.Info("logged in", "user", g.User, "remote", r.RemoteAddr)
			c.Set(byKey, cmp.Or(g.User, byTicket))
			a.Note(c, AuditLogin, "", "ok")
		} else if _, known := a.sessions.find(r, "", now); !known {
			return a.refuse(c, errBadTicket)
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return c.HTML(http.StatusOK, enterPage(at))
	}
	return c.Redirect(http.StatusSeeOther, at)
}
