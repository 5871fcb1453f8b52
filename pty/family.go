package pty

// family finds the processes that belong to one child, again and again while they are being ended: what was seen once stays known,
// so that the orphans of a process that died between two looks are found by the session they are in. Not safe for concurrent use.
type family struct {
	root  int    // the child, which is the leader of a session of the same number
	birth uint64 // its start time
	ended uint64 // when it was reaped, in the same unit; 0 while it was not

	known    map[int]uint64 // start times of all members ever seen, by process id
	sessions map[int]uint64 // sessions of members: start time of the leader, 0 when it had ended already

	brand uint64 // of the child and of what it started, 0 for none; then those of another brand are strangers

	self     int            // this process, never a member
	reaper   stat           // the process that started an adopted child, the zero value when unknown
	siblings map[int]uint64 // start times of the other children of this process, by process id
}

// bond is what a terminal tells of who belongs to it.
type bond struct {
	session int    // that it controls, 0 for none
	dev     device // its file, the zero value when unknown
}

// newFamily starts with the child alone.
func newFamily(root int, birth, ended uint64, self int) *family {
	return &family{root: root, birth: birth, ended: ended, self: self,
		known: map[int]uint64{root: birth}, sessions: map[int]uint64{root: birth}}
}

// find returns the living members: the child; its session and the one that the terminal controls now; processes without a controlling terminal
// that use this one as standard input, output or error and were started after the child; all descendants of these, and
// the sessions these have opened. With a brand all that have it, too. It returns none that merely got the number of a member, and no stranger.
func (f *family) find(t *table, b bond) []stat {
	f.forget(t)
	strangers, foreign := f.strangers(t)
	if b.session > 0 && !foreign[b.session] {
		f.sessions[b.session] = t.byPID[b.session].start
	}
	g := gathering{family: f, table: t, foreign: foreign, seen: strangers}
	if f.brand != 0 {
		g.brands = t.brands()
	}
	for pid, start := range f.known {
		if s, ok := t.byPID[pid]; ok && s.start == start {
			g.add(s)
		}
	}
	for sid := range f.sessions {
		g.addAll(t.bySession[sid])
	}
	if b.dev != (device{}) {
		for _, s := range t.holders()[b.dev] {
			if s.start >= f.birth && !foreign[s.sid] {
				g.add(s)
			}
		}
	}
	for pid, brand := range g.brands {
		if brand == f.brand {
			g.add(t.byPID[pid])
		}
	}
	return g.members
}

// strangers are the processes that are never members, whatever they have open, and the sessions they are in, never members' either: this
// process, the first one, the other children of this process, and all that the child descends from: its parent, which is this process or the
// reaper, and theirs. The child's own session is known before, so a server that runs in a terminal of its own does not save its neighbours there.
func (f *family) strangers(t *table) (pids, sessions map[int]bool) {
	pids = map[int]bool{f.self: true, initPID: true}
	sessions = map[int]bool{t.byPID[f.self].sid: true, initPID: true}
	if s := t.byPID[f.reaper.pid]; s.start == f.reaper.start && s.pid > 0 {
		t.climb(s, pids, sessions)
	}
	if s := t.byPID[f.root]; s.start == f.birth && s.pid > 0 {
		t.climb(t.byPID[s.ppid], pids, sessions)
	}
	for pid, start := range f.siblings {
		if s, ok := t.byPID[pid]; ok && s.start == start {
			pids[pid], sessions[s.sid] = true, true
		}
	}
	return pids, sessions
}

// climb marks a process and those it descends from, with their sessions.
func (t *table) climb(s stat, pids, sessions map[int]bool) {
	for range t.byPID { // a table is made over time, so that it may hold a circle
		if s.pid <= initPID {
			return
		}
		pids[s.pid], sessions[s.sid] = true, true
		s = t.byPID[s.ppid]
	}
}

// forget drops the sessions whose number now means something else. The kernel does not give a number to a new process
// while a session has it, so a leader with another start time shows that nobody of the old session is left.
func (f *family) forget(t *table) {
	for sid, start := range f.sessions {
		if leader, ok := t.byPID[sid]; ok {
			if leader.start != start {
				delete(f.sessions, sid)
			}
			continue
		}
		// The child was reaped long ago, perhaps: a session of its number is the old one only if someone in it is older than that.
		if sid == f.root && f.ended > 0 && !older(t.bySession[sid], f.ended) {
			delete(f.sessions, sid)
		}
	}
}

// initPID is the first process, which is nobody's to kill.
const initPID = 1

// older tells whether one of the processes was started at or before a time.
func older(list []stat, limit uint64) bool {
	for _, s := range list {
		if s.start <= limit {
			return true
		}
	}
	return false
}

// gathering is one walk over a table.
type gathering struct {
	family  *family
	table   *table
	foreign map[int]bool // sessions that are never one of the family's
	seen    map[int]bool
	brands  map[int]uint64 // of all processes, nil when the family has none
	members []stat
}

// add takes in a process, its session and its descendants.
func (g *gathering) add(s stat) {
	if g.seen[s.pid] || s.sid == 0 { // sid 0: the kernel's own
		return
	}
	g.seen[s.pid] = true
	if brand := g.brands[s.pid]; brand != 0 && brand != g.family.brand {
		return // another's, with all that descends from it and is of its brand
	}
	g.family.known[s.pid] = s.start
	if !s.dead {
		g.members = append(g.members, s)
	}
	if _, ok := g.family.sessions[s.sid]; !ok && !g.foreign[s.sid] {
		g.family.sessions[s.sid] = g.table.byPID[s.sid].start
		g.addAll(g.table.bySession[s.sid])
	}
	g.addAll(g.table.byParent[s.pid])
}

func (g *gathering) addAll(list []stat) {
	for _, s := range list {
		g.add(s)
	}
}
