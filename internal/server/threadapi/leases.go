package threadapi

import (
	"context"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

// queryOf is which part of the leases is asked for.
func queryOf(in wire.ListLeases) thread.LeaseQuery {
	return thread.LeaseQuery{Provider: in.Provider, After: in.After, Limit: in.Limit}
}

func (s *Service) listLeases(_ context.Context, in wire.ListLeases) (wire.LeaseList, error) {
	list, next, err := s.Threads.ListLeases(queryOf(in))
	return wire.LeaseList{Leases: httpapi.OrNone(list), Next: next}, err
}

// createLease makes a lease. Its config is for the provider alone and is never told again.
func (s *Service) createLease(ctx context.Context, in wire.CreateLease) (wire.Lease, error) {
	config := ""
	if in.Config != nil {
		b, err := httpapi.Encode(in.Config)
		if err != nil {
			return wire.Lease{}, err
		}
		config = string(b)
	}
	if err := s.checkCompute(ctx, in.ProviderName); err != nil {
		return wire.Lease{}, err
	}
	l, err := s.Threads.CreateLease(in.ID, in.ProviderName, config)
	if err == nil {
		auth.SetTarget(ctx, l.LeaseID)
	}
	return l, err
}

func (s *Service) getLease(_ context.Context, in wire.LeaseRef) (wire.Lease, error) {
	return s.Threads.Lease(in.Lease)
}

func (s *Service) deleteLease(ctx context.Context, in wire.LeaseRef) (wire.Done, error) {
	if err := s.Threads.CheckLease(ctx, in.Lease, permission.ToolLeaseDestroy); err != nil {
		return wire.Done{}, err
	}
	return httpapi.Done, s.Threads.DeleteLease(lasting(ctx), in.Lease)
}

// changeLease does what the permissions of all threads of the lease allow, also when the client hangs up.
func (s *Service) changeLease(ctx context.Context, in wire.LeaseRef, tool string,
	do func(context.Context, string) (wire.Lease, error)) (wire.Lease, error) {
	if err := s.Threads.CheckLease(ctx, in.Lease, tool); err != nil {
		return wire.Lease{}, err
	}
	return do(lasting(ctx), in.Lease)
}

func (s *Service) pauseLease(ctx context.Context, in wire.LeaseRef) (wire.Lease, error) {
	return s.changeLease(ctx, in, permission.ToolPause, s.Threads.PauseLease)
}

func (s *Service) resumeLease(ctx context.Context, in wire.LeaseRef) (wire.Lease, error) {
	return s.changeLease(ctx, in, permission.ToolResume, s.Threads.ResumeLease)
}

func (s *Service) destroyLease(ctx context.Context, in wire.LeaseRef) (wire.Lease, error) {
	return s.changeLease(ctx, in, permission.ToolLeaseDestroy, s.Threads.DestroyLease)
}

func (s *Service) refreshLease(ctx context.Context, in wire.LeaseRef) (wire.Lease, error) {
	return s.Threads.RefreshLease(lasting(ctx), in.Lease)
}

func (s *Service) getLeaseEvents(_ context.Context, in wire.GetLeaseEvents) (wire.LeaseEvents, error) {
	list, err := s.Threads.LeaseEvents(in.Lease, in.After, in.Limit)
	return wire.LeaseEvents{LeaseID: in.Lease, Events: wired[wire.LeaseEvent](list)}, err
}

func (s *Service) getLeaseMetrics(ctx context.Context, in wire.LeaseRef) (wire.ComputeMetrics, error) {
	return s.Threads.LeaseMetrics(ctx, in.Lease)
}

func (s *Service) listSandboxTypes(context.Context, wire.Nothing) (wire.SandboxTypes, error) {
	return wire.SandboxTypes{Types: s.Threads.SandboxTypes()}, nil
}

func (s *Service) listSandboxSessions(_ context.Context, in wire.ListLeases) (wire.SandboxSessions, error) {
	list, next, err := s.Threads.SandboxSessions(queryOf(in))
	return wire.SandboxSessions{Sessions: list, Next: next}, err
}
