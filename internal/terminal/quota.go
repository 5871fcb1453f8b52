package terminal

import (
	"errors"
	"fmt"
	"time"

	"github.com/evertty/evertty/internal/datadir"
)

// coldAfter is how long after the last write a file of a journal is compressed: a viewer that
// comes back within the minute reads plain bytes.
const coldAfter = time.Minute

// usageInterval is the time between two looks at all directories of the store, also at those of terminals that cannot
// be brought back.
const usageInterval = 5 * time.Minute

// usage is how much the terminals of the store take. Only the goroutine of cleanFiles uses it.
type usage struct {
	byID map[string]datadir.Usage
	read time.Time // when all of it was read
}

// readUsage reads what terminals take whose files may have changed, and everything every usageInterval.
func (m *Registry) readUsage(now time.Time) error {
	if now.Sub(m.usage.read) >= usageInterval {
		return m.readAllUsage(now)
	}
	for id := range m.usage.byID {
		if m.current(id) == nil {
			if err := m.readUsageOf(id); err != nil {
				return err
			}
		}
	}
	for _, t := range m.Unsorted() {
		if t.grown.Swap(false) {
			if err := m.readUsageOf(t.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Registry) readAllUsage(now time.Time) error {
	for _, t := range m.Unsorted() {
		t.grown.Store(false)
	}
	list, err := m.cfg.Store.Usage()
	if err != nil {
		return err
	}
	m.usage = usage{byID: make(map[string]datadir.Usage, len(list)), read: now}
	for _, u := range list {
		m.usage.byID[u.ID] = u
	}
	return nil
}

func (m *Registry) readUsageOf(id string) error {
	u, err := m.cfg.Store.UsageOf(id)
	if errors.Is(err, datadir.ErrNotFound) {
		delete(m.usage.byID, id)
		return nil
	}
	if err == nil {
		m.usage.byID[id] = u
	}
	return err
}

// freeing frees space until a quota is kept.
type freeing struct {
	over    int64 // bytes above the quota
	reason  string
	problem []error
}

// each calls free for one terminal after the other until the quota is kept.
func (f *freeing) each(list []*Terminal, free func(t *Terminal) (int64, error)) {
	for _, t := range list {
		if f.over <= 0 {
			return
		}
		n, err := free(t)
		f.over -= n
		if err != nil && !errors.Is(err, datadir.ErrNotFound) && len(f.problem) < maxDamage {
			f.problem = append(f.problem, fmt.Errorf("terminal %s: %w", t.ID, err))
		}
		if n > 0 {
			t.registry.cleaned(f.reason, t)
			t.measure()
		}
	}
}

func (f *freeing) err(what string) error {
	if f.over > 0 && len(f.problem) == 0 {
		return fmt.Errorf("%s take %d bytes more than their quota and are all in use", what, f.over)
	}
	return errors.Join(f.problem...)
}

// freeJournals frees over bytes of journals: it compresses cold files, drops output older than
// the snapshots, then all output of running terminals that the newest snapshot has, then purges the terminals that
// ended first.
func (m *Registry) freeJournals(list []*Terminal, over int64) error {
	f := freeing{over: over, reason: cleanedJournal}
	f.each(list, (*Terminal).compressJournal)
	f.each(list, (*Terminal).trimJournal)
	f.each(list, (*Terminal).dropJournal)
	f.each(list, (*Terminal).purgeForSpace)
	return f.err("journals")
}

// compressCold compresses the cold files of journals that this server writes. It takes some
// 10 ms of a core for each MB.
func (m *Registry) compressCold() {
	for _, t := range m.All() {
		if t.journal == nil || m.ctx.Err() != nil {
			continue
		}
		n, err := t.journal.Compress(coldAfter)
		if n > 0 {
			t.grown.Store(true)
		}
		if err != nil && !t.isPurged() {
			m.NoteCleanup(err)
		}
	}
}

func (t *Terminal) isPurged() bool {
	t.saving.Lock()
	defer t.saving.Unlock()
	return t.purged
}

func (t *Terminal) compressJournal() (int64, error) {
	j, err := t.Journal()
	if err != nil {
		return 0, nil //nolint:nilerr // nothing to compress
	}
	cold := coldAfter
	if !t.Running() {
		cold = 0
	}
	return j.Compress(cold)
}

// trimJournal drops output older than the snapshots.
func (t *Terminal) trimJournal() (int64, error) {
	j, err := t.Journal()
	if err != nil {
		return 0, nil //nolint:nilerr // nothing to drop
	}
	if t.process == nil { // its last snapshot may be older than the journal's end
		if err := t.saveLast(); err != nil {
			return 0, err
		}
		return j.Trim(j.End(), 0)
	}
	t.saving.Lock()
	from := t.kept[0]
	t.saving.Unlock()
	return j.Trim(from, 0)
}

// minDropped is the least journal of a running terminal that is dropped as a whole, in bytes: a block of the disk.
const minDropped = 4 << 10

// dropJournal drops the output of a running terminal up to its newest snapshot, whose screen then has no history but
// its own.
func (t *Terminal) dropJournal() (int64, error) {
	if t.journal == nil || !t.Running() || t.journal.Bytes() < minDropped {
		return 0, nil
	}
	t.checkpoint()
	if err := t.journal.Roll(); err != nil {
		return 0, err
	}
	t.saving.Lock()
	from := t.kept[1]
	t.saving.Unlock()
	return t.journal.Trim(from, 0)
}

// purgeForSpace purges a terminal that has ended.
func (t *Terminal) purgeForSpace() (int64, error) {
	if t.Running() {
		return 0, nil
	}
	n := t.diskBytes.Load()
	removed, err := t.registry.purgeEnded(t)
	if !removed {
		n = 0
	}
	return n, err
}

// freeSnapshots frees over bytes of snapshots: it compresses them, drops the older of two, then
// purges the terminals that ended first.
func (m *Registry) freeSnapshots(list []*Terminal, over int64) error {
	f := freeing{over: over, reason: cleanedSnapshot}
	f.each(list, func(t *Terminal) (int64, error) {
		t.saving.Lock()
		defer t.saving.Unlock()
		return m.cfg.Store.CompressSnapshots(t.ID)
	})
	f.each(list, func(t *Terminal) (int64, error) {
		t.saving.Lock()
		defer t.saving.Unlock()
		return m.cfg.Store.DropOldSnapshot(t.ID)
	})
	f.each(list, (*Terminal).purgeForSpace)
	return f.err("snapshots")
}
