package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
	"github.com/evertty/evertty/wire"
)

// Leases has the leases of a server with what their providers say. It holds the lock of a lease
// while it changes the lease's compute; the state is database's.
type Leases struct {
	*database
	recorder *recorder
	// computeChanged is called with the state of a lease's compute: thread.Frozen before it is
	// paused, and any state after another change and after its provider was asked. Called under the
	// lease's own lock.
	computeChanged func(thread.Lease, thread.Observed)
}

// CreateLease makes a lease that belongs to no thread, to be shared; "" lets the server choose the
// id and the provider. config is JSON of the provider's own. Nothing runs until a use. Errors:
// thread.ErrInvalid, ErrNoProvider, ErrConflict.
func (ls *Leases) CreateLease(id, provider, config string) (wire.Lease, error) {
	if owner.IsSpace(id) {
		id += newID(ofLease)
	}
	var l thread.Lease
	err := ls.update(func(c *change) (err error) {
		if err := cmp.Or(checkID("lease", id), checkStart("lease", id)); err != nil {
			return err
		}
		if config != "" && !json.Valid([]byte(config)) {
			return fmt.Errorf("%w: the configuration of a lease is JSON", thread.ErrInvalid)
		}
		if _, err := c.Lease(id); !missing(err) {
			return cmp.Or(err, fmt.Errorf("%w: lease %s", thread.ErrConflict, id))
		}
		l, err = c.makeLease(thread.Lease{ID: id, Provider: cmp.Or(provider, ls.provider), Config: config})
		return err
	})
	return thread.Layers{Lease: l}.WireLease(), err
}

// ListLeases returns the leases that a query means. next is the After of the next part, "" at the
// end. Errors: thread.ErrNotFound (q.After), ErrNoProvider (q.Provider is neither set up nor has a
// lease).
func (ls *Leases) ListLeases(q thread.LeaseQuery) (replies []wire.Lease, next string, err error) {
	limit := q.Limit
	if limit <= 0 || limit > thread.MaxPage {
		limit = thread.MaxPage
	}
	q.Limit = limit + 1 // one more tells whether there are others
	list, err := read(ls.database, func(tx *sqlite.Tx) ([]thread.Lease, error) {
		if q.After != "" {
			if _, err := tx.Lease(q.After); err != nil {
				return nil, err
			}
		}
		return tx.Leases(q)
	})
	if err != nil {
		return nil, "", err
	}
	if _, known := ls.providers[q.Provider]; !known && q.Provider != "" && q.After == "" && len(list) == 0 {
		return nil, "", ls.noProvider(q.Provider)
	}
	list, next = pageOf(list, limit, func(l thread.Lease) string { return l.ID })
	replies = make([]wire.Lease, 0, len(list))
	for _, l := range list {
		reply, err := ls.reply(l)
		if err != nil {
			return nil, "", err
		}
		replies = append(replies, reply)
	}
	return replies, next, nil
}

// Lease finds a lease. Errors: thread.ErrNotFound.
func (ls *Leases) Lease(id string) (wire.Lease, error) {
	l, err := ls.lease(id)
	if err != nil {
		return wire.Lease{}, err
	}
	return ls.reply(l)
}

// reply returns a lease with its newest instance, and the thread that it was made for.
func (ls *Leases) reply(l thread.Lease) (wire.Lease, error) {
	layers := thread.Layers{Lease: l, Thread: thread.Thread{ID: l.Thread}}
	list, err := ls.instances(l.ID)
	if len(list) > 0 {
		layers.Instance = list[0]
	}
	return layers.WireLease(), err
}

// instances returns what was behind a lease, the newest first; none of a lease that is not there.
func (ls *Leases) instances(lease string) ([]thread.Instance, error) {
	return read(ls.database, func(tx *sqlite.Tx) ([]thread.Instance, error) { return tx.Instances(lease) })
}

// after changes a lease when all that has happened is in the database, and returns it.
func (ls *Leases) after(ctx context.Context, id string,
	change func(ctx context.Context, id, source string) (thread.Lease, error)) (wire.Lease, error) {
	if err := ls.recorder.current(ctx, ""); err != nil {
		return wire.Lease{}, err
	}
	l, err := change(ctx, id, "api")
	if err != nil {
		return wire.Lease{}, err
	}
	return ls.reply(l)
}

// PauseLease pauses the compute of a lease, whoever uses it. Errors: any of pause.
func (ls *Leases) PauseLease(ctx context.Context, id string) (wire.Lease, error) {
	return ls.after(ctx, id, ls.pause)
}

// ResumeLease is the reverse of PauseLease. Errors: any of resume.
func (ls *Leases) ResumeLease(ctx context.Context, id string) (wire.Lease, error) {
	return ls.after(ctx, id, ls.resume)
}

// DestroyLease ends the compute of a lease, which stays and gets other compute with its next use.
// Errors: any of destroy.
func (ls *Leases) DestroyLease(ctx context.Context, id string) (wire.Lease, error) {
	return ls.after(ctx, id, ls.destroy)
}

// RefreshLease asks the provider how the compute is. Errors: any of refresh.
func (ls *Leases) RefreshLease(ctx context.Context, id string) (wire.Lease, error) {
	return ls.after(ctx, id, ls.refresh)
}

// DeleteLease removes a lease and its events. Errors: thread.ErrNotFound, ErrInUse (a thread or
// terminal has it, or its compute is not dead).
func (ls *Leases) DeleteLease(ctx context.Context, id string) error {
	return ls.leaseLocks.do(ctx, id, func() error {
		return ls.update(func(c *change) error { return c.deleteLease(id) })
	})
}

func (c *change) deleteLease(id string) error {
	l, err := c.Lease(id)
	if err != nil {
		return err
	}
	if l.Observed != thread.Dead {
		return fmt.Errorf("%w: the compute of lease %s is %s", thread.ErrInUse, id, l.Observed)
	}
	users, err := c.LeaseThreads(id)
	if err == nil && len(users) > 0 {
		err = fmt.Errorf("%w: thread %s has terminals on lease %s", thread.ErrInUse, users[0], id)
	}
	if err != nil {
		return err
	}
	c.dropLease(id)
	return nil
}

func (c *change) dropLease(id string) {
	c.after = append(c.after, func() { delete(c.db.fresh, id) })
	c.DeleteLease(id)
}

// LeaseEvents returns the events of a lease after one of them, ascending, at most limit; 0 is
// thread.MaxPage. Errors: thread.ErrNotFound.
func (ls *Leases) LeaseEvents(lease string, after int64, limit int) ([]thread.LeaseEvent, error) {
	return read(ls.database, func(tx *sqlite.Tx) ([]thread.LeaseEvent, error) {
		if _, err := tx.Lease(lease); err != nil {
			return nil, err
		}
		return tx.LeaseEvents(lease, after, limit)
	})
}

// LeaseMetrics returns what the compute of a lease uses. Errors: thread.ErrNotFound, ErrTransition
// (there is no compute), ErrUnsupported, ErrProvider.
func (ls *Leases) LeaseMetrics(ctx context.Context, id string) (m wire.ComputeMetrics, err error) {
	l, err := ls.lease(id)
	if err != nil {
		return m, err
	}
	p := ls.providers[l.Provider]
	if p == nil {
		return m, ls.noProvider(l.Provider)
	}
	instance, err := ls.instanceOf(l)
	if l.Provider == thread.Local && errors.Is(err, thread.ErrTransition) {
		err = nil // this machine is there, though nothing of the lease runs
	}
	if err != nil {
		return m, err
	}
	used, err := p.Metrics(ctx, instance)
	if err != nil && !errors.Is(err, provider.ErrUnsupported) {
		err = fmt.Errorf("%w: metrics of lease %s: %w", thread.ErrProvider, id, err)
	}
	return wire.ComputeMetrics{CPUPercent: used.CPUPercent, MemoryUsedMb: used.MemoryUsedMB,
		MemoryTotalMb: used.MemoryTotalMB, DiskUsedGb: used.DiskUsedGB, DiskTotalGb: used.DiskTotalGB,
		NetworkRxKbps: used.RxKbps, NetworkTxKbps: used.TxKbps}, err
}

// instanceOf returns the provider's id of the compute of a lease. Errors: thread.ErrTransition when
// there is none.
func (ls *Leases) instanceOf(l thread.Lease) (string, error) {
	list, err := ls.instances(l.ID)
	if err == nil && (len(list) == 0 || !list[0].EndedAt.IsZero()) {
		err = fmt.Errorf("%w: lease %s has no compute", thread.ErrTransition, l.ID)
	}
	if err != nil {
		return "", err
	}
	return list[0].Session, nil
}

// ofThread returns the leases of a thread's terminals, and the one for terminals to come. Errors:
// thread.ErrNotFound (the thread).
func (ls *Leases) ofThread(threadID string) ([]thread.Lease, error) {
	return readOf(ls.database, threadID, func(tx *sqlite.Tx) ([]thread.Lease, error) {
		return tx.ThreadLeases(threadID)
	})
}

// ofInstance returns the lease that an instance of a provider is behind now. Errors:
// thread.ErrNotFound.
func (ls *Leases) ofInstance(provider, instance string) (l thread.Lease, err error) {
	return l, ls.view(func(tx *sqlite.Tx) error {
		i, err := tx.FindInstance(provider, instance)
		if err != nil {
			return err
		}
		if l, err = tx.Lease(i.Lease); err == nil && (l.Instance != i.ID || !i.EndedAt.IsZero()) {
			err = fmt.Errorf("%w: instance %s has ended", thread.ErrNotFound, instance)
		}
		return err
	})
}

// threadsOf returns the threads that have a terminal on a lease, or would make one there.
func (ls *Leases) threadsOf(lease string) ([]string, error) {
	return read(ls.database, func(tx *sqlite.Tx) ([]string, error) { return tx.LeaseThreads(lease) })
}

// shared reports whether a live session of another thread, one that is not paused, uses a lease.
func (d *database) shared(tx *sqlite.Tx, threadID, lease string) (bool, error) {
	threads, err := tx.LeaseThreads(lease)
	return slices.ContainsFunc(threads, func(other string) bool {
		s, live := d.window(other)
		return other != threadID && live && s.Status != thread.Paused
	}), err
}

// SandboxTypes returns the providers of this server, by name.
func (ls *Leases) SandboxTypes() []wire.SandboxType {
	list := []wire.SandboxType{}
	for _, name := range slices.Sorted(maps.Keys(ls.providers)) {
		c := ls.providers[name].Capabilities()
		list = append(list, wire.SandboxType{Name: name, Available: ls.isOpen(), Capabilities: wire.Capabilities{
			CanPause: c.Pause, CanResume: c.Resume, CanDestroy: c.Destroy, SupportsWebhook: c.Webhook,
			SupportsStatusProbe: c.Status, PTY: c.PTY, Files: c.Files, Metrics: c.Metrics, MemoryKept: c.MemoryKept,
			RuntimeKind: c.Runtime}})
	}
	return list
}

// SandboxSessions returns leases with the threads that use them. Otherwise it is as ListLeases.
func (ls *Leases) SandboxSessions(q thread.LeaseQuery) (list []wire.SandboxSession, next string, err error) {
	leases, next, err := ls.ListLeases(q)
	if err != nil {
		return nil, "", err
	}
	list = make([]wire.SandboxSession, 0, len(leases))
	for _, l := range leases {
		threads, err := ls.threadsOf(l.LeaseID)
		if err != nil {
			return nil, "", err
		}
		list = append(list, wire.SandboxSession{SessionID: l.LeaseID, Lease: l, Threads: threads})
	}
	return list, next, nil
}
