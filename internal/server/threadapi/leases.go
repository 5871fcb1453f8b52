package threadapi

import (
	"context"
	"slices"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

// queryOf is which part of the leases is asked for.
func queryOf(ctx context.Context, in wire.ListLeases) thread.LeaseQuery {
	return thread.LeaseQuery{Prefix: httpapi.SpaceOf(ctx), Provider: in.Provider, After: in.After, Limit: in.Limit}
}

func (l *leases) listLeases(ctx context.Context, in wire.ListLeases) (wire.LeaseList, error) {
	list, next, err := l.Threads.ListLeases(queryOf(ctx, in))
	return wire.LeaseList{Leases: httpapi.OrNone(list), Next: next}, err
}

// createLease makes a lease. Its config is for the provider alone and is never told again.
func (l *leases) createLease(ctx context.Context, in wire.CreateLease) (wire.Lease, error) {
	config := ""
	if in.Config != nil {
		b, err := httpapi.Encode(in.Config)
		if err != nil {
			return wire.Lease{}, err
		}
		config = string(b)
	}
	if err := checkCompute(ctx, l.Base, in.ProviderName); err != nil {
		return wire.Lease{}, err
	}
	lease, err := l.Threads.CreateLease(in.ID, in.ProviderName, config)
	if err == nil {
		auth.SetTarget(ctx, lease.LeaseID)
	}
	return lease, err
}

func (l *leases) getLease(_ context.Context, in wire.LeaseRef) (wire.Lease, error) {
	return l.Threads.Lease(in.Lease)
}

func (l *leases) deleteLease(ctx context.Context, in wire.LeaseRef) (wire.Done, error) {
	if err := l.Threads.CheckLease(ctx, in.Lease, permission.ToolLeaseDestroy); err != nil {
		return wire.Done{}, err
	}
	return httpapi.Done, l.Threads.DeleteLease(lasting(ctx), in.Lease)
}

// changeLease does what the permissions of all threads of the lease allow, also when the client hangs up.
func (l *leases) changeLease(ctx context.Context, in wire.LeaseRef, tool string,
	do func(context.Context, string) (wire.Lease, error)) (wire.Lease, error) {
	if err := l.Threads.CheckLease(ctx, in.Lease, tool); err != nil {
		return wire.Lease{}, err
	}
	return do(lasting(ctx), in.Lease)
}

func (l *leases) pauseLease(ctx context.Context, in wire.LeaseRef) (wire.Lease, error) {
	return l.changeLease(ctx, in, permission.ToolPause, l.Threads.PauseLease)
}

func (l *leases) resumeLease(ctx context.Context, in wire.LeaseRef) (wire.Lease, error) {
	return l.changeLease(ctx, in, permission.ToolResume, l.Threads.ResumeLease)
}

func (l *leases) destroyLease(ctx context.Context, in wire.LeaseRef) (wire.Lease, error) {
	return l.changeLease(ctx, in, permission.ToolLeaseDestroy, l.Threads.DestroyLease)
}

func (l *leases) refreshLease(ctx context.Context, in wire.LeaseRef) (wire.Lease, error) {
	return l.Threads.RefreshLease(lasting(ctx), in.Lease)
}

func (l *leases) getLeaseEvents(_ context.Context, in wire.GetLeaseEvents) (wire.LeaseEvents, error) {
	list, err := l.Threads.LeaseEvents(in.Lease, in.After, in.Limit)
	return wire.LeaseEvents{LeaseID: in.Lease, Events: wired[wire.LeaseEvent](list)}, err
}

func (l *leases) getLeaseMetrics(ctx context.Context, in wire.LeaseRef) (wire.ComputeMetrics, error) {
	return l.Threads.LeaseMetrics(ctx, in.Lease)
}

func (l *leases) listSandboxTypes(context.Context, wire.Nothing) (wire.SandboxTypes, error) {
	return wire.SandboxTypes{Types: l.Threads.SandboxTypes()}, nil
}

func (l *leases) listSandboxSessions(ctx context.Context, in wire.ListLeases) (wire.SandboxSessions, error) {
	list, next, err := l.Threads.SandboxSessions(queryOf(ctx, in))
	space := httpapi.SpaceOf(ctx)
	for i := range list { // an administrator may have a thread on a user's lease
		list[i].Threads = slices.DeleteFunc(list[i].Threads, func(id string) bool { return !owner.In(id, space) })
	}
	return wire.SandboxSessions{Sessions: list, Next: next}, err
}
