package auth

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// A browser that has opened a link keeps a cookie for that share. It is bound to the path /t/ID/, below which the
// share's page and all that it asks for are: a browser gives a cookie to every port of its host, but only for its path,
// and whoever has another port does not know the id. So it needs no second half as a login does, several shares are
// in one browser beside a login, and none of them sees the others' requests.

const (
	// linkPath begins the addresses of links, /t/SECRET, and of pages that they have opened, /t/ID/.
	linkPath  = "/t/"
	linkRoute = linkPath + ":secret"
	// shareCookie is the cookie's name; securePrefix has browsers take it over TLS only.
	shareCookie  = "evertty_share"
	securePrefix = "__Secure-"
	// underKey holds in the echo context the id of the share whose path the request came by.
	underKey = "evertty.under"
)

// shareKey is the key of the cookies of an epoch of logins. Nobody needs one without a token.
func shareKey(token, epoch string) []byte {
	key, err := hkdf.Key(sha256.New, []byte(token), []byte(epoch), "evertty share cookie 1", sha256.Size)
	if err != nil {
		panic("invariant violation: server: share key: " + err.Error()) // the length is right
	}
	return key
}

// underShare takes the path of a share's page off the path. Such a request has the rights of the share, whatever
// else it shows.
func underShare(c echo.Context) {
	r := c.Request()
	rest, ok := strings.CutPrefix(r.URL.Path, linkPath)
	id, below, found := strings.Cut(rest, "/")
	raw, plain := strings.CutPrefix(r.URL.RawPath, linkPath+id+"/")
	if !ok || !found || id == "" || r.URL.RawPath != "" && !plain {
		return
	}
	c.Set(underKey, id)
	u := *r.URL
	if u.Path = "/" + below; plain {
		u.RawPath = "/" + raw
	}
	r.URL = &u
}

// underOf is the id of the share whose path the request came by, and false if it came by none.
func underOf(c echo.Context) (id string, ok bool) {
	id, ok = c.Get(underKey).(string)
	return id, ok
}

// isSlashedLink reports whether a request is for a link with a slash behind it, as people and programs write it; the
// form alone says so, whether there is such a share or not. The link is at "../SECRET": a proxy may put more before it.
func isSlashedLink(c echo.Context) bool {
	id, _ := underOf(c)
	r := c.Request()
	return r.URL.Path == "/" && linkForm().MatchString(id) && (r.Method == http.MethodGet || httpapi.IsHead(c))
}

// linkForm is the form of NewSecret.
var linkForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`) })

// shareCookieName is the name of the cookie.
func (a *Auth) shareCookieName() string {
	if a.secure() {
		return securePrefix + shareCookie
	}
	return shareCookie
}

// cookieOf is the cookie of a share that was opened, which lasts as long as the share.
func (a *Auth) cookieOf(one share, r *http.Request) *http.Cookie {
	left := one.expires.Sub(a.now().Round(0))
	return &http.Cookie{
		Name:     a.shareCookieName(),
		Value:    a.shares.cookie(one.id),
		Path:     a.publicPath() + linkPath + one.id + "/",
		MaxAge:   max(int(left/time.Second), 1),
		Secure:   a.secure() || schemeOf(r) == "https",
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
}

// cookie is the value of the cookie of a share: its id, and the code of it.
func (s *shares) cookie(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return id + "." + base64.RawURLEncoding.EncodeToString(sign(s.key, []byte(id))[len(id):])
}

// ofCookie is the share that one of the request's cookies is for, and false if there is none that lasts. under is
// the id of the only one that counts, "" for any.
func (a *Auth) ofCookie(r *http.Request, under string) (share, bool) {
	for _, cookie := range r.CookiesNamed(a.shareCookieName()) {
		id, _, _ := strings.Cut(cookie.Value, ".")
		if (under == "" || id == under) && hmac.Equal([]byte(a.shares.cookie(id)), []byte(cookie.Value)) {
			return a.shares.ofID(id)
		}
	}
	return share{}, false
}

// ofID is the share whose pages may connect now, and false if there is none. One that is used up goes on for them.
func (s *shares) ofID(id string) (share, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byID[id]
	if one == nil || one.closed || !s.lasts(one) {
		return share{}, false
	}
	return *one, true
}
