package terminal

import (
	"path/filepath"
	"time"

	"github.com/evertty/evertty/internal/startdir"
)

const (
	// maintainInterval is the time between two looks at the terminals. It bounds how old
	// what the disk knows besides output can be, and with SyncInterval how much
	// output a crash of the machine costs.
	maintainInterval = time.Second
	// maxTail is how much output may follow the newest snapshot before another is
	// written, in bytes. The next server has to apply it before it can open its
	// port: at 100 MB/s and core, 100 terminals take it a second.
	maxTail = 1 << 20
	// quietTail is the same for a terminal that has been silent since the last look.
	quietTail = 64 << 10
)

// maintain looks after the terminals at once, so that a server that is killed again and
// again does not leave ever more to the next, and then once a second until the
// server closes.
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

// maintain syncs the journal, notes another directory of the program and other exports, and writes a
// snapshot when much output follows the last one.
func (t *Terminal) maintain() {
	t.retry()
	if t.process == nil || !t.Running() {
		return
	}
	restless := t.active.Swap(false)
	if err := t.journal.Sync(); err != nil {
		t.failed(journalFailure, err)
	} else if t.failing(journalFailure) && t.checkpoint() {
		t.worked(journalFailure) // what the gap did to the screen is in the snapshot
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

// retry writes again what could not be written.
func (t *Terminal) retry() {
	switch {
	case t.failing(screenFailure) && t.process == nil:
		if err := t.saveLost(); err == nil {
			t.worked(screenFailure)
		}
	case t.failing(screenFailure):
		t.checkpoint()
	case t.failing(recordFailure):
		t.saveRecord()
	case t.failing(journalFailure) && !t.Running():
		t.worked(journalFailure) // its last screen and how it ended are on disk: nothing comes any more
	}
}

// cwdState is what is known of a program's directory.
type cwdState struct {
	dir    string // where it was to start, and since somebody looked the best guess of then
	reported   string // what the program said last (OSC 7)
	systemThen string // what the system said when the program said that; "" when said is not of this program
}

// newCwd is what is known of a program that starts in dir, on a screen that knows said of the
// program before, or of this one before somebody else began to look at it.
func newCwd(dir, said string) cwdState {
	w := cwdState{dir: dir, reported: said}
	if said == dir {
		w.systemThen = startdir.Resolve(dir)
	}
	return w
}

// RefreshCwd is the directory of the program: what it said itself (OSC 7) if that is a
// directory here and the system has not seen it move since, else the one the
// system knows. The last one stays known when the program is gone, and until it was
// seen the one in which it was to start.
func (t *Terminal) RefreshCwd() string {
	if t.spec.Provider != "" {
		return t.remoteCwd()
	}
	system, err := t.process.Cwd()
	said := t.Hub().Facts().Cwd
	here := said != "" && startdir.Exists(said)
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &t.cwd
	news := said != w.reported
	if news {
		w.reported, w.systemThen = said, system
	}
	switch {
	case here && (news || err == nil && system == w.systemThen):
		w.dir = said
	case err == nil:
		w.dir = system
	}
	return w.dir
}

// remoteCwd is look of a program elsewhere: what it said itself, or else the last one known.
func (t *Terminal) remoteCwd() string {
	said := t.Hub().Facts().Cwd
	t.mu.Lock()
	defer t.mu.Unlock()
	if filepath.IsAbs(said) {
		t.cwd.dir = said
	}
	return t.cwd.dir
}

// StartDir is Nearest of where a terminal or shell runs: elsewhere nobody here knows, and the start sees to it.
func StartDir(place, dir string) (there, moved string) {
	if place != "" {
		return dir, ""
	}
	return startdir.Nearest(dir)
}
