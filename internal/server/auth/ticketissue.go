package auth

import (
	"context"
	"net/url"
	"time"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// ticketOrder is a valid wire.TicketRequest.
type ticketOrder struct {
	grant Grant // PTY as the request has it
	ttl   time.Duration
	uses  int
}

// createTicket makes a ticket for those who may do everything.
func (a *Auth) createTicket(ctx context.Context, in wire.TicketRequest) (wire.Ticket, error) {
	if err := requireAll(ctx); err != nil {
		return wire.Ticket{}, err
	}
	order, err := orderOf(in)
	if err != nil {
		return wire.Ticket{}, err
	}
	if !in.Login {
		if order.grant.PTY, err = a.findTerminal(httpapi.SpaceOf(ctx), order.grant.PTY); err != nil {
			return wire.Ticket{}, err
		}
	}
	by := GrantOf(ctx)
	order.grant.User, order.grant.Admin = by.User, by.Admin
	secret, expires, err := a.tickets.issue(order.grant, order.ttl, order.uses)
	if err != nil {
		return wire.Ticket{}, err
	}
	r := httpapi.EchoOf(ctx).Request()
	a.log.Info("ticket issued", "user", by.User, "pty", order.grant.PTY, "role", order.grant.Role,
		"ttl", order.ttl, "uses", order.uses,
		"remote", r.RemoteAddr)
	SetTarget(ctx, order.grant.PTY)
	link := func(base string) string {
		if in.Login {
			return loginURL(base, secret)
		}
		return base + "/pty/" + url.PathEscape(order.grant.PTY) + "/ws?ticket=" + secret
	}
	made := wire.Ticket{Ticket: secret, ExpiresAt: expires.UTC(), URL: link(a.baseURL(r))}
	if network := a.networkURL(r); network != "" {
		made.NetworkURL = link(network)
	}
	return made, nil
}

// orderOf checks a request; an error says which field is wrong.
func orderOf(t wire.TicketRequest) (ticketOrder, error) {
	if t.Login {
		if t.PTY != "" || t.Role != "" || t.TTLS != nil || t.Uses != nil {
			return ticketOrder{}, httpapi.BadRequest("a login ticket is for %v and one use; \"login\" goes with no "+
				"other field", ticketTTL)
		}
		return ticketOrder{Grant{Role: Write}, ticketTTL, 1}, nil
	}
	o := ticketOrder{Grant{Role: Read, PTY: t.PTY}, ticketTTL, 1}
	if t.PTY == "" {
		return o, httpapi.BadRequest("\"pty\" must name a terminal (or \"login\" be true)").WithField("pty")
	}
	switch role := Role(t.Role); role {
	case "":
	case Read, Write:
		o.grant.Role = role
	default:
		return o, httpapi.BadRequest("\"role\" must be read or write, not %q", httpapi.Clip(t.Role)).WithField("role")
	}
	if t.TTLS != nil {
		if limit := int(maxTicketTTL / time.Second); *t.TTLS < 1 || *t.TTLS > limit {
			return o, httpapi.BadRequest("\"ttl_s\" must be 1 to %d seconds, not %d", limit, *t.TTLS).WithField("ttl_s")
		}
		o.ttl = time.Duration(*t.TTLS) * time.Second
	}
	if t.Uses != nil {
		if *t.Uses < 1 || *t.Uses > maxTicketUses {
			return o, httpapi.BadRequest("\"uses\" must be 1 to %d, not %d", maxTicketUses, *t.Uses).WithField("uses")
		}
		o.uses = *t.Uses
	}
	return o, nil
}
