package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/evertty/evertty/wire"
)

// Version returns the version of the server.
func (c *connection) Version(ctx context.Context) (wire.Version, error) {
	return call[wire.Version](ctx, c, http.MethodGet, c.at(nil, "version"), nil)
}

// Health returns the health of the server.
func (c *connection) Health(ctx context.Context) (wire.Health, error) {
	return call[wire.Health](ctx, c, http.MethodGet, c.at(nil, "healthz"), nil)
}

// Ticket makes a short-lived credential that may stand in a URL: with Login for the whole web page,
// else for the terminal PTY with the Role.
func (c *connection) Ticket(ctx context.Context, r wire.TicketRequest) (wire.Ticket, error) {
	return call[wire.Ticket](ctx, c, http.MethodPost, c.at(nil, "tickets"), r)
}

// LogoutAll ends the logins of all browsers, all tickets, and what they have opened.
func (c *connection) LogoutAll(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, c.at(url.Values{"all": {"1"}}, "logout"), nil, nil)
}
