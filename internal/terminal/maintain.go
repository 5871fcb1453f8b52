package terminal

import (
	"time"
)

const (
	// maintainInterval bounds the age of records on disk, and with journal.SyncInterval how
	// much output a crash of the machine costs.
	maintainInterval = time.Second
	// maxTail is how much output may follow the newest snapshot before another is written,
	// in bytes. The next server applies it before it opens its port: at 100 MB/s and core,
	// that takes a second for 100 terminals.
	maxTail = 1 << 20
	// quietTail is the same for a terminal without activity since the last call of maintain.
	quietTail = 64 << 10
)

// maintain maintains the terminals once an interval until the server closes. It begins at
// once, because a server that is killed again and again must not leave ever more work.
func (m *Registry) maintain() {
	tick := time.NewTicker(maintainInterval)
	defer tick.Stop()
	for {
		for _, t := range m.All() {
			t.maintain()
		}
		m.clean(time.Now())
		select {
		case <-tick.C:
		case <-m.ctx.Done():
			return
		}
	}
}

// maintain syncs the journal, writes a snapshot when much output follows the last one, and notes
// the program's directory: at activity, and once more an interval later.
func (t *Terminal) maintain() {
	t.retry()
	if t.process == nil || !t.Running() {
		return
	}
	restless := t.active.Swap(false)
	if err := t.journal.Sync(); err != nil {
		t.failed(journalFailure, err)
	} else if t.failing(journalFailure) && t.checkpoint() {
		t.worked(journalFailure) // the snapshot has what the journal lacks
	}
	t.mu.Lock()
	tail := t.journal.End() - min(t.savedSeq, t.journal.End())
	t.mu.Unlock()
	if tail > maxTail || tail > quietTail && !restless {
		t.checkpoint()
	}
	if restless || t.cwdLate { // a program may move after its last output
		t.noteCwd()
	}
	t.cwdLate = restless
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
