package terminal

import (
	"time"
)

const (
	// maintainInterval bounds the age of records on disk, and with journal.SyncInterval how
	// much output a crash of the machine costs.
	maintainInterval = time.Second
	// maxTail is how much output may follow the newest snapshot before another is written,
	// in bytes. The next server applies it again, at 100 MB/s and core.
	maxTail = 1 << 20
	// maxTailWork is the same in the emulator's work (vt.Engine.Work), some 200 ms: some output
	// costs a hundred times as much.
	maxTailWork = 50 << 20
	// quietTail is maxTail for a terminal without activity since the last call of maintain.
	quietTail = 64 << 10
	// cleanInterval is the time between two reads of the sizes of all files.
	cleanInterval = 5 * time.Second
)

// every calls f at once and then once an interval until the server closes. It begins at once,
// because a server that is killed again and again must not leave ever more work.
func (m *Registry) every(interval time.Duration, f func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		f()
		select {
		case <-tick.C:
		case <-m.ctx.Done():
			return
		}
	}
}

// syncJournals begins to sync the journals of all terminals that have something new.
func (m *Registry) syncJournals() {
	for _, t := range m.Unsorted() {
		if t.process != nil && t.Running() && (t.unsynced.Load() || t.failing(journalFailure)) {
			m.syncs.do(t, t.syncJournal)
		}
	}
}

func (t *Terminal) syncJournal() {
	t.unsynced.Store(false)
	if err := t.journal.Sync(); err != nil {
		t.failed(journalFailure, err)
	} else if t.failing(journalFailure) && t.checkpoint() {
		t.worked(journalFailure) // the snapshot has what the journal lacks
	}
}

// maintainAll begins to maintain the terminals that need it.
func (m *Registry) maintainAll() {
	for _, t := range m.Unsorted() {
		if t.wantsMaintenance() {
			m.upkeep.do(t, t.maintain)
		}
	}
}

func (t *Terminal) wantsMaintenance() bool {
	for kind := range failureKinds {
		if t.failing(kind) {
			return true
		}
	}
	return t.process != nil && t.Running() && (t.active.Load() || t.cwdLate.Load() || t.tailIsLong(quietTail))
}

// tailIsLong reports whether more output than limit, in bytes, follows the newest snapshot, or
// output that takes more than maxTailWork to apply.
func (t *Terminal) tailIsLong(limit uint64) bool {
	worked := t.facts().Work
	t.mu.Lock()
	defer t.mu.Unlock()
	end := t.journal.End()
	return end-min(t.savedSeq, end) > limit || worked-t.savedWork > maxTailWork
}

// maintain writes a snapshot when much output follows the last one, and notes the program's
// directory: at activity, and once more an interval later.
func (t *Terminal) maintain() {
	t.retry()
	if t.process == nil || !t.Running() || t.screen.now() == nil {
		return
	}
	restless := t.active.Swap(false)
	limit := uint64(quietTail)
	if restless {
		limit = maxTail
	}
	if t.tailIsLong(limit) {
		t.checkpoint()
	}
	if late := t.cwdLate.Swap(restless); restless || late { // a program may move after its last output
		t.noteCwd()
	}
}

// noteCwd reads the directory and notes it where it is not known yet.
func (t *Terminal) noteCwd() {
	dir := t.RefreshCwd()
	t.mu.Lock()
	saved := t.cwdSaved
	t.mu.Unlock()
	if dir != saved {
		t.saveRecord()
	}
	t.registry.hooks.Moved(t, dir)
}

// retry retries failed writes.
func (t *Terminal) retry() {
	switch {
	case t.failing(screenFailure) && t.process == nil:
		if err := t.saveLast(); err == nil {
			t.worked(screenFailure)
		}
	case t.failing(screenFailure):
		t.checkpoint()
	case t.failing(recordFailure):
		t.saveRecord()
	case t.failing(journalFailure) && !t.Running():
		t.worked(journalFailure) // its last screen and its end are on disk, and no more output comes
	}
}
