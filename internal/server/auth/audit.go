package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/httpapi"
)

// Targets and verbs of the audit log that belong to no single route.
const (
	AuditLogin   = "login"
	AuditRefused = "refused"
	AuditSecrets = "secrets.show"
	auditSkipped = "audit.skipped"
	auditServer  = "server" // who writes it
)

// maxRefusedMethod is how much the line about a refused request has of its method, in bytes: 16 with the sign that it
// was clipped. Those that are served are shorter.
const maxRefusedMethod = 16 - len("…")

// RefusedTarget is the target of a line about a refused request. It is bounded: whoever sends the request chooses it.
func RefusedTarget(method string, u *url.URL) string {
	return httpapi.ClipTo(method, maxRefusedMethod) + " " + httpapi.RedactURL(u)
}

// Note adds a line about a request to the audit log. Refusals are limited, so that a flood of them
// does not displace other lines; the next line has the number of those left out.
func (a *Auth) Note(c echo.Context, what, target, result string) {
	who, known := c.Get(byKey).(string)
	if !known {
		who = byNobody
	}
	if user := grantOf(c).User; user != "" && who != byTicket { // a ticket may be shown by anybody
		who = user
	}
	from, known := c.Get(fromKey).(string)
	if !known {
		from = fromOf(c.Request())
	}
	a.note(who, from, what, target, result)
}

// note adds a line to the audit log; see Note.
func (a *Auth) note(who, from, what, target, result string) {
	if a.auditLog == nil {
		return
	}
	if what == AuditRefused && !a.refusals.AllowN(a.now(), 1) {
		a.skipped.Add(1)
		return
	}
	if n := a.skipped.Swap(0); n > 0 {
		a.auditLog.Add(AuditEntry{At: a.now(), Who: auditServer, What: auditSkipped, Target: AuditRefused,
			Result: strconv.FormatInt(n, 10)})
	}
	a.auditLog.Add(AuditEntry{At: a.now(), Who: who, From: from, What: what, Target: target,
		Result: result})
}

// fromOf is where a request comes from.
func fromOf(r *http.Request) string {
	if isUnixPeer(r.RemoteAddr) {
		return "unix"
	}
	return r.RemoteAddr
}

// IsRefusal reports whether a request was refused for its credentials or permissions.
func IsRefusal(err error) bool {
	return errors.Is(err, httpapi.ErrReadOnly) || errors.Is(err, httpapi.ErrScope) ||
		errors.Is(err, httpapi.ErrWrongTerminal) ||
		errors.Is(err, permission.ErrDenied) || errors.Is(err, permission.ErrNeedsApproval)
}

// targetKey holds the target of a request in the echo context.
const targetKey = "evertty.target"

// SetTarget sets the target of the request for the audit log when the path does not have its id: a
// new object, or one given by name.
func SetTarget(ctx context.Context, target string) { httpapi.EchoOf(ctx).Set(targetKey, target) }

// TargetOf returns the target of a request.
func TargetOf(c echo.Context) string {
	if t, ok := c.Get(targetKey).(string); ok {
		return httpapi.Clip(t)
	}
	return httpapi.Clip(strings.Join(c.ParamValues(), "/"))
}
