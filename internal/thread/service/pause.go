package service

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/thread"
)

// pauses are the threads that stand still: commands look there before they begin, and what has a
// time of its own does not count this one.
type pauses struct {
	d *Service

	mu     sync.RWMutex
	frozen map[string]time.Time // threads, and since when
	gone   map[string]bool      // threads whose instance was destroyed and that have no other one yet
	some   atomic.Bool          // one of both is not empty
	found  []thread.Lease       // what an earlier server has paused, or was about to; of the start
}

func newPauses(d *Service) *pauses {
	return &pauses{d: d, frozen: map[string]time.Time{}, gone: map[string]bool{}}
}

// threads are those of a lease.
func (p *pauses) threads(lease string) []string {
	if p.d.Manager == nil {
		return nil
	}
	list, _ := p.d.Manager.LeaseThreads(lease) // a database that cannot be read has nothing to pause
	return list
}

// remember takes over what an earlier server has paused, before anything is brought back: a shell
// has to know that it stands still. A pause that was cut short counts too, until settle has undone
// it.
func (p *pauses) remember() {
	leases, err := p.d.Manager.Leases("")
	if err != nil {
		return // the next look at the database tells of it
	}
	for _, e := range leases {
		if e.Observed != thread.Frozen && !e.CutShort() {
			continue
		}
		p.found = append(p.found, e)
		p.setPaused(e.ID, true, e.ObservedAt)
	}
}

// foundPaused tells, until settle has ended, whether an earlier server has paused a lease or was
// about to.
func (p *pauses) foundPaused(lease string) bool {
	return slices.ContainsFunc(p.found, func(e thread.Lease) bool { return e.ID == lease })
}

// settle compares what was remembered with what is there, when that has been brought back. Where
// nothing is stopped an earlier server was killed while it resumed; of a pause that was cut short
// all goes on.
func (p *pauses) settle() {
	for _, e := range p.found {
		if e.Provider != thread.Local {
			continue // its provider is asked before the next use
		}
		stopped, all := p.stopped(e.ID)
		if !e.CutShort() && (stopped > 0 || all == 0) {
			continue
		}
		instance, err := p.d.instanceOf(e)
		if err == nil {
			err = p.d.local.Resume(context.Background(), instance)
		}
		if err != nil && !errors.Is(err, provider.ErrState) { // ErrState: it runs
			p.d.cfg.Log.Warn("processes of a lease stay paused", "lease", e.ID, "error", err)
			continue
		}
		p.freeze(e.ID, false)
	}
	p.found = nil
}

// stopped counts the leaders of what the threads of a lease run here.
func (p *pauses) stopped(lease string) (stopped, all int) {
	for _, thread := range p.threads(lease) {
		for _, root := range p.d.roots(thread) {
			all++
			if root.Stopped {
				stopped++
			}
		}
	}
	return stopped, all
}

// computeChanged notes what becomes of the threads of a lease. Compute that was destroyed takes
// only the threads of this machine along: at another provider a command gets other compute by
// itself.
func (p *pauses) computeChanged(l thread.Lease, s thread.Observed) {
	p.freeze(l.ID, s == thread.Frozen)
	if gone := s == thread.Dead; l.Provider == thread.Local && (gone || p.some.Load()) {
		p.setLost(l.ID, gone)
	}
}

// freeze notes that the threads of a lease stand still, or do no more.
func (p *pauses) freeze(lease string, frozen bool) {
	if frozen || p.some.Load() {
		p.setPaused(lease, frozen, time.Now())
	}
}

func (p *pauses) setPaused(lease string, frozen bool, now time.Time) {
	for _, thread := range p.threads(lease) {
		p.mu.Lock()
		since, was := p.frozen[thread]
		switch {
		case frozen && !was:
			p.frozen[thread] = now
		case !frozen:
			delete(p.frozen, thread)
		}
		p.some.Store(len(p.frozen)+len(p.gone) > 0)
		p.mu.Unlock()
		for _, s := range p.d.shells.List(thread) {
			s.SetFrozen(frozen)
		}
		if was && !frozen {
			for _, t := range p.d.terminals.Running(thread) {
				t.SkipPause(since, now)
			}
		}
	}
}

// setLost notes that the threads of a lease have nothing to run on, or have again.
func (p *pauses) setLost(lease string, gone bool) {
	threads := p.threads(lease)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range threads {
		if gone {
			p.gone[t] = true
		} else {
			delete(p.gone, t)
		}
	}
	p.some.Store(len(p.frozen)+len(p.gone) > 0)
}

// forget drops what is noted of a thread that was deleted.
func (p *pauses) forget(thread string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.frozen, thread)
	delete(p.gone, thread)
	p.some.Store(len(p.frozen)+len(p.gone) > 0)
}

// isFrozen reports whether a thread stands still, or has nothing to run on, until somebody sees to
// it.
func (p *pauses) isFrozen(thread string) bool {
	if p == nil || !p.some.Load() {
		return false
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	_, frozen := p.frozen[thread]
	return frozen || p.gone[thread]
}

// isPaused reports whether the time of a thread stands still.
func (d *Service) isPaused(thread string) bool { return d.pauses.isFrozen(thread) }
