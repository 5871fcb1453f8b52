package auth

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/server/httpapi"
)

// openPaths are the routes that answer without credentials. Their handlers say
// {"status"} and nothing else to a request whose GrantOf is zero.
var openPaths = []string{"/healthz", "/readyz"}

// metricsPath is open too when Config.OpenMetrics says so.
const metricsPath = "/metrics"

// ticketPaths end the routes that a terminal's ticket opens, by GET and HEAD.
var ticketPaths = []string{"/pty/:id/stream", "/pty/:id/ws", "/pty/:id/snapshot", "/compat/attach/:id",
	"/compat/ttyd/:id/", "/compat/ttyd/:id/ws", ttydToken, "/compat/terminado/:id", terminadoList,
	"/compat/terminado/:id/terminals/websocket/:name", "/compat/asciinema/:id", "/compat/k8s/:id",
	"/compat/k8s/:id/api/v1/namespaces/:ns/pods/:pod/exec", "/compat/k8s/:id/api/v1/namespaces/:ns/pods/:pod/attach"}

// Clients ask for these before each connection and every now and then, so they use no ticket up.
const (
	ttydToken     = "/compat/ttyd/:id/token"
	terminadoList = "/compat/terminado/:id/api/terminals"
)

// ticketOf is the ticket of a request, "" for none. JupyterLab puts what it was given into a parameter of another name,
// and into a header.
func ticketOf(c echo.Context) string {
	if !isTicketPath(c) {
		return ""
	}
	if strings.HasPrefix(c.Path(), "/compat/terminado/") {
		header, ok := strings.CutPrefix(c.Request().Header.Get(echo.HeaderAuthorization), "token ")
		if !ok {
			header = ""
		}
		return cmp.Or(c.QueryParam("ticket"), c.QueryParam("token"), header)
	}
	return c.QueryParam("ticket")
}

// Why a request has no grant; the texts are sent.
var (
	errNoCredentials = errors.New("this server asks who you are: send the header Authorization: Bearer with the " +
		"token in the server's token file, or run `evertty url` on the server and open the printed link")
	errBadToken  = errors.New("the bearer token is not this server's; the right one is in its token file")
	errBadTicket = errors.New("the ticket is unknown, used up, expired or for something else; ask for a new one")
)

// Middleware answers for every request, whatever its route, before any handler
// runs: Host and Origin must be ours, and credentials must give a grant, which
// handlers read with GrantOf. GET /?ticket= logs in. Use it directly after
// SecurityHeaders, with Echo.Use, because it needs the matched route.
//
// Below the path of a share's page its cookie decides alone. Elsewhere an Authorization: Bearer
// header does, then the ticket of a terminal or the secret of a share, then the login: the
// cookie and the secret of its page. What a ticket, a share or a login has let in has a context that ends with it, with
// the cause httpapi.ErrEnded.
func (a *Auth) Middleware() echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if a.secure() {
				c.Response().Header().Set(echo.HeaderStrictTransportSecurity, strictTransport)
			}
			if err := a.checkSource(c); err != nil {
				return err
			}
			if _, under := underOf(c); isLogin(c) && !under {
				return a.handleLogin(c)
			}
			defer a.leave(c)
			g, err := a.grantFor(c)
			open := a.isOpen(c.Path()) || a.isWebhook(c)
			id, under := underOf(c)
			switch {
			case err != nil && under && isSlashedLink(c):
				return c.Redirect(http.StatusFound, "../"+id)
			case err != nil && under && !IsUpgrade(c.Request()) && httpapi.WantsHTML(c.Request()):
				return a.dead(c)
			case err != nil && !open:
				return a.refuse(c, err)
			case open && g.Owner() != "": // a user gets what everybody gets
				g = Grant{}
			}
			a.setGrant(c, g)
			httpapi.SetEcho(c)
			return next(c)
		}
	}
}

// isOpen reports whether a route answers without credentials.
func (a *Auth) isOpen(path string) bool {
	return slices.Contains(openPaths, path) || path == linkRoute || path == metricsPath && a.openMetrics
}

// checkSource refuses foreign hosts and origins.
func (a *Auth) checkSource(c echo.Context) error {
	err := a.hosts.checkHost(c.Request())
	if err == nil {
		err = a.hosts.checkOrigin(c.Request(), c.Path())
	}
	if err != nil {
		a.audit(c, err)
	}
	return err
}

// grantFor finds the request's credentials and what they allow.
func (a *Auth) grantFor(c echo.Context) (Grant, error) {
	r := c.Request()
	if id, ok := underOf(c); ok {
		return a.grantOfShareCookie(c, id)
	}
	if token, ok := bearerOf(r); ok {
		d := DigestOf(token)
		if g := a.guests.of(d); g != nil {
			return a.grantOfGuest(c, d, g)
		}
		if a.mode == ModeToken && !a.token.equal(d) {
			return a.grantOfUser(c, d)
		}
		if a.mode == ModeToken {
			c.Set(byKey, ByToken)
			return Grant{Role: Write}, nil
		}
		if strings.HasPrefix(token, guestPrefix) { // of one who has left, and may do no more than before
			return Grant{}, errBadToken
		}
	}
	if ticket := ticketOf(c); ticket != "" {
		if one, ok := a.shares.ofSecret(ticket); ok {
			return a.grantOfShare(c, one, ticket)
		}
		return a.grantOfTicket(c, ticket)
	}
	if a.mode == ModeNone {
		c.Set(byKey, byAnyone)
		return Grant{Role: Write}, nil
	}
	return a.grantOfSession(c)
}

// bearerOf returns the token of an Authorization: Bearer header (RFC 6750
// section 2.1). Other schemes are a proxy's business.
func bearerOf(r *http.Request) (string, bool) {
	scheme, token, _ := strings.Cut(r.Header.Get(echo.HeaderAuthorization), " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "Bearer")
}

// grantOfUser finds whose token it is. What the request opens ends with the user.
func (a *Auth) grantOfUser(c echo.Context, token digest) (Grant, error) {
	u, ok := a.users.of(token)
	if !ok {
		return Grant{}, errBadToken
	}
	a.enter(c, &opened{user: u.Name, token: true})
	if again, ok := a.users.of(token); !ok || again != u { // it has just changed
		return Grant{}, errBadToken
	}
	c.Set(byKey, ByToken)
	return Grant{Role: Write, User: u.Name, Admin: u.Admin}, nil
}

func isTicketPath(c echo.Context) bool {
	return (c.Request().Method == http.MethodGet || httpapi.IsHead(c)) && endsTicketPath(c.Path())
}

func endsTicketPath(path string) bool {
	return slices.ContainsFunc(ticketPaths, func(end string) bool { return strings.HasSuffix(path, end) })
}

// grantOfTicket uses the ticket once, if it is for the terminal of the path. HEAD, which shows
// nothing, does not use it: a preview of a link must not.
func (a *Auth) grantOfTicket(c echo.Context, ticket string) (Grant, error) {
	by, _ := a.current(a.tickets.madeBy(ticket))
	id, err := a.findTerminal(owner.Name(by.Owner(), c.Param("sid")), c.Param("id"))
	if err != nil || id == "" {
		return Grant{}, errBadTicket
	}
	o := a.enter(c, &opened{pty: id, user: by.User, ticket: DigestOf(ticket)})
	use := a.tickets.redeem
	if isPeek(c) {
		use = a.tickets.valid
	}
	g, expires, ok := use(ticket, id)
	if g, known := a.current(g); !ok || !known || g.User != by.User || g.Admin != by.Admin {
		return Grant{}, errBadTicket
	}
	g.Admin = by.Admin
	o.expire(expires, a.now)
	c.Set(byKey, byTicket)
	return g, nil
}

// isPeek recognises requests that show nothing of a terminal, and use no ticket up: previews, and what a client of
// another product asks before it connects.
func isPeek(c echo.Context) bool {
	return httpapi.IsHead(c) || c.Path() == ttydToken || c.Path() == terminadoList
}

func (a *Auth) findTerminal(session, idOrName string) (string, error) {
	if a.terminal == nil {
		return "", httpapi.ErrWrongTerminal
	}
	return a.terminal(session, idOrName)
}

// grantOfSession checks the login, and renews a cookie that is getting old. The cookie alone opens the
// page and its files: it comes along with whatever page made the request, also one of another port. So
// a WebSocket, which browsers always open with an Origin, needs one here; its first message has the
// page's half of the login, see NeedsPage.
func (a *Auth) grantOfSession(c echo.Context) (Grant, error) {
	r, now := c.Request(), a.now()
	page := r.Header.Get(pageHeader)
	l, ok := a.sessions.find(r, page, now)
	if !ok && len(r.CookiesNamed(a.shareCookieName())) > 0 {
		return a.grantOfShareCookie(c, "")
	}
	if !ok {
		return Grant{}, errNoCredentials
	}
	if IsUpgrade(r) && r.Header.Get("Origin") == "" {
		return Grant{}, forbiddenOrigin("no Origin")
	}
	if !a.admit(c, l) {
		return Grant{}, errNoCredentials
	}
	c.Set(byKey, byCookie)
	if l.expires.Sub(now) < sessionLife-sessionRefresh {
		c.SetCookie(a.sessions.cookie(l.id, l.user, now, schemeOf(r) == "https"))
	}
	switch {
	case l.page:
		return a.grantOfLogin(l)
	case isShell(c):
		return Grant{}, nil
	case page == "" && isPageSocket(c):
		c.Set(pageKey, true)
		return Grant{}, nil
	}
	return Grant{}, errNoPage
}

// grantOfLogin is what a whole login may do.
func (a *Auth) grantOfLogin(l login) (Grant, error) {
	g, ok := a.current(Grant{Role: Write, User: l.user})
	if !ok {
		return Grant{}, errNoCredentials
	}
	return g, nil
}

// admit enters a request of a login that was found, and reports whether the login still lasts: a logout
// since then is found here, a later one finds the request.
func (a *Auth) admit(c echo.Context, l login) bool {
	a.enter(c, &opened{login: &l, user: l.user})
	again, _ := a.sessions.find(c.Request(), c.Request().Header.Get(pageHeader), a.now())
	return again == l
}

// refuse turns the lack of a grant into the reply: 401, or 429 when wrong
// credentials come too fast.
func (a *Auth) refuse(c echo.Context, reason error) error {
	a.audit(c, reason)
	if own, ok := errors.AsType[*httpapi.Error](reason); ok {
		return own
	}
	if given := !errors.Is(reason, errNoCredentials); given && !a.failures.AllowN(a.now(), 1) {
		return httpapi.NewError(http.StatusTooManyRequests, "LIMIT",
			"too many wrong credentials; wait, or send the right ones")
	}
	c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="evertty"`)
	return httpapi.NewError(http.StatusUnauthorized, "UNAUTHORIZED", "%s", reason)
}

// refusalCode is the code that a refusal is audited with.
func refusalCode(reason error) string {
	if own, ok := errors.AsType[*httpapi.Error](reason); ok {
		return own.Code
	}
	return "UNAUTHORIZED"
}

// audit logs that a request was refused and why, without what it showed.
func (a *Auth) audit(c echo.Context, reason error) {
	a.Note(c, AuditRefused, RefusedTarget(c.Request().Method, c.Request().URL), refusalCode(reason))
	if !a.audits.AllowN(a.now(), 1) {
		return
	}
	r := c.Request()
	a.log.Warn("refused", "reason", reason, "method", httpapi.Clip(r.Method), "url", httpapi.RedactURL(r.URL), "host",
		httpapi.Clip(r.Host),
		"remote", r.RemoteAddr, "request_id", c.Response().Header().Get(echo.HeaderXRequestID))
}
