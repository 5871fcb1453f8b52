package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Permissions are what may be done with the terminals of a thread: a mode and rules.
type Permissions struct {
	Thread string          `json:"thread_id"`
	Mode   string          `json:"mode"`
	Rules  json.RawMessage `json:"rules"` // {"allow":[…],"deny":[…],"ask":[…]}
	Active bool            `json:"active"`
	Counts map[string]int  `json:"rule_counts"` // with those of the server
	Raw    json.RawMessage `json:"-"`           // all that the server said
}

// UnmarshalJSON keeps the whole object in Raw.
func (p *Permissions) UnmarshalJSON(b []byte) error {
	type plain Permissions
	if err := json.Unmarshal(b, (*plain)(p)); err != nil {
		return err
	}
	p.Raw = append(p.Raw[:0], b...)
	return nil
}

// PermissionsRequest says what to change; what is empty stays as it was.
type PermissionsRequest struct {
	Mode  string          `json:"mode,omitempty"`
	Rules json.RawMessage `json:"rules,omitempty"`
}

// Permissions are those of a thread.
func (c *Client) Permissions(ctx context.Context, thread string) (p Permissions, err error) {
	err = c.call(ctx, http.MethodGet, c.at(nil, "api", "threads", thread, "permissions"), nil, &p)
	return p, err
}

// SetPermissions changes the permissions of a thread.
func (c *Client) SetPermissions(ctx context.Context, thread string, r PermissionsRequest) (p Permissions, err error) {
	err = c.call(ctx, http.MethodPut, c.at(nil, "api", "threads", thread, "permissions"), r, &p)
	return p, err
}

// Approval is a call that somebody is or was asked about.
type Approval struct {
	ID        string          `json:"id"`
	Thread    string          `json:"thread_id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Reason    string          `json:"reason"`
	Status    string          `json:"status"` // pending, approved, denied, used or expired
	CreatedAt time.Time       `json:"created_at"`
	ExpiresAt time.Time       `json:"expires_at"`
	Raw       json.RawMessage `json:"-"` // all that the server said
}

// UnmarshalJSON keeps the whole object in Raw.
func (a *Approval) UnmarshalJSON(b []byte) error {
	type plain Approval
	if err := json.Unmarshal(b, (*plain)(a)); err != nil {
		return err
	}
	a.Raw = append(a.Raw[:0], b...)
	return nil
}

// Approvals are those of a thread, the newest first; status "" is all.
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

// Decide approves or denies a call. One that was decided before is an *Error with the
// code DECIDED.
func (c *Client) Decide(ctx context.Context, thread, approval string, approve bool) (a Approval, err error) {
	body := struct {
		Decision string `json:"decision"`
	}{"deny"}
	if approve {
		body.Decision = "approve"
	}
	err = c.call(ctx, http.MethodPost, c.at(nil, "api", "threads", thread, "approvals", approval), body, &a)
	return a, err
}

// SteerThread leaves a message for who drives a thread, and returns its number.
func (c *Client) SteerThread(ctx context.Context, thread, message string) (seq int64, err error) {
	body := struct {
		Message string `json:"message"`
	}{message}
	var reply struct {
		Seq int64 `json:"seq"`
	}
	err = c.call(ctx, http.MethodPost, c.at(nil, "api", "threads", thread, "steer"), body, &reply)
	return reply.Seq, err
}

// DrainThread takes the messages that wait for who drives a thread, in their order.
func (c *Client) DrainThread(ctx context.Context, thread string) ([]string, error) {
	var reply struct {
		Messages []string `json:"messages"`
	}
	err := c.call(ctx, http.MethodPost, c.at(nil, "api", "threads", thread, "steer", "drain"), nil, &reply)
	return reply.Messages, err
}
