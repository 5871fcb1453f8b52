package server

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
)

// auditWords are what the audit log calls requests with an effect; "" are those it leaves out: what
// is typed and looked at, and what harnesses write down, is not about who may do what, and the
// thread's own record has it. TERMINAL and SHELL stand for both of their paths.
var auditWords = map[string]string{
	"POST /api/threads":                             "thread.create",
	"DELETE /api/threads/:id":                       "thread.delete",
	"POST /api/threads/:id/touch":                   "",
	"PATCH /api/threads/:id/policy":                 "thread.policy",
	"POST /api/threads/:id/pause":                   "thread.pause",
	"POST /api/threads/:id/resume":                  "thread.resume",
	"POST /api/threads/:id/sandbox/pause":           "thread.pause",
	"POST /api/threads/:id/sandbox/resume":          "thread.resume",
	"DELETE /api/threads/:id/sandbox":               "lease.delete",
	"POST /api/threads/:id/terminals/:tid/activate": "thread.activate",
	"POST /api/threads/:id/terminals/:tid/rollback": "thread.rollback",
	"PUT /api/threads/:id/permissions":              "permissions.change",
	"POST /api/threads/:id/authorize":               "",
	"POST /api/threads/:id/approvals/:aid":          "approval.decide",
	"PUT /api/threads/:id/record":                   "",
	"POST /api/threads/:id/messages":                "",
	"PATCH /api/threads/:id/state":                  "",
	"POST /api/threads/:id/timeline":                "",
	"POST /api/threads/:id/trace":                   "",
	"PUT /api/threads/:id/ledger":                   "",
	"POST /api/threads/:id/prompts":                 "",
	"POST /api/threads/:id/turns":                   "",
	"POST /api/threads/:id/compact":                 "",
	"POST /api/threads/:id/attach":                  "",
	"POST /api/threads/:id/clear":                   "",
	"POST /api/threads/:id/steer":                   "",
	"POST /api/threads/:id/steer/drain":             "",
	"POST /api/leases":                              "lease.create",
	"DELETE /api/leases/:id":                        "lease.delete",
	"POST /api/leases/:id/pause":                    "lease.pause",
	"POST /api/leases/:id/resume":                   "lease.resume",
	"POST /api/leases/:id/destroy":                  "lease.delete",
	"POST /api/leases/:id/refresh":                  "",
	"POST /api/sandbox/sessions/:id/pause":          "lease.pause",
	"POST /api/sandbox/sessions/:id/resume":         "lease.resume",
	"DELETE /api/sandbox/sessions/:id":              "lease.delete",
}

// auditKey names a route in auditWords.
func auditKey(r httpapi.Route) string { return r.Method + " " + r.Path }

// audited writes down a request that was let in: all with an effect that have a word, all that ask
// for secrets, and all that were refused because of who asks.
func (s *Server) audited(c echo.Context, r httpapi.Route, err error) {
	what := auditWords[auditKey(r)]
	if r.In != nil {
		what = strings.TrimPrefix(r.Audit, httpapi.NotAudited)
	}
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
