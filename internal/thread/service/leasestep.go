package service

import (
	"errors"
	"fmt"

	"github.com/evertty/evertty/internal/thread"
)

// step is one event of a lease.
type step struct {
	event  string
	source string // "" is the work's
	to     thread.Observed
	want   thread.Desired     // "" stays
	status thread.LeaseStatus // "" is active
	bind   string             // the provider's id of a new instance; "" is the one there is
}

// apply writes a step and reads the outcome. Errors: ErrTransition, which is an event of the lease
// too.
func (w *leaseWork) apply(s step) error {
	if s.source == "" {
		s.source = w.source
	}
	err := w.ls.update(func(c *change) error { return c.step(w.l.ID, s) })
	if err != nil {
		return err
	}
	return w.read(w.l.ID)
}

func (c *change) step(id string, s step) error {
	l, err := c.Lease(id)
	if err != nil {
		return err
	}
	if refusal := l.Allowed(s.to); refusal != nil {
		c.refused = refusal
		return c.recordStep(l, s, refusal)
	}
	from := l.Observed
	if err := c.stepInstance(&l, s); err != nil {
		return err
	}
	l.Observed, l.ObservedAt, l.LastError, l.NeedsRefresh, l.UpdatedAt = s.to, c.now, "", false, c.now
	if s.want != "" {
		l.Desired = s.want
	}
	if l.Status = s.status; l.Status == "" {
		l.Status = thread.LeaseActive
	}
	quiet := s.event == thread.ObserveStatus && from == s.to // nothing happened: it was only seen again
	if !quiet {
		l.Version++
	}
	c.PutLease(l)
	c.after = append(c.after, func() { c.db.believe(l) })
	if quiet {
		return nil
	}
	before := l
	before.Observed = from
	return c.recordStep(before, s, nil)
}

// stepInstance writes what a step means for the instance.
func (c *change) stepInstance(l *thread.Lease, s step) error {
	if l.Instance != "" {
		i, err := c.Instance(l.Instance)
		if err != nil && !missing(err) {
			return err
		}
		if err == nil && i.EndedAt.IsZero() {
			i.State, i.SeenAt = s.to, c.now
			if s.bind != "" || s.to == thread.Dead {
				i.State, i.EndedAt = thread.Dead, c.now
			}
			c.PutInstance(i)
		}
	}
	if s.bind == "" {
		return nil
	}
	i := thread.Instance{ID: newID("inst"), Lease: l.ID, Session: s.bind, State: s.to, CreatedAt: c.now, SeenAt: c.now}
	l.Instance = i.ID
	c.count(func(st *Stats) { st.Instances++ })
	c.PutInstance(i)
	return nil
}

// recordStep adds a step to the lease's events and to the events of the threads that use it.
func (c *change) recordStep(l thread.Lease, s step, cause error) error {
	e := thread.LeaseEvent{Lease: l.ID, Type: s.event, Source: s.source, From: l.Observed, To: s.to, At: c.now}
	kind := "lease." + string(s.to)
	if cause != nil {
		e.Error, kind = thread.Clip(cause.Error(), thread.MaxError), thread.LeaseError
	}
	if l.Instance != "" {
		if i, err := c.Instance(l.Instance); err == nil {
			e.Instance = i.Session
		}
	}
	c.AddLeaseEvent(e)
	threads, err := c.LeaseThreads(l.ID)
	if err != nil {
		return err
	}
	for _, t := range threads {
		d := thread.Detail{LeaseID: l.ID, InstanceID: e.Instance, From: string(e.From), To: string(e.To),
			Source: e.Source, Reason: e.Type, Error: e.Error}
		if err := c.emit(t, kind, d); err != nil {
			return err
		}
	}
	return nil
}

// fail adds a provider's failure to the lease's events.
func (w *leaseWork) fail(doing string, cause error) error {
	err := w.ls.update(func(c *change) error {
		var l thread.Lease
		if err := c.setLease(w.l.ID, func(stored *thread.Lease) {
			stored.LastError, stored.NeedsRefresh = thread.Clip(cause.Error(), thread.MaxError), true
			stored.Version++
			l = *stored
		}); err != nil {
			return err
		}
		return c.recordStep(l, step{event: thread.ProviderError, source: w.source, to: l.Observed}, cause)
	})
	return errors.Join(fmt.Errorf("%w: %s of lease %s: %w", thread.ErrProvider, doing, w.l.ID, cause), err)
}

func (c *change) setLease(id string, set func(*thread.Lease)) error {
	l, err := c.Lease(id)
	if err != nil {
		return err
	}
	set(&l)
	l.UpdatedAt = c.now
	c.PutLease(l)
	return nil
}
