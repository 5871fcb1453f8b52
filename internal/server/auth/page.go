package auth

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// pageHeader carries the half of a login that its page keeps.
const pageHeader = "Evertty-Page"

// errNoPage refuses a cookie alone; the text is sent.
var errNoPage = errors.New("the cookie is one half of a login; the other, the header " + pageHeader + " with the " +
	"secret that the page got at its login, is missing or of another login: run `evertty url` on the server and open " +
	"the printed link")

// isShell recognises what a cookie opens alone: the page and its files, which are the same for all.
func isShell(c echo.Context) bool {
	path := c.Path()
	return (c.Request().Method == http.MethodGet || httpapi.IsHead(c)) && !IsUpgrade(c.Request()) &&
		(path == "/" || path == "/assets/*" || path == "/favicon.svg")
}

// pageKey holds in the echo context that a WebSocket was opened by a cookie alone.
const pageKey = "evertty.page"

// isPageSocket recognises a WebSocket, which a browser opens without headers of the page. Of the foreign protocols only
// attach lets its page say anything before.
func isPageSocket(c echo.Context) bool {
	path := c.Path()
	return IsUpgrade(c.Request()) && c.Request().Method == http.MethodGet && (path == "/compat/attach/:id" ||
		strings.HasSuffix(path, "/ws") && !strings.HasPrefix(path, "/compat/"))
}

// NeedsPage reports whether the request may do nothing before its first message has passed ShowPage.
func NeedsPage(c echo.Context) bool { return c.Get(pageKey) != nil && grantOf(c) == Grant{} }

// ShowPage gives a WebSocket for which NeedsPage holds the rights of its login, if page is its secret.
func (a *Auth) ShowPage(c echo.Context, page string) error {
	o, _ := c.Get(openedKey).(*opened)
	l, _ := a.sessions.find(c.Request(), page, a.now())
	if !l.page || o == nil {
		return a.refuse(c, errNoPage)
	}
	a.opened.mu.Lock()
	o.login, o.user = &l, l.user
	a.opened.mu.Unlock()
	if again, _ := a.sessions.find(c.Request(), page, a.now()); again.id != l.id { // it has just ended
		return a.refuse(c, errNoPage)
	}
	g, err := a.grantOfLogin(l)
	if err != nil {
		return a.refuse(c, err)
	}
	a.setGrant(c, g)
	return nil
}
