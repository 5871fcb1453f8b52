package mux

import (
	"sync"
	"time"

	"github.com/evertty/evertty/snapshot"
)

// checkpoints writes the snapshots of changed terminals once an interval and
// purges what has been dead for too long, until the Mux closes.
func (m *Mux) checkpoints() {
	tick := time.NewTicker(m.cfg.Interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.checkpointAll()
			m.purgeOld(time.Now())
		case <-m.ctx.Done():
			return
		}
	}
}

// checkpointWriters is how many snapshots are written at once: the disk's sync
// is what takes time, and it serves a few together as fast as one.
const checkpointWriters = 8

func (m *Mux) checkpointAll() {
	var wg sync.WaitGroup
	slots := make(chan struct{}, checkpointWriters)
	for _, t := range m.all() {
		slots <- struct{}{}
		wg.Go(func() {
			t.checkpoint()
			<-slots
		})
	}
	wg.Wait()
}

// checkpoint writes the terminal's snapshot and record when it changed since
// the last time.
func (t *Terminal) checkpoint() {
	if t.process == nil {
		return // nothing happens to a terminal that came back from disk
	}
	t.mu.Lock()
	now, dirty := t.changes, t.changes != t.saved
	t.mu.Unlock()
	if !dirty {
		return
	}
	if t.saveScreen() {
		t.mu.Lock()
		t.saved = now
		t.mu.Unlock()
	}
	t.saveRecord()
}

// saveScreen writes the snapshot and tells whether it did. The screen is looked
// at under the lock, or an older one could be written after a newer.
func (t *Terminal) saveScreen() bool {
	t.saving.Lock()
	defer t.saving.Unlock()
	if t.purged {
		return false
	}
	shot := t.Hub().Shot()
	store := t.mux.cfg.Store
	if err := store.Save(t.ID, snapshot.Header{Seq: shot.Seq, Time: time.Now()}, shot.Frame); err != nil {
		t.mux.failed("write a snapshot", t.ID, err)
		return false
	}
	t.mux.recovered()
	if n, err := store.Size(t.ID); err == nil {
		t.diskBytes.Store(n)
	}
	return true
}

// purgeOld removes deleted terminals after deadFor, and the ones that ended
// first when more than maxDead have ended.
func (m *Mux) purgeOld(now time.Time) {
	dead := 0
	list := m.all()
	for i := len(list) - 1; i >= 0; i-- { // youngest first
		t := list[i]
		if t.running() {
			continue
		}
		dead++
		t.mu.Lock()
		old := !t.deleted.IsZero() && now.Sub(t.deleted) > deadFor
		t.mu.Unlock()
		if !old && dead <= maxDead {
			continue
		}
		if err := m.purge(t); err != nil {
			m.failed("purge a terminal", t.ID, err)
		}
	}
}
