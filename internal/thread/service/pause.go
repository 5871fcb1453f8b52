package service

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/local"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// pauses are the threads whose processes do not run: commands look there before they begin, and
// timeouts do not count the time. mu is a leaf; some lets the hot path read without it. found belongs
// to the goroutine of Threads.Open and Begin.
type pauses struct {
	*database
	*parts
	leases    *Leases
	processes *processes
	local     *local.Provider

	mu     sync.RWMutex
	frozen map[string]time.Time // threads, and since when
	gone   map[string]bool      // threads whose instance was destroyed and that have no other one yet
	some   atomic.Bool          // one of both is not empty
	found  []thread.Lease       // leases that an earlier server has paused, or was about to
}

// threads returns the threads of a lease.
func (p *pauses) threads(lease string) []string {
	list, _ := p.leases.threadsOf(lease) // a database that cannot be read has nothing to pause
	return list
}

// remember takes over what an earlier server has paused, before shells are recovered: they have to
// know. A pause that was cut short counts too, until settle has undone it.
func (p *pauses) remember() {
	leases, err := read(p.database, func(tx *sqlite.Tx) ([]thread.Lease, error) {
		return tx.Leases(thread.LeaseQuery{})
	})
	if err != nil {
		return // the next look at the database reports it
	}
	for _, e := range leases {
		if e.Observed != thread.Frozen && !e.CutShort() {
			continue
		}
		p.found = append(p.found, e)
		p.setPaused(e.ID, true, e.ObservedAt)
	}
}

// foundPaused reports, until settle has ended, whether an earlier server has paused a lease or was
// about to.
func (p *pauses) foundPaused(lease string) bool {
	return slices.ContainsFunc(p.found, func(e thread.Lease) bool { return e.ID == lease })
}

// settle compares what was remembered with the recovered processes. Where none is stopped, an earlier
// server was killed while it resumed them; after a pause that was cut short all are resumed.
func (p *pauses) settle() {
	for _, e := range p.found {
		if e.Provider != thread.Local {
			continue // its provider is asked before the next use
		}
		stopped, all := p.stopped(e.ID)
		if !e.CutShort() && (stopped > 0 || all == 0) {
			continue
		}
		instance, err := p.leases.instanceOf(e)
		if err == nil {
			err = p.local.Resume(context.Background(), instance)
		}
		if err != nil && !errors.Is(err, provider.ErrState) { // ErrState: it runs
			p.log.Warn("processes of a lease stay paused", "lease", e.ID, "error", err)
			continue
		}
		p.freeze(e.ID, false)
	}
	p.found = nil
}

// stopped counts the processes of a lease on this machine that others descend from.
func (p *pauses) stopped(lease string) (stopped, all int) {
	for _, thread := range p.threads(lease) {
		for _, root := range p.processes.roots(thread) {
			all++
			if root.Stopped {
				stopped++
			}
		}
	}
	return stopped, all
}

// computeChanged follows the compute of a lease (Leases.computeChanged). Compute that was destroyed
// stops only threads of this machine: at another provider the next command gets other compute.
func (p *pauses) computeChanged(l thread.Lease, s thread.Observed) {
	p.freeze(l.ID, s == thread.Frozen)
	if gone := s == thread.Dead; l.Provider == thread.Local && (gone || p.some.Load()) {
		p.setLost(l.ID, gone)
	}
}

// freeze notes that the threads of a lease are paused, or no more.
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
		for _, s := range p.shells.List(thread) {
			s.SetFrozen(frozen)
		}
		if was && !frozen {
			for _, t := range p.terminals.Running(thread) {
				t.SkipPause(since, now)
			}
		}
	}
}

// setLost notes that the threads of a lease have no compute, or have again.
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

// forget drops the notes of a deleted thread.
func (p *pauses) forget(thread string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.frozen, thread)
	delete(p.gone, thread)
	p.some.Store(len(p.frozen)+len(p.gone) > 0)
}

// isFrozen reports whether a thread is paused, or has no compute, until the next open.
func (p *pauses) isFrozen(thread string) bool {
	if !p.some.Load() {
		return false
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	_, frozen := p.frozen[thread]
	return frozen || p.gone[thread]
}
