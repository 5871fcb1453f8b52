package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/metrics"
)

// CleanPolicy says which terminals are ended and deleted without a request. Each one is a line
// in the log and a count of evertty_cleaned_total.
type CleanPolicy struct {
	// Idle ends a terminal that had no viewer, output or input for so long; 0 is never.
	Idle time.Duration
	// Unattached ends a terminal that never had a viewer or input, so long after its
	// creation; 0 is never.
	Unattached time.Duration
	// MaxPerSession is how many terminals of a session may run; 0 is any number.
	// EndOldest ends the oldest one for one more, which else is refused.
	MaxPerSession int
	EndOldest     bool
	// Quotas in bytes: of one terminal's journal, of all journals, of all
	// snapshots. 0 means the default.
	TerminalQuota, JournalQuota, SnapshotQuota int64
}

// Default quotas, in bytes.
const (
	DefaultTerminalQuota = 64 << 20 // some hours of a busy build
	DefaultJournalQuota  = 2 << 30
	DefaultSnapshotQuota = 512 << 20
)

// SetDefaults sets the quotas that are 0. No terminal may have more than all together.
func (c *CleanPolicy) SetDefaults() {
	c.TerminalQuota = cmp.Or(c.TerminalQuota, DefaultTerminalQuota)
	c.JournalQuota = cmp.Or(c.JournalQuota, DefaultJournalQuota)
	c.SnapshotQuota = cmp.Or(c.SnapshotQuota, DefaultSnapshotQuota)
	c.TerminalQuota = min(c.TerminalQuota, c.JournalQuota)
}

// cleaned logs and counts that a terminal was ended, or something of it removed.
func (c *cleaner) cleaned(reason string, t *Terminal) {
	c.registry.cfg.Metrics.Cleaned.WithLabelValues(reason).Inc()
	c.registry.cfg.Log.Info("cleaned up", "reason", reason, "id", t.ID, "session", t.spec.Session, "name", t.Spec().Name)
}

// cleaner frees space and ends what CleanPolicy does not allow any longer.
type cleaner struct {
	registry *Registry
	problem  atomic.Pointer[string] // why space cannot be freed, nil when it can

	// What the terminals of the store take. Only the goroutine of cleanFiles uses it.
	usage     map[string]datadir.Usage
	usageRead time.Time // when all of it was read
}

// endExpired ends the terminals whose time is over.
func (c *cleaner) endExpired() {
	now := time.Now()
	for _, t := range c.registry.Unsorted() {
		if reason := t.expired(c.registry.cfg.Clean, now); reason != "" {
			c.deleteExpired(t, reason)
		}
	}
}

// cleanFiles enforces the quotas and purges old terminals.
func (c *cleaner) cleanFiles() {
	now := time.Now()
	c.enforceQuotas(now)
	if c.registry.cfg.AfterClean != nil {
		c.registry.cfg.AfterClean()
	}
	c.purgeOld(now)
	c.registry.groups.Sweep(func(id string) bool {
		t := c.registry.current(id)
		return t != nil && t.Running()
	})
}

// deleteExpired deletes a terminal in the background. It stays readable by id.
func (c *cleaner) deleteExpired(t *Terminal, reason string) {
	c.cleaned(reason, t)
	c.registry.life.Go(func() {
		if err := c.registry.Delete(c.registry.ctx, t, false); err != nil && c.registry.ctx.Err() == nil {
			c.registry.cfg.Log.Warn("cannot end a terminal", "id", t.ID, "error", err)
		}
	})
}

// expired returns the reason why the terminal's time is over, "" while it is not. Viewers,
// output and input count as use; the time runs from the last of them.
func (t *Terminal) expired(c CleanPolicy, now time.Time) string {
	if c.Idle <= 0 && c.Unattached <= 0 || t.process == nil || t.facts().Attached > 0 {
		return ""
	}
	if t.registry.hooks.Paused(t.spec.Session) || !t.Running() {
		return ""
	}
	last := t.facts().Output
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != StateRunning || t.expiring {
		return ""
	}
	reason := ""
	switch {
	case c.Unattached > 0 && !t.hadViewer && !t.lastActivity.After(t.created) &&
		now.Sub(t.created)-t.pausedFor > c.Unattached:
		reason = metrics.CleanedUnattached
	case c.Idle > 0 && now.Sub(maxTime(t.created, t.lastActivity, t.lastDetach, last)) > c.Idle:
		reason = metrics.CleanedIdle
	}
	t.expiring = reason != ""
	return reason
}

func maxTime(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// makeRoom ends terminals until a session may have one more, if the policy says so. reserve
// checks the limit again, for two callers at once. Errors: ErrLimit.
func (c *cleaner) makeRoom(session string) error {
	policy := c.registry.cfg.Clean
	if policy.MaxPerSession <= 0 {
		return nil
	}
	running := slices.DeleteFunc(c.registry.All(), func(t *Terminal) bool { // oldest first
		return t.spec.Session != session || !t.Running()
	})
	over := len(running) + 1 - policy.MaxPerSession
	if over <= 0 {
		return nil
	}
	if !policy.EndOldest {
		return tooMany(session, len(running), policy.MaxPerSession)
	}
	for _, t := range running[:over] {
		c.cleaned(metrics.CleanedOldest, t)
		if err := c.registry.Delete(context.WithoutCancel(c.registry.ctx), t, false); err != nil {
			return err
		}
	}
	return nil
}

func tooMany(session string, running, limit int) error {
	return fmt.Errorf("%w: session %q has %d running terminals, at most %d are allowed (max_ptys_per_session); end "+
		"one, or use another session", ErrLimit, session, running, limit)
}

// enforceQuotas frees disk space when a quota is exceeded: it compresses first, and then
// removes the terminals that ended longest ago.
func (c *cleaner) enforceQuotas(now time.Time) {
	if err := c.readUsage(now); err != nil {
		c.usageRead = time.Time{}
		c.NoteCleanup(err)
		return
	}
	var journals, snapshots int64
	for _, u := range c.usage {
		journals += u.Journal
		snapshots += u.Snapshots
	}
	journals, snapshots = journals-c.registry.cfg.Clean.JournalQuota, snapshots-c.registry.cfg.Clean.SnapshotQuota
	if journals <= 0 && snapshots <= 0 {
		c.NoteCleanup(nil)
		return
	}
	ended := c.byEnd()
	c.NoteCleanup(errors.Join(c.freeJournals(ended, journals), c.freeSnapshots(ended, snapshots)))
}

// byEnd returns all terminals: those that have ended, by their end, then those that run, by
// their age.
func (c *cleaner) byEnd() []*Terminal {
	list := c.registry.All()
	ends := make(map[*Terminal]time.Time, len(list))
	for _, t := range list {
		t.mu.Lock()
		ends[t] = cmp.Or(t.endedAt, time.Unix(1<<40, 0)) // one that runs comes last
		t.mu.Unlock()
	}
	slices.SortStableFunc(list, func(a, b *Terminal) int { return ends[a].Compare(ends[b]) })
	return list
}

// SkipPause excludes a pause from the times of CleanPolicy.
func (t *Terminal) SkipPause(since, now time.Time) {
	last := t.facts().Output
	t.mu.Lock()
	defer t.mu.Unlock()
	used := maxTime(t.created, t.lastActivity, t.lastDetach, last)
	t.lastDetach = used.Add(now.Sub(maxTime(since, used)))
	t.pausedFor += now.Sub(maxTime(since, t.created))
}
