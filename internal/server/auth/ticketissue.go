package auth

import (
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// ticketRequest is the body of POST /tickets: a terminal's ticket, or
// {"login":true}, which goes with no other field.
type ticketRequest struct {
	PTY   string `json:"pty"`   // id or name
	Role  Role   `json:"role"`  // "" means read
	TTL   *int   `json:"ttl_s"` // seconds; absent means ticketTTL
	Uses  *int   `json:"uses"`  // absent means 1
	Login bool   `json:"login"`
}

// TicketReply is the answer; the URL is complete.
type TicketReply struct {
	Ticket    string    `json:"ticket"`
	ExpiresAt time.Time `json:"expires_at"`
	URL       string    `json:"url"`
}

// ticketOrder is a ticketRequest that makes sense.
type ticketOrder struct {
	grant Grant // PTY as the request has it
	ttl   time.Duration
	uses  int
}

// HandleTickets serves POST /tickets for those who may do everything.
func (a *Auth) HandleTickets(c echo.Context) error {
	if err := RequireWrite(c); err != nil {
		return err
	}
	if GrantOf(c).PTY != "" {
		return httpapi.ErrWrongTerminal
	}
	var request ticketRequest
	if err := httpapi.Bind(c, &request); err != nil {
		return err
	}
	order, err := request.order()
	if err != nil {
		return err
	}
	if !request.Login {
		if order.grant.PTY, err = a.findTerminal("", order.grant.PTY); err != nil {
			return err
		}
	}
	secret, expires, err := a.tickets.issue(order.grant, order.ttl, order.uses)
	if err != nil {
		return err
	}
	a.log.Info("ticket issued", "pty", order.grant.PTY, "role", order.grant.Role, "ttl", order.ttl, "uses", order.uses,
		"remote", c.Request().RemoteAddr)
	SetTarget(c, order.grant.PTY)
	link := loginURL(baseURL(c.Request()), secret)
	if !request.Login {
		link = baseURL(c.Request()) + "/pty/" + url.PathEscape(order.grant.PTY) + "/ws?ticket=" + secret
	}
	return c.JSON(http.StatusCreated, TicketReply{Ticket: secret, ExpiresAt: expires.UTC(), URL: link})
}

// order checks the request; an error says which field is wrong.
func (t ticketRequest) order() (ticketOrder, error) {
	if t.Login {
		if t.PTY != "" || t.Role != "" || t.TTL != nil || t.Uses != nil {
			return ticketOrder{}, httpapi.BadRequest("a login ticket is for %v and one use; \"login\" goes with no other field", ticketTTL)
		}
		return ticketOrder{Grant{Role: Write}, ticketTTL, 1}, nil
	}
	o := ticketOrder{Grant{Role: Read, PTY: t.PTY}, ticketTTL, 1}
	if t.PTY == "" {
		return o, httpapi.BadRequest("\"pty\" must name a terminal (or \"login\" be true)").With("field", "pty")
	}
	switch t.Role {
	case "":
	case Read, Write:
		o.grant.Role = t.Role
	default:
		return o, httpapi.BadRequest("\"role\" must be read or write, not %q", httpapi.Clip(string(t.Role))).With("field", "role")
	}
	if t.TTL != nil {
		if limit := int(maxTicketTTL / time.Second); *t.TTL < 1 || *t.TTL > limit {
			return o, httpapi.BadRequest("\"ttl_s\" must be 1 to %d seconds, not %d", limit, *t.TTL).With("field", "ttl_s")
		}
		o.ttl = time.Duration(*t.TTL) * time.Second
	}
	if t.Uses != nil {
		if *t.Uses < 1 || *t.Uses > maxTicketUses {
			return o, httpapi.BadRequest("\"uses\" must be 1 to %d, not %d", maxTicketUses, *t.Uses).With("field", "uses")
		}
		o.uses = *t.Uses
	}
	return o, nil
}

// baseURL is the server as the client of r calls it: a browser's Origin, which
// the middleware found to be ours, else the Host.
func baseURL(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" {
		return origin
	}
	if _, ok := parseHostPort(r.Host); !ok {
		return schemeOf(r) + "://localhost"
	}
	return schemeOf(r) + "://" + r.Host
}
