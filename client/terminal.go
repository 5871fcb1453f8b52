package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/evertty/evertty/wire"
)

// Create starts a program on a new terminal of a session. A session is created when it is first
// used. Zero fields of r are left to the server.
func (t terminals) Create(ctx context.Context, session string, r wire.CreateTerminal) (Terminal, error) {
	return call[Terminal](ctx, t.connection, http.MethodPost, t.at(nil, "session", session, "pty"), r)
}

// List returns the terminals of a session, or of all sessions when it is "".
func (t terminals) List(ctx context.Context, session string) ([]Terminal, error) {
	target := t.at(nil, "pty")
	if session != "" {
		target = t.at(nil, "session", session, "pty")
	}
	return list[Terminal](ctx, t.connection, "items", target)
}

// Get returns one terminal, by id or name.
func (t terminals) Get(ctx context.Context, id string) (Terminal, error) {
	return call[Terminal](ctx, t.connection, http.MethodGet, t.at(nil, "pty", id), nil)
}

// Restart starts the program of an ended terminal again, in its last directory and with the
// environment it was created with. The old screen stays above a marked line. While the program
// runs, the error is an *Error with the code RUNNING.
func (t terminals) Restart(ctx context.Context, id string) (Terminal, error) {
	return call[Terminal](ctx, t.connection, http.MethodPost, t.at(nil, "pty", id, "restart"), struct{}{})
}

// Delete ends the terminal's whole process tree: SIGHUP, and SIGKILL to the rest after three
// seconds. Its last screen stays readable unless purge is set.
func (t terminals) Delete(ctx context.Context, id string, purge bool) error {
	q := url.Values{}
	if purge {
		q.Set("purge", "1")
	}
	return t.call(ctx, http.MethodDelete, t.at(q, "pty", id), nil, nil)
}
