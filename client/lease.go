package client

import (
	"context"

	"github.com/evertty/evertty/wire"
)

// Leases returns the leases of a provider, or of all providers for "".
func (l leases) Leases(ctx context.Context, provider string) ([]Lease, error) {
	return pages(func(after string) ([]Lease, string, error) {
		reply, err := l.API().ListLeases(ctx, wire.ListLeases{Provider: provider, After: after, Limit: pageItems})
		return reply.Leases, reply.Next, err
	})
}

// ThreadLease returns the lease of the active terminal of a thread.
func (l leases) ThreadLease(ctx context.Context, thread string) (Lease, error) {
	return l.API().GetThreadLease(ctx, wire.ThreadRef{Thread: thread})
}

// PauseLease pauses the compute of a lease for all its threads.
func (l leases) PauseLease(ctx context.Context, id string) (Lease, error) {
	return l.API().PauseLease(ctx, wire.LeaseRef{Lease: id})
}

// ResumeLease continues the paused compute of a lease.
func (l leases) ResumeLease(ctx context.Context, id string) (Lease, error) {
	return l.API().ResumeLease(ctx, wire.LeaseRef{Lease: id})
}

// DestroyLease ends the compute of a lease. The next use of the lease makes new compute.
func (l leases) DestroyLease(ctx context.Context, id string) (Lease, error) {
	return l.API().DestroyLease(ctx, wire.LeaseRef{Lease: id})
}

// RefreshLease makes the server ask the provider for the state of the compute.
func (l leases) RefreshLease(ctx context.Context, id string) (Lease, error) {
	return l.API().RefreshLease(ctx, wire.LeaseRef{Lease: id})
}
