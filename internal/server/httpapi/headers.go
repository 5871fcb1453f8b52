package httpapi

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// ContentPolicy is the Content-Security-Policy of every response: our own
// scripts, no inline script, no plugin, no frame, no form. Inline styles stay allowed
// because xterm.js sets them.
const ContentPolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// fixedHeaders go out with every response, refusals included. There is no CORS
// header among them and none is set anywhere else: other sites have no access.
// Cache-Control is the default that a handler of immutable files overrides.
var fixedHeaders = [][2]string{
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Content-Security-Policy", ContentPolicy},
	{"X-Frame-Options", "DENY"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cache-Control", "no-store"},
}

// RequestIDBytes is the length of a request id before hex: enough to find one
// request in a log.
const RequestIDBytes = 8

// SecurityHeaders is the outermost middleware: it sets fixedHeaders and a
// request id of our own (a client's id could forge log lines) before anything
// else may answer.
func SecurityHeaders() echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			header := c.Response().Header()
			for _, h := range fixedHeaders {
				header.Set(h[0], h[1])
			}
			header.Set(versionHeader, strconv.Itoa(APIVersion))
			var id [RequestIDBytes]byte
			rand.Read(id[:])
			header.Set(echo.HeaderXRequestID, hex.EncodeToString(id[:]))
			return next(c)
		}
	}
}

// WantsHTML tells a browser's navigation from a program's request.
func WantsHTML(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		strings.Contains(r.Header.Get(echo.HeaderAccept), echo.MIMETextHTML)
}

// IsHead reports whether nobody reads the body.
func IsHead(c echo.Context) bool { return c.Request().Method == http.MethodHead }
