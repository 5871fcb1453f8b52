package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/evertty/evertty/wire"
)

// leasePage is how many leases one request asks for.
const leasePage = "1000"

// Leases returns the leases of a provider, or of all providers for "".
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

// CreateLease makes a lease that threads may share. Zero fields of r are left to the server.
func (c *Client) CreateLease(ctx context.Context, r wire.CreateLease) (Lease, error) {
	return call[Lease](ctx, c, http.MethodPost, c.at(nil, "api", "leases"), r)
}

// Lease returns one lease.
func (c *Client) Lease(ctx context.Context, id string) (Lease, error) {
	return call[Lease](ctx, c, http.MethodGet, c.at(nil, "api", "leases", id), nil)
}

// ThreadLease returns the lease of the active terminal of a thread.
func (c *Client) ThreadLease(ctx context.Context, thread string) (Lease, error) {
	return call[Lease](ctx, c, http.MethodGet, c.threadPath(thread, "lease"), nil)
}

// DeleteLease removes a lease. When it is in use, the error is an *Error with the code IN_USE.
func (c *Client) DeleteLease(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, c.at(nil, "api", "leases", id), nil, nil)
}

// PauseLease pauses the compute of a lease for all its threads.
func (c *Client) PauseLease(ctx context.Context, id string) (Lease, error) {
	return c.changeLease(ctx, id, "pause")
}

// ResumeLease continues the paused compute of a lease.
func (c *Client) ResumeLease(ctx context.Context, id string) (Lease, error) {
	return c.changeLease(ctx, id, "resume")
}

// DestroyLease ends the compute of a lease. The next use of the lease makes new compute.
func (c *Client) DestroyLease(ctx context.Context, id string) (Lease, error) {
	return c.changeLease(ctx, id, "destroy")
}

// RefreshLease makes the server ask the provider for the state of the compute.
func (c *Client) RefreshLease(ctx context.Context, id string) (Lease, error) {
	return c.changeLease(ctx, id, "refresh")
}

func (c *Client) changeLease(ctx context.Context, id, verb string) (Lease, error) {
	return call[Lease](ctx, c, http.MethodPost, c.at(nil, "api", "leases", id, verb), nil)
}
