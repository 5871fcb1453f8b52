package proc

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// table is all processes at one time, as /proc lists them, with the indexes that following a tree needs. It is not
// changed after it was made.
type table struct {
	number    uint64       // of the scan
	recent    bool         // see tables.get
	rows      map[int]*row // by process id, as is all of this
	byPID     map[int]Process
	byParent  map[int][]Process
	bySession map[int][]Process
	children  map[int]uint64 // start times of the children of this process, see Child
	leaders   map[int][]int  // these children, by their session
	// holders are the processes without a controlling terminal that have a terminal as standard input, output or error
	// all the same, by that terminal: what setsid leaves of a job. Of a session only those count whose parent is
	// outside of it, the others come with them. They are searched once, when first asked for.
	holders func() map[Device][]Process
	// tags are the tags of the processes that have one, and tagged these processes by their tag. They are searched
	// once, when first asked for.
	tags   func() map[int]uint64
	tagged func() map[uint64][]Process
}

func newTable(rows map[int]*row, children map[int]uint64) *table {
	t := &table{
		rows: rows, byPID: make(map[int]Process, len(rows)), byParent: map[int][]Process{},
		bySession: map[int][]Process{},
	}
	t.holders = sync.OnceValue(t.findHolders)
	t.tags = sync.OnceValue(t.findTags)
	t.tagged = sync.OnceValue(t.byTag)
	for pid, r := range rows {
		p := r.Process
		t.byPID[pid] = p
		t.byParent[p.Parent] = append(t.byParent[p.Parent], p)
		t.bySession[p.Session] = append(t.bySession[p.Session], p)
	}
	t.setChildren(children)
	return t
}

// setChildren sets the children and their sessions.
func (t *table) setChildren(children map[int]uint64) {
	t.children, t.leaders = children, make(map[int][]int, len(children))
	for pid, start := range children {
		if p, ok := t.byPID[pid]; ok && p.Start == start {
			t.leaders[p.Session] = append(t.leaders[p.Session], pid)
		}
	}
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
		if !moved {
			return list, nil
		}
	}
}

// again reads processes of the table again, but for those that its own scan has read. It leaves out those that are
// gone, and reports whether one has moved: another parent, session or tag.
func (t *table) again(list []Process) (now []Process, moved bool) {
	for _, p := range list {
		r := t.rows[p.PID]
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
			r.stale.Store(true)
			moved = true
		}
		now = append(now, found)
	}
	return now, moved
}

// findHolders is the search behind holders.
func (t *table) findHolders() map[Device][]Process {
	found := map[Device][]Process{}
	for pid, p := range t.byPID {
		// Session 0: the kernel's own.
		if p.TTY != 0 || p.Session == 0 || p.Ended || t.byPID[p.Parent].Session == p.Session {
			continue
		}
		list := t.rows[pid].knownPTYs()
		for fd, dev := range list {
			if dev != (Device{}) && !slices.Contains(list[:fd], dev) {
				found[dev] = append(found[dev], p)
			}
		}
	}
	return found
}

// findTags is the search behind tags. A process that took the number of one of the table meanwhile is not among them.
func (t *table) findTags() map[int]uint64 {
	found := map[int]uint64{}
	for pid, r := range t.rows {
		if tag := r.knownTag(); tag != 0 {
			found[pid] = tag
		}
	}
	return found
}

// byTag is the search behind tagged.
func (t *table) byTag() map[uint64][]Process {
	found := map[uint64][]Process{}
	for pid, tag := range t.tags() {
		found[tag] = append(found[tag], t.byPID[pid])
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
	for n <= len(t.byPID) && p.PID > initPID { // a table is made over time, so that it may hold a circle
		p = t.byPID[p.Parent]
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
