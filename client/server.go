package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Version is what a server says about itself. Raw has every field.
type Version struct {
	Version string          `json:"version"`
	Raw     json.RawMessage `json:"-"`
}

// Version asks the server which one it is.
func (c *Client) Version(ctx context.Context) (Version, error) {
	var v Version
	if err := c.call(ctx, http.MethodGet, c.at(nil, "version"), nil, &v.Raw); err != nil {
		return v, err
	}
	return v, json.Unmarshal(v.Raw, &v)
}

// Health is how a server feels: status ok or degraded, with the reasons.
type Health struct {
	Status   string   `json:"status"`
	Lossless bool     `json:"lossless"`
	Reasons  []string `json:"reasons"`
	Damaged  int      `json:"damaged"` // terminals with a gap or damage in what is kept of them
	Version  string   `json:"version"`
	PID      int      `json:"pid"`
}

// Health asks the server how it is.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var h Health
	err := c.call(ctx, http.MethodGet, c.at(nil, "healthz"), nil, &h)
	return h, err
}

// TicketRequest asks for a ticket: a short-lived credential that may be put into
// a URL. Either Login is set, for the web page as a whole, or PTY and Role.
type TicketRequest struct {
	Login bool   `json:"login,omitempty"`
	PTY   string `json:"pty,omitempty"`
	Role  string `json:"role,omitempty"` // read or write
	TTL   int    `json:"ttl_s,omitempty"`
	Uses  int    `json:"uses,omitempty"`
}

// Ticket is a short-lived credential and the URL that uses it.
type Ticket struct {
	Ticket    string    `json:"ticket"`
	ExpiresAt time.Time `json:"expires_at"`
	URL       string    `json:"url"`
}

// Ticket makes a ticket.
func (c *Client) Ticket(ctx context.Context, r TicketRequest) (Ticket, error) {
	var t Ticket
	err := c.call(ctx, http.MethodPost, c.at(nil, "tickets"), r, &t)
	return t, err
}
