package auth

import (
	"context"
	"fmt"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// Role says what a grant may do.
type Role string

// The roles. The zero Role may do nothing.
const (
	Read  Role = "read"  // look
	Write Role = "write" // look, type, create, end
)

// Grant is what a request may do. The zero Grant may do nothing.
type Grant struct {
	Role Role
	// PTY is the id of the only terminal it is for, Session the only session; with neither it is for everything.
	PTY, Session string
	// Share is the id of the share that has let the request in.
	Share string
	// User has the token that the request has shown, or is who made the ticket or login; "" is the server's own token.
	User  string
	Admin bool // User is an administrator
}

// Everything reports whether the grant is not for one terminal or one session only; that of the zero Grant, which may
// do nothing, is too.
func (g Grant) Everything() bool { return g.PTY == "" && g.Session == "" && g.Share == "" }

// sharePaths are the routes that the page of a share uses, beside those of terminals.
var sharePaths = []string{"/", "/assets/*", "/favicon.svg", "/ws", "/share"}

// Reaches reports whether the grant is good for a route at all, whichever terminal it is about.
func (g Grant) Reaches(path string) bool {
	return g.Everything() || endsTicketPath(path) || g.Share != "" && slices.Contains(sharePaths, path)
}

// Owner is the user whose things the grant is for; "" means everybody's.
func (g Grant) Owner() string {
	if g.Admin {
		return ""
	}
	return g.User
}

// byKey holds in the echo context what the request showed, for the audit log.
const byKey = "evertty.by"

// What requests show.
const (
	ByToken  = "token"
	byCookie = "cookie"
	byTicket = "ticket"
	byAnyone = "anyone" // with --auth none
	byNobody = "nobody"
)

// grantKey holds the Grant in the echo context.
const grantKey = "evertty.grant"

// GrantOf returns what the request may do; the zero Grant on an open path.
func GrantOf(ctx context.Context) Grant {
	return grantOf(httpapi.EchoOf(ctx))
}

func grantOf(c echo.Context) Grant {
	g, _ := c.Get(grantKey).(Grant)
	return g
}

// setGrant is what the request may do from now on.
func (a *Auth) setGrant(c echo.Context, g Grant) {
	c.Set(grantKey, g)
	httpapi.SetReach(c, httpapi.Reach{User: g.Owner(), All: a.users != nil && g.Role != "" && g.Owner() == ""})
}

// RequireWrite fails with ErrReadOnly unless the request may have effects.
func RequireWrite(ctx context.Context) error {
	if g := GrantOf(ctx); g.Role != Write {
		return fmt.Errorf("%w: it has the role %q", httpapi.ErrReadOnly, g.Role)
	}
	return nil
}

// RequireTerminal fails with ErrWrongTerminal unless the request may see the
// terminal of a session; id is the server's id and not a name.
func RequireTerminal(ctx context.Context, session, id string) error {
	g := GrantOf(ctx)
	if g.Role == "" || g.PTY != "" && g.PTY != id || g.Session != "" && g.Session != session {
		return httpapi.ErrWrongTerminal
	}
	return nil
}
