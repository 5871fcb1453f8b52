package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/evertty/evertty/wire"
)

// Leases returns the leases of a provider, or of all providers for "".
func (l leases) Leases(ctx context.Context, provider string) ([]Lease, error) {
	query := url.Values{}
	if provider != "" {
		query.Set("provider", provider)
	}
	return pages[Lease](ctx, l.connection, "leases", query, "api", "leases")
}

// CreateLease makes a lease that threads may share. Zero fields of r are left to the server.
func (l leases) CreateLease(ctx context.Context, r wire.CreateLease) (Lease, error) {
	return call[Lease](ctx, l.connection, http.MethodPost, l.at(nil, "api", "leases"), r)
}

// Lease returns one lease.
func (l leases) Lease(ctx context.Context, id string) (Lease, error) {
	return call[Lease](ctx, l.connection, http.MethodGet, l.at(nil, "api", "leases", id), nil)
}

// ThreadLease returns the lease of the active terminal of a thread.
func (l leases) ThreadLease(ctx context.Context, thread string) (Lease, error) {
	return call[Lease](ctx, l.connection, http.MethodGet, l.threadPath(thread, "lease"), nil)
}

// DeleteLease removes a lease. When it is in use, the error is an *Error with the code IN_USE.
func (l leases) DeleteLease(ctx context.Context, id string) error {
	return l.call(ctx, http.MethodDelete, l.at(nil, "api", "leases", id), nil, nil)
}

// PauseLease pauses the compute of a lease for all its threads.
func (l leases) PauseLease(ctx context.Context, id string) (Lease, error) {
	return l.changeLease(ctx, id, "pause")
}

// ResumeLease continues the paused compute of a lease.
func (l leases) ResumeLease(ctx context.Context, id string) (Lease, error) {
	return l.changeLease(ctx, id, "resume")
}

// DestroyLease ends the compute of a lease. The next use of the lease makes new compute.
func (l leases) DestroyLease(ctx context.Context, id string) (Lease, error) {
	return l.changeLease(ctx, id, "destroy")
}

// RefreshLease makes the server ask the provider for the state of the compute.
func (l leases) RefreshLease(ctx context.Context, id string) (Lease, error) {
	return l.changeLease(ctx, id, "refresh")
}

func (l leases) changeLease(ctx context.Context, id, verb string) (Lease, error) {
	return call[Lease](ctx, l.connection, http.MethodPost, l.at(nil, "api", "leases", id, verb), nil)
}
