package proc

import (
	"bytes"
	"maps"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of a table that is brought up to date.
const (
	// maxProbed is how many numbers are looked at for processes that are new: more cost as much as a listing.
	maxProbed = 256
	// lateForks is how many numbers before the newest one of a table are looked at too: a process gets its number some
	// microseconds before it is in /proc.
	lateForks = 64
	// keptFor is how long a table is kept: in a series of deletes one listing serves all.
	keptFor = 5 * time.Second
)

// keptTable is the last table, for update.
type keptTable struct {
	table   *table       // nil for none
	newest  int          // process id, as of before the table
	threads map[int]bool // numbers that are threads'
	until   time.Time
	drop    *time.Timer // frees the memory
}

// keep keeps a table that a listing has made. The lock of ts is held.
func (k *keptTable) keep(ts *tables, t *table, newest int) {
	k.table, k.newest, k.until, k.threads = t, newest, time.Now().Add(keptFor), map[int]bool{}
	if k.drop != nil {
		k.drop.Stop()
	}
	k.drop = time.AfterFunc(keptFor, func() {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		if !time.Now().Before(k.until) {
			k.table, k.threads = nil, nil
		}
	})
}

// newestPID is the process id that was given last. ok is false where the kernel does not tell (it was made without
// CONFIG_CHECKPOINT_RESTORE).
func newestPID() (pid int, ok bool) {
	text, err := os.ReadFile("/proc/sys/kernel/ns_last_pid")
	pid, err2 := strconv.Atoi(string(bytes.TrimSpace(text)))
	return pid, err == nil && err2 == nil && pid > 0
}

// update is the kept table with what was started since, and with what may have become another since. Linux gives
// numbers in ascending order, so these are the next ones. It returns nil when only a listing can tell. The lock is
// held.
func (ts *tables) update() *table {
	k := &ts.kept
	newest, ok := newestPID()
	if !ok || k.table == nil || !time.Now().Before(k.until) || newest < k.newest || newest-k.newest > maxProbed {
		return nil
	}
	ts.scans++
	rows, changed, ok := ts.probe(k.newest-lateForks, newest)
	if !ok {
		return nil
	}
	k.newest = newest
	if changed {
		ts.rows = rows
		k.table = newTable(rows, starts(allChildren()))
	}
	t := *k.table
	if !changed {
		t.setChildren(starts(allChildren()))
	}
	t.number, t.recent = ts.scans, true
	t.holders = sync.OnceValue(t.findHolders) // they may have closed the terminal since
	return &t
}

// probe is the rows of the kept table with the processes that have the numbers after first up to last, and with those
// read again that had not settled or have moved. ok is false when a number that was known is another's.
func (ts *tables) probe(first, last int) (rows map[int]*row, changed, ok bool) {
	old := ts.kept.table.rows
	var look []int
	for pid := max(first, initPID) + 1; pid <= last; pid++ {
		if old[pid] == nil && ts.kept.isProcess(pid) {
			look = append(look, pid)
		}
	}
	inodes := make(map[int]uint64, len(old))
	for pid, r := range old {
		inodes[pid] = r.inode
		if !r.settled && !r.given || r.stale.Load() {
			look = append(look, pid)
		}
	}
	if len(look) == 0 {
		return old, false, true
	}
	rows = maps.Clone(old)
	var buf [statSize]byte
	for _, pid := range look {
		delete(rows, pid)
		inode, there := inodeOf(pid)
		if r := old[pid]; r != nil && there && inode != r.inode {
			return nil, false, false
		}
		if r, found := newRow(entry{pid, inode}, inodes, buf[:]); there && found {
			r.scan = ts.scans
			rows[pid] = r
		}
	}
	return rows, true, true
}

// isProcess reports whether a number is a process's now.
func (k *keptTable) isProcess(pid int) bool {
	if _, there := inodeOf(pid); !there || k.threads[pid] {
		return false
	}
	k.threads[pid] = !leadsThreads(pid)
	return !k.threads[pid]
}

// leadsThreads reports whether a number is a process's: threads have numbers of the same kind.
func leadsThreads(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, rest, _ := bytes.Cut(text, []byte("\nTgid:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return err == nil && string(bytes.TrimSpace(line)) == strconv.Itoa(pid)
}

// inodeOf is the inode that a listing has of a process.
func inodeOf(pid int) (inode uint64, ok bool) {
	var st unix.Stat_t
	err := unix.Stat("/proc/"+strconv.Itoa(pid), &st)
	return st.Ino, err == nil
}
