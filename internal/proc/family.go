package proc

import (
	"maps"
	"slices"
)

// family finds the processes of one tree again and again while they are being ended: a process that was seen once stays
// known, so that the orphans of a process that died between two scans are found by the session they are in. Not safe
// for concurrent use.
type family struct {
	root  int    // the child, which is the leader of a session of the same number
	start uint64 // its start time
	ended uint64 // when it was reaped, in the same unit; 0 while it was not

	known    map[int]uint64 // start times of all members ever seen, by process id
	sessions map[int]uint64 // sessions of members: start time of the leader, 0 when it had ended already

	tag uint64 // of the child and of what it started, 0 for none; then processes with another tag are excluded

	self   int     // this process, never a member
	reaper Process // the process that started an adopted child, the zero value when unknown
}

// TTY is what a terminal tells of the processes that use it.
type TTY struct {
	Session int    // that it controls, 0 for none
	Device  Device // its file, the zero value when unknown
}

// newFamily starts with the child alone.
func newFamily(root int, start, ended uint64, self int) *family {
	return &family{root: root, start: start, ended: ended, self: self,
		known: map[int]uint64{root: start}, sessions: map[int]uint64{root: start}}
}

func (f *family) clone() *family {
	c := *f
	c.known, c.sessions = maps.Clone(f.known), maps.Clone(f.sessions)
	return &c
}

// members returns the living members: the child; its session and the one that the terminal controls now; processes
// without a controlling terminal that use this one as standard input, output or error and were started after the child;
// all descendants of these, and the sessions these have opened. With a tag all that have it, too. It returns none that
// merely got the number of a member, and none that is excluded.
func (f *family) members(t *table, tty TTY) []Process {
	f.forget(t)
	x := f.exclusion(t)
	if tty.Session > 0 && !x.session(tty.Session) {
		leader, _ := t.process(tty.Session)
		f.sessions[tty.Session] = leader.Start
	}
	w := walk{exclusion: x, seen: map[int]bool{}}
	for pid, start := range f.known {
		if p, ok := t.process(pid); ok && p.Start == start {
			w.add(p)
		}
	}
	for sid := range f.sessions {
		w.add(t.session(sid)...)
	}
	if tty.Device != (Device{}) {
		for _, p := range t.holders()[tty.Device] {
			if p.Start >= f.start && !x.session(p.Session) {
				w.add(p)
			}
		}
	}
	if f.tag != 0 {
		w.add(t.withTag(f.tag)...)
	}
	return w.members
}

// exclusion tells which processes are never members of a family, whatever they have open, and which sessions are never
// members' either: this process, the first one, the other children of this process, and all that the child descends
// from: its parent, which is this process or the reaper, and theirs. The child's own session is known before, so a
// server that runs in a terminal of its own does not save its neighbours there.
type exclusion struct {
	family         *family
	table          *table
	pids, sessions map[int]bool // without the other children: these are the same for all families
}

func (f *family) exclusion(t *table) *exclusion {
	x := &exclusion{f, t, map[int]bool{f.self: true, initPID: true},
		map[int]bool{t.sessionOf(f.self): true, initPID: true}}
	if p, _ := t.process(f.reaper.PID); p.Start == f.reaper.Start && p.PID > 0 {
		t.markAncestors(p, x.pids, x.sessions)
	}
	if p, _ := t.process(f.root); p.Start == f.start && p.PID > 0 {
		parent, _ := t.process(p.Parent)
		t.markAncestors(parent, x.pids, x.sessions)
	}
	return x
}

// process reports whether a process is excluded. A family without a child excludes no other children.
func (x *exclusion) process(p Process) bool {
	start, child := x.table.children(p.PID)
	return x.pids[p.PID] || child && start == p.Start && x.family.root != 0 && p.PID != x.family.root
}

// session reports whether a session is excluded.
func (x *exclusion) session(sid int) bool {
	root := x.family.root
	return x.sessions[sid] || root != 0 &&
		slices.ContainsFunc(x.table.leaders(sid), func(pid int) bool { return pid != root })
}

// markAncestors marks a process and those it descends from, with their sessions.
func (t *table) markAncestors(p Process, pids, sessions map[int]bool) {
	for range len(t.byPID) + len(t.newer) { // a table is made over time, so that it may hold a circle
		if p.PID <= initPID {
			return
		}
		pids[p.PID], sessions[p.Session] = true, true
		p, _ = t.process(p.Parent)
	}
}

// forget drops the sessions whose number now means something else. The kernel does not give a number to a new process
// while a session has it, so a leader with another start time shows that nobody of the old session is left.
func (f *family) forget(t *table) {
	maps.DeleteFunc(f.sessions, func(sid int, start uint64) bool {
		if leader, ok := t.process(sid); ok {
			return leader.Start != start
		}
		// The child was reaped long ago, perhaps: a session of its number is the old one only if someone in it is older
		// than that.
		older := func(p Process) bool { return p.Start <= f.ended }
		return sid == f.root && f.ended > 0 && !slices.ContainsFunc(t.session(sid), older)
	})
}

// initPID is the first process, which nobody ends.
const initPID = 1

// walk is one walk over a table.
type walk struct {
	*exclusion
	seen    map[int]bool
	members []Process
}

// add takes in processes, their sessions and their descendants.
func (w *walk) add(list ...Process) {
	for _, p := range list {
		if w.seen[p.PID] || w.process(p) || p.Session == 0 { // session 0: the kernel's own
			continue
		}
		w.seen[p.PID] = true
		if f := w.family; f.tag != 0 {
			if tag := w.table.tagOf(p.PID); tag != 0 && tag != f.tag {
				continue // another's, with all that descends from it and has its tag
			}
		}
		w.family.known[p.PID] = p.Start
		if !p.Ended {
			w.members = append(w.members, p)
		}
		if _, ok := w.family.sessions[p.Session]; !ok && !w.session(p.Session) {
			leader, _ := w.table.process(p.Session)
			w.family.sessions[p.Session] = leader.Start
			w.add(w.table.session(p.Session)...)
		}
		w.add(w.table.childrenOf(p.PID)...)
	}
}
