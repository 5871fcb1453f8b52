package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/evertty/evertty/wire"
)

// PermissionsRequest says what to change; an empty field stays as it was. The server checks the
// rules, so they are sent as they are.
type PermissionsRequest struct {
	Mode  wire.PermissionMode `json:"mode,omitempty"`
	Rules json.RawMessage     `json:"rules,omitempty"` // the JSON of a wire.PermissionRules
}

// Permissions returns the permissions of a thread.
func (t threads) Permissions(ctx context.Context, thread string) (Permissions, error) {
	return call[Permissions](ctx, t.connection, http.MethodGet, t.threadPath(thread, "permissions"), nil)
}

// SetPermissions changes the permissions of a thread.
func (t threads) SetPermissions(ctx context.Context, thread string, r PermissionsRequest) (Permissions, error) {
	return call[Permissions](ctx, t.connection, http.MethodPut, t.threadPath(thread, "permissions"), r)
}

// Approvals returns the approvals of a thread, the newest first; status "" is all.
func (t threads) Approvals(ctx context.Context, thread, status string) ([]Approval, error) {
	var query url.Values
	if status != "" {
		query = url.Values{"status": {status}}
	}
	return list[Approval](ctx, t.connection, "approvals", t.at(query, "api", "threads", thread, "approvals"))
}

// Approval returns an approval of a thread; reveal shows its hidden values, after which it can be
// approved. The audit log of the server has that.
func (t threads) Approval(ctx context.Context, thread, approval string, reveal bool) (Approval, error) {
	var query url.Values
	if reveal {
		query = url.Values{"reveal": {"1"}}
	}
	return call[Approval](ctx, t.connection, http.MethodGet,
		t.at(query, "api", "threads", thread, "approvals", approval), nil)
}

// Decide approves or denies a call. When it was decided before, the error is an *Error with the
// code DECIDED.
func (t threads) Decide(ctx context.Context, thread, approval string, approve bool) (Approval, error) {
	body := wire.DecideApproval{Decision: "deny"}
	if approve {
		body.Decision = "approve"
	}
	return call[Approval](ctx, t.connection, http.MethodPost, t.threadPath(thread, "approvals", approval), body)
}

// SteerThread leaves a message for the driver of a thread and returns its number.
func (t threads) SteerThread(ctx context.Context, thread, message string) (seq int64, err error) {
	body := wire.Steer{Message: message}
	reply, err := call[wire.Seq](ctx, t.connection, http.MethodPost, t.threadPath(thread, "steer"), body)
	return reply.Seq, err
}

// DrainThread takes the messages that wait for the driver of a thread, in their order.
func (t threads) DrainThread(ctx context.Context, thread string) ([]string, error) {
	reply, err := call[wire.Drained](ctx, t.connection, http.MethodPost, t.threadPath(thread, "steer", "drain"), nil)
	return reply.Messages, err
}
