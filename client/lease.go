package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Lease is the durable handle of compute.
type Lease struct {
	ID       string `json:"lease_id"`
	Thread   string `json:"thread_id"` // that it was made for; "" is none
	Provider string `json:"provider_name"`
	Instance *struct {
		ID        string    `json:"instance_id"` // the provider's
		State     string    `json:"state"`
		StartedAt time.Time `json:"started_at"`
	} `json:"instance"` // nil before the first
	Desired   string    `json:"desired_state"`  // running, paused, destroyed
	Observed  string    `json:"observed_state"` // running, paused, dead, unknown
	Status    string    `json:"status"`         // active, recovering, expired
	Version   int64     `json:"version"`
	LastError string    `json:"last_error"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Raw is all that the server said.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the whole object in Raw.
func (l *Lease) UnmarshalJSON(p []byte) error {
	type plain Lease
	if err := json.Unmarshal(p, (*plain)(l)); err != nil {
		return err
	}
	l.Raw = append(l.Raw[:0], p...)
	return nil
}

// LeaseRequest says what lease to make. Zero fields are left to the server.
type LeaseRequest struct {
	ID       string          `json:"id,omitempty"`
	Provider string          `json:"provider_name,omitempty"`
	Config   json.RawMessage `json:"config,omitempty"` // an object of the provider's own
}

// leasePage is how many leases are asked for at a time.
const leasePage = "1000"

// Leases are those of a provider, of all for "". It asks for them part by part.
func (c *Client) Leases(ctx context.Context, provider string) (list []Lease, err error) {
	query := url.Values{"limit": {leasePage}}
	if provider != "" {
		query.Set("provider", provider)
	}
	for {
		var reply struct {
			Leases []Lease `json:"leases"`
			Next   string  `json:"next"`
		}
		err := c.call(ctx, http.MethodGet, c.at(query, "api", "leases"), nil, &reply)
		list = append(list, reply.Leases...)
		if err != nil || reply.Next == "" {
			return list, err
		}
		query.Set("after", reply.Next)
	}
}

// CreateLease makes a lease that threads may share.
func (c *Client) CreateLease(ctx context.Context, r LeaseRequest) (l Lease, err error) {
	err = c.call(ctx, http.MethodPost, c.at(nil, "api", "leases"), r, &l)
	return l, err
}

// Lease is one lease.
func (c *Client) Lease(ctx context.Context, id string) (l Lease, err error) {
	err = c.call(ctx, http.MethodGet, c.at(nil, "api", "leases", id), nil, &l)
	return l, err
}

// ThreadLease is where the active terminal of a thread runs.
func (c *Client) ThreadLease(ctx context.Context, thread string) (l Lease, err error) {
	err = c.call(ctx, http.MethodGet, c.at(nil, "api", "threads", thread, "lease"), nil, &l)
	return l, err
}

// DeleteLease forgets a lease. One that is in use is an *Error with the code IN_USE.
func (c *Client) DeleteLease(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, c.at(nil, "api", "leases", id), nil, nil)
}

// PauseLease pauses the compute of a lease, whoever uses it.
func (c *Client) PauseLease(ctx context.Context, id string) (Lease, error) {
	return c.leaseDo(ctx, id, "pause")
}

// ResumeLease is the reverse of PauseLease.
func (c *Client) ResumeLease(ctx context.Context, id string) (Lease, error) {
	return c.leaseDo(ctx, id, "resume")
}

// DestroyLease ends the compute of a lease; its next use makes other.
func (c *Client) DestroyLease(ctx context.Context, id string) (Lease, error) {
	return c.leaseDo(ctx, id, "destroy")
}

// RefreshLease has the server ask the provider how the compute is.
func (c *Client) RefreshLease(ctx context.Context, id string) (Lease, error) {
	return c.leaseDo(ctx, id, "refresh")
}

func (c *Client) leaseDo(ctx context.Context, id, do string) (l Lease, err error) {
	err = c.call(ctx, http.MethodPost, c.at(nil, "api", "leases", id, do), nil, &l)
	return l, err
}
