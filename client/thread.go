package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/evertty/evertty/wire"
)

// Threads returns all threads, by id.
func (t threads) Threads(ctx context.Context) ([]Thread, error) {
	return pages(func(after string) ([]Thread, string, error) {
		reply, err := t.API().ListThreads(ctx, wire.ListThreads{After: after, Limit: pageItems})
		return reply.Threads, reply.Next, err
	})
}

// Thread returns one thread.
func (t threads) Thread(ctx context.Context, id string) (Thread, error) {
	return t.API().GetThread(ctx, wire.ThreadRef{Thread: id})
}

// DeleteThread ends everything of a thread and removes its records.
func (t threads) DeleteThread(ctx context.Context, id string) error {
	_, err := t.API().DeleteThread(ctx, wire.ThreadRef{Thread: id})
	return err
}

// ThreadSession returns the live session of a thread, or the newest.
func (t threads) ThreadSession(ctx context.Context, id string) (wire.ThreadSession, error) {
	return t.API().GetThreadSession(ctx, wire.ThreadRef{Thread: id})
}

// ThreadTerminal returns the active terminal of a thread.
func (t threads) ThreadTerminal(ctx context.Context, id string) (wire.ThreadTerminal, error) {
	return t.API().GetThreadTerminal(ctx, wire.GetThreadTerminal{ThreadRef: wire.ThreadRef{Thread: id}})
}

// ThreadTerminals returns all terminals of a thread, the oldest first.
func (t threads) ThreadTerminals(ctx context.Context, id string) ([]wire.ThreadTerminal, error) {
	reply, err := t.API().ListThreadTerminals(ctx, wire.ListThreadTerminals{ThreadRef: wire.ThreadRef{Thread: id}})
	return reply.Terminals, err
}

// SetThreadPolicy changes the policy of a thread and of its live session.
func (t threads) SetThreadPolicy(ctx context.Context, id string, p wire.SetPolicy) (Thread, error) {
	return t.API().SetThreadPolicy(ctx, wire.SetThreadPolicy{ThreadRef: wire.ThreadRef{Thread: id}, SetPolicy: p})
}

// PauseThread stops the processes of a thread.
func (t threads) PauseThread(ctx context.Context, id string) (Thread, error) {
	return t.API().PauseThread(ctx, wire.ThreadRef{Thread: id})
}

// ResumeThread continues the processes of a paused thread.
func (t threads) ResumeThread(ctx context.Context, id string) (Thread, error) {
	return t.API().ResumeThread(ctx, wire.ThreadRef{Thread: id})
}

// DestroySandbox ends the processes and the compute of a thread. Its next use continues from the
// same state.
func (t threads) DestroySandbox(ctx context.Context, id string) (Thread, error) {
	return t.API().DestroySandbox(ctx, wire.ThreadRef{Thread: id})
}

// ActivateTerminal makes a terminal the default of its thread.
func (t threads) ActivateTerminal(ctx context.Context, thread, terminal string) (wire.ThreadTerminal, error) {
	return t.API().ActivateTerminal(ctx,
		wire.ThreadTerminalRef{ThreadRef: wire.ThreadRef{Thread: thread}, Terminal: terminal})
}

// TerminalHistory returns the versions of a terminal's state, the newest first.
func (t threads) TerminalHistory(ctx context.Context, thread, terminal string) ([]wire.TerminalState, error) {
	reply, err := t.API().GetTerminalHistory(ctx, wire.GetTerminalHistory{ThreadTerminalRef: wire.ThreadTerminalRef{
		ThreadRef: wire.ThreadRef{Thread: thread}, Terminal: terminal}})
	return reply.States, err
}

// RollbackTerminal makes a new version that equals an old one.
func (t threads) RollbackTerminal(
	ctx context.Context, thread, terminal string, version int64,
) (wire.RolledBack, error) {
	return t.API().RollbackTerminal(ctx, wire.Rollback{Version: &version,
		ThreadTerminalRef: wire.ThreadTerminalRef{ThreadRef: wire.ThreadRef{Thread: thread}, Terminal: terminal}})
}

// LatestRecord returns the record that was changed last. Errors: ErrNotFound when there is none.
func (t threads) LatestRecord(ctx context.Context) (wire.RecordHead, error) {
	latest := route{http.MethodGet, false, []string{"/api/threads/latest"}}
	return send[wire.RecordHead](ctx, t.API(), latest, wire.Nothing{})
}

// ExportRecord returns a record file; record "" is the current one. The caller closes it.
func (t threads) ExportRecord(ctx context.Context, thread, record string) (io.ReadCloser, error) {
	target, err := t.target(wire.GetRecord{RecordRef: wire.RecordRef{ThreadRef: wire.ThreadRef{Thread: thread},
		Record: record}, RecordFormat: wire.RecordFormat{Format: "loader"}}, "/api/threads/:id/record")
	if err != nil {
		return nil, err
	}
	resp, err := t.open(ctx, http.MethodGet, target, acceptJSON, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// ImportRecord makes a record file the current record of a thread. It creates the thread when there
// is none. The record before is kept.
func (t threads) ImportRecord(ctx context.Context, thread string, file json.RawMessage) (h wire.RecordHead, err error) {
	err = t.call(ctx, http.MethodPut, t.at(nil, "api", "threads", thread, "record"), file, &h)
	return h, err
}

// CompactThread replaces older messages of a thread by a summary if that is worth it. They can
// still be read. Zero fields of r are left to the server.
func (t threads) CompactThread(ctx context.Context, thread string, r wire.Compact) (wire.Compacted, error) {
	r.Thread = thread
	return send[wire.Compacted](ctx, t.API(), route{http.MethodPost, true, []string{"/api/threads/:id/compact"}}, r)
}

// PermissionsRequest says what to change; an empty field stays as it was. The server checks the
// rules, so they are sent as they are.
type PermissionsRequest struct {
	Mode  wire.PermissionMode `json:"mode,omitempty"`
	Rules json.RawMessage     `json:"rules,omitempty"` // the JSON of a wire.PermissionRules
}

// SetPermissions changes the permissions of a thread.
func (t threads) SetPermissions(
	ctx context.Context, thread string, r PermissionsRequest,
) (p Permissions, err error) {
	err = t.call(ctx, http.MethodPut, t.at(nil, "api", "threads", thread, "permissions"), r, &p)
	return p, err
}
