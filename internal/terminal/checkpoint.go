package terminal

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/parallel"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
)

// checkpoints writes the snapshots of changed terminals once an interval, and compresses
// cold files of their journals, until the server closes.
func (r *Registry) checkpoints() {
	tick := time.NewTicker(r.cfg.Interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.checkpointAll()
			r.compressCold()
		case <-r.ctx.Done():
			return
		}
	}
}

// checkpointWriters is how many snapshots are written at once: most of the time is the sync of
// the disk, which serves a few as fast as one.
const checkpointWriters = 8

func (r *Registry) checkpointAll() {
	_ = parallel.Each(r.Unsorted(), checkpointWriters, func(t *Terminal) error {
		t.checkpoint()
		return nil
	})
}

// checkpoint writes the terminal's snapshot and record if it has changed since the last time.
// It reports whether the disk has the current screen then.
func (f *files) checkpoint() bool {
	if f.t.process == nil || f.t.now() == nil {
		return true // it had ended before this server started, or its screen was not made again: nothing changes
	}
	return f.changes.Load() == f.saved.Load() || f.save()
}

// save writes the snapshot and the record, and reports whether it wrote the snapshot.
func (f *files) save() bool {
	saved := f.saveChanged()
	f.saveRecord()
	return saved
}

// saveChanged is saveScreen that notes which changes the snapshot has.
func (f *files) saveChanged() bool {
	now := f.changes.Load()
	saved := f.saveScreen()
	if saved {
		f.saved.Store(now)
	}
	return saved
}

// saveScreen writes the snapshot and reports whether it did. It reads the screen with the lock
// held, or an older screen could be written after a newer. Then the journal may drop what is
// older than both snapshots on disk.
func (f *files) saveScreen() bool {
	f.saving.Lock()
	defer f.saving.Unlock()
	if f.purged {
		return false
	}
	if f.t.Parked() {
		return true // the disk has it
	}
	return f.saveShot(f.t.facts().Work, f.t.Hub().Snapshot()) == nil
}

// saveShot is saveScreen of a snapshot that was read after so much work. The caller holds saving.
func (f *files) saveShot(worked int, shot *stream.SharedSnapshot) error {
	if err := f.writeScreen(shot); err != nil {
		f.failed(screenFailure, err)
		return err
	}
	f.worked(screenFailure)
	f.kept = [2]uint64{f.kept[1], shot.Seq}
	f.savedSeq.Store(shot.Seq)
	f.savedWork.Store(int64(worked))
	if err := f.trim(f.t.registry.cfg.Clean.TerminalQuota); err != nil {
		f.t.registry.NoteCleanup(err)
	}
	f.measure()
	return nil
}

// snapshotReads is how often SnapshotAt looks again for what another writer has just replaced.
const snapshotReads = 3

// SnapshotAt is the newest good snapshot on disk at or before position seq. It waits for no one that writes: a sync of
// a busy disk takes seconds. Errors: as datadir.Store.LoadAt.
func (f *files) SnapshotAt(seq uint64) (loaded datadir.Loaded, err error) {
	for range snapshotReads {
		loaded, err = f.t.registry.cfg.Store.LoadAt(f.t.ID, seq)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return loaded, err
}

// writeScreen writes a snapshot to disk. The caller holds saving.
func (f *files) writeScreen(shot *stream.SharedSnapshot) error {
	return f.t.registry.cfg.Store.Save(f.t.ID, snapshot.Header{Seq: shot.Seq, Time: time.Now()}, shot.Frame)
}

// trim drops the part of the journal that is above a quota: output older than both snapshots
// on disk, and if that is not enough, output older than the newest. The caller holds saving.
func (f *files) trim(quota int64) error {
	for _, from := range f.kept {
		if _, err := f.drop(f.journal, from, quota); err != nil {
			return err
		}
	}
	return nil
}

// measure updates diskBytes.
func (f *files) measure() {
	f.raise(&f.grown, f.t.registry.grown)
	if n, err := f.t.registry.cfg.Store.Size(f.t.ID); err == nil {
		f.diskBytes.Store(n)
	}
}

// saveLast writes the screen of a terminal that had ended before this server started, so that
// the screen no longer needs the journal.
func (f *files) saveLast() error {
	shot := f.t.Hub().Snapshot()
	f.saving.Lock()
	defer f.saving.Unlock()
	if f.purged {
		return nil
	}
	return f.writeScreen(shot)
}

// purgeOld purges deleted terminals after deletedFor, and the oldest of more than maxEnded
// that have ended.
func (c *cleaner) purgeOld(now time.Time) {
	if !c.mayPurge(now) {
		return
	}
	ended := 0
	for _, t := range slices.Backward(c.registry.All()) { // youngest first
		if t.Running() {
			continue
		}
		ended++
		if !t.deletedLongAgo(now) && ended <= maxEnded {
			continue
		}
		removed, err := c.purgeEnded(t)
		if removed {
			c.cleaned(metrics.CleanedAge, t)
		}
		if err != nil {
			c.NoteCleanup(err)
		}
	}
}

// mayPurge reports whether purgeOld has something to purge.
func (c *cleaner) mayPurge(now time.Time) bool {
	ended := 0
	for _, t := range c.registry.Unsorted() {
		if t.Running() {
			continue
		}
		if ended++; ended > maxEnded || t.deletedLongAgo(now) {
			return true
		}
	}
	return false
}

// deletedLongAgo reports whether a terminal was deleted longer than deletedFor ago.
func (s *status) deletedLongAgo(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.deleted.IsZero() && now.Sub(s.deleted) > deletedFor
}
