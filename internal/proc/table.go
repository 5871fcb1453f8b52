package proc

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// table is all processes at one time, as /proc lists them, with the indexes that following a tree needs. It is not
// changed after it was made.
type table struct {
	*index
	newer  map[int]*row // read since the index was made, by process id; nil for one that is gone
	number uint64       // of the scan
	recent bool         // see tables.get
	// Of this process, see Child: when one began, and the process ids of those in a session.
	children func(pid int) (start uint64, ok bool)
	leaders  func(sid int) []int
	// holders are the processes without a controlling terminal that have a terminal as standard input, output or error
	// all the same, by that terminal: what setsid leaves of a job. Of a session only those count whose parent is
	// outside of it, the others come with them. They are searched once, when first asked for.
	holders   func() map[Device][]Process
	newerTags func() map[int]uint64 // index.tags of newer
}

// index is a table as a listing of all processes found it.
type index struct {
	rows      map[int]*row // by process id, as is all of this
	byPID     map[int]Process
	byParent  map[int][]Process
	bySession map[int][]Process
	// tags are the tags of the processes that have one, and tagged these processes by their tag; detached are those
	// that may be holders. They are searched once, when first asked for.
	tags     func() map[int]uint64
	tagged   func() map[uint64][]Process
	detached func() []Process
}

// newTable makes a table of rows, and of children with their start times.
func newTable(rows map[int]*row, children map[int]uint64) *table {
	x := &index{
		rows: rows, byPID: make(map[int]Process, len(rows)), byParent: map[int][]Process{},
		bySession: map[int][]Process{},
	}
	for pid, r := range rows {
		p := r.Process
		x.byPID[pid] = p
		x.byParent[p.Parent] = append(x.byParent[p.Parent], p)
		x.bySession[p.Session] = append(x.bySession[p.Session], p)
	}
	x.tags = sync.OnceValue(func() map[int]uint64 { return tagsOf(rows) })
	x.tagged = sync.OnceValue(x.byTag)
	t := &table{index: x}
	x.detached = sync.OnceValue(func() []Process { return t.onlyDetached(slices.Collect(maps.Values(x.byPID))) })
	leaders := make(map[int][]int, len(children))
	for pid, start := range children {
		if p, ok := x.byPID[pid]; ok && p.Start == start {
			leaders[p.Session] = append(leaders[p.Session], pid)
		}
	}
	t.children = func(pid int) (uint64, bool) { start, ok := children[pid]; return start, ok }
	t.leaders = func(sid int) []int { return leaders[sid] }
	t.holders = sync.OnceValue(t.findHolders)
	t.newerTags = func() map[int]uint64 { return nil }
	return t
}

// since is the table with rows that were read since its index was made, and the children of now.
func (t *table) since(newer map[int]*row, number uint64) *table {
	now := *t
	now.newer, now.number, now.recent = newer, number, true
	now.children, now.leaders = childStart, childrenIn
	now.holders = sync.OnceValue(now.findHolders) // they may have closed the terminal since
	now.newerTags = sync.OnceValue(func() map[int]uint64 { return tagsOf(newer) })
	return &now
}

// row is what is known of a process, nil when there is none.
func (t *table) row(pid int) *row {
	if r, is := t.newer[pid]; is {
		return r
	}
	return t.rows[pid]
}

// process is the process with a number.
func (t *table) process(pid int) (p Process, ok bool) {
	if r, is := t.newer[pid]; is {
		if r != nil {
			p = r.Process
		}
		return p, r != nil
	}
	p, ok = t.byPID[pid]
	return p, ok
}

// sessionOf is the session of a process, 0 when there is none.
func (t *table) sessionOf(pid int) int {
	p, _ := t.process(pid)
	return p.Session
}

// childrenOf are the processes with a parent, and session those of a session.
func (t *table) childrenOf(pid int) []Process {
	return t.selected(t.byParent[pid], func(p Process) bool { return p.Parent == pid })
}

func (t *table) session(sid int) []Process {
	return t.selected(t.bySession[sid], func(p Process) bool { return p.Session == sid })
}

// withTag are the processes with a tag.
func (t *table) withTag(tag uint64) []Process {
	return t.selected(t.tagged()[tag], func(p Process) bool { return t.newerTags()[p.PID] == tag })
}

// tagOf is the tag of a process, 0 for none.
func (t *table) tagOf(pid int) uint64 {
	if _, is := t.newer[pid]; is {
		return t.newerTags()[pid]
	}
	return t.tags()[pid]
}

// selected is a list of the index as it is now: without what was read since, and with what fits of that.
func (t *table) selected(list []Process, fits func(Process) bool) []Process {
	if len(t.newer) == 0 {
		return list
	}
	list = slices.DeleteFunc(slices.Clone(list), func(p Process) bool { _, is := t.newer[p.PID]; return is })
	for _, r := range t.newer {
		if r != nil && fits(r.Process) {
			list = append(list, r.Process)
		}
	}
	return list
}

// current returns the processes that find selects, as of now: those that the scan took over from an earlier one are
// read again. If one of them has moved, find is asked again. recent is get's.
func (ts *tables) current(recent bool, find func(*table) []Process) ([]Process, error) {
	for {
		t, err := ts.get(recent)
		if err != nil {
			return nil, err
		}
		list, moved := t.again(find(t))
		if len(moved) == 0 {
			return list, nil
		}
		ts.moved(moved)
	}
}

// again reads processes of the table again, but for those that its own scan has read. It leaves out those that are
// gone. moved are those that have another parent, session or tag.
func (t *table) again(list []Process) (now []Process, moved []*row) {
	for _, p := range list {
		r := t.row(p.PID)
		if r == nil || r.scan == t.number {
			now = append(now, p)
			continue
		}
		noteRead(p.PID)
		found, ok := Find(p.PID)
		if !ok || !found.is(p) {
			continue
		}
		if found.Parent != p.Parent || found.Session != p.Session || r.retagged() {
			moved = append(moved, r)
		}
		now = append(now, found)
	}
	return now, moved
}

// onlyDetached are those of a list, which it takes over, that have no controlling terminal, and their parents outside
// of their session.
func (t *table) onlyDetached(list []Process) []Process {
	return slices.DeleteFunc(list, func(p Process) bool { // session 0: the kernel's own
		return p.TTY != 0 || p.Session == 0 || p.Ended || t.sessionOf(p.Parent) == p.Session
	})
}

// mayHold are the processes that may be holders, each once.
func (t *table) mayHold() []Process {
	list := slices.Clone(t.selected(t.detached(), func(Process) bool { return true }))
	for pid := range t.newer { // their children may have been in the session of a parent that is gone
		list = append(list, t.childrenOf(pid)...)
	}
	slices.SortFunc(list, func(a, b Process) int { return a.PID - b.PID })
	return t.onlyDetached(slices.CompactFunc(list, func(a, b Process) bool { return a.PID == b.PID }))
}

// findHolders is the search behind holders.
func (t *table) findHolders() map[Device][]Process {
	found := map[Device][]Process{}
	for _, p := range t.mayHold() {
		devices := t.row(p.PID).knownPTYs()
		for fd, dev := range devices {
			if dev != (Device{}) && !slices.Contains(devices[:fd], dev) {
				found[dev] = append(found[dev], p)
			}
		}
	}
	return found
}

// tagsOf are the tags of the processes that have one. One that took the number of another meanwhile is not among them.
func tagsOf(rows map[int]*row) map[int]uint64 {
	found := map[int]uint64{}
	for pid, r := range rows {
		if r == nil {
			continue
		}
		if tag := r.knownTag(); tag != 0 {
			found[pid] = tag
		}
	}
	return found
}

// byTag is the search behind tagged.
func (x *index) byTag() map[uint64][]Process {
	found := map[uint64][]Process{}
	for pid, tag := range x.tags() {
		found[tag] = append(found[tag], x.byPID[pid])
	}
	return found
}

// parentsFirst sorts processes by how far they are from the first process, and drops repetitions.
func (t *table) parentsFirst(list []Process) []Process {
	depth := make(map[int]int, len(list))
	for _, p := range list {
		depth[p.PID] = t.depth(p)
	}
	slices.SortFunc(list, func(a, b Process) int {
		return cmp.Or(cmp.Compare(depth[a.PID], depth[b.PID]), cmp.Compare(a.PID, b.PID))
	})
	return slices.CompactFunc(list, func(a, b Process) bool { return a.PID == b.PID })
}

// depth is how many processes are above one.
func (t *table) depth(p Process) int {
	n := 0
	for n <= len(t.byPID)+len(t.newer) && p.PID > initPID { // a table is made over time: it may hold a circle
		p, _ = t.process(p.Parent)
		n++
	}
	return n
}

// Device is the file of a terminal: the same index exists once in every mounted devpts, so the number of the device
// alone does not tell it.
type Device struct {
	FS, Inode, Number uint64
}

// Device numbers of the far ends of pseudo-terminals, from Linux' list of devices (admin-guide/devices.txt).
const (
	firstSlaveMajor = 136
	lastSlaveMajor  = 143
	minorsOfMajor   = 256
)

// PTYAt returns which pseudo-terminal a path leads to.
func PTYAt(path string) (Device, bool) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return Device{}, false
	}
	if _, ok := PTYPath(st.Rdev); !ok {
		return Device{}, false
	}
	return Device{FS: st.Dev, Inode: st.Ino, Number: st.Rdev}, true
}

// PTYPath is where the far end of a pseudo-terminal with a device number is; ok is false for other devices.
func PTYPath(number uint64) (path string, ok bool) {
	major, minor := unix.Major(number), unix.Minor(number)
	if major < firstSlaveMajor || major > lastSlaveMajor {
		return "", false
	}
	return "/dev/pts/" + strconv.Itoa(int(major-firstSlaveMajor)*minorsOfMajor+int(minor)), true
}
