package auth

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// basePathForm is a path of plain segments, which no proxy or browser writes in another way.
var basePathForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`) })

// ParseBasePath reads --base-path; "" and "/" are the root, "". It fails with ErrSetting.
func ParseBasePath(given string) (string, error) {
	base := strings.TrimSuffix(given, "/")
	if base != "" && (!basePathForm().MatchString(base) || path.Clean(base) != base || len(base) > maxBasePath) {
		return "", fmt.Errorf("%w: base-path %q is not a path such as /terminals, of at most %d letters, digits and "+
			". _ ~ - /", ErrSetting, given, maxBasePath)
	}
	return base, nil
}

// maxBasePath bounds --base-path, in bytes.
const maxBasePath = 256

// Front goes before the router: it takes a trusted proxy's word for who asked, and the base path off the path, then
// that of a share's page. What is not below the base path is 404, but on a unix socket, whose address can have no path.
// The base path itself leads to the page below it.
func (a *Auth) Front(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		next := func(c echo.Context) error {
			underShare(c)
			return next(c)
		}
		local := isUnixPeer(r.RemoteAddr)
		a.proxies.forward(r)
		if a.basePath == "" || r.URL.Path == "*" {
			return next(c)
		}
		rest, below := strings.CutPrefix(r.URL.Path, a.basePath)
		switch {
		case below && rest == "":
			to := url.URL{Path: path.Base(a.basePath) + "/", RawQuery: r.URL.RawQuery}
			return c.Redirect(http.StatusTemporaryRedirect, to.String()) // relative: a proxy may put more before it
		case below && rest[0] == '/':
			r.URL = &url.URL{Path: rest, RawPath: strings.TrimPrefix(r.URL.RawPath, a.basePath),
				RawQuery: r.URL.RawQuery}
			return next(c)
		case local:
			return next(c)
		}
		return httpapi.NewError(http.StatusNotFound, "NOT_FOUND", "%q is not below %s/, where this server is "+
			"(--base-path); a proxy must pass the whole path on", httpapi.Clip(r.URL.Path), a.basePath)
	}
}

// Trusts reports whether connections from an address, as net/http writes it, are of a trusted proxy.
func (a *Auth) Trusts(remote string) bool { return a.proxies.trusts(remote) }
