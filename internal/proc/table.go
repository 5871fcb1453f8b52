package proc

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// table is all processes at one time, as /proc lists them, with the indexes that following a tree needs. It is not
// changed after it was made.
type table struct {
	byPID     map[int]Process
	byParent  map[int][]Process
	bySession map[int][]Process
	// holders are the processes without a controlling terminal that have a terminal as standard input, output or error
	// all the same, by that terminal: what setsid leaves of a job. Of a session only those count whose parent is
	// outside of it, the others come with them. They are searched once, when first asked for.
	holders func() map[Device][]Process
	// tags are the tags of the processes that have one, by process id. They are searched once, when first asked for.
	tags func() map[int]uint64
}

func newTable(list []Process) *table {
	t := &table{
		byPID: make(map[int]Process, len(list)), byParent: map[int][]Process{}, bySession: map[int][]Process{},
	}
	t.holders = sync.OnceValue(t.findHolders)
	t.tags = sync.OnceValue(t.findTags)
	for _, p := range list {
		t.byPID[p.PID] = p
		t.byParent[p.Parent] = append(t.byParent[p.Parent], p)
		t.bySession[p.Session] = append(t.bySession[p.Session], p)
	}
	return t
}

// tables hands out process tables. Many trees killed at once share one scan of /proc: whoever asks gets a table begun
// after it asked.
type tables struct {
	asking atomic.Int64 // callers of fresh; the last one to leave drops the table
	mu     sync.Mutex
	last   *table
	began  time.Time
}

// cache is the one view of /proc.
var cache tables

// fresh returns a table that was begun after the call.
func (ts *tables) fresh() (*table, error) {
	ts.asking.Add(1)
	asked := time.Now()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t, err := ts.last, error(nil)
	if t == nil || !ts.began.After(asked) {
		ts.began = time.Now()
		t, err = scan()
	}
	ts.last = t
	if ts.asking.Add(-1) == 0 {
		ts.last = nil
	}
	return t, err
}

// scan reads /proc. Processes that end meanwhile are left out; one that is started meanwhile may be missing.
func scan() (*table, error) {
	pids, err := numbers()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var buf [statSize]byte
	list := make([]Process, 0, len(pids))
	for _, pid := range pids {
		if p, ok := read(pid, buf[:]); ok {
			list = append(list, p)
		}
	}
	return newTable(list), nil
}

// numbers are the process ids in /proc, as text.
func numbers() ([]string, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	pids := names[:0]
	for _, name := range names {
		if name[0] >= '0' && name[0] <= '9' {
			pids = append(pids, name)
		}
	}
	return pids, nil
}

// findHolders is the search behind holders.
func (t *table) findHolders() map[Device][]Process {
	found := map[Device][]Process{}
	for _, p := range t.byPID {
		// Session 0: the kernel's own.
		if p.TTY != 0 || p.Session == 0 || p.Ended || t.byPID[p.Parent].Session == p.Session {
			continue
		}
		var seen [3]Device
		for fd := range seen {
			dev, ok := PTYAt("/proc/" + strconv.Itoa(p.PID) + "/fd/" + strconv.Itoa(fd))
			if !ok || fd > 0 && dev == seen[0] || fd > 1 && dev == seen[1] {
				continue
			}
			seen[fd] = dev
			found[dev] = append(found[dev], p)
		}
	}
	return found
}

// findTags is the search behind tags. A process that took the number of one of the table meanwhile is not among them.
func (t *table) findTags() map[int]uint64 {
	found := map[int]uint64{}
	for pid, p := range t.byPID {
		tag := Tag(pid)
		if !IsTag(tag) {
			continue
		}
		if now, ok := Find(pid); ok && now.is(p) {
			found[pid] = tag
		}
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
