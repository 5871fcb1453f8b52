package terminal

import (
	"cmp"
	"slices"
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
	// quietFor is how long the journal of a terminal has nothing to sync before its files may be closed. A person who
	// thinks for a while does not notice that they are opened again.
	quietFor = 10 * time.Second
	// openJournals is how many quiet journals have their files open all the same.
	openJournals = 16
	// restedSize is what a terminal at rest has freed at least, its goroutine's stack, in bytes.
	restedSize = 4 << 10
	// cleanInterval is the time between two reads of the sizes of all files.
	cleanInterval = 5 * time.Second
)

// every calls f at once and then once an interval until the server closes. It begins at once,
// because a server that is killed again and again must not leave ever more work.
func (r *Registry) every(interval time.Duration, f func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		f()
		select {
		case <-tick.C:
		case <-r.ctx.Done():
			return
		}
	}
}

// whenDue calls f at once, and then an interval after a terminal became due, until the server closes. A server whose
// terminals are quiet does not wake up.
func (r *Registry) whenDue(d *due, interval time.Duration, f func()) {
	pause := time.NewTimer(interval)
	defer pause.Stop()
	for {
		f()
		select {
		case <-d.some:
		case <-r.ctx.Done():
			return
		}
		pause.Reset(interval)
		select {
		case <-pause.C:
		case <-r.ctx.Done():
			return
		}
	}
}

// syncJournals begins to sync the journals of all terminals that have something new.
func (r *Registry) syncJournals() {
	for _, t := range r.syncs.due.take() {
		if t.process != nil && t.Running() && (t.unsynced.Load() || t.failing(journalFailure)) {
			r.syncs.do(t, t.syncJournal)
		}
	}
}

func (f *files) syncJournal() {
	f.unsynced.Store(false)
	began := time.Now()
	err := f.journal.Sync()
	f.t.registry.cfg.Metrics.JournalSync(time.Since(began), err)
	f.synced.Store(time.Now().UnixNano())
	f.t.registry.open.add(f.t)
	if err != nil {
		f.failed(journalFailure, err)
		f.t.registry.syncs.due.add(f.t) // to try again
	} else if f.failing(journalFailure) && f.checkpoint() {
		f.worked(journalFailure) // the snapshot has what the journal lacks
	} else if f.failing(journalFailure) {
		f.t.registry.syncs.due.add(f.t)
	}
}

// closeQuiet closes the files of journals that are quiet for quietFor, and rests their terminals. The newest
// openJournals stay as they are.
func (r *Registry) closeQuiet() {
	var quiet []*Terminal
	for _, t := range r.open.take() {
		switch {
		case t.journal == nil || !t.Running():
		case time.Since(time.Unix(0, t.synced.Load())) < quietFor || t.unsynced.Load():
			r.open.add(t)
		default:
			quiet = append(quiet, t)
		}
	}
	slices.SortFunc(quiet, func(a, b *Terminal) int { return cmp.Compare(b.synced.Load(), a.synced.Load()) })
	kept := min(openJournals, len(quiet))
	for _, t := range quiet[kept:] {
		t.journal.CloseQuiet()
		t.rest()
	}
	r.parking.free((len(quiet) - kept) * restedSize)
	r.open.keep(quiet[:kept])
}

// maintainAll begins to maintain the terminals that need it. One that cannot be found yet, as its program is being
// started, becomes due when it can.
func (r *Registry) maintainAll() {
	for _, t := range r.upkeep.due.take() {
		if r.has(t) && t.wantsMaintenance() {
			r.upkeep.do(t, func() {
				if t.maintain(); t.wantsMaintenance() {
					r.upkeep.due.add(t)
				}
			})
		}
	}
}

func (f *files) wantsMaintenance() bool {
	for kind := range failureKinds {
		if f.failing(kind) {
			return true
		}
	}
	return f.t.process != nil && f.t.Running() && (f.active.Load() || f.t.cwdLate.Load() || f.tailIsLong(quietTail))
}

// tailIsLong reports whether more output than limit, in bytes, follows the newest snapshot, or
// output that takes more than maxTailWork to apply.
func (f *files) tailIsLong(limit uint64) bool {
	end := f.journal.End()
	return end-min(f.savedSeq.Load(), end) > limit || int64(f.t.facts().Work)-f.savedWork.Load() > maxTailWork
}

// maintain writes a snapshot when much output follows the last one, and notes the program's
// directory: at activity, and once more an interval later.
func (t *Terminal) maintain() {
	t.retry()
	if t.process == nil || !t.Running() || t.now() == nil {
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
func (f *files) retry() {
	switch {
	case f.failing(screenFailure) && f.t.process == nil:
		if err := f.saveLast(); err == nil {
			f.worked(screenFailure)
		}
	case f.failing(screenFailure):
		f.checkpoint()
	case f.failing(recordFailure):
		f.saveRecord()
	case f.failing(journalFailure) && !f.t.Running():
		f.worked(journalFailure) // its last screen and its end are on disk, and no more output comes
	}
}
