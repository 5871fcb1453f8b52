package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/lifecycle"
)

// CreateLease makes a lease that belongs to no thread, to be shared; "" lets the server choose the
// id and the provider. config is JSON of the provider's own. Errors: thread.ErrInvalid,
// ErrNoProvider, ErrConflict.
func (d *Service) CreateLease(id, provider, config string) (thread.LeaseReply, error) {
	if err := d.available(); err != nil {
		return thread.LeaseReply{}, err
	}
	l, err := d.Manager.CreateLease(id, provider, config)
	return thread.Layers{Lease: l}.LeaseReply(), err
}

// Leases are a part of those that a query means, in the order of their making. next is the After of
// the next part, "" at the end. Errors: thread.ErrNotFound (q.After), ErrNoProvider (q.Provider is
// neither set up nor has a lease).
func (d *Service) Leases(q thread.LeaseQuery) (replies []thread.LeaseReply, next string, err error) {
	if err := d.available(); err != nil {
		return nil, "", err
	}
	list, next, err := d.Manager.LeasePart(q)
	if err != nil {
		return nil, "", err
	}
	if _, known := d.providers[q.Provider]; !known && q.Provider != "" && q.After == "" && len(list) == 0 {
		return nil, "", d.noProvider(q.Provider)
	}
	replies = make([]thread.LeaseReply, 0, len(list))
	for _, l := range list {
		reply, err := d.leaseReply(l)
		if err != nil {
			return nil, "", err
		}
		replies = append(replies, reply)
	}
	return replies, next, nil
}

// Lease finds a lease. Errors: thread.ErrNotFound.
func (d *Service) Lease(id string) (thread.LeaseReply, error) {
	if err := d.available(); err != nil {
		return thread.LeaseReply{}, err
	}
	l, err := d.Manager.Lease(id)
	if err != nil {
		return thread.LeaseReply{}, err
	}
	return d.leaseReply(l)
}

// leaseReply is a lease with the instance that is behind it, and the thread that it was made for.
func (d *Service) leaseReply(l thread.Lease) (thread.LeaseReply, error) {
	layers := thread.Layers{Lease: l, Thread: thread.Thread{ID: l.Thread}}
	list, err := d.Manager.Instances(l.ID)
	if isMissing(err) {
		err = nil // the lease was deleted meanwhile
	}
	if len(list) > 0 {
		layers.Instance = list[0]
	}
	return layers.LeaseReply(), err
}

// leaseChange changes a lease and returns it.
func (d *Service) leaseChange(ctx context.Context, id string,
	do func(*lifecycle.Manager, context.Context, string) (thread.Lease, error)) (thread.LeaseReply, error) {
	if err := d.current(ctx, ""); err != nil {
		return thread.LeaseReply{}, err
	}
	l, err := do(d.Manager, ctx, id)
	if err != nil {
		return thread.LeaseReply{}, err
	}
	return d.leaseReply(l)
}

// PauseLease pauses the compute of a lease, whoever uses it. Errors: thread.ErrNotFound,
// ErrTransition, ErrProvider, ErrUnsupported.
func (d *Service) PauseLease(ctx context.Context, id string) (thread.LeaseReply, error) {
	return d.leaseChange(ctx, id, (*lifecycle.Manager).PauseLease)
}

// ResumeLease is the reverse, with the same errors.
func (d *Service) ResumeLease(ctx context.Context, id string) (thread.LeaseReply, error) {
	return d.leaseChange(ctx, id, (*lifecycle.Manager).ResumeLease)
}

// DestroyLease ends the compute of a lease, which stays and gets other compute with its next use.
// Errors: thread.ErrNotFound, ErrProvider.
func (d *Service) DestroyLease(ctx context.Context, id string) (thread.LeaseReply, error) {
	return d.leaseChange(ctx, id, (*lifecycle.Manager).DestroyLease)
}

// RefreshLease asks the provider how the compute is. Errors: thread.ErrNotFound, ErrProvider.
func (d *Service) RefreshLease(ctx context.Context, id string) (thread.LeaseReply, error) {
	return d.leaseChange(ctx, id, (*lifecycle.Manager).Refresh)
}

// DeleteLease removes a lease that nobody uses. Errors: thread.ErrNotFound, ErrInUse.
func (d *Service) DeleteLease(ctx context.Context, id string) error {
	if err := d.available(); err != nil {
		return err
	}
	return d.Manager.DeleteLease(ctx, id)
}

// LeaseEvents returns the events of a lease after one of them, at most limit of it (0 is
// thread.MaxPage). Errors: thread.ErrNotFound.
func (d *Service) LeaseEvents(id string, after int64, limit int) ([]thread.LeaseEvent, error) {
	if err := d.available(); err != nil {
		return nil, err
	}
	return d.Manager.LeaseEvents(id, after, limit)
}

// LeaseMetrics is what the compute of a lease uses. Errors: thread.ErrNotFound, ErrTransition
// (there is no compute), ErrUnsupported, ErrProvider.
func (d *Service) LeaseMetrics(ctx context.Context, id string) (provider.Metrics, error) {
	if err := d.available(); err != nil {
		return provider.Metrics{}, err
	}
	return d.metrics(ctx, id)
}

// metrics asks the provider of a lease.
func (d *Service) metrics(ctx context.Context, id string) (provider.Metrics, error) {
	l, err := d.Manager.Lease(id)
	if err != nil {
		return provider.Metrics{}, err
	}
	p := d.providers[l.Provider]
	if p == nil {
		return provider.Metrics{}, d.noProvider(l.Provider)
	}
	instance, err := d.instanceOf(l)
	if l.Provider == thread.Local && errors.Is(err, thread.ErrTransition) {
		err = nil // this machine is there, though nothing of the lease runs
	}
	if err != nil {
		return provider.Metrics{}, err
	}
	m, err := p.Metrics(ctx, instance)
	if err != nil && !errors.Is(err, provider.ErrUnsupported) {
		err = fmt.Errorf("%w: metrics of lease %s: %w", thread.ErrProvider, id, err)
	}
	return m, err
}

// instanceOf is the provider's id of the compute of a lease. Errors: thread.ErrTransition when
// there is none.
func (d *Service) instanceOf(l thread.Lease) (string, error) {
	list, err := d.Manager.Instances(l.ID)
	if err == nil && (len(list) == 0 || !list[0].EndedAt.IsZero()) {
		err = fmt.Errorf("%w: lease %s has no compute", thread.ErrTransition, l.ID)
	}
	if err != nil {
		return "", err
	}
	return list[0].Session, nil
}

// SandboxType is a place where processes can run.
type SandboxType struct {
	Name         string                `json:"name"`
	Available    bool                  `json:"available"`
	Capabilities provider.Capabilities `json:"capabilities"`
}

// SandboxTypes are the providers of this server, by name.
func (d *Service) SandboxTypes() []SandboxType {
	list := []SandboxType{}
	for _, name := range slices.Sorted(maps.Keys(d.providers)) {
		list = append(list, SandboxType{Name: name, Available: d.Manager != nil,
			Capabilities: d.providers[name].Capabilities()})
	}
	return list
}

// SandboxSession is a lease with the threads that use it: what runs where.
type SandboxSession struct {
	thread.LeaseReply
	Threads []string `json:"threads"` // none: nobody uses it
}

// SandboxSessions are leases with their threads. Otherwise it is as Leases.
func (d *Service) SandboxSessions(q thread.LeaseQuery) (sessions []SandboxSession, next string, err error) {
	leases, next, err := d.Leases(q)
	if err != nil {
		return nil, "", err
	}
	list := make([]SandboxSession, 0, len(leases))
	for _, l := range leases {
		threads, err := d.Manager.LeaseThreads(l.ID)
		if err != nil {
			return nil, "", err
		}
		if threads == nil {
			threads = []string{}
		}
		list = append(list, SandboxSession{l, threads})
	}
	return list, next, nil
}

// Observe takes what a provider told by itself (a webhook); matched says whether an instance of
// ours is meant. Errors: thread.ErrInvalid.
func (d *Service) Observe(provider, instance, kind, state, payload string) (matched bool, err error) {
	if err := d.available(); err != nil {
		return false, err
	}
	return d.Manager.Observe(provider, instance, kind, state, payload)
}

// ProviderEvents is what providers told, the newest first; 0 is thread.MaxPage of them.
func (d *Service) ProviderEvents(limit int) ([]thread.ProviderEvent, error) {
	if err := d.available(); err != nil {
		return nil, err
	}
	return d.Manager.ProviderEvents(limit)
}
