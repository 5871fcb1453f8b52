package terminal

import (
	"path/filepath"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/startdir"
)

// cwdPatience is how long a request waits for the check of a reported directory. A check takes
// microseconds; on a mount that hangs it never ends.
const cwdPatience = 100 * time.Millisecond

// cwdState is the known state of a program's directory.
type cwdState struct {
	dir        string // the last known, at first where it started
	reported   string // last reported by OSC 7
	systemThen string // the system's answer at that report; "" when another program has reported
}

// cwdReading is what the system and the program say about its directory at one moment.
type cwdReading struct {
	system   string
	err      error // of system
	reported string
	kept     bool // the last known name is still one of this directory
}

// newCwd is the state of a program that starts in dir. reported is what its screen has from
// OSC 7: of the previous program, or of this one under the previous server.
func newCwd(dir, reported string) cwdState {
	s := cwdState{dir: dir, reported: reported}
	if reported == dir {
		s.systemThen = startdir.Resolve(dir)
	}
	return s
}

// apply decides by a reading. exists says that the reported directory is one on this machine. A name with links stays
// while it names the directory (POSIX, pwd -L).
func (s *cwdState) apply(r cwdReading, exists bool) {
	changed := r.reported != s.reported
	if changed {
		s.reported, s.systemThen = r.reported, r.system
	}
	switch {
	case exists && (changed || r.err == nil && r.system == s.systemThen):
		s.dir = r.reported
	case r.err == nil && !r.kept:
		s.dir = r.system
	}
}

// RefreshCwd reads and returns the directory of the program. A report (OSC 7) counts if it is a
// directory here and the system's answer has not changed since, else the system's answer does.
// Without either, as after the end of the program, the last known one stays. So it does when the
// check of the report takes longer than cwdPatience.
func (t *Terminal) RefreshCwd() string {
	t.readCwd()
	t.awaitCwd()
	return t.Cwd()
}

// quietFresh is how old the directory of a quiet program may be in a list: to read 2000 of them takes longer than all
// else that a list does.
const quietFresh = time.Second

// recentCwd is RefreshCwd for a list. Of a program that neither printed nor got input since quietFresh before the last
// reading, that reading stands for quietFresh.
func (t *Terminal) recentCwd(active time.Time) string {
	read := time.Unix(0, t.cwdRead.Load())
	if age := time.Since(read); age >= 0 && age < quietFresh && read.Sub(active) > quietFresh {
		return t.Cwd()
	}
	return t.RefreshCwd()
}

// Directory is where the program is, with all links followed, as the system tells it: never what a
// program reports. After its end, and at a provider, it is the last known one.
func (t *Terminal) Directory() string {
	if t.spec.Provider == "" && t.process != nil {
		if dir, err := t.process.Cwd(); err == nil {
			return dir
		}
	}
	return t.Cwd()
}

// readCwd reads the directory and has a report checked by a goroutine, one per terminal: the
// program chose the path, and a stat of it on a mount that hangs must not stop the output.
func (t *Terminal) readCwd() {
	if t.now() == nil {
		return // what the program has reported is not known yet
	}
	t.cwdRead.Store(time.Now().UnixNano())
	reported := t.facts().Cwd
	if t.spec.Provider != "" {
		t.setRemoteCwd(reported)
		return
	}
	system, err := t.process.Cwd()
	r := cwdReading{system: system, err: err, reported: reported}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.cwdChecking != nil:
		t.cwdNext = &r
	case reported == "" && (err != nil || system == t.cwd.dir): // there is nothing to look at
		t.cwd.apply(r, false)
	default:
		t.cwdChecking = make(chan struct{})
		go t.checkCwd(r)
	}
}

// StartDir is startdir.Nearest at this machine. At a provider it returns dir, which is
// checked at the start.
func StartDir(provider, dir string) (start, moved string) {
	if provider != "" {
		return dir, ""
	}
	return startdir.Nearest(dir)
}

// checkCwd applies a reading and those that came meanwhile, of which the newest is enough.
func (s *status) checkCwd(r cwdReading) {
	for {
		exists := r.reported != "" && startdir.Exists(r.reported)
		r.kept = r.err == nil && proc.LogicalDir(s.Cwd(), r.system) != r.system
		s.mu.Lock()
		s.cwd.apply(r, exists)
		next := s.cwdNext
		s.cwdNext = nil
		if next == nil {
			close(s.cwdChecking)
			s.cwdChecking = nil
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		r = *next
	}
}

// awaitCwd waits for the check that runs, at most cwdPatience.
func (s *status) awaitCwd() {
	s.mu.Lock()
	checking := s.cwdChecking
	s.mu.Unlock()
	if checking == nil {
		return
	}
	select {
	case <-checking:
	case <-time.After(cwdPatience):
	}
}

// setRemoteCwd is RefreshCwd of a program at a provider: only reports are known.
func (s *status) setRemoteCwd(reported string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if filepath.IsAbs(reported) {
		s.cwd.dir = reported
	}
}
