package terminal

import (
	"sync"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/snapshot"
)

// checkpoints writes the snapshots of changed terminals once an interval, and
// compresses what of their journals has become cold, until the server closes.
func (m *Registry) checkpoints() {
	tick := time.NewTicker(m.cfg.Interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.checkpointAll()
			m.compressCold()
		case <-m.ctx.Done():
			return
		}
	}
}

// checkpointWriters is how many snapshots are written at once: the disk's sync
// is what takes time, and it serves a few together as fast as one.
const checkpointWriters = 8

func (m *Registry) checkpointAll() {
	var wg sync.WaitGroup
	slots := make(chan struct{}, checkpointWriters)
	for _, t := range m.All() {
		slots <- struct{}{}
		wg.Go(func() {
			t.checkpoint()
			<-slots
		})
	}
	wg.Wait()
}

// checkpoint writes the terminal's snapshot and record when it changed since
// the last time, and tells whether the snapshot on disk is the newest then.
func (t *Terminal) checkpoint() bool {
	if t.process == nil {
		return true // nothing happens to a terminal that has ended long ago
	}
	t.mu.Lock()
	now, dirty := t.changes, t.changes != t.saved
	t.mu.Unlock()
	if !dirty {
		return true
	}
	saved := t.saveScreen()
	if saved {
		t.mu.Lock()
		t.saved = now
		t.mu.Unlock()
	}
	t.saveRecord()
	return saved
}

// saveScreen writes the snapshot and tells whether it did. The screen is looked
// at under the lock, or an older one could be written after a newer. Then the
// journal may lose what is older than both snapshots on disk.
func (t *Terminal) saveScreen() bool {
	t.saving.Lock()
	defer t.saving.Unlock()
	if t.purged {
		return false
	}
	shot := t.Hub().Shot()
	store := t.registry.cfg.Store
	if err := store.Save(t.ID, snapshot.Header{Seq: shot.Seq, Time: time.Now()}, shot.Frame); err != nil {
		t.failed(screenFailure, err)
		return false
	}
	t.worked(screenFailure)
	t.kept = [2]uint64{t.kept[1], shot.Seq}
	t.mu.Lock()
	t.savedSeq = shot.Seq
	t.mu.Unlock()
	if err := t.trim(t.registry.cfg.Clean.TerminalQuota); err != nil {
		t.registry.NoteCleanup(err)
	}
	t.measure()
	return true
}

// SnapshotAt is the newest good snapshot on disk at or before position seq. Errors: those of
// datadir.Store.LoadAt.
func (t *Terminal) SnapshotAt(seq uint64) (datadir.Loaded, error) {
	t.saving.Lock()
	defer t.saving.Unlock()
	return t.registry.cfg.Store.LoadAt(t.ID, seq)
}

// trim drops what of the journal is above a quota: first what is older than both snapshots on disk, and if that is not enough what is
// older than the newest: after a flood the older one stands alone. Whoever calls it holds saving.
func (t *Terminal) trim(quota int64) error {
	for _, from := range t.kept {
		if _, err := t.journal.Trim(from, quota); err != nil {
			return err
		}
	}
	return nil
}

// measure looks at what the terminal's files take.
func (t *Terminal) measure() {
	if n, err := t.registry.cfg.Store.Size(t.ID); err == nil {
		t.diskBytes.Store(n)
	}
}

// saveLost writes the last screen of a terminal that was lost or whose
// last snapshot is older than its journal, so that the screen no longer needs the journal.
func (t *Terminal) saveLost() error {
	shot := t.Hub().Shot()
	t.saving.Lock()
	defer t.saving.Unlock()
	if t.purged {
		return nil
	}
	return t.registry.cfg.Store.Save(t.ID, snapshot.Header{Seq: shot.Seq, Time: time.Now()}, shot.Frame)
}

// purgeOld removes deleted terminals after deadFor, and the ones that ended
// first when more than maxDead have ended.
func (m *Registry) purgeOld(now time.Time) {
	dead := 0
	list := m.All()
	for i := len(list) - 1; i >= 0; i-- { // youngest first
		t := list[i]
		if t.Running() {
			continue
		}
		dead++
		t.mu.Lock()
		old := !t.deleted.IsZero() && now.Sub(t.deleted) > deadFor
		t.mu.Unlock()
		if !old && dead <= maxDead {
			continue
		}
		removed, err := m.purgeEnded(t)
		if removed {
			m.cleaned(cleanedAge, t)
		}
		if err != nil {
			m.NoteCleanup(err)
		}
	}
}
