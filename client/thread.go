package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/evertty/evertty/wire"
)

// threadPath is the URL of a part of a thread.
func (c *connection) threadPath(thread string, rest ...string) string {
	return c.at(nil, append([]string{"api", "threads", thread}, rest...)...)
}

// Threads returns all threads, by id.
func (t threads) Threads(ctx context.Context) ([]Thread, error) {
	return pages[Thread](ctx, t.connection, "threads", url.Values{}, "api", "threads")
}

// CreateThread makes a thread with its session, terminal and lease. Zero fields of r are left to
// the server. When a thread with that id exists, the error is an *Error with the code
// ALREADY_EXISTS.
func (t threads) CreateThread(ctx context.Context, r wire.CreateThread) (Thread, error) {
	return call[Thread](ctx, t.connection, http.MethodPost, t.at(nil, "api", "threads"), r)
}

// Thread returns one thread.
func (t threads) Thread(ctx context.Context, id string) (Thread, error) {
	return call[Thread](ctx, t.connection, http.MethodGet, t.threadPath(id), nil)
}

// DeleteThread ends everything of a thread and removes its records.
func (t threads) DeleteThread(ctx context.Context, id string) error {
	return t.call(ctx, http.MethodDelete, t.threadPath(id), nil, nil)
}

// ThreadSession returns the live session of a thread, or the newest.
func (t threads) ThreadSession(ctx context.Context, id string) (wire.ThreadSession, error) {
	return call[wire.ThreadSession](ctx, t.connection, http.MethodGet, t.threadPath(id, "session"), nil)
}

// ThreadTerminal returns the active terminal of a thread.
func (t threads) ThreadTerminal(ctx context.Context, id string) (wire.ThreadTerminal, error) {
	return call[wire.ThreadTerminal](ctx, t.connection, http.MethodGet, t.threadPath(id, "terminal"), nil)
}

// ThreadTerminals returns all terminals of a thread, the oldest first.
func (t threads) ThreadTerminals(ctx context.Context, id string) ([]wire.ThreadTerminal, error) {
	reply, err := call[wire.ThreadTerminals](ctx, t.connection, http.MethodGet, t.threadPath(id, "terminals"), nil)
	return reply.Terminals, err
}

// TouchThread counts as activity: it postpones the end of the session.
func (t threads) TouchThread(ctx context.Context, id string) (wire.ThreadSession, error) {
	return call[wire.ThreadSession](ctx, t.connection, http.MethodPost, t.threadPath(id, "touch"), nil)
}

// SetThreadPolicy changes the policy of a thread and of its live session.
func (t threads) SetThreadPolicy(ctx context.Context, id string, p wire.SetPolicy) (Thread, error) {
	return call[Thread](ctx, t.connection, http.MethodPatch, t.threadPath(id, "policy"), p)
}

// PauseThread stops the processes of a thread.
func (t threads) PauseThread(ctx context.Context, id string) (Thread, error) {
	return call[Thread](ctx, t.connection, http.MethodPost, t.threadPath(id, "pause"), nil)
}

// ResumeThread continues the processes of a paused thread.
func (t threads) ResumeThread(ctx context.Context, id string) (Thread, error) {
	return call[Thread](ctx, t.connection, http.MethodPost, t.threadPath(id, "resume"), nil)
}

// DestroySandbox ends the processes and the compute of a thread. Its next use continues from the
// same state.
func (t threads) DestroySandbox(ctx context.Context, id string) (Thread, error) {
	return call[Thread](ctx, t.connection, http.MethodDelete, t.threadPath(id, "sandbox"), nil)
}

// ActivateTerminal makes a terminal the default of its thread.
func (t threads) ActivateTerminal(ctx context.Context, thread, terminal string) (wire.ThreadTerminal, error) {
	target := t.threadPath(thread, "terminals", terminal, "activate")
	return call[wire.ThreadTerminal](ctx, t.connection, http.MethodPost, target, nil)
}

// TerminalHistory returns the versions of a terminal's state, the newest first.
func (t threads) TerminalHistory(ctx context.Context, thread, terminal string) ([]wire.TerminalState, error) {
	target := t.threadPath(thread, "terminals", terminal, "history")
	reply, err := call[wire.TerminalStates](ctx, t.connection, http.MethodGet, target, nil)
	return reply.States, err
}

// RollbackTerminal makes a new version that equals an old one.
func (t threads) RollbackTerminal(
	ctx context.Context, thread, terminal string, version int64,
) (wire.RolledBack, error) {
	target := t.threadPath(thread, "terminals", terminal, "rollback")
	return call[wire.RolledBack](ctx, t.connection, http.MethodPost, target, wire.Rollback{Version: &version})
}
