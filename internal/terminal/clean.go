package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
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

// The reasons of evertty_cleaned_total.
const (
	cleanedIdle       = "idle"
	cleanedUnattached = "unattached"
	cleanedOldest     = "limit"
	cleanedJournal    = "journal_quota"
	cleanedSnapshot   = "snapshot_quota"
	cleanedAge        = "age"
	CleanedShell      = "shell_idle"
	CleanedExecLog    = "exec_log_quota"
)

// cleaned logs and counts that a terminal was ended, or something of it removed.
func (m *Registry) cleaned(reason string, t *Terminal) {
	m.cfg.Metrics.Cleaned.WithLabelValues(reason).Inc()
	m.cfg.Log.Info("cleaned up", "reason", reason, "id", t.ID, "session", t.spec.Session, "name", t.spec.Name)
}

// endExpired ends the terminals whose time is over.
func (m *Registry) endExpired() {
	now := time.Now()
	for _, t := range m.Unsorted() {
		if reason := t.expired(m.cfg.Clean, now); reason != "" {
			m.deleteExpired(t, reason)
		}
	}
}

// cleanFiles enforces the quotas and purges what is old.
func (m *Registry) cleanFiles() {
	now := time.Now()
	m.enforceQuotas(now)
	if m.cfg.AfterClean != nil {
		m.cfg.AfterClean()
	}
	m.purgeOld(now)
}

// deleteExpired deletes a terminal in the background. It stays readable by id.
func (m *Registry) deleteExpired(t *Terminal, reason string) {
	m.cleaned(reason, t)
	m.life.Go(func() {
		if err := m.Delete(m.ctx, t, false); err != nil && m.ctx.Err() == nil {
			m.cfg.Log.Warn("cannot end a terminal", "id", t.ID, "error", err)
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
		reason = cleanedUnattached
	case c.Idle > 0 && now.Sub(maxTime(t.created, t.lastActivity, t.lastDetach, last)) > c.Idle:
		reason = cleanedIdle
	}
	t.expiring = reason != ""
	return reason
}

func maxTime(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// makeRoom ends terminals until a session may have one more, if the policy says so. reserve
// checks the limit again, for two callers at once. Errors: ErrLimit.
func (m *Registry) makeRoom(session string) error {
	c := m.cfg.Clean
	if c.MaxPerSession <= 0 {
		return nil
	}
	var running []*Terminal
	for _, t := range m.All() { // oldest first
		if t.spec.Session == session && t.Running() {
			running = append(running, t)
		}
	}
	over := len(running) + 1 - c.MaxPerSession
	if over <= 0 {
		return nil
	}
	if !c.EndOldest {
		return tooMany(session, len(running), c.MaxPerSession)
	}
	for _, t := range running[:over] {
		m.cleaned(cleanedOldest, t)
		if err := m.Delete(context.WithoutCancel(m.ctx), t, false); err != nil {
			return err
		}
	}
	return nil
}

func tooMany(session string, running, limit int) error {
	return fmt.Errorf("%w: session %q has %d running terminals, at most %d are allowed",
		ErrLimit, session, running, limit)
}

// enforceQuotas frees disk space when a quota is exceeded: it compresses first, and then
// removes the terminals that ended longest ago.
func (m *Registry) enforceQuotas(now time.Time) {
	if err := m.readUsage(now); err != nil {
		m.usage.read = time.Time{}
		m.NoteCleanup(err)
		return
	}
	var journals, snapshots int64
	for _, u := range m.usage.byID {
		journals += u.Journal
		snapshots += u.Snapshots
	}
	ended := m.byEnd()
	m.NoteCleanup(errors.Join(m.freeJournals(ended, journals-m.cfg.Clean.JournalQuota),
		m.freeSnapshots(ended, snapshots-m.cfg.Clean.SnapshotQuota)))
}

// byEnd returns all terminals: those that have ended, by their end, then those that run, by
// their age.
func (m *Registry) byEnd() []*Terminal {
	list := m.All()
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
