package server

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
)

// audited writes down a request that was let in: all with an effect that have a word, all that ask
// for secrets, and all that were refused because of who asks.
func (s *Server) audited(c echo.Context, r httpapi.Route, err error) {
	what := strings.TrimPrefix(r.Audit, httpapi.NotAudited)
	switch {
	case what != "":
	case auth.IsRefusal(err):
		what = auth.AuditRefused
		auth.SetTarget(c.Request().Context(), auth.RefusedTarget(r.Method, c.Request().URL))
	case c.QueryParam(auth.SecretsParam) != "" && auth.GrantOf(c.Request().Context()).Role == auth.Write:
		what = auth.AuditSecrets
	default:
		return
	}
	s.config.Auth.Note(c, what, auth.TargetOf(c), resultOf(c, err))
}

// resultOf is ok or the code of the error.
func resultOf(c echo.Context, err error) string {
	if err != nil {
		return httpapi.ErrorFor(err, c).Code
	}
	if status := c.Response().Status; status >= http.StatusBadRequest { // replies of the container's calls
		return strconv.Itoa(status)
	}
	return "ok"
}
