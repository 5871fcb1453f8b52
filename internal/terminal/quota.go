package terminal

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/metrics"
)

// coldAfter is how long after the last write a file of a journal is compressed: a viewer that
// comes back within the minute reads plain bytes.
const coldAfter = time.Minute

// usageInterval is the time between two reads of all directories of the store. Some have no terminal: it could not
// be brought back.
const usageInterval = 5 * time.Minute

// readUsage reads what terminals take whose files may have changed, and everything every usageInterval.
func (c *cleaner) readUsage(now time.Time) error {
	if now.Sub(c.usageRead) >= usageInterval {
		return c.readAllUsage(now)
	}
	stale := slices.DeleteFunc(slices.Collect(maps.Keys(c.usage)), func(id string) bool {
		return c.registry.current(id) != nil
	})
	for _, t := range c.registry.grown.take() {
		t.grown.Store(false)
		stale = append(stale, t.ID)
	}
	for _, id := range stale {
		if err := c.readUsageOf(id); err != nil {
			return err // then all is read again
		}
	}
	return nil
}

func (c *cleaner) readAllUsage(now time.Time) error {
	for _, t := range c.registry.grown.take() {
		t.grown.Store(false)
	}
	list, err := c.registry.cfg.Store.Usage()
	if err != nil {
		return err
	}
	c.usage, c.usageRead = make(map[string]datadir.Usage, len(list)), now
	for _, u := range list {
		c.usage[u.ID] = u
	}
	return nil
}

func (c *cleaner) readUsageOf(id string) error {
	u, err := c.registry.cfg.Store.UsageOf(id)
	if errors.Is(err, datadir.ErrNotFound) {
		delete(c.usage, id)
		return nil
	}
	if err == nil {
		c.usage[id] = u
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
func (c *cleaner) freeJournals(list []*Terminal, over int64) error {
	f := freeing{over: over, reason: metrics.CleanedJournal}
	f.each(list, (*Terminal).compressJournal)
	f.each(list, (*Terminal).trimJournal)
	f.each(list, (*Terminal).dropJournal)
	f.each(list, purgeForSpace(func(u datadir.Usage) int64 { return u.Journal }))
	return f.err("journals")
}

// compressCold compresses the cold files of journals that this server writes. It takes some
// 10 ms of a core for each MB.
func (c *cleaner) compressCold() {
	for _, t := range c.registry.All() {
		if t.journal == nil || c.registry.ctx.Err() != nil {
			continue
		}
		n, err := t.journal.Compress(coldAfter)
		if n > 0 {
			t.raise(&t.grown, c.registry.grown)
		}
		if err != nil && !t.isPurged() {
			c.NoteCleanup(err)
		}
	}
}

func (f *files) isPurged() bool {
	f.saving.Lock()
	defer f.saving.Unlock()
	return f.purged
}

func (f *files) compressJournal() (int64, error) {
	j, err := f.Journal()
	if err != nil {
		return 0, nil //nolint:nilerr // nothing to compress
	}
	cold := coldAfter
	if !f.t.Running() {
		cold = 0
	}
	return j.Compress(cold)
}

// trimJournal drops output older than the snapshots.
func (f *files) trimJournal() (int64, error) {
	j, err := f.Journal()
	if err != nil {
		return 0, nil //nolint:nilerr // nothing to drop
	}
	if f.t.process == nil { // its last snapshot may be older than the journal's end
		if err := f.saveLast(); err != nil {
			return 0, err
		}
		return f.drop(j, j.End(), 0)
	}
	return f.drop(j, f.keptFrom(0), 0)
}

// drop is Trim of a journal, which counts what it frees.
func (f *files) drop(j *journal.Journal, keepFrom uint64, limit int64) (freed int64, err error) {
	freed, err = j.Trim(keepFrom, limit)
	f.t.registry.cfg.Metrics.JournalDropped.Add(float64(freed))
	return freed, err
}

// keptFrom is the position of a snapshot on disk: 0 the older one, 1 the newest.
func (f *files) keptFrom(i int) uint64 {
	f.saving.Lock()
	defer f.saving.Unlock()
	return f.kept[i]
}

// minDropped is the least journal of a running terminal that is dropped as a whole, in bytes: a block of the disk.
const minDropped = 4 << 10

// dropJournal drops the output of a running terminal up to its newest snapshot, whose screen then has no history but
// its own.
func (f *files) dropJournal() (int64, error) {
	if f.journal == nil || !f.t.Running() || f.journal.Bytes() < minDropped {
		return 0, nil
	}
	f.checkpoint()
	if err := f.journal.Roll(); err != nil {
		return 0, err
	}
	return f.drop(f.journal, f.keptFrom(1), 0)
}

// purgeForSpace purges a terminal that has ended and returns the bytes that this frees of the quota: part says which of
// its files count. One that would free nothing stays.
func purgeForSpace(part func(datadir.Usage) int64) func(t *Terminal) (int64, error) {
	return func(t *Terminal) (int64, error) {
		if t.Running() {
			return 0, nil
		}
		u, err := t.registry.cfg.Store.UsageOf(t.ID)
		if err != nil || part(u) == 0 {
			return 0, err
		}
		removed, err := t.registry.purgeEnded(t)
		if !removed {
			return 0, err
		}
		return part(u), err
	}
}

// freeSnapshots frees over bytes of snapshots: it compresses them, drops the older of two, then
// purges the terminals that ended first.
func (c *cleaner) freeSnapshots(list []*Terminal, over int64) error {
	f := freeing{over: over, reason: metrics.CleanedSnapshot}
	store := c.registry.cfg.Store
	for _, free := range []func(id string) (int64, error){store.CompressSnapshots, store.DropOldSnapshot} {
		f.each(list, func(t *Terminal) (int64, error) {
			t.saving.Lock()
			defer t.saving.Unlock()
			return free(t.ID)
		})
	}
	f.each(list, purgeForSpace(func(u datadir.Usage) int64 { return u.Snapshots }))
	return f.err("snapshots")
}
