package pty

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// table is all processes at one time, as /proc lists them, with the indexes that following a tree needs. It is not changed after it was made.
type table struct {
	byPID     map[int]stat
	byParent  map[int][]stat
	bySession map[int][]stat
	// holders are the processes without a controlling terminal that have a terminal as standard input, output or error all the same, by
	// that terminal: what setsid leaves of a job. Of a session only those count whose parent is outside of it, the others come with
	// them. They are looked for once, when first asked for.
	holders func() map[device][]stat
	// brands are the brands of the processes that have one, by process id. They are looked for once, when first asked for.
	brands func() map[int]uint64
}

func newTable(procs []stat) *table {
	t := &table{
		byPID: make(map[int]stat, len(procs)), byParent: map[int][]stat{}, bySession: map[int][]stat{},
	}
	t.holders = sync.OnceValue(t.findHolders)
	t.brands = sync.OnceValue(t.findBrands)
	for _, s := range procs {
		t.byPID[s.pid] = s
		t.byParent[s.ppid] = append(t.byParent[s.ppid], s)
		t.bySession[s.sid] = append(t.bySession[s.sid], s)
	}
	return t
}

// device is a terminal's file: the same index exists once in every mounted devpts, so the number of the terminal alone does not tell it.
type device struct {
	fs, inode, number uint64
}

// tables hands out process tables. Many trees killed at once share one look at /proc: whoever asks gets a table begun after it asked.
type tables struct {
	asking atomic.Int64 // callers of fresh; the last one to leave drops the table
	mu     sync.Mutex
	last   *table
	began  time.Time
}

// processes is the one view of /proc.
var processes tables

// fresh returns a table that was begun after the call.
func (ts *tables) fresh() (*table, error) {
	ts.asking.Add(1)
	asked := time.Now()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t, err := ts.last, error(nil)
	if t == nil || !ts.began.After(asked) {
		ts.began = time.Now()
		t, err = list()
	}
	ts.last = t
	if ts.asking.Add(-1) == 0 {
		ts.last = nil
	}
	return t, err
}

// list reads /proc. Processes that end meanwhile are left out; one that is started meanwhile may be missing.
func list() (*table, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var buf [statSize]byte
	procs := make([]stat, 0, len(names))
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if s, ok := readStatAt(unix.AT_FDCWD, "/proc/"+name+"/stat", buf[:]); ok {
			procs = append(procs, s)
		}
	}
	return newTable(procs), nil
}

// findHolders is the search behind holders.
func (t *table) findHolders() map[device][]stat {
	found := map[device][]stat{}
	for _, s := range t.byPID {
		if s.tty != 0 || s.sid == 0 || s.dead || t.byPID[s.ppid].sid == s.sid { // sid 0: the kernel's own
			continue
		}
		var seen [3]device
		for fd := range seen {
			dev, ok := terminal("/proc/" + strconv.Itoa(s.pid) + "/fd/" + strconv.Itoa(fd))
			if !ok || fd > 0 && dev == seen[0] || fd > 1 && dev == seen[1] {
				continue
			}
			seen[fd] = dev
			found[dev] = append(found[dev], s)
		}
	}
	return found
}

// findBrands is the search behind brands. A process that took the number of one of the table meanwhile is not among them.
func (t *table) findBrands() map[int]uint64 {
	found := map[int]uint64{}
	for pid, s := range t.byPID {
		brand := Brand(pid)
		if !isBrand(brand) {
			continue
		}
		if now, ok := readStat(pid); ok && now.start == s.start {
			found[pid] = brand
		}
	}
	return found
}

// Device numbers of the far ends of pseudo-terminals, from Linux' list of devices (admin-guide/devices.txt).
const (
	firstSlaveMajor = 136
	lastSlaveMajor  = 143
)

// terminal returns which pseudo-terminal a path leads to.
func terminal(path string) (device, bool) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return device{}, false
	}
	if major := unix.Major(st.Rdev); major < firstSlaveMajor || major > lastSlaveMajor {
		return device{}, false
	}
	return device{fs: st.Dev, inode: st.Ino, number: st.Rdev}, true
}
