package service

import (
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// Observe writes what a provider reported by itself about an instance (a webhook): state is its word,
// "" when it says none. It is kept in any case; matched says whether an instance of ours is meant. A
// state that cannot follow on the observed one makes the next use ask the provider. Errors:
// thread.ErrInvalid.
func (ls *Leases) Observe(provider, instance, kind, state, payload string) (matched bool, err error) {
	to, word := thread.Unknown, thread.ErrInvalid
	if state != "" {
		to, word = thread.ParseObserved(state)
	}
	err = ls.update(func(c *change) error {
		if err := checkID("provider", provider); err != nil {
			return err
		}
		e := thread.ProviderEvent{Provider: provider, Instance: thread.Clip(instance, maxHook),
			Type: thread.Clip(kind, maxHook), Payload: thread.Clip(payload, maxPayload), At: c.now}
		i, err := c.FindInstance(provider, instance)
		if err != nil && !missing(err) {
			return err
		}
		if matched = err == nil; matched {
			e.Lease = i.Lease
		}
		c.AddProviderEvent(e)
		if !matched {
			return nil
		}
		return c.observed(i, to, word == nil)
	})
	return matched, err
}

// Limits of a webhook.
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
		c.after = append(c.after, func() { delete(c.db.fresh, l.ID) })
		return c.setLease(l.ID, func(l *thread.Lease) { l.NeedsRefresh = true })
	}
	return c.step(l.ID, step{event: thread.ObserveStatus, source: "webhook", to: to})
}

// ProviderEvents returns what providers reported, the newest first, at most limit; 0 is
// thread.MaxPage.
func (ls *Leases) ProviderEvents(limit int) ([]thread.ProviderEvent, error) {
	return read(ls.database, func(tx *sqlite.Tx) ([]thread.ProviderEvent, error) { return tx.ProviderEvents(limit) })
}

// forgetInstances takes all instances of providers off their leases, without asking the providers: the
// database is a copy, and the instances belong to its original. The next use of a lease makes another
// instance. It is called once, before the first reconcile, and returns the forgotten ones.
func (ls *Leases) forgetInstances() (list []thread.Instance, err error) {
	return list, ls.update(func(c *change) error {
		list = nil
		leases, err := c.Leases(thread.LeaseQuery{})
		if err != nil {
			return err
		}
		for _, l := range leases {
			if l.Provider == thread.Local || l.Instance == "" {
				continue
			}
			i, err := c.Instance(l.Instance)
			if missing(err) || err == nil && !i.EndedAt.IsZero() {
				continue
			}
			if err == nil {
				err = c.step(l.ID, step{event: thread.ObserveStatus, source: "copy", to: thread.Dead})
			}
			if err != nil {
				return err
			}
			list = append(list, i)
		}
		return nil
	})
}
