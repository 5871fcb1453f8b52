package service

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

// pauses are the threads that stand still: commands look there before they begin, and what has a time of its own does not count this one.
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

// remember takes over what an earlier server has paused, before anything is brought back: a shell has to know that it stands still. A pause that was cut
// short counts too, until settle has undone it.
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
		p.stand(e.ID, true, e.ObservedAt)
	}
}

// settle compares what was remembered with what is there, when that has been brought back. Where nothing is stopped an earlier server was killed while it
// resumed; of a pause that was cut short all goes on.
func (l *localCompute) settle() {
	for _, e := range l.found {
		if e.Provider != thread.Local {
			continue // its provider is asked before the next use
		}
		stopped, all := l.stopped(e.ID)
		l.place.WasPaused(e.ID)
		if !e.CutShort() && (stopped > 0 || all == 0) {
			continue
		}
		if err := l.Resume(context.Background(), e, ""); err != nil {
			l.d.cfg.Log.Warn("processes of a lease stay paused", "lease", e.ID, "error", err)
		}
	}
	l.found = nil
}

// stopped counts the leaders of what the threads of a lease run here.
func (l *localCompute) stopped(lease string) (stopped, all int) {
	for _, thread := range l.threads(lease) {
		for _, p := range l.d.roots(thread) {
			all++
			if p.Stopped {
				stopped++
			}
		}
	}
	return stopped, all
}

// freeze notes that the threads of a lease stand still, or do no more.
func (p *pauses) freeze(lease string, frozen bool) {
	if frozen || p.some.Load() {
		p.stand(lease, frozen, time.Now())
	}
}

func (p *pauses) stand(lease string, frozen bool, now time.Time) {
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

// lose notes that the threads of a lease have nothing to run on, or have again.
func (p *pauses) lose(lease string, gone bool) {
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

// isFrozen says whether a thread stands still, or has nothing to run on, until somebody sees to it.
func (p *pauses) isFrozen(thread string) bool {
	if p == nil || !p.some.Load() {
		return false
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	_, frozen := p.frozen[thread]
	return frozen || p.gone[thread]
}

// stands says whether the time of a thread stands still.
func (d *Service) stands(thread string) bool { return d.local != nil && d.local.isFrozen(thread) }
