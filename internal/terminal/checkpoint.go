package terminal

import (
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/parallel"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
)

// checkpoints writes the snapshots of changed terminals once an interval, and compresses
// cold files of their journals, until the server closes.
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

// checkpointWriters is how many snapshots are written at once: most of the time is the sync of
// the disk, which serves a few as fast as one.
const checkpointWriters = 8

func (m *Registry) checkpointAll() {
	_ = parallel.Each(m.Unsorted(), checkpointWriters, func(t *Terminal) error {
		t.checkpoint()
		return nil
	})
}

// checkpoint writes the terminal's snapshot and record if it has changed since the last time.
// It reports whether the disk has the current screen then.
func (t *Terminal) checkpoint() bool {
	if t.process == nil || t.screen.now() == nil {
		return true // it had ended before this server started, or its screen was not made again: nothing changes
	}
	t.mu.Lock()
	dirty := t.changes != t.saved
	t.mu.Unlock()
	return !dirty || t.save()
}

// save writes the snapshot and the record, and reports whether it wrote the snapshot.
func (t *Terminal) save() bool {
	t.mu.Lock()
	now := t.changes
	t.mu.Unlock()
	saved := t.saveScreen()
	if saved {
		t.mu.Lock()
		t.saved = now
		t.mu.Unlock()
	}
	t.saveRecord()
	return saved
}

// saveScreen writes the snapshot and reports whether it did. It reads the screen with the lock
// held, or an older screen could be written after a newer. Then the journal may drop what is
// older than both snapshots on disk.
func (t *Terminal) saveScreen() bool {
	t.saving.Lock()
	defer t.saving.Unlock()
	if t.purged {
		return false
	}
	worked, shot := t.facts().Work, t.Hub().Snapshot()
	if err := t.writeScreen(shot); err != nil {
		t.failed(screenFailure, err)
		return false
	}
	t.worked(screenFailure)
	t.kept = [2]uint64{t.kept[1], shot.Seq}
	t.mu.Lock()
	t.savedSeq, t.savedWork = shot.Seq, worked
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

// writeScreen writes a snapshot to disk. The caller holds saving.
func (t *Terminal) writeScreen(shot *stream.SharedSnapshot) error {
	return t.registry.cfg.Store.Save(t.ID, snapshot.Header{Seq: shot.Seq, Time: time.Now()}, shot.Frame)
}

// trim drops the part of the journal that is above a quota: output older than both snapshots
// on disk, and if that is not enough, output older than the newest. The caller holds saving.
func (t *Terminal) trim(quota int64) error {
	for _, from := range t.kept {
		if _, err := t.journal.Trim(from, quota); err != nil {
			return err
		}
	}
	return nil
}

// measure updates diskBytes.
func (t *Terminal) measure() {
	t.grown.Store(true)
	if n, err := t.registry.cfg.Store.Size(t.ID); err == nil {
		t.diskBytes.Store(n)
	}
}

// saveLast writes the screen of a terminal that had ended before this server started, so that
// the screen no longer needs the journal.
func (t *Terminal) saveLast() error {
	shot := t.Hub().Snapshot()
	t.saving.Lock()
	defer t.saving.Unlock()
	if t.purged {
		return nil
	}
	return t.writeScreen(shot)
}

// purgeOld purges deleted terminals after deletedFor, and the oldest of more than maxEnded
// that have ended.
func (m *Registry) purgeOld(now time.Time) {
	ended := 0
	list := m.All()
	for i := len(list) - 1; i >= 0; i-- { // youngest first
		t := list[i]
		if t.Running() {
			continue
		}
		ended++
		t.mu.Lock()
		old := !t.deleted.IsZero() && now.Sub(t.deleted) > deletedFor
		t.mu.Unlock()
		if !old && ended <= maxEnded {
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
