package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/evertty/evertty/wire"
)

// threadPath is the URL of something of a thread.
func (c *Client) threadPath(thread string, rest ...string) string {
	return c.at(nil, append([]string{"api", "threads", thread}, rest...)...)
}

// Threads returns all threads, by id.
func (c *Client) Threads(ctx context.Context) ([]Thread, error) {
	list := []Thread{}
	for after := ""; ; {
		var reply struct {
			Threads []Thread `json:"threads"`
			Next    string   `json:"next"`
		}
		query := url.Values{"after": {after}, "limit": {"1000"}}
		if err := c.call(ctx, http.MethodGet, c.at(query, "api", "threads"), nil, &reply); err != nil {
			return list, err
		}
		list = append(list, reply.Threads...)
		if after = reply.Next; after == "" {
			return list, nil
		}
	}
}

// CreateThread makes a thread with its session, terminal and lease. Zero fields of r are left to
// the server. When a thread with that id exists, the error is an *Error with the code
// ALREADY_EXISTS.
func (c *Client) CreateThread(ctx context.Context, r wire.CreateThread) (Thread, error) {
	return call[Thread](ctx, c, http.MethodPost, c.at(nil, "api", "threads"), r)
}

// Thread returns one thread.
func (c *Client) Thread(ctx context.Context, id string) (Thread, error) {
	return call[Thread](ctx, c, http.MethodGet, c.threadPath(id), nil)
}

// DeleteThread ends everything of a thread and removes its records.
func (c *Client) DeleteThread(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, c.threadPath(id), nil, nil)
}

// ThreadSession returns the live session of a thread, or the newest.
func (c *Client) ThreadSession(ctx context.Context, id string) (wire.ThreadSession, error) {
	return call[wire.ThreadSession](ctx, c, http.MethodGet, c.threadPath(id, "session"), nil)
}

// ThreadTerminal returns the active terminal of a thread.
func (c *Client) ThreadTerminal(ctx context.Context, id string) (wire.ThreadTerminal, error) {
	return call[wire.ThreadTerminal](ctx, c, http.MethodGet, c.threadPath(id, "terminal"), nil)
}

// ThreadTerminals returns all terminals of a thread, the oldest first.
func (c *Client) ThreadTerminals(ctx context.Context, id string) ([]wire.ThreadTerminal, error) {
	reply, err := call[wire.ThreadTerminals](ctx, c, http.MethodGet, c.threadPath(id, "terminals"), nil)
	return reply.Terminals, err
}

// TouchThread counts as activity: it postpones the end of the session.
func (c *Client) TouchThread(ctx context.Context, id string) (wire.ThreadSession, error) {
	return call[wire.ThreadSession](ctx, c, http.MethodPost, c.threadPath(id, "touch"), nil)
}

// SetThreadPolicy changes the policy of a thread and of its live session.
func (c *Client) SetThreadPolicy(ctx context.Context, id string, p wire.SetPolicy) (Thread, error) {
	return call[Thread](ctx, c, http.MethodPatch, c.threadPath(id, "policy"), p)
}

// PauseThread stops the processes of a thread.
func (c *Client) PauseThread(ctx context.Context, id string) (Thread, error) {
	return call[Thread](ctx, c, http.MethodPost, c.threadPath(id, "pause"), nil)
}

// ResumeThread continues the processes of a paused thread.
func (c *Client) ResumeThread(ctx context.Context, id string) (Thread, error) {
	return call[Thread](ctx, c, http.MethodPost, c.threadPath(id, "resume"), nil)
}

// DestroySandbox ends the processes and the compute of a thread. Its next use continues from the
// same state.
func (c *Client) DestroySandbox(ctx context.Context, id string) (Thread, error) {
	return call[Thread](ctx, c, http.MethodDelete, c.threadPath(id, "sandbox"), nil)
}

// ActivateTerminal makes a terminal the default of its thread.
func (c *Client) ActivateTerminal(ctx context.Context, thread, terminal string) (wire.ThreadTerminal, error) {
	target := c.threadPath(thread, "terminals", terminal, "activate")
	return call[wire.ThreadTerminal](ctx, c, http.MethodPost, target, nil)
}

// TerminalHistory returns the versions of a terminal's state, the newest first.
func (c *Client) TerminalHistory(ctx context.Context, thread, terminal string) ([]wire.TerminalState, error) {
	target := c.threadPath(thread, "terminals", terminal, "history")
	reply, err := call[wire.TerminalStates](ctx, c, http.MethodGet, target, nil)
	return reply.States, err
}

// RollbackTerminal makes a new version that equals an old one.
func (c *Client) RollbackTerminal(
	ctx context.Context, thread, terminal string, version int64,
) (wire.RolledBack, error) {
	target := c.threadPath(thread, "terminals", terminal, "rollback")
	return call[wire.RolledBack](ctx, c, http.MethodPost, target, wire.Rollback{Version: &version})
}
