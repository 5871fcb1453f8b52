package thread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// CreateLease makes a lease that belongs to no thread, to be shared. Config is JSON of the provider's own. Nothing runs until Ensure or a use.
// Errors: ErrInvalid, ErrNoProvider, ErrConflict.
func (m *Manager) CreateLease(id, provider, config string) (l Lease, err error) {
	if id == "" {
		id = newID("lease")
	}
	if err := checkID("lease", id); err != nil {
		return l, err
	}
	if config != "" && !json.Valid([]byte(config)) {
		return l, fmt.Errorf("%w: the configuration of a lease is JSON", ErrInvalid)
	}
	if provider == "" {
		provider = m.cfg.Provider
	}
	return l, m.update(func(c *change) error {
		if _, err := c.Lease(id); err == nil {
			return fmt.Errorf("%w: lease %s", ErrConflict, id)
		} else if !missing(err) {
			return err
		}
		l, err = c.makeLease(Lease{ID: id, Provider: provider, Config: config})
		return err
	})
}

// Lease finds a lease. Errors: ErrNotFound.
func (m *Manager) Lease(id string) (l Lease, err error) {
	return l, m.view(func(tx Tx) error { l, err = tx.Lease(id); return err })
}

// Leases are all of a provider, or all with "", in the order of their making.
func (m *Manager) Leases(provider string) (list []Lease, err error) {
	return list, m.view(func(tx Tx) error { list, err = tx.Leases(provider); return err })
}

// LeaseQuery asks for leases in the order of their making.
type LeaseQuery struct {
	Provider string // "" is all
	After    string // a lease's id: those behind it; "" is the beginning
	Limit    int    // 1..MaxPage; 0 is MaxPage
}

// LeasePart are the leases that a query means. next is the After of the next part, "" at the end. Errors: ErrNotFound (After).
func (m *Manager) LeasePart(q LeaseQuery) (list []Lease, next string, err error) {
	if q.Limit <= 0 || q.Limit > MaxPage {
		q.Limit = MaxPage
	}
	limit := q.Limit
	q.Limit++ // one more tells whether there are others
	err = m.view(func(tx Tx) error {
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
func (m *Manager) InstanceLease(provider, instance string) (l Lease, err error) {
	return l, m.view(func(tx Tx) error {
		i, err := tx.FindInstance(provider, instance)
		if err != nil {
			return err
		}
		if l, err = tx.Lease(i.Lease); err == nil && (l.Instance != i.ID || !i.EndedAt.IsZero()) {
			err = fmt.Errorf("%w: instance %s has ended", ErrNotFound, instance)
		}
		return err
	})
}

// Instances are what was behind a lease, the newest first. Errors: ErrNotFound.
func (m *Manager) Instances(lease string) (list []Instance, err error) {
	return list, m.view(func(tx Tx) error {
		if _, err := tx.Lease(lease); err != nil {
			return err
		}
		list, err = tx.Instances(lease)
		return err
	})
}

// LeaseThreads are the threads that have a terminal on a lease, or would make one there.
func (m *Manager) LeaseThreads(lease string) (list []string, err error) {
	return list, m.view(func(tx Tx) error { list, err = tx.LeaseThreads(lease); return err })
}

// LeaseEvents is the book of a lease after an entry, at most limit of it. Errors: ErrNotFound.
func (m *Manager) LeaseEvents(lease string, after int64, limit int) (list []LeaseEvent, err error) {
	return list, m.view(func(tx Tx) error {
		if _, err := tx.Lease(lease); err != nil {
			return err
		}
		list, err = tx.LeaseEvents(lease, after, limit)
		return err
	})
}

// PauseLease pauses the compute of a lease, whoever uses it. What is paused stays so without an error.
// Errors: ErrNotFound, ErrTransition (it is dead), ErrNoProvider, ErrProvider (also provider.ErrUnsupported), the reason of ctx.
func (m *Manager) PauseLease(ctx context.Context, id string) (Lease, error) {
	return m.pauseLease(ctx, id, "api")
}

func (m *Manager) pauseLease(ctx context.Context, id, source string) (Lease, error) {
	return m.with(ctx, id, source, func(w *leaseWork) error {
		if err := w.known(ctx); err != nil || w.l.Observed == Frozen {
			return err
		}
		if !w.bound() {
			return w.refuse(IntentPause, Frozen)
		}
		// The wish comes before the deed: of a server that is killed in between the next one finds a pause that was cut short.
		if err := w.want(WantPaused); err != nil {
			return err
		}
		w.m.cfg.ComputeChanged(w.l, Frozen)
		if err := w.unlessIn(ctx, Frozen, w.p.Pause(ctx, w.i.Session)); err != nil {
			w.m.cfg.ComputeChanged(w.l, Running)
			return errors.Join(w.fail("pause", err), w.want(WantRunning))
		}
		return w.take(step{event: IntentPause, to: Frozen, want: WantPaused})
	})
}

// want notes what is wanted of the compute before it is done.
func (w *leaseWork) want(d Desired) error {
	return w.m.update(func(c *change) error { return c.setLease(w.l.ID, func(l *Lease) { l.Desired = d }) })
}

// CutShort says that a pause was begun and never known to be done.
func (l Lease) CutShort() bool { return l.Desired == WantPaused && l.Observed == Running }

// ResumeLease is the reverse of PauseLease, with the same errors.
func (m *Manager) ResumeLease(ctx context.Context, id string) (Lease, error) {
	return m.resumeLease(ctx, id, "api")
}

func (m *Manager) resumeLease(ctx context.Context, id, source string) (Lease, error) {
	return m.with(ctx, id, source, func(w *leaseWork) error {
		if err := w.known(ctx); err != nil || w.l.Observed == Running {
			return err
		}
		if w.l.Observed != Frozen {
			return w.refuse(IntentResume, Running)
		}
		return w.resume(ctx)
	})
}

// DestroyLease ends the compute of a lease. The lease stays, its next use makes other compute. What is dead stays so without an error.
// Errors: ErrNotFound, ErrNoProvider, ErrProvider, the reason of ctx.
func (m *Manager) DestroyLease(ctx context.Context, id string) (Lease, error) {
	return m.destroyLease(ctx, id, "api")
}

func (m *Manager) destroyLease(ctx context.Context, id, source string) (Lease, error) {
	return m.with(ctx, id, source, func(w *leaseWork) error {
		if !w.bound() {
			return m.update(func(c *change) error {
				return c.setLease(id, func(l *Lease) { l.Desired, l.Status = WantDestroyed, LeaseExpired })
			})
		}
		if err := w.p.Destroy(ctx, w.i.Session); err != nil {
			return w.fail("destroy", err)
		}
		w.m.cfg.ComputeChanged(w.l, Dead)
		return w.take(step{event: IntentDestroy, to: Dead, want: WantDestroyed, status: LeaseExpired})
	})
}

// Refresh asks the provider how the compute of a lease is. Errors: ErrNotFound, ErrNoProvider, ErrProvider, the reason of ctx.
func (m *Manager) Refresh(ctx context.Context, id string) (Lease, error) {
	return m.with(ctx, id, "api", func(w *leaseWork) error {
		if !w.bound() {
			return nil
		}
		return w.refresh(ctx)
	})
}

// Adopt binds an instance that the provider has already. Errors: ErrNotFound, ErrInUse (the lease has one), ErrInvalid, ErrNoProvider, ErrProvider.
func (m *Manager) Adopt(ctx context.Context, id, instance string) (Lease, error) {
	return m.with(ctx, id, "api", func(w *leaseWork) error {
		if instance == "" {
			return fmt.Errorf("%w: no instance", ErrInvalid)
		}
		if w.bound() {
			return fmt.Errorf("%w: lease %s has instance %s", ErrInUse, id, w.i.Session)
		}
		seen, err := w.p.Status(ctx, instance)
		if err != nil {
			return w.fail("status", err)
		}
		if seen == Dead {
			return fmt.Errorf("%w: instance %.80q is gone", ErrInvalid, instance)
		}
		w.m.cfg.ComputeChanged(w.l, seen)
		// A lease that was dead can only be running or unknown: then it is seen as it is.
		if err := w.take(step{event: IntentRunning, to: Running, want: WantRunning, bind: instance}); err != nil || seen == Running {
			return err
		}
		return w.take(step{event: ObserveStatus, to: seen})
	})
}

// DeleteLease removes a lease and its book. Errors: ErrNotFound, ErrInUse (a thread or terminal has it, or its compute is not dead).
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
		if l.Observed != Dead {
			return fmt.Errorf("%w: the compute of lease %s is %s", ErrInUse, id, l.Observed)
		}
		users, err := c.LeaseThreads(id)
		if err != nil {
			return err
		}
		if len(users) > 0 {
			return fmt.Errorf("%w: thread %s has terminals on lease %s", ErrInUse, users[0], id)
		}
		c.after = append(c.after, func() { delete(m.fresh, id) })
		return c.Tx.DeleteLease(id)
	})
}

// with does work on a lease and tells how it is after it.
func (m *Manager) with(ctx context.Context, id, source string, do func(*leaseWork) error) (Lease, error) {
	unlock, err := m.leases.lock(ctx, id)
	if err != nil {
		return Lease{}, err
	}
	defer unlock()
	w, err := m.work(id, source)
	if err != nil {
		return Lease{}, err
	}
	err = do(w)
	if again := w.read(id); again != nil && err == nil {
		err = again
	}
	return w.l, err
}

// known asks the provider when what is written may not be so.
func (w *leaseWork) known(ctx context.Context) error {
	if w.bound() && (w.l.NeedsRefresh || w.l.Observed == Unknown) {
		return w.refresh(ctx)
	}
	return nil
}

// refuse enters into the book that somebody wanted what cannot be. The table alone does not say it: dead → running is for making compute, not for resuming it.
func (w *leaseWork) refuse(event string, to Observed) error {
	refusal := fmt.Errorf("%w: lease %s is %s", ErrTransition, w.l.ID, w.l.Observed)
	return w.m.update(func(c *change) error {
		c.refused = refusal
		return c.book(w.l, step{event: event, source: w.source, to: to}, refusal)
	})
}

// Observe takes what a provider told by itself about an instance: state is its word, "" when it says nothing about that. It is kept in any case; matched
// says whether an instance of ours is meant. A state that cannot follow on what was seen makes the next use ask. Errors: ErrInvalid.
func (m *Manager) Observe(provider, instance, kind, state, payload string) (matched bool, err error) {
	if err := checkID("provider", provider); err != nil {
		return false, err
	}
	to, word := Unknown, ErrInvalid
	if state != "" {
		to, word = ParseObserved(state)
	}
	err = m.update(func(c *change) error {
		e := ProviderEvent{Provider: provider, Instance: clip(instance, maxHook), Type: clip(kind, maxHook), Payload: clip(payload, maxPayload), At: c.now}
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

func (c *change) observed(i Instance, to Observed, clear bool) error {
	l, err := c.Lease(i.Lease)
	if err != nil {
		return err
	}
	if l.Instance != i.ID || !i.EndedAt.IsZero() {
		return nil // of one that is no longer behind the lease
	}
	if !clear || l.allowed(to) != nil {
		c.after = append(c.after, func() { delete(c.m.fresh, l.ID) })
		return c.setLease(l.ID, func(l *Lease) { l.NeedsRefresh = true })
	}
	return c.step(l.ID, step{event: ObserveStatus, source: "webhook", to: to})
}

// ProviderEvents is what providers told, the newest first.
func (m *Manager) ProviderEvents(limit int) (list []ProviderEvent, err error) {
	return list, m.view(func(tx Tx) error { list, err = tx.ProviderEvents(limit); return err })
}
