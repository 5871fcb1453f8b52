package auth

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// enterPage follows a login from another site's link. A redirect would still
// count as that site's request and the browser would hold back the new cookie
// (SameSite=Strict); a refresh is ours.
const enterPage = httpapi.PageHead + `<meta http-equiv="refresh" content="0;url=/"></head>` +
	`<body><p>Logged in. <a href="/">Open the terminals</a>.</p></body></html>`

// isLogin recognises GET /?ticket=.
func isLogin(c echo.Context) bool {
	return c.Request().Method == http.MethodGet && c.Path() == "/" && c.QueryParam("ticket") != ""
}

// loginURL is where a login ticket is used.
func loginURL(base, secret string) string { return base + "/?ticket=" + secret }

// handleLogin exchanges a login ticket for a session cookie and shows the page
// without the ticket. Who is logged in already may open the link again.
func (a *Auth) handleLogin(c echo.Context) error {
	r, now := c.Request(), a.now()
	if a.mode == ModeToken {
		_, fresh := a.tickets.redeem(c.QueryParam("ticket"), "")
		if fresh {
			c.SetCookie(a.sessions.cookie(now, r.TLS != nil))
			a.log.Info("logged in", "remote", r.RemoteAddr)
			c.Set(byKey, byTicket)
			a.Note(c, auditLogin, "", "ok")
		} else if _, known := a.sessions.find(r, now); !known {
			return a.refuse(c, errBadTicket)
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return c.HTML(http.StatusOK, enterPage)
	}
	return c.Redirect(http.StatusSeeOther, "/")
}
