package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evertty/evertty/internal/thread"
)

// CreateLease makes a lease that belongs to no thread, to be shared. Config is JSON of the
// provider's own. Nothing runs until Ensure or a use. Errors: ErrInvalid, ErrNoProvider,
// ErrConflict.
func (m *Manager) CreateLease(id, provider, config string) (l thread.Lease, err error) {
	if id == "" {
		id = newID("lease")
	}
	if err := errors.Join(checkID("lease", id), checkStart("lease", id)); err != nil {
		return l, err
	}
	if config != "" && !json.Valid([]byte(config)) {
		return l, fmt.Errorf("%w: the configuration of a lease is JSON", thread.ErrInvalid)
	}
	if provider == "" {
		provider = m.cfg.Provider
	}
	return l, m.update(func(c *change) error {
		if _, err := c.Lease(id); err == nil {
			return fmt.Errorf("%w: lease %s", thread.ErrConflict, id)
		} else if !missing(err) {
			return err
		}
		l, err = c.makeLease(thread.Lease{ID: id, Provider: provider, Config: config})
		return err
	})
}

// Lease finds a lease. Errors: ErrNotFound.
func (m *Manager) Lease(id string) (l thread.Lease, err error) {
	return l, m.view(func(tx thread.Tx) error { l, err = tx.Lease(id); return err })
}

// Leases are all of a provider, or all with "", in the order of their making.
func (m *Manager) Leases(provider string) (list []thread.Lease, err error) {
	return list, m.view(func(tx thread.Tx) error { list, err = tx.Leases(provider); return err })
}

// LeasePart are the leases that a query means. next is the After of the next part, "" at the end.
// Errors: ErrNotFound (After).
func (m *Manager) LeasePart(q thread.LeaseQuery) (list []thread.Lease, next string, err error) {
	if q.Limit <= 0 || q.Limit > thread.MaxPage {
		q.Limit = thread.MaxPage
	}
	limit := q.Limit
	q.Limit++ // one more tells whether there are others
	err = m.view(func(tx thread.Tx) error {
		if q.After != "" {
			if _, err := tx.Lease(q.After); err != nil {
				return err
			}
		}
		list, err = tx.LeasePart(q)
		return err
	})
	if len(list) > limit {
		list = list[:limit]
		next = list[limit-1].ID
	}
	return list, next, err
}

// InstanceLease is the lease that an instance of a provider is behind now. Errors: ErrNotFound.
func (m *Manager) InstanceLease(provider, instance string) (l thread.Lease, err error) {
	return l, m.view(func(tx thread.Tx) error {
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

// Instances are what was behind a lease, the newest first. Errors: ErrNotFound.
func (m *Manager) Instances(lease string) (list []thread.Instance, err error) {
	return list, m.view(func(tx thread.Tx) error {
		if _, err := tx.Lease(lease); err != nil {
			return err
		}
		list, err = tx.Instances(lease)
		return err
	})
}

// LeaseThreads are the threads that have a terminal on a lease, or would make one there.
func (m *Manager) LeaseThreads(lease string) (list []string, err error) {
	return list, m.view(func(tx thread.Tx) error { list, err = tx.LeaseThreads(lease); return err })
}

// LeaseEvents returns the events of a lease after one of them, at most limit of it. Errors:
// ErrNotFound.
func (m *Manager) LeaseEvents(lease string, after int64, limit int) (list []thread.LeaseEvent, err error) {
	return list, m.view(func(tx thread.Tx) error {
		if _, err := tx.Lease(lease); err != nil {
			return err
		}
		list, err = tx.LeaseEvents(lease, after, limit)
		return err
	})
}

// PauseLease pauses the compute of a lease, whoever uses it. What is paused stays so without an
// error. Errors: ErrNotFound, ErrTransition (it is dead), ErrNoProvider, ErrProvider (also
// provider.ErrUnsupported), the reason of ctx.
func (m *Manager) PauseLease(ctx context.Context, id string) (thread.Lease, error) {
	return m.pauseLease(ctx, id, "api")
}

func (m *Manager) pauseLease(ctx context.Context, id, source string) (thread.Lease, error) {
	return m.withLease(ctx, id, source, func(w *leaseWork) error {
		if err := w.known(ctx); err != nil || w.l.Observed == thread.Frozen {
			return err
		}
		if !w.bound() {
			return w.refuse(thread.IntentPause, thread.Frozen)
		}
		// The wish comes before the deed: of a server that is killed in between the next one finds
		// a pause that was cut short.
		if err := w.setDesired(thread.WantPaused); err != nil {
			return err
		}
		w.m.cfg.ComputeChanged(w.l, thread.Frozen)
		if err := w.ignoreIfIn(ctx, thread.Frozen, w.p.Pause(ctx, w.i.Session)); err != nil {
			w.m.cfg.ComputeChanged(w.l, thread.Running)
			return errors.Join(w.fail("pause", err), w.setDesired(thread.WantRunning))
		}
		return w.apply(step{event: thread.IntentPause, to: thread.Frozen, want: thread.WantPaused})
	})
}

// setDesired notes what is wanted of the compute before it is done.
func (w *leaseWork) setDesired(d thread.Desired) error {
	return w.m.update(func(c *change) error { return c.setLease(w.l.ID, func(l *thread.Lease) { l.Desired = d }) })
}

// ResumeLease is the reverse of PauseLease, with the same errors.
func (m *Manager) ResumeLease(ctx context.Context, id string) (thread.Lease, error) {
	return m.resumeLease(ctx, id, "api")
}

func (m *Manager) resumeLease(ctx context.Context, id, source string) (thread.Lease, error) {
	return m.withLease(ctx, id, source, func(w *leaseWork) error {
		if err := w.known(ctx); err != nil || w.l.Observed == thread.Running {
			return err
		}
		if w.l.Observed != thread.Frozen {
			return w.refuse(thread.IntentResume, thread.Running)
		}
		return w.resume(ctx)
	})
}

// DestroyLease ends the compute of a lease. The lease stays, its next use makes other compute. What
// is dead stays so without an error. Errors: ErrNotFound, ErrNoProvider, ErrProvider, the reason of
// ctx.
func (m *Manager) DestroyLease(ctx context.Context, id string) (thread.Lease, error) {
	return m.destroyLease(ctx, id, "api")
}

func (m *Manager) destroyLease(ctx context.Context, id, source string) (thread.Lease, error) {
	return m.withLease(ctx, id, source, func(w *leaseWork) error {
		if !w.bound() {
			return m.update(func(c *change) error {
				return c.setLease(id, func(l *thread.Lease) {
					l.Desired, l.Status = thread.WantDestroyed, thread.LeaseExpired
				})
			})
		}
		if err := w.p.Destroy(ctx, w.i.Session); err != nil {
			return w.fail("destroy", err)
		}
		w.m.cfg.ComputeChanged(w.l, thread.Dead)
		return w.apply(step{event: thread.IntentDestroy, to: thread.Dead, want: thread.WantDestroyed,
			status: thread.LeaseExpired})
	})
}

// Refresh asks the provider how the compute of a lease is. Errors: ErrNotFound, ErrNoProvider,
// ErrProvider, the reason of ctx.
func (m *Manager) Refresh(ctx context.Context, id string) (thread.Lease, error) {
	return m.withLease(ctx, id, "api", func(w *leaseWork) error {
		if !w.bound() {
			return nil
		}
		return w.refresh(ctx)
	})
}

// Adopt binds an instance that the provider has already. Errors: ErrNotFound, ErrInUse (the lease
// has one), ErrInvalid, ErrNoProvider, ErrProvider.
func (m *Manager) Adopt(ctx context.Context, id, instance string) (thread.Lease, error) {
	return m.withLease(ctx, id, "api", func(w *leaseWork) error {
		if instance == "" {
			return fmt.Errorf("%w: no instance", thread.ErrInvalid)
		}
		if w.bound() {
			return fmt.Errorf("%w: lease %s has instance %s", thread.ErrInUse, id, w.i.Session)
		}
		seen, err := w.p.Status(ctx, instance)
		if err != nil {
			return w.fail("status", err)
		}
		if seen == thread.Dead {
			return fmt.Errorf("%w: instance %.80q is gone", thread.ErrInvalid, instance)
		}
		w.m.cfg.ComputeChanged(w.l, seen)
		// A lease that was dead can only be running or unknown: then it is seen as it is.
		if err := w.apply(step{event: thread.IntentRunning, to: thread.Running, want: thread.WantRunning,
			bind: instance}); err != nil || seen == thread.Running {
			return err
		}
		return w.apply(step{event: thread.ObserveStatus, to: seen})
	})
}

// DeleteLease removes a lease and its events. Errors: ErrNotFound, ErrInUse (a thread or terminal
// has it, or its compute is not dead).
func (m *Manager) DeleteLease(ctx context.Context, id string) error {
	unlock, err := m.leases.lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	return m.update(func(c *change) error {
		l, err := c.Lease(id)
		if err != nil {
			return err
		}
		if l.Observed != thread.Dead {
			return fmt.Errorf("%w: the compute of lease %s is %s", thread.ErrInUse, id, l.Observed)
		}
		users, err := c.LeaseThreads(id)
		if err != nil {
			return err
		}
		if len(users) > 0 {
			return fmt.Errorf("%w: thread %s has terminals on lease %s", thread.ErrInUse, users[0], id)
		}
		c.after = append(c.after, func() { delete(m.fresh, id) })
		return c.Tx.DeleteLease(id)
	})
}

// withLease does work on a lease and returns it.
func (m *Manager) withLease(ctx context.Context, id, source string, do func(*leaseWork) error) (thread.Lease, error) {
	unlock, err := m.leases.lock(ctx, id)
	if err != nil {
		return thread.Lease{}, err
	}
	defer unlock()
	w, err := m.work(id, source)
	if err != nil {
		return thread.Lease{}, err
	}
	err = do(w)
	if again := w.read(id); again != nil && err == nil {
		err = again
	}
	return w.l, err
}

// known asks the provider when what is written may not be so.
func (w *leaseWork) known(ctx context.Context) error {
	if w.bound() && (w.l.NeedsRefresh || w.l.Observed == thread.Unknown) {
		return w.refresh(ctx)
	}
	return nil
}

// refuse adds an event for a change that is not allowed. The table alone does not say it: dead →
// running is for making compute, not for resuming it.
func (w *leaseWork) refuse(event string, to thread.Observed) error {
	refusal := fmt.Errorf("%w: lease %s is %s", thread.ErrTransition, w.l.ID, w.l.Observed)
	return w.m.update(func(c *change) error {
		c.refused = refusal
		return c.recordStep(w.l, step{event: event, source: w.source, to: to}, refusal)
	})
}

// Observe takes what a provider told by itself about an instance: state is its word, "" when it
// says nothing about that. It is kept in any case; matched says whether an instance of ours is
// meant. A state that cannot follow on what was seen makes the next use ask. Errors: ErrInvalid.
func (m *Manager) Observe(provider, instance, kind, state, payload string) (matched bool, err error) {
	if err := checkID("provider", provider); err != nil {
		return false, err
	}
	to, word := thread.Unknown, thread.ErrInvalid
	if state != "" {
		to, word = thread.ParseObserved(state)
	}
	err = m.update(func(c *change) error {
		e := thread.ProviderEvent{Provider: provider, Instance: thread.Clip(instance, maxHook),
			Type: thread.Clip(kind, maxHook), Payload: thread.Clip(payload, maxPayload), At: c.now}
		i, err := c.FindInstance(provider, instance)
		if err != nil && !missing(err) {
			return err
		}
		if matched = err == nil; matched {
			e.Lease = i.Lease
		}
		if err := c.AddProviderEvent(e); err != nil || !matched {
			return err
		}
		return c.observed(i, to, word == nil)
	})
	return matched, err
}

// Ends of what a webhook may bring.
const (
	maxHook    = 256   // bytes of an id or a type
	maxPayload = 65536 // bytes
)

func (c *change) observed(i thread.Instance, to thread.Observed, clear bool) error {
	l, err := c.Lease(i.Lease)
	if err != nil {
		return err
	}
	if l.Instance != i.ID || !i.EndedAt.IsZero() {
		return nil // of one that is no longer behind the lease
	}
	if !clear || l.Allowed(to) != nil {
		c.after = append(c.after, func() { delete(c.m.fresh, l.ID) })
		return c.setLease(l.ID, func(l *thread.Lease) { l.NeedsRefresh = true })
	}
	return c.step(l.ID, step{event: thread.ObserveStatus, source: "webhook", to: to})
}

// ProviderEvents is what providers told, the newest first.
func (m *Manager) ProviderEvents(limit int) (list []thread.ProviderEvent, err error) {
	return list, m.view(func(tx thread.Tx) error { list, err = tx.ProviderEvents(limit); return err })
}
