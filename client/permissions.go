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
func (c *Client) Permissions(ctx context.Context, thread string) (Permissions, error) {
	return call[Permissions](ctx, c, http.MethodGet, c.threadPath(thread, "permissions"), nil)
}

// SetPermissions changes the permissions of a thread.
func (c *Client) SetPermissions(ctx context.Context, thread string, r PermissionsRequest) (Permissions, error) {
	return call[Permissions](ctx, c, http.MethodPut, c.threadPath(thread, "permissions"), r)
}

// Approvals returns the approvals of a thread, the newest first; status "" is all.
func (c *Client) Approvals(ctx context.Context, thread, status string) ([]Approval, error) {
	var query url.Values
	if status != "" {
		query = url.Values{"status": {status}}
	}
	var reply struct {
		Approvals []Approval `json:"approvals"`
	}
	err := c.call(ctx, http.MethodGet, c.at(query, "api", "threads", thread, "approvals"), nil, &reply)
	return reply.Approvals, err
}

// Approval returns an approval of a thread; reveal shows its hidden values, after which it can be
// approved. The audit log of the server has that.
func (c *Client) Approval(ctx context.Context, thread, approval string, reveal bool) (Approval, error) {
	var query url.Values
	if reveal {
		query = url.Values{"reveal": {"1"}}
	}
	return call[Approval](ctx, c, http.MethodGet,
		c.at(query, "api", "threads", thread, "approvals", approval), nil)
}

// Decide approves or denies a call. When it was decided before, the error is an *Error with the
// code DECIDED.
func (c *Client) Decide(ctx context.Context, thread, approval string, approve bool) (Approval, error) {
	body := wire.DecideApproval{Decision: "deny"}
	if approve {
		body.Decision = "approve"
	}
	return call[Approval](ctx, c, http.MethodPost, c.threadPath(thread, "approvals", approval), body)
}

// SteerThread leaves a message for the driver of a thread and returns its number.
func (c *Client) SteerThread(ctx context.Context, thread, message string) (seq int64, err error) {
	reply, err := call[wire.Seq](ctx, c, http.MethodPost, c.threadPath(thread, "steer"), wire.Steer{Message: message})
	return reply.Seq, err
}

// DrainThread takes the messages that wait for the driver of a thread, in their order.
func (c *Client) DrainThread(ctx context.Context, thread string) ([]string, error) {
	reply, err := call[wire.Drained](ctx, c, http.MethodPost, c.threadPath(thread, "steer", "drain"), nil)
	return reply.Messages, err
}
