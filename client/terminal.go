package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/evertty/evertty/wire"
)

// Create starts a program on a new terminal of a session. A session is created when it is first
// used. Zero fields of r are left to the server.
func (c *Client) Create(ctx context.Context, session string, r wire.CreateTerminal) (Terminal, error) {
	return call[Terminal](ctx, c, http.MethodPost, c.at(nil, "session", session, "pty"), r)
}

// List returns the terminals of a session, or of all sessions when it is "".
func (c *Client) List(ctx context.Context, session string) ([]Terminal, error) {
	target := c.at(nil, "pty")
	if session != "" {
		target = c.at(nil, "session", session, "pty")
	}
	var reply struct {
		Items []Terminal `json:"items"`
	}
	err := c.call(ctx, http.MethodGet, target, nil, &reply)
	return reply.Items, err
}

// Get returns one terminal, by id or name.
func (c *Client) Get(ctx context.Context, id string) (Terminal, error) {
	return call[Terminal](ctx, c, http.MethodGet, c.at(nil, "pty", id), nil)
}

// Restart starts the program of an ended terminal again, in its last directory and with the
// environment it was created with. The old screen stays above a marked line. While the program
// runs, the error is an *Error with the code RUNNING.
func (c *Client) Restart(ctx context.Context, id string) (Terminal, error) {
	return call[Terminal](ctx, c, http.MethodPost, c.at(nil, "pty", id, "restart"), struct{}{})
}

// Delete ends the terminal's whole process tree: SIGHUP, and SIGKILL to what is left after three
// seconds. Its last screen stays readable unless purge is set.
func (c *Client) Delete(ctx context.Context, id string, purge bool) error {
	q := url.Values{}
	if purge {
		q.Set("purge", "1")
	}
	return c.call(ctx, http.MethodDelete, c.at(q, "pty", id), nil, nil)
}
