package terminal

import (
	"path/filepath"
	"time"

	"github.com/evertty/evertty/internal/startdir"
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

// maintain syncs the journal, notes a change of the program's directory, and writes a snapshot
// when much output follows the last one.
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
	tail, was := t.journal.End()-min(t.savedSeq, t.journal.End()), t.cwd.dir
	t.mu.Unlock()
	switch {
	case tail > maxTail, tail > quietTail && !restless:
		t.checkpoint()
	case restless && t.RefreshCwd() != was:
		t.saveRecord()
	}
	if restless {
		t.registry.hooks.Moved(t, t.Cwd())
	}
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

// cwdState is the known state of a program's directory.
type cwdState struct {
	dir        string // the last known, first that of the start
	reported   string // last reported by OSC 7
	systemThen string // the system's answer at that report; "" when another program has reported
}

// newCwd is the state of a program that starts in dir. reported is what its screen has from
// OSC 7: of the previous program, or of this one under the previous server.
func newCwd(dir, reported string) cwdState {
	w := cwdState{dir: dir, reported: reported}
	if reported == dir {
		w.systemThen = startdir.Resolve(dir)
	}
	return w
}

// RefreshCwd reads and returns the directory of the program. A report (OSC 7) counts if it is a
// directory here and the system's answer has not changed since, else the system's answer does.
// Without either, as after the end of the program, the last known one stays.
func (t *Terminal) RefreshCwd() string {
	if t.spec.Provider != "" {
		return t.remoteCwd()
	}
	system, err := t.process.Cwd()
	reported := t.Hub().Facts().Cwd
	exists := reported != "" && startdir.Exists(reported)
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &t.cwd
	changed := reported != w.reported
	if changed {
		w.reported, w.systemThen = reported, system
	}
	switch {
	case exists && (changed || err == nil && system == w.systemThen):
		w.dir = reported
	case err == nil:
		w.dir = system
	}
	return w.dir
}

// remoteCwd is RefreshCwd of a program at a provider: only reports are known.
func (t *Terminal) remoteCwd() string {
	reported := t.Hub().Facts().Cwd
	t.mu.Lock()
	defer t.mu.Unlock()
	if filepath.IsAbs(reported) {
		t.cwd.dir = reported
	}
	return t.cwd.dir
}

// StartDir is startdir.Nearest at this machine. At a provider it returns dir, which is
// checked at the start.
func StartDir(provider, dir string) (start, moved string) {
	if provider != "" {
		return dir, ""
	}
	return startdir.Nearest(dir)
}
