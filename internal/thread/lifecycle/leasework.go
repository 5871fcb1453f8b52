package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/thread"
)

// freshFor is how long a provider's word that an instance is running is believed without asking
// again.
const freshFor = 3 * time.Second

// undoTime is how long an instance may take to go away that could not be written down.
const undoTime = 30 * time.Second

// Ensure gets the compute of a lease running: what runs is kept, what is paused is resumed, what is
// dead or unknown to the provider is replaced. A provider that does not answer replaces nothing: it
// might be there. Errors: ErrNotFound, ErrNoProvider, ErrProvider, ErrNoSpace, the reason of ctx.
func (m *Manager) Ensure(ctx context.Context, lease string) (thread.Lease, thread.Instance, error) {
	return m.ensure(ctx, lease, "use")
}

func (m *Manager) ensure(ctx context.Context, id, source string) (thread.Lease, thread.Instance, error) {
	unlock, err := m.leases.lock(ctx, id)
	if err != nil {
		return thread.Lease{}, thread.Instance{}, err
	}
	defer unlock()
	w, err := m.work(id, source)
	if err != nil {
		return thread.Lease{}, thread.Instance{}, err
	}
	if w.l.Observed == thread.Running && !w.l.NeedsRefresh && m.isFresh(id) {
		return w.l, w.i, nil
	}
	if w.bound() {
		if err := w.refresh(ctx); err != nil {
			return w.l, w.i, err
		}
	}
	switch w.l.Observed {
	case thread.Frozen:
		err = w.resume(ctx)
	case thread.Dead, thread.Unknown:
		err = w.create(ctx)
	case thread.Running:
		if w.l.Desired != thread.WantRunning { // somebody else has resumed it
			err = errors.Join(w.setDesired(thread.WantRunning), w.read(id))
		}
	}
	return w.l, w.i, err
}

func (m *Manager) isFresh(lease string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.fresh[lease]
	return ok && m.clock.now().Sub(at) <= freshFor
}

// leaseWork is one piece of work on a lease whose lock is held.
type leaseWork struct {
	m      *Manager
	p      provider.Lifecycle
	source string
	l      thread.Lease
	i      thread.Instance
}

func (m *Manager) work(id, source string) (*leaseWork, error) {
	w := &leaseWork{m: m, source: source}
	if err := w.read(id); err != nil {
		return nil, err
	}
	if w.p = m.cfg.Providers[w.l.Provider]; w.p == nil {
		return nil, m.noProvider(w.l.Provider)
	}
	return w, nil
}

func (w *leaseWork) read(id string) error {
	return w.m.view(func(tx thread.Tx) (err error) {
		l := thread.Layers{}
		if l.Lease, err = tx.Lease(id); err != nil {
			return err
		}
		if err := instance(tx, &l); err != nil {
			return err
		}
		w.l, w.i = l.Lease, l.Instance
		return nil
	})
}

func (w *leaseWork) bound() bool { return w.i.ID != "" && w.i.EndedAt.IsZero() }

// refresh asks the provider.
func (w *leaseWork) refresh(ctx context.Context) error {
	seen, err := w.p.Status(ctx, w.i.Session)
	if err != nil {
		return w.fail("status", err)
	}
	w.m.cfg.ComputeChanged(w.l, seen)
	return w.apply(step{event: thread.ObserveStatus, to: seen})
}

func (w *leaseWork) create(ctx context.Context) error {
	if err := w.m.update(func(c *change) error {
		return c.setLease(w.l.ID, func(l *thread.Lease) { l.Status = thread.LeaseRecovering })
	}); err != nil {
		return err
	}
	made, err := w.p.Create(ctx, provider.CreateRequest{Name: w.l.ID})
	if err != nil {
		w.m.mu.Lock()
		w.m.stats.InstanceErrors++
		w.m.mu.Unlock()
		return w.fail("create", err)
	}
	w.m.cfg.ComputeChanged(w.l, thread.Running)
	if err := w.apply(step{event: thread.IntentRunning, to: thread.Running, want: thread.WantRunning,
		bind: made.ID}); err != nil {
		w.m.cfg.ComputeChanged(w.l, thread.Dead)
		// Nobody would ever find it again.
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
		defer cancel()
		return errors.Join(err, w.p.Destroy(undo, made.ID))
	}
	return nil
}

func (w *leaseWork) resume(ctx context.Context) error {
	if err := w.ignoreIfIn(ctx, thread.Running, w.p.Resume(ctx, w.i.Session)); err != nil {
		return w.fail("resume", err)
	}
	w.m.cfg.ComputeChanged(w.l, thread.Running)
	return w.apply(step{event: thread.IntentResume, to: thread.Running, want: thread.WantRunning})
}

// ignoreIfIn is nil for a change that the provider refused because the instance is in the wanted
// state already: somebody else changed it, or a change before was not written down.
func (w *leaseWork) ignoreIfIn(ctx context.Context, want thread.Observed, err error) error {
	if errors.Is(err, provider.ErrState) {
		if seen, failed := w.p.Status(ctx, w.i.Session); failed == nil && seen == want {
			return nil
		}
	}
	return err
}

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
	err := w.m.update(func(c *change) error { return c.step(w.l.ID, s) })
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
	if err := c.PutLease(l); err != nil {
		return err
	}
	c.after = append(c.after, func() { c.m.believe(l) })
	if quiet {
		return nil
	}
	before := l
	before.Observed = from
	return c.recordStep(before, s, nil)
}

func (m *Manager) believe(l thread.Lease) {
	if l.Observed == thread.Running {
		m.fresh[l.ID] = m.clock.now()
	} else {
		delete(m.fresh, l.ID)
	}
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
			if err := c.PutInstance(i); err != nil {
				return err
			}
		}
	}
	if s.bind == "" {
		return nil
	}
	i := thread.Instance{ID: newID("inst"), Lease: l.ID, Session: s.bind, State: s.to, CreatedAt: c.now, SeenAt: c.now}
	l.Instance = i.ID
	c.count(func(st *Stats) { st.Instances++ })
	return c.PutInstance(i)
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
	if err := c.AddLeaseEvent(e); err != nil {
		return err
	}
	threads, err := c.LeaseThreads(l.ID)
	if err != nil {
		return err
	}
	for _, t := range threads {
		d := thread.Detail{Lease: l.ID, Instance: e.Instance, From: string(e.From), To: string(e.To), Source: e.Source,
			Reason: e.Type, Error: e.Error}
		if err := c.emit(t, kind, d); err != nil {
			return err
		}
	}
	return nil
}

// fail adds a provider's failure to the lease's events.
func (w *leaseWork) fail(doing string, cause error) error {
	err := w.m.update(func(c *change) error {
		if err := c.setLease(w.l.ID, func(l *thread.Lease) {
			l.LastError, l.NeedsRefresh = thread.Clip(cause.Error(), thread.MaxError), true
			l.Version++
		}); err != nil {
			return err
		}
		l, err := c.Lease(w.l.ID)
		if err != nil {
			return err
		}
		return c.recordStep(l, step{event: thread.ProviderError, source: w.source, to: l.Observed}, cause)
	})
	told := fmt.Errorf("%w: %s of lease %s: %w", thread.ErrProvider, doing, w.l.ID, cause)
	if err != nil {
		return errors.Join(told, err)
	}
	return told
}

func (c *change) setLease(id string, set func(*thread.Lease)) error {
	l, err := c.Lease(id)
	if err != nil {
		return err
	}
	set(&l)
	l.UpdatedAt = c.now
	return c.PutLease(l)
}
